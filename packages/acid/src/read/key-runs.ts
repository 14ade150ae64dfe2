import type { RowKeys } from './row-keys.js';

/**
 * Rows [start, end) of a batch that have one write id and one bucket property, and whose rowIds ascend. Where they ascend by
 * one, `rowIds` is left out: the rows are numbered from `firstRowId` on.
 */
export interface KeyRun {
  readonly writeId: bigint;
  readonly bucket: number;
  readonly start: number;
  readonly end: number;
  readonly firstRowId: bigint;
  readonly rowIds: BigInt64Array | undefined;
}

/** Of the whole of a file or batch: each column's smallest and largest value; undefined where it is not known. */
export interface KeyRange {
  readonly writeId?: Bounds | undefined;
  readonly bucket?: Bounds | undefined;
  readonly rowId?: Bounds | undefined;
}
export type Bounds = readonly [min: bigint, max: bigint];

/** Halves of int64 values: elements of a BigInt64Array may cost an allocation each. Low at 2i, high at 2i + 1. */
export const halvesOf = (values: BigInt64Array): Int32Array =>
  new Int32Array(values.buffer, values.byteOffset, 2 * values.length);

/** Keys that are compared often. */
export interface OrderedKeys extends RowKeys {
  readonly writeHalves: Int32Array;
  readonly rowHalves: Int32Array;
}

export const orderedKeys = (keys: RowKeys): OrderedKeys => ({
  ...keys,
  writeHalves: halvesOf(keys.writeIds),
  rowHalves: halvesOf(keys.rowIds),
});

/** As compareKeys. */
export function compareOrdered(a: OrderedKeys, i: number, b: OrderedKeys, j: number): number {
  return (
    compareHalves(a.writeHalves, 2 * i, b.writeHalves, 2 * j) ||
    a.buckets[i] - b.buckets[j] ||
    compareHalves(a.rowHalves, 2 * i, b.rowHalves, 2 * j)
  );
}

/** Numbers below are exact in a double. */
const EXACT_HIGH = 1 << 21;

/** One key of a file, ready to be compared with those of others again and again. */
export class HeadKey {
  private keys: OrderedKeys | undefined;
  private at = 0;
  private writeId = 0;
  private bucket = 0;
  private rowId = 0;
  /** The numbers tell all. */
  private isExact = false;

  set(keys: OrderedKeys, at: number): void {
    const { writeHalves, rowHalves } = keys;
    const [writeHigh, rowHigh] = [writeHalves[2 * at + 1], rowHalves[2 * at + 1]];
    this.keys = keys;
    this.at = at;
    this.isExact = writeHigh >= 0 && writeHigh < EXACT_HIGH && rowHigh >= 0 && rowHigh < EXACT_HIGH;
    this.writeId = writeHigh * 2 ** 32 + (writeHalves[2 * at] >>> 0);
    this.bucket = keys.buckets[at];
    this.rowId = rowHigh * 2 ** 32 + (rowHalves[2 * at] >>> 0);
  }

  /** As compareKeys. */
  compare(other: HeadKey): number {
    if (this.isExact && other.isExact) {
      return this.writeId - other.writeId || this.bucket - other.bucket || this.rowId - other.rowId;
    }
    if (this.keys === undefined || other.keys === undefined) return 0;
    return compareOrdered(this.keys, this.at, other.keys, other.at);
  }
}

const compareHalves = (a: Int32Array, p: number, b: Int32Array, q: number): number =>
  a[p + 1] - b[q + 1] || (a[p] >>> 0) - (b[q] >>> 0);

/**
 * Whether keys ascend: 1 where each is above the one before, 0 where some are equal to it, -1 where one is below.
 */
export function ascent(keys: OrderedKeys): 1 | 0 | -1 {
  const { length, writeHalves: writes, buckets, rowHalves: rows } = keys;
  let answer: 1 | 0 = 1;
  for (let i = 1, p = 2; i < length; i++, p += 2) {
    // The usual case first: the next row of the same write.
    const isNext =
      rows[p] > rows[p - 2] &&
      rows[p - 2] >= 0 &&
      rows[p + 1] === rows[p - 1] &&
      writes[p] === writes[p - 2] &&
      writes[p + 1] === writes[p - 1] &&
      buckets[i] === buckets[i - 1];
    if (isNext) continue;
    const order = compareOrdered(keys, i - 1, keys, i);
    if (order > 0) return -1;
    if (order === 0) answer = 0;
  }
  return answer;
}

/** The runs of a batch's keys, in order. Files are sorted by key, so there are few. */
export function keyRuns(keys: RowKeys): KeyRun[] {
  const { length, buckets } = keys;
  const writes = halvesOf(keys.writeIds);
  const ids = halvesOf(keys.rowIds);
  const runs: KeyRun[] = [];
  for (let start = 0; start < length; ) {
    const end = runEnd(writes, buckets, ids, start, length);
    const isConsecutive =
      ids[2 * end - 1] === ids[2 * start + 1] && ids[2 * end - 2] - ids[2 * start] === end - start - 1;
    runs.push({
      writeId: keys.writeIds[start],
      bucket: buckets[start],
      start,
      end,
      firstRowId: keys.rowIds[start],
      rowIds: isConsecutive ? undefined : keys.rowIds.subarray(start, end),
    });
    start = end;
  }
  return runs;
}

function runEnd(writes: Int32Array, buckets: Int32Array, ids: Int32Array, start: number, length: number): number {
  const [writeLow, writeHigh, bucket] = [writes[2 * start], writes[2 * start + 1], buckets[start]];
  let low = ids[2 * start] >>> 0;
  let high = ids[2 * start + 1];
  let end = start + 1;
  for (; end < length; end++) {
    if (writes[2 * end] !== writeLow || writes[2 * end + 1] !== writeHigh || buckets[end] !== bucket) break;
    const nextLow = ids[2 * end] >>> 0;
    const nextHigh = ids[2 * end + 1];
    if (nextHigh < high || (nextHigh === high && nextLow <= low)) break;
    low = nextLow;
    high = nextHigh;
  }
  return end;
}

/** Rows that are numbered through: one run, without arrays. */
export function consecutiveRun(length: number, writeId: bigint, bucket: number, firstRowId: bigint): KeyRun[] {
  return length === 0 ? [] : [{ writeId, bucket, start: 0, end: length, firstRowId, rowIds: undefined }];
}

export const lastRowId = ({ rowIds, firstRowId, start, end }: KeyRun): bigint =>
  rowIds === undefined ? firstRowId + BigInt(end - start - 1) : rowIds[end - start - 1];

/** What the runs' keys lie between, column by column. */
export function rangeOfRuns(runs: readonly KeyRun[]): KeyRange {
  if (runs.length === 0) return {};
  return {
    writeId: bounds(runs.map((run) => run.writeId)),
    bucket: bounds(runs.map((run) => BigInt(run.bucket))),
    rowId: bounds(runs.flatMap((run) => [run.firstRowId, lastRowId(run)])),
  };
}

/** Of at least one value. */
export function bounds(values: readonly bigint[]): Bounds {
  let [min, max] = [values[0], values[0]];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return [min, max];
}

/** Whether keys of both ranges may be the same. */
export function mayOverlap(a: KeyRange, b: KeyRange): boolean {
  return boundsMeet(a.writeId, b.writeId) && boundsMeet(a.bucket, b.bucket) && boundsMeet(a.rowId, b.rowId);
}

const boundsMeet = (a: Bounds | undefined, b: Bounds | undefined): boolean =>
  a === undefined || b === undefined || (a[0] <= b[1] && b[0] <= a[1]);
