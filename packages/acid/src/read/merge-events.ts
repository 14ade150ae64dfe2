import type { FileSystem } from '@skep/storage';
import { OPERATION } from './acid-schema.js';
import { type EventBatch, EventCursor, type EventCursorOptions } from './event-cursor.js';
import { compareOrdered, type OrderedKeys } from './key-runs.js';
import type { EventFile } from './scan-types.js';
import { type MergeCursor, SortedEvents } from './sorted-events.js';
import type { Ask, Steps } from './steps.js';
import type { StripeOffer } from './stripe-offer.js';

/** Events [start, end) of a batch that follow each other in the merged order. */
export interface EventRun {
  readonly batch: EventBatch;
  readonly start: number;
  readonly end: number;
}

interface MergeOptions extends EventCursorOptions {
  readonly keep: 'newest' | 'all';
  /** Deletes are not handed out. */
  readonly withoutDeletes?: boolean;
  /** So many deletes of delete deltas at most are put in order before the merge: else they are merged file by file. */
  readonly deletesAhead?: number;
}

/**
 * Merges files of events (OrcRawRecordMerger): by writeId, bucket, rowId ascending, the events of one key newest first.
 * `newest` keeps the first of each key; `all` keeps everything. Events of writes that are not valid are left out. One batch
 * of each file is in memory.
 */
export function mergeEvents(
  fs: FileSystem,
  files: readonly EventFile[],
  options: Omit<MergeOptions, 'stripes'>,
): Steps<EventRun> {
  return mergeStripes(fs, files, options) as Steps<EventRun>;
}

/**
 * As mergeEvents, but where `stripes` says so a stripe comes as it is, if no other file has a key between its first and its
 * last: neither rows that would come in between, nor deletes of its rows.
 */
export function* mergeStripes(
  fs: FileSystem,
  files: readonly EventFile[],
  options: MergeOptions,
): Steps<EventRun | StripeOffer> {
  const cursors: EventCursor[] = [];
  try {
    for (const file of files) cursors.push(yield* EventCursor.open(fs, file, options));
    const merged = yield* deletesAhead(files, cursors, options.deletesAhead ?? 0);
    const heap = new CursorHeap(merged.filter(({ keys }) => keys !== undefined));
    let lastKey: { keys: OrderedKeys; at: number } | undefined;
    for (let top = heap.top; top !== undefined; top = heap.top) {
      const { batch, offer, at } = top;
      if (offer !== undefined) {
        if (isAlone(offer, heap.second) && options.stripes?.takes(offer)) {
          yield offer;
          lastKey = { keys: offer.last, at: 0 };
          yield* top.skipOffer(offer);
        } else yield* top.readOffer(offer);
      } else {
        if (batch === undefined) break;
        const end = runEnd(top, batch, heap.second);
        const isDropped = batch.isDeletes && options.withoutDeletes === true;
        if (isDropped && batch.valid === undefined) lastKey = { keys: batch.keys, at: end - 1 };
        else {
          for (const run of validRuns(batch, at, end)) {
            const first = options.keep === 'newest' ? newestOnly(run, lastKey) : [run];
            for (const piece of first) {
              lastKey = { keys: batch.keys, at: piece.end - 1 };
              if (!isDropped) yield piece;
            }
          }
        }
        yield* top.advanceTo(end);
      }
      heap.settle();
    }
  } finally {
    for (const cursor of cursors) cursor.close();
  }
}

/** The cursors, with one in the place of those of delete deltas if these hold no more than `most` deletes. */
function* deletesAhead(
  files: readonly EventFile[],
  cursors: readonly EventCursor[],
  most: number,
): Generator<Ask, readonly MergeCursor[], unknown> {
  const isOfDeletes = (_: EventCursor, i: number) => files[i].isOfDeletes === true;
  const deletes = cursors.filter(isOfDeletes);
  const count = deletes.reduce((sum, { eventCount = Number.POSITIVE_INFINITY }) => sum + eventCount, 0);
  if (deletes.length < 2 || count > most) return cursors;
  return [...cursors.filter((cursor, i) => !isOfDeletes(cursor, i)), yield* SortedEvents.of(deletes)];
}

/** All other files go on behind the stripe. */
function isAlone({ last }: StripeOffer, second: MergeCursor | undefined): boolean {
  return second?.keys === undefined || compareOrdered(last, 0, second.keys, second.at) < 0;
}

/** How far the first cursor may go before the second one is due; at least one event. */
function runEnd(top: MergeCursor, batch: EventBatch, second: MergeCursor | undefined): number {
  const { length } = batch.keys;
  if (second?.keys === undefined) return length;
  const { keys } = second;
  // The whole batch comes first where its last key does: the usual case.
  if (compareOrdered(batch.keys, length - 1, keys, second.at) < 0) return length;
  // In growing steps, then by halves: few keys are looked at where runs are long. All before `low` are below.
  let low = top.at + 1;
  let high = length;
  for (let step = 1; low + step <= high; step *= 2) {
    if (compareOrdered(batch.keys, low + step - 1, keys, second.at) >= 0) high = low + step - 1;
    else low += step;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareOrdered(batch.keys, middle, keys, second.at) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Parts of the run without events of invalid writes. */
function validRuns(batch: EventBatch, start: number, end: number): Iterable<EventRun> {
  const { valid } = batch;
  return valid === undefined ? [{ batch, start, end }] : runsOfValid(batch, valid, start, end);
}

function* runsOfValid(batch: EventBatch, valid: Uint8Array, start: number, end: number): Generator<EventRun> {
  for (let at = start; at < end; ) {
    if (valid[at] === 0) {
      at++;
      continue;
    }
    let stop = at + 1;
    while (stop < end && valid[stop] !== 0) stop++;
    yield { batch, start: at, end: stop };
    at = stop;
  }
}

/** Parts of the run without further events of a key. */
function newestOnly(run: EventRun, last: { keys: OrderedKeys; at: number } | undefined): Iterable<EventRun> {
  const { batch, start, end } = run;
  if (batch.isStrict) {
    const isFirst = last === undefined || compareOrdered(last.keys, last.at, batch.keys, start) !== 0;
    if (isFirst) return [run];
    return start + 1 < end ? [{ batch, start: start + 1, end }] : [];
  }
  return severalNewest(run, last);
}

function* severalNewest(run: EventRun, last: { keys: OrderedKeys; at: number } | undefined): Generator<EventRun> {
  const { batch, start, end } = run;
  const isRepeated = (i: number) => {
    if (i > start) return compareOrdered(batch.keys, i - 1, batch.keys, i) === 0;
    return last !== undefined && compareOrdered(last.keys, last.at, batch.keys, i) === 0;
  };
  for (let at = start; at < end; ) {
    if (isRepeated(at)) {
      at++;
      continue;
    }
    let stop = at + 1;
    while (stop < end && !isRepeated(stop)) stop++;
    yield { batch, start: at, end: stop };
    at = stop;
  }
}

/** Parts of the run without events of an operation. */
export function runsWithout(run: EventRun, operation: number): Generator<EventRun> {
  return runsWhere(run, (i) => run.batch.operations[i] !== operation);
}

/** Parts of the run whose events are wanted. */
export function* runsWhere({ batch, start, end }: EventRun, isWanted: (row: number) => boolean): Generator<EventRun> {
  for (let at = start; at < end; ) {
    if (!isWanted(at)) {
      at++;
      continue;
    }
    let stop = at + 1;
    while (stop < end && isWanted(stop)) stop++;
    yield { batch, start: at, end: stop };
    at = stop;
  }
}

/**
 * The order of the merge: key, then newest first, of one transaction the delete, then the later statement first. A stripe that is
 * not read yet comes first: only its events tell.
 */
function compareEvents(a: MergeCursor, b: MergeCursor): number {
  if (a.keys === undefined || b.keys === undefined) return Number(a.keys === undefined) - Number(b.keys === undefined);
  const byKey = a.head.compare(b.head);
  if (byKey !== 0) return byKey;
  if (a.batch === undefined || b.batch === undefined)
    return Number(b.offer !== undefined) - Number(a.offer !== undefined);
  const [left, right] = [a.batch.currentWriteIds[a.at], b.batch.currentWriteIds[b.at]];
  if (left !== right) return left > right ? -1 : 1;
  const deletes =
    Number(b.batch.operations[b.at] === OPERATION.delete) - Number(a.batch.operations[a.at] === OPERATION.delete);
  return deletes !== 0 ? deletes : b.batch.statementId - a.batch.statementId;
}

/** A binary heap of cursors; only its top is ever changed. */
class CursorHeap {
  constructor(private readonly cursors: MergeCursor[]) {
    for (let i = (cursors.length >>> 1) - 1; i >= 0; i--) this.siftDown(i);
  }

  get top(): MergeCursor | undefined {
    return this.cursors[0];
  }

  /** The cursor that is due after the top. */
  get second(): MergeCursor | undefined {
    const [, left, right] = this.cursors;
    if (left === undefined || right === undefined) return left;
    return compareEvents(left, right) <= 0 ? left : right;
  }

  /** Puts the top where it belongs after it moved; drops it at its end. */
  settle(): void {
    if (this.cursors[0]?.keys === undefined) {
      const last = this.cursors.pop();
      if (last === undefined || this.cursors.length === 0) return;
      this.cursors[0] = last;
    }
    this.siftDown(0);
  }

  private siftDown(from: number): void {
    const { cursors } = this;
    for (let parent = from; ; ) {
      let smallest = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < cursors.length && compareEvents(cursors[child], cursors[smallest]) < 0) smallest = child;
      }
      if (smallest === parent) return;
      [cursors[parent], cursors[smallest]] = [cursors[smallest], cursors[parent]];
      parent = smallest;
    }
  }
}
