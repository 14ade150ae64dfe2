import { BugError } from '@skep/core';
import type { RowIdVectors } from '../read/scan-types.js';
import type { WriteResult, WriteTarget } from './write-types.js';

/**
 * Writes delete events into delete_delta_W_W_S, each into the file of the deleted row's bucket, sorted by (writeId, bucket
 * property, rowId) whatever the order they come in.
 */
export class DeleteWriter {
  constructor(readonly target: WriteTarget) {}

  async write(_rows: RowIdVectors): Promise<void> {
    throw new BugError('DeleteWriter is not written yet');
  }

  async close(): Promise<WriteResult> {
    throw new BugError('DeleteWriter is not written yet');
  }

  async abort(): Promise<void> {
    throw new BugError('DeleteWriter is not written yet');
  }
}
