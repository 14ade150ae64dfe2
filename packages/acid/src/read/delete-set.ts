import { bounds, halvesOf, type KeyRange, type KeyRun, keyRuns, lastRowId } from './key-runs.js';
import type { RowKeys } from './row-keys.js';

/** Deleted rows of one write id and bucket property. */
class RowIdSet {
  private halves: Int32Array;
  private count = 0;
  private isSorted = true;

  /** Begins in the memory `ids`, which is its own. */
  constructor(private ids: BigInt64Array) {
    this.halves = halvesOf(ids);
  }

  /** Gives back the memory behind its last element. */
  trim(): BigInt64Array {
    const rest = this.ids.subarray(this.count);
    this.ids = this.ids.subarray(0, this.count);
    this.halves = halvesOf(this.ids);
    return rest;
  }

  /** The rowIds of a run of delete events. */
  add({ rowIds, firstRowId, start, end }: KeyRun): void {
    const added = end - start;
    if (this.count + added > this.ids.length) {
      const grown = new BigInt64Array(Math.max(2 * this.ids.length, this.count + added));
      grown.set(this.ids.subarray(0, this.count));
      this.ids = grown;
      this.halves = halvesOf(grown);
    }
    if (this.count > 0 && this.ids[this.count - 1] > firstRowId) this.isSorted = false;
    if (rowIds !== undefined) this.ids.set(rowIds, this.count);
    else for (let i = 0; i < added; i++) this.ids[this.count + i] = firstRowId + BigInt(i);
    this.count += added;
  }

  /** Sets `deleted[i]` of the run's rows that are in the set; looks at the deletes between the run's first and last row only. */
  mark(run: KeyRun, deleted: Uint8Array): number {
    this.sorted();
    const last = lastRowId(run);
    const from = this.lowerBound(run.firstRowId);
    let to = this.lowerBound(last);
    while (to < this.count && this.ids[to] === last) to++;
    return run.rowIds === undefined
      ? this.markConsecutive(run, from, to, deleted)
      : this.markAscending(run.start, halvesOf(run.rowIds), from, to, deleted);
  }

  private markConsecutive({ start, firstRowId }: KeyRun, from: number, to: number, deleted: Uint8Array): number {
    const { halves } = this;
    const firstLow = Number(BigInt.asIntN(32, firstRowId));
    let marked = 0;
    for (let at = from; at < to; at++) {
      // Both lie within one run, so the low halves tell how far they are apart.
      const row = start + ((halves[2 * at] - firstLow) | 0);
      marked += deleted[row] ^ 1;
      deleted[row] = 1;
    }
    return marked;
  }

  /** Finds each delete among the rows, in steps that double: a few deletes among many rows cost little. */
  private markAscending(start: number, rows: Int32Array, from: number, to: number, deleted: Uint8Array): number {
    const { halves } = this;
    const count = rows.length >>> 1;
    let marked = 0;
    let row = 0;
    for (let at = from; at < to && row < count; at++) {
      const low = halves[2 * at] >>> 0;
      const high = halves[2 * at + 1];
      row = gallop(rows, row, count, low, high);
      if (row < count && rows[2 * row + 1] === high && rows[2 * row] >>> 0 === low) {
        marked += deleted[start + row] ^ 1;
        deleted[start + row] = 1;
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
    const low = Number(BigInt.asUintN(32, rowId));
    const high = Number(BigInt.asIntN(32, rowId >> 32n));
    return bisect(this.halves, 0, this.count, low, high);
  }
}

/** The first element in [from, to) that is not below the value, whose halves are given; elements ascend. */
function bisect(halves: Int32Array, from: number, to: number, low: number, high: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBelow(halves, middle, low, high)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** As bisect, quick where the answer is near. */
function gallop(halves: Int32Array, from: number, to: number, low: number, high: number): number {
  if (from >= to || !isBelow(halves, from, low, high)) return from;
  let step = 1;
  while (from + step < to && isBelow(halves, from + step, low, high)) {
    from += step;
    step *= 2;
  }
  return bisect(halves, from + 1, Math.min(to, from + step), low, high);
}

const isBelow = (halves: Int32Array, at: number, low: number, high: number): boolean =>
  halves[2 * at + 1] < high || (halves[2 * at + 1] === high && halves[2 * at] >>> 0 < low);

/**
 * The keys of deleted rows in memory, about 8 bytes each (VectorizedOrcAcidRowBatchReader.ColumnizedDeleteEventRegistry):
 * sorted rowIds by write id and bucket property.
 */
export class DeleteSet {
  private readonly sets = new Map<bigint, Map<number, RowIdSet>>();
  private count = 0;
  /** Of keys that come in order the sets lie one behind the other in one piece of memory; this one has the end of it. */
  private last: RowIdSet | undefined;
  private room: BigInt64Array;

  /** `capacity`: how many keys are to come, where that is known. */
  constructor(capacity = 0) {
    this.room = new BigInt64Array(capacity);
  }

  get size(): number {
    return this.count;
  }

  /** Adds the keys whose `isValid` is set (all when absent), in any order. */
  add(keys: RowKeys, isValid?: Uint8Array): void {
    for (const run of keyRuns(keys)) {
      if (isValid === undefined) this.addRun(run);
      else for (const part of validParts(run, isValid)) this.addRun(part);
    }
  }

  private addRun(run: KeyRun): void {
    this.setFor(run.writeId, run.bucket).add(run);
    this.count += run.end - run.start;
  }

  /** Sets `deleted[i]` to 1 where row i is in the set; how many were not marked before. */
  mark(runs: readonly KeyRun[], deleted: Uint8Array): number {
    let marked = 0;
    for (const run of runs) marked += this.sets.get(run.writeId)?.get(run.bucket)?.mark(run, deleted) ?? 0;
    return marked;
  }

  /** What the keys lie between, column by column. */
  range(): KeyRange {
    const ids = [...this.sets.values()].flatMap((byBucket) => [...byBucket.values()].map((set) => set.sorted()));
    return {
      writeId: bounds([...this.sets.keys()]),
      bucket: bounds([...this.sets.values()].flatMap((byBucket) => [...byBucket.keys()].map(BigInt))),
      rowId: bounds(ids.flatMap((sorted) => [sorted[0], sorted[sorted.length - 1]])),
    };
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
      this.room = this.last?.trim() ?? this.room;
      set = new RowIdSet(this.room);
      this.last = set;
      byBucket.set(bucket, set);
    }
    return set;
  }
}

/** The parts of a run without the rows that are not valid. */
function* validParts(run: KeyRun, isValid: Uint8Array): Generator<KeyRun> {
  for (let start = run.start; start < run.end; start++) {
    if (isValid[start] === 0) continue;
    const from = start;
    while (start < run.end && isValid[start] !== 0) start++;
    const [first, end] = [from - run.start, start - run.start];
    yield {
      ...run,
      start: from,
      end: start,
      firstRowId: run.rowIds?.[first] ?? run.firstRowId + BigInt(first),
      rowIds: run.rowIds?.subarray(first, end),
    };
  }
}
