import { BugError } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import type { AcidBatch, AcidSplit, ScanOptions } from './scan-types.js';

/** The visible rows of a split, as the store delivers them. */
export function scanSplit(_fs: FileSystem, _split: AcidSplit, _options: ScanOptions): AsyncGenerator<AcidBatch> {
  throw new BugError('scanSplit is not written yet');
}

/** The same without waiting, for file systems that answer at once (local, memory): a query engine's callbacks cannot wait. */
export function scanSplitSync(_fs: FileSystem, _split: AcidSplit, _options: ScanOptions): Generator<AcidBatch> {
  throw new BugError('scanSplitSync is not written yet');
}
