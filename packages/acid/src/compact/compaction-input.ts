import { LONG_MAX, type ValidWriteIdList } from '@skep/core';
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
  /** Of insert-only tables: files that are not ORC are taken over as they are. */
  readonly fileFormat?: 'orc' | 'other';
  readonly orc?: OrcFileOptions;
  /**
   * Stripes of fewer bytes are written anew where they could be taken over as they are (take-stripes.ts); Infinity: all are. A
   * 64th of the size of stripes when absent.
   */
  readonly leastStripeBytes?: number | undefined;
  readonly signal?: AbortSignal;
}

export interface CompactionResult {
  /** Folders written, to be removed should the compaction's transaction abort. */
  readonly directories: readonly string[];
  readonly files: readonly string[];
  readonly rows: number;
  readonly deleteEvents: number;
  readonly bytes: number;
  /** Stripes that were taken over as they are. */
  readonly stripesTaken: number;
}

export function maxWriteId({ deltas }: AcidState): bigint | undefined {
  return deltas
    .map((delta) => delta.maxWriteId)
    .reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);
}

export function minWriteId({ deltas }: AcidState): bigint | undefined {
  return deltas
    .map((delta) => delta.minWriteId)
    .reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
}

/** Query-based compactions name their result by the list's high watermark. */
export function highWatermark({ writeIds, state }: CompactionInput): bigint {
  if (writeIds.highWatermark !== LONG_MAX) return writeIds.highWatermark;
  return maxWriteId(state) ?? state.base?.writeId ?? 0n;
}

export function firstWriteId({ state }: CompactionInput): bigint {
  return minWriteId(state) ?? state.base?.writeId ?? 0n;
}
