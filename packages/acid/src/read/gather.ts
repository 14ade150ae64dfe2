import { concatVectors, filterVector, type StructVector, sliceVector } from '@skep/orc';
import type { EventBatch } from './event-cursor.js';
import type { EventRun } from './merge-events.js';
import { emptyStruct, type RowKeys } from './row-keys.js';

/** Events of several runs, put together. */
export interface GatheredEvents {
  readonly keys: RowKeys;
  readonly currentWriteIds: BigInt64Array;
  readonly row: StructVector;
}

/** Collects runs of events into batches of at most `batchSize` rows. */
export class EventGatherer {
  private runs: EventRun[] = [];
  private count = 0;

  constructor(private readonly batchSize: number) {}

  get isFull(): boolean {
    return this.count >= this.batchSize;
  }

  get length(): number {
    return this.count;
  }

  /** Takes as much of the run as fits; what is left, or undefined. */
  add(run: EventRun): EventRun | undefined {
    const end = Math.min(run.end, run.start + this.batchSize - this.count);
    this.runs.push({ ...run, end });
    this.count += end - run.start;
    return end < run.end ? { ...run, start: end } : undefined;
  }

  take(): GatheredEvents {
    const { runs, count } = this;
    this.runs = [];
    this.count = 0;
    return { keys: gatherKeys(runs, count), currentWriteIds: gatherCurrent(runs, count), row: gatherRows(runs, count) };
  }
}

function gatherKeys(runs: readonly EventRun[], length: number): RowKeys {
  const keys = {
    length,
    writeIds: new BigInt64Array(length),
    buckets: new Int32Array(length),
    rowIds: new BigInt64Array(length),
  };
  let at = 0;
  for (const { batch, start, end } of runs) {
    keys.writeIds.set(batch.keys.writeIds.subarray(start, end), at);
    keys.buckets.set(batch.keys.buckets.subarray(start, end), at);
    keys.rowIds.set(batch.keys.rowIds.subarray(start, end), at);
    at += end - start;
  }
  return keys;
}

function gatherCurrent(runs: readonly EventRun[], length: number): BigInt64Array {
  const out = new BigInt64Array(length);
  let at = 0;
  for (const { batch, start, end } of runs) {
    out.set(batch.currentWriteIds.subarray(start, end), at);
    at += end - start;
  }
  return out;
}

/**
 * Rows of runs from few batches that take turns: the batches' parts are joined once and the rows picked from there, which
 * is cheaper than joining many short slices.
 */
function gatherRows(runs: readonly EventRun[], length: number): StructVector {
  const parts = new Map<EventBatch, { low: number; high: number }>();
  for (const { batch, start, end } of runs) {
    const part = parts.get(batch);
    if (part === undefined) parts.set(batch, { low: start, high: end });
    else part.high = end;
  }
  const slices = [...parts].map(([batch, { low, high }]) => sliceVector(batch.row, low, high));
  if (slices.length === 0) return emptyStruct(length);
  const joined = slices.length === 1 ? slices[0] : concatVectors(slices);
  if (joined.length === length && slices.length === runs.length) return joined as StructVector;

  const starts = new Map<EventBatch, number>();
  let from = 0;
  for (const [batch, { low, high }] of parts) {
    starts.set(batch, from - low);
    from += high - low;
  }
  const selection = new Int32Array(length);
  let at = 0;
  for (const { batch, start, end } of runs) {
    const shift = starts.get(batch) ?? 0;
    for (let i = start; i < end; i++) selection[at++] = i + shift;
  }
  return filterVector(joined, selection) as StructVector;
}
