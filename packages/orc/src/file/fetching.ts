import { setImmediate as nextTurn } from 'node:timers/promises';
import { BugError, type ByteSource, CorruptFileError } from '@skep/core';
import { InvalidReadError } from '../errors.js';

/** Bytes [start, end) of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A computation that needs bytes of a file and does no I/O itself: it yields the ranges it needs and is resumed with
 * their bytes, in order. One computation serves sources that answer at once and those that answer later.
 */
export type Fetching<T> = Generator<readonly ByteRange[], T, readonly Uint8Array[]>;

/** A Fetching that also hands out items on the way, and computes ahead (and is then resumed with nothing). */
export type FetchingItems<Item, T = void> = Generator<
  readonly ByteRange[] | Item | AheadStep,
  T,
  readonly Uint8Array[]
>;

/** A computation whose bytes are on their way while something else is done. */
export interface Ahead<T> {
  readonly computation: Fetching<T>;
  running?: Promise<void>;
  outcome?: { readonly value: T } | { readonly error: unknown };
}

class AheadStep {
  constructor(
    readonly ahead: Ahead<unknown>,
    readonly wait: boolean,
  ) {}
}

/** Begins a computation ahead where the source answers later; where it answers at once it is run by `finish`. */
export function* begin<T>(computation: Fetching<T>): Generator<AheadStep, Ahead<T>, readonly Uint8Array[]> {
  const ahead: Ahead<T> = { computation };
  yield new AheadStep(ahead as Ahead<unknown>, false);
  return ahead;
}

/** The value of a computation that was begun. */
export function* finish<T>(ahead: Ahead<T>): Generator<AheadStep, T, readonly Uint8Array[]> {
  yield new AheadStep(ahead as Ahead<unknown>, true);
  const { outcome } = ahead;
  if (outcome === undefined) throw new BugError('a computation ahead was not run');
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** A source that counts what was read from it. */
export class MeteredSource {
  bytesRead = 0;
  /** The file's last bytes, which opening it has read: small files are not read again. */
  private tail: Uint8Array = new Uint8Array(0);
  /** Whether the last bytes had to be waited for: then it is worth asking for the next ones early. */
  answersLater = false;
  constructor(readonly source: ByteSource) {}

  keepTail(bytes: Uint8Array): void {
    this.tail = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  readSync(range: ByteRange): Uint8Array {
    const kept = this.kept(range);
    if (kept !== undefined) return kept;
    const bytes = this.source.slice(range.start, range.end);
    if (!(bytes instanceof Uint8Array)) {
      throw new InvalidReadError(`${this.source.path} cannot be read without waiting: its source answers later`);
    }
    return this.checked(range, bytes);
  }

  async read(range: ByteRange): Promise<Uint8Array> {
    const kept = this.kept(range);
    if (kept !== undefined) return kept;
    const bytes = this.source.slice(range.start, range.end);
    this.answersLater = !(bytes instanceof Uint8Array);
    return this.checked(range, await bytes);
  }

  private kept({ start, end }: ByteRange): Uint8Array | undefined {
    const first = this.source.size - this.tail.length;
    return this.tail.length > 0 && start >= first ? this.tail.subarray(start - first, end - first) : undefined;
  }

  private checked(range: ByteRange, bytes: Uint8Array): Uint8Array {
    const wanted = range.end - range.start;
    if (bytes.length !== wanted) {
      throw new CorruptFileError(
        this.source.path,
        range.start,
        `${bytes.length} bytes were read where ${wanted} should be`,
      );
    }
    this.bytesRead += wanted;
    return plainBytes(bytes);
  }
}

/** Runs a computation on a source that answers at once. */
export function fetchSync<T>(source: MeteredSource, computation: Fetching<T>): T {
  let step = computation.next();
  while (!step.done) step = computation.next(step.value.map((range) => source.readSync(range)));
  return step.value;
}

export async function fetchAsync<T>(source: MeteredSource, computation: Fetching<T>): Promise<T> {
  let step = computation.next();
  while (!step.done) step = computation.next(await Promise.all(step.value.map((range) => source.read(range))));
  return step.value;
}

export function* itemsSync<Item extends object>(source: MeteredSource, items: FetchingItems<Item>): Generator<Item> {
  try {
    let step = items.next();
    while (!step.done) {
      if (isRanges(step.value)) step = items.next(step.value.map((range) => source.readSync(range)));
      else {
        if (!(step.value instanceof AheadStep)) yield step.value;
        else if (step.value.wait) runSync(source, step.value.ahead);
        step = items.next([]);
      }
    }
  } finally {
    items.return();
  }
}

function runSync(source: MeteredSource, ahead: Ahead<unknown>): void {
  try {
    ahead.outcome = { value: fetchSync(source, ahead.computation) };
  } catch (error) {
    ahead.outcome = { error };
  }
}

/** Of computations ahead, at most the one that was begun last is on its way; it ends before the items do. */
export async function* itemsAsync<Item extends object>(
  source: MeteredSource,
  items: FetchingItems<Item>,
): AsyncGenerator<Item> {
  let running: Promise<void> | undefined;
  try {
    let step = items.next();
    while (!step.done) {
      if (isRanges(step.value)) {
        step = items.next(await Promise.all(step.value.map((range) => source.read(range))));
      } else if (step.value instanceof AheadStep) {
        const { ahead, wait } = step.value;
        if (wait || source.answersLater) running = ahead.running ??= runAsync(source, ahead);
        if (wait) {
          await running;
          // A source that has its bytes at hand would never let others run.
          await nextTurn();
        }
        step = items.next([]);
      } else {
        yield step.value;
        step = items.next([]);
      }
    }
  } finally {
    items.return();
    await running;
  }
}

async function runAsync(source: MeteredSource, ahead: Ahead<unknown>): Promise<void> {
  try {
    ahead.outcome = { value: await fetchAsync(source, ahead.computation) };
  } catch (error) {
    ahead.outcome = { error };
  }
}

function isRanges(value: object): value is readonly ByteRange[] {
  return Array.isArray(value);
}

/**
 * Fetches many ranges with few requests: ranges that touch, or are less than `gap` bytes apart, are read together.
 * Answers the bytes of each range, in order.
 */
export function* fetchRanges(ranges: readonly ByteRange[], gap: number): Fetching<Uint8Array[]> {
  const wanted = ranges.map((range, index) => ({ range, index })).filter(({ range }) => range.end > range.start);
  wanted.sort((a, b) => a.range.start - b.range.start);
  const merged: { start: number; end: number }[] = [];
  for (const { range } of wanted) {
    const last = merged[merged.length - 1];
    if (last !== undefined && range.start <= last.end + gap) last.end = Math.max(last.end, range.end);
    else merged.push({ start: range.start, end: range.end });
  }
  const answers = merged.length === 0 ? [] : yield merged;
  const out: Uint8Array[] = ranges.map(() => new Uint8Array(0));
  let at = 0;
  for (const { range, index } of wanted) {
    while (merged[at].end < range.end) at++;
    out[index] = answers[at].subarray(range.start - merged[at].start, range.end - merged[at].start);
  }
  return out;
}

/** A Buffer (whose slice is a view, and which tests tell from a Uint8Array) as what it is made of. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  if (Object.getPrototypeOf(bytes) === Uint8Array.prototype) return bytes;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
