import { OPERATION } from './acid-schema.js';
import type { EventBatch, EventCursor } from './event-cursor.js';
import { ascent, compareOrdered, HeadKey, halvesOf, type OrderedKeys, orderedKeys } from './key-runs.js';
import { emptyStruct } from './row-keys.js';
import type { Ask } from './steps.js';
import type { StripeOffer } from './stripe-offer.js';

/** What a merge sees of a file, or of several. */
export type MergeCursor = Pick<
  EventCursor,
  'batch' | 'offer' | 'keys' | 'at' | 'head' | 'advanceTo' | 'readOffer' | 'skipOffer'
>;

/**
 * The valid events of several files in the order of a merge, as one batch without rows: deletes of many statements take turns, so
 * that to merge them with everything else a heap would have to move for each.
 */
export class SortedEvents implements MergeCursor {
  batch: EventBatch | undefined;
  readonly offer = undefined;
  keys: OrderedKeys | undefined;
  at = 0;
  readonly head = new HeadKey();

  private constructor(batch: EventBatch | undefined) {
    this.batch = batch;
    this.keys = batch?.keys;
    if (batch !== undefined) this.head.set(batch.keys, 0);
  }

  /** Of all that the cursors have. */
  static *of(cursors: readonly EventCursor[]): Generator<Ask, SortedEvents, unknown> {
    const parts: Part[] = [];
    for (const cursor of cursors) {
      const batches: EventBatch[] = [];
      for (let { batch } = cursor; batch !== undefined; { batch } = cursor) {
        batches.push(batch);
        yield* cursor.advanceTo(batch.keys.length);
      }
      parts.push({ batches });
    }
    return new SortedEvents(sortedBatch(parts));
  }

  // biome-ignore lint/correctness/useYield: everything is in memory, nothing is to be asked
  *advanceTo(at: number): Generator<Ask, void, unknown> {
    this.at = at;
    if (this.batch === undefined) return;
    if (at < this.batch.keys.length) this.head.set(this.batch.keys, at);
    else {
      this.at = 0;
      this.batch = undefined;
      this.keys = undefined;
    }
  }

  *readOffer(_: StripeOffer): Generator<Ask, void, unknown> {}
  *skipOffer(_: StripeOffer): Generator<Ask, void, unknown> {}
}

/** The events of one file. */
interface Part {
  readonly batches: readonly EventBatch[];
}

/** Events one file behind the other: their keys, and what tells which comes first among those of one key. */
class Events {
  readonly keys: OrderedKeys;
  readonly operations: Int32Array;
  readonly currentWriteIds: BigInt64Array;
  readonly statementIds: Int32Array;
  private readonly currentHalves: Int32Array;

  constructor(readonly length: number) {
    const [writeIds, rowIds] = [new BigInt64Array(length), new BigInt64Array(length)];
    this.keys = orderedKeys({ length, writeIds, buckets: new Int32Array(length), rowIds });
    this.operations = new Int32Array(length);
    this.currentWriteIds = new BigInt64Array(length);
    this.currentHalves = halvesOf(this.currentWriteIds);
    this.statementIds = new Int32Array(length);
  }

  /** Puts event `from` of a batch or of others into place `to`. */
  set(
    to: number,
    source: Pick<EventBatch, 'keys' | 'operations' | 'currentWriteIds'>,
    from: number,
    statement: number,
  ): void {
    const { keys, operations, currentWriteIds } = source;
    this.keys.writeIds[to] = keys.writeIds[from];
    this.keys.buckets[to] = keys.buckets[from];
    this.keys.rowIds[to] = keys.rowIds[from];
    this.operations[to] = operations[from];
    this.currentWriteIds[to] = currentWriteIds[from];
    this.statementIds[to] = statement;
  }

  /** As the merge has them: by key, then newest first, of one transaction the delete, then the later statement first. */
  compare(a: number, b: number): number {
    const byKey = compareOrdered(this.keys, a, this.keys, b);
    if (byKey !== 0) return byKey;
    const { currentHalves: current, operations } = this;
    const byTime = current[2 * b + 1] - current[2 * a + 1] || (current[2 * b] >>> 0) - (current[2 * a] >>> 0);
    if (byTime !== 0) return byTime;
    const deletes = Number(operations[b] === OPERATION.delete) - Number(operations[a] === OPERATION.delete);
    return deletes || this.statementIds[b] - this.statementIds[a];
  }
}

function sortedBatch(parts: readonly Part[]): EventBatch | undefined {
  const batches = parts.flatMap((part) => part.batches);
  const isValid = ({ valid }: EventBatch, i: number) => valid === undefined || valid[i] !== 0;
  let length = 0;
  for (const batch of batches) for (let i = 0; i < batch.keys.length; i++) if (isValid(batch, i)) length++;
  if (length === 0) return undefined;
  const events = new Events(length);
  const starts: number[] = [];
  let at = 0;
  for (const part of parts) {
    starts.push(at);
    for (const batch of part.batches) {
      for (let i = 0; i < batch.keys.length; i++) if (isValid(batch, i)) events.set(at++, batch, i, batch.statementId);
    }
  }
  const order = mergedOrder(events, [...starts, length]);
  const sorted = new Events(length);
  for (let i = 0; i < length; i++) sorted.set(i, events, order[i], events.statementIds[order[i]]);
  return {
    path: batches.map(({ path }) => path)[0],
    keys: sorted.keys,
    isStrict: ascent(sorted.keys) === 1,
    isDeletes: sorted.operations.every((operation) => operation === OPERATION.delete),
    operations: sorted.operations,
    currentWriteIds: sorted.currentWriteIds,
    statementId: 0,
    valid: undefined,
    row: emptyStruct(length),
  };
}

/** The places of events in order; those between two of `bounds` are in order already. */
function mergedOrder(events: Events, bounds: readonly number[]): Int32Array {
  let from = Int32Array.from({ length: events.length }, (_, i) => i);
  let to = new Int32Array(events.length);
  for (let left = [...bounds]; left.length > 2; ) {
    const next = [0];
    for (let i = 0; i + 1 < left.length; i += 2) {
      const end = left[i + 2] ?? left[i + 1];
      mergeTwo(events, from, to, left[i], left[i + 1], end);
      next.push(end);
    }
    [from, to] = [to, from];
    left = next;
  }
  return from;
}

/** Merges [start, middle) and [middle, end): of equals the first part's come first. */
function mergeTwo(events: Events, from: Int32Array, to: Int32Array, start: number, middle: number, end: number): void {
  let [a, b] = [start, middle];
  for (let at = start; at < end; at++) {
    const isFirst = b >= end || (a < middle && events.compare(from[a], from[b]) <= 0);
    to[at] = isFirst ? from[a++] : from[b++];
  }
}
