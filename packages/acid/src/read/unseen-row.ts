import type { ValidWriteIdList } from '@skep/core';
import type { TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { DeleteSet } from './delete-set.js';
import { type KeyRange, keyRuns, mayOverlap } from './key-runs.js';
import { compareKeys, type RowKeys } from './row-keys.js';
import { scanSplit } from './scan-split.js';
import type { AcidSplit } from './scan-types.js';

/** A ROW__ID that cannot be deleted: no visible row has it, or it was named twice. */
export interface UnseenRow {
  readonly why: 'unseen' | 'twice';
  readonly writeId: bigint;
  /** The bucket property. */
  readonly bucket: number;
  readonly rowId: bigint;
}

export interface UnseenOptions {
  readonly schema: TypeDescription;
  /** The list the splits were planned with. */
  readonly writeIds: ValidWriteIdList;
  readonly deleteEventsInMemory?: number;
  readonly signal?: AbortSignal | undefined;
}

const BATCH_KEYS = 8192;

/**
 * The first of some ROW__IDs that no row of the splits has (it was deleted or changed since it was read), or that is there
 * twice; undefined: each is one row's. Only keys are read, of the files and row groups in which they may be.
 */
export async function unseenRow(
  fs: FileSystem,
  splits: readonly AcidSplit[],
  keys: DeleteSet,
  options: UnseenOptions,
): Promise<UnseenRow | undefined> {
  if (keys.size === 0) return undefined;
  const twice = firstTwice(keys);
  if (twice !== undefined) return twice;
  const range = keys.range();
  let seen = 0;
  for await (const { marked } of marks(fs, splits, keys, range, options)) seen += marked;
  if (seen === keys.size) return undefined;
  // Only now it matters which they are.
  const found = new DeleteSet();
  for await (const { rows, flags } of marks(fs, splits, keys, range, options)) found.add(rows, flags);
  return firstMissing(keys, found);
}

/** Batches of rows in which some of the keys are, with flags of those. */
async function* marks(
  fs: FileSystem,
  splits: readonly AcidSplit[],
  keys: DeleteSet,
  range: KeyRange,
  { schema, writeIds, deleteEventsInMemory, signal }: UnseenOptions,
): AsyncGenerator<{ readonly rows: RowKeys; readonly flags: Uint8Array; readonly marked: number }> {
  const scan = { schema, writeIds, columns: [], rowIds: true, keyRange: range };
  const options = deleteEventsInMemory === undefined ? scan : { ...scan, deleteEventsInMemory };
  for (const split of splits) {
    if (split.kind === 'acid' && !mayOverlap({ writeId: split.writeIdRange }, range)) continue;
    for await (const { length, rowIds } of scanSplit(fs, split, options)) {
      signal?.throwIfAborted();
      if (rowIds === undefined) continue;
      const { writeId, bucket, rowId } = rowIds;
      const rows = { length, writeIds: writeId.values, buckets: bucket.values, rowIds: rowId.values };
      const flags = new Uint8Array(length);
      const marked = keys.mark(keyRuns(rows), flags);
      if (marked > 0) yield { rows, flags, marked };
    }
  }
}

function firstTwice(keys: DeleteSet): UnseenRow | undefined {
  let before: RowKeys | undefined;
  for (const batch of keys.sortedKeys(BATCH_KEYS)) {
    if (before !== undefined && compareKeys(before, before.length - 1, batch, 0) === 0) return rowOf(batch, 0, 'twice');
    for (let i = 1; i < batch.length; i++) {
      if (batch.rowIds[i] === batch.rowIds[i - 1]) return rowOf(batch, i, 'twice');
    }
    before = batch;
  }
  return undefined;
}

/** Both are walked in order; neither has a key twice. */
function firstMissing(keys: DeleteSet, found: DeleteSet): UnseenRow | undefined {
  const others = found.sortedKeys(BATCH_KEYS);
  let other = others.next();
  let at = 0;
  for (const batch of keys.sortedKeys(BATCH_KEYS)) {
    for (let i = 0; i < batch.length; i++) {
      if (other.done === true || compareKeys(batch, i, other.value, at) !== 0) return rowOf(batch, i, 'unseen');
      at++;
      if (at < other.value.length) continue;
      other = others.next();
      at = 0;
    }
  }
  return undefined;
}

const rowOf = ({ writeIds, buckets, rowIds }: RowKeys, i: number, why: UnseenRow['why']): UnseenRow => ({
  why,
  writeId: writeIds[i],
  bucket: buckets[i],
  rowId: rowIds[i],
});
