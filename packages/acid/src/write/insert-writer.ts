import { BugError } from '@skep/core';
import type { StructVector } from '@skep/orc';
import type { InsertTarget, WriteResult } from './write-types.js';

/**
 * Writes inserted rows into delta_W_W_S (or base_W): the rows of a bucketed table into their buckets' files, others into
 * one file of writer 0. Nothing is visible before the transaction commits.
 */
export class InsertWriter {
  constructor(readonly target: InsertTarget) {}

  /** `root` has the schema's columns. */
  async write(_root: StructVector): Promise<void> {
    throw new BugError('InsertWriter is not written yet');
  }

  /** Makes the files durable. Without rows there is no folder, except for an overwrite. */
  async close(): Promise<WriteResult> {
    throw new BugError('InsertWriter is not written yet');
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    throw new BugError('InsertWriter is not written yet');
  }
}
