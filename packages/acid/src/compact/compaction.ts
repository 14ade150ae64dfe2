import { BugError, type ValidWriteIdList } from '@skep/core';
import type { TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import type { AcidState } from '../state/acid-directory.js';
import type { OrcFileOptions } from '../write/write-types.js';

export interface CompactionInput {
  readonly fs: FileSystem;
  /** Made with the compactor's lists (ValidWriteIdList.forCompactor). */
  readonly state: AcidState;
  readonly writeIds: ValidWriteIdList;
  /** The table's columns (not partition columns) as a struct. */
  readonly schema: TypeDescription;
  /** The compaction's transaction: the `_v` of the new folders. */
  readonly visibilityTxnId: bigint;
  readonly insertOnly?: boolean;
  readonly orc?: OrcFileOptions;
  readonly signal?: AbortSignal;
}

export interface CompactionResult {
  /** Folders written, to be removed should the compaction's transaction abort. */
  readonly directories: readonly string[];
  readonly files: readonly string[];
  readonly rows: number;
  readonly deleteEvents: number;
  readonly bytes: number;
}

/** CompactorMR's major compaction: base_{max}_vT with the newest event of each key, deletes dropped, ROW__IDs kept. */
export async function compactMajor(_input: CompactionInput): Promise<CompactionResult> {
  throw new BugError('compactMajor is not written yet');
}

/** CompactorMR's minor compaction: delta_{min}_{max}_vT and delete_delta_{min}_{max}_vT of the current deltas. */
export async function compactMinor(_input: CompactionInput): Promise<CompactionResult> {
  throw new BugError('compactMinor is not written yet');
}

export interface RebalanceInput extends CompactionInput {
  /** CLUSTERED INTO n BUCKETS; absent: as many as there are distinct bucket numbers. */
  readonly buckets?: number;
}

/** Rebalance compaction of an unbucketed table: base_{highWatermark}_vT with rows spread evenly. */
export async function compactRebalance(_input: RebalanceInput): Promise<CompactionResult> {
  throw new BugError('compactRebalance is not written yet');
}
