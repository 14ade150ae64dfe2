import type { RowKeys } from './row-keys.js';

/** Deleted rows of one write id and bucket property. */
class RowIdSet {
  private ids = new BigInt64Array(16);
  private count = 0;
  private isSorted = true;

  add(rowIds: BigInt64Array, start: number, end: number): void {
    if (this.count + end - start > this.ids.length) {
      const grown = new BigInt64Array(Math.max(2 * this.ids.length, this.count + end - start));
      grown.set(this.ids.subarray(0, this.count));
      this.ids = grown;
    }
    const { ids } = this;
    let last = this.count === 0 ? rowIds[start] : ids[this.count - 1];
    for (let i = start; i < end; i++) {
      if (rowIds[i] < last) this.isSorted = false;
      last = rowIds[i];
      ids[this.count++] = last;
    }
  }

  /** Sets `deleted[i]` for i in [start, end) where rowIds[i] is in the set. Linear where the rowIds ascend. */
  mark(rowIds: BigInt64Array, start: number, end: number, deleted: Uint8Array): number {
    const ids = this.sorted();
    const { count } = this;
    let marked = 0;
    let at = this.lowerBound(rowIds[start]);
    for (let i = start; i < end; i++) {
      const rowId = rowIds[i];
      if (i > start && rowId < rowIds[i - 1]) at = this.lowerBound(rowId);
      while (at < count && ids[at] < rowId) at++;
      if (at < count && ids[at] === rowId) {
        marked += deleted[i] ^ 1;
        deleted[i] = 1;
      }
    }
    return marked;
  }

  sorted(): BigInt64Array {
    const ids = this.ids.subarray(0, this.count);
    if (!this.isSorted) ids.sort();
    this.isSorted = true;
    return ids;
  }

  private lowerBound(rowId: bigint): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ids[middle] < rowId) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * The keys of deleted rows in memory, about 8 bytes each (VectorizedOrcAcidRowBatchReader.ColumnizedDeleteEventRegistry):
 * sorted rowIds by write id and bucket property.
 */
export class DeleteSet {
  private readonly sets = new Map<bigint, Map<number, RowIdSet>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Adds the keys whose `isValid` is set (all when absent), in any order. */
  add(keys: RowKeys, isValid?: Uint8Array): void {
    for (let start = 0; start < keys.length; ) {
      if (isValid !== undefined && isValid[start] === 0) {
        start++;
        continue;
      }
      const writeId = keys.writeIds[start];
      const bucket = keys.buckets[start];
      let end = start + 1;
      while (
        end < keys.length &&
        keys.writeIds[end] === writeId &&
        keys.buckets[end] === bucket &&
        (isValid === undefined || isValid[end] !== 0)
      ) {
        end++;
      }
      this.setFor(writeId, bucket).add(keys.rowIds, start, end);
      this.count += end - start;
      start = end;
    }
  }

  /** Sets `deleted[i]` to 1 where row i is in the set; how many were not marked before. */
  mark(keys: RowKeys, deleted: Uint8Array): number {
    let marked = 0;
    for (let start = 0; start < keys.length; ) {
      const writeId = keys.writeIds[start];
      const bucket = keys.buckets[start];
      let end = start + 1;
      while (end < keys.length && keys.writeIds[end] === writeId && keys.buckets[end] === bucket) end++;
      const set = this.sets.get(writeId)?.get(bucket);
      if (set !== undefined) marked += set.mark(keys.rowIds, start, end, deleted);
      start = end;
    }
    return marked;
  }

  /** All keys in their order, in batches. */
  *sortedKeys(batchSize: number): Generator<RowKeys> {
    for (const writeId of [...this.sets.keys()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))) {
      const byBucket = this.sets.get(writeId) ?? new Map<number, RowIdSet>();
      for (const [bucket, set] of [...byBucket].sort(([a], [b]) => a - b)) {
        const ids = set.sorted();
        for (let start = 0; start < ids.length; start += batchSize) {
          const rowIds = ids.subarray(start, start + batchSize);
          const { length } = rowIds;
          yield {
            length,
            writeIds: new BigInt64Array(length).fill(writeId),
            buckets: new Int32Array(length).fill(bucket),
            rowIds,
          };
        }
      }
    }
  }

  private setFor(writeId: bigint, bucket: number): RowIdSet {
    let byBucket = this.sets.get(writeId);
    if (byBucket === undefined) {
      byBucket = new Map();
      this.sets.set(writeId, byBucket);
    }
    let set = byBucket.get(bucket);
    if (set === undefined) {
      set = new RowIdSet();
      byBucket.set(bucket, set);
    }
    return set;
  }
}
