import { BugError } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import type { AcidState } from '../state/acid-directory.js';
import type { AcidSplit } from './scan-types.js';

export interface PlanOptions {
  readonly insertOnly?: boolean;
  /** Bucket pruning: only files of these bucket numbers (of bucketed tables). */
  readonly buckets?: ReadonlySet<number>;
}

/** The splits of a state, ordered by file path, with the delete files that may matter to each. */
export async function planSplits(_fs: FileSystem, _state: AcidState, _options: PlanOptions = {}): Promise<AcidSplit[]> {
  throw new BugError('planSplits is not written yet');
}
