import { ByteCursor } from './byte-cursor.js';

const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const NOTHING = new Int32Array(0);
/** By the low three bits of encoded nanoseconds: what the digits are multiplied with, and how large they may be. */
const NANO_FACTORS = Int32Array.from({ length: 8 }, (_, zeros) => (zeros === 0 ? 1 : 10 ** (zeros + 1)));
const MOST_DIGITS = NANO_FACTORS.map((factor) => Math.floor(999_999_999 / factor));

/**
 * What the integer run length encodings share: a run is decoded into a small buffer, the read methods hand it out.
 * A run is `narrow` when each value fits an int32 (then in `ints`), else it is in `pairs` (low, high halves).
 * Host byte order must be little endian, as everywhere in this package.
 */
export abstract class IntegerDecoder {
  protected readonly input: ByteCursor;
  protected ints: Int32Array = NOTHING;
  protected pairs: Int32Array = NOTHING;
  protected narrow = true;
  protected runLength = 0;
  protected used = 0;

  constructor(
    bytes: Uint8Array,
    position: number,
    protected readonly signed: boolean,
    private readonly maximumRun: number,
    name: string,
  ) {
    this.input = new ByteCursor(bytes, position, name);
  }

  /** Decodes the next run: sets narrow, runLength (at least 1) and the values. */
  protected abstract decodeRun(): void;

  /** Decodes the next run straight into out[at, …) when it has at most `room` int32 values: how many; 0: not possible. */
  protected straightInts(_out: Int32Array, _at: number, _room: number): number {
    return 0;
  }

  /** As straightInts, into halves from out[2 at] on. */
  protected straightLongs(_out: Int32Array, _at: number, _room: number): number {
    return 0;
  }

  /** Fills out[from, from + count). A value outside int32 is corruption: the column's type or a length says so. */
  readInts(out: Int32Array, from: number, count: number): void {
    for (let at = from, left = count; left > 0; ) {
      if (this.used === this.runLength) {
        const straight = this.straightInts(out, at, left);
        if (straight > 0) {
          at += straight;
          left -= straight;
          continue;
        }
      }
      const taken = this.available(left);
      const start = this.used;
      if (this.narrow) {
        const { ints } = this;
        for (let i = 0; i < taken; i++) out[at + i] = ints[start + i];
      } else {
        const { pairs } = this;
        for (let i = 0, p = start * 2; i < taken; i++, p += 2) {
          const lo = pairs[p];
          if (pairs[p + 1] !== lo >> 31) throw this.input.corrupt('a value does not fit 32 bits');
          out[at + i] = lo;
        }
      }
      at += taken;
      left -= taken;
      this.used += taken;
    }
  }

  /** Fills out[from, from + count) with lengths: as readInts, and a negative one is corruption too. */
  readLengths(out: Int32Array, from: number, count: number): void {
    this.readInts(out, from, count);
    let signs = 0;
    for (let i = from; i < from + count; i++) signs |= out[i];
    if (signs < 0) throw this.input.corrupt('a length is negative');
  }

  readLongs(out: BigInt64Array, from: number, count: number): void {
    const halves = new Int32Array(out.buffer, out.byteOffset, out.length * 2);
    for (let at = from * 2, left = count; left > 0; ) {
      if (this.used === this.runLength) {
        const straight = this.straightLongs(halves, at >>> 1, left);
        if (straight > 0) {
          at += straight * 2;
          left -= straight;
          continue;
        }
      }
      const taken = this.available(left);
      const start = this.used;
      if (this.narrow) {
        const { ints } = this;
        for (let i = start; i < start + taken; i++) {
          const value = ints[i];
          halves[at++] = value;
          halves[at++] = value >> 31;
        }
      } else {
        const { pairs } = this;
        for (let p = start * 2, stop = p + taken * 2; p < stop; p++) halves[at++] = pairs[p];
      }
      left -= taken;
      this.used += taken;
    }
  }

  /**
   * Nanoseconds of a timestamp's SECONDARY stream (spec: "Timestamp columns"): the low three bits, when not 0, are the
   * number of trailing decimal zeros taken off, less one.
   */
  readNanos(out: Int32Array, from: number, count: number): void {
    for (let at = from, left = count; left > 0; ) {
      if (this.used === this.runLength) {
        const straight = this.straightInts(out, at, left);
        if (straight > 0) {
          this.narrowNanos(out, at, straight);
          at += straight;
          left -= straight;
          continue;
        }
      }
      const taken = this.available(left);
      const start = this.used;
      const { narrow, ints, pairs } = this;
      for (let i = start; i < start + taken; i++) {
        const lo = narrow ? ints[i] : pairs[2 * i];
        const hi = narrow ? lo >> 31 : pairs[2 * i + 1];
        const zeros = lo & 7;
        const digits = hi * 0x20000000 + (lo >>> 3);
        const nanos = zeros === 0 ? digits : digits * POWERS_OF_TEN[zeros + 1];
        if (!(nanos >= 0 && nanos <= 999_999_999)) throw this.input.corrupt('nanoseconds are out of range');
        out[at++] = nanos;
      }
      left -= taken;
      this.used += taken;
    }
  }

  /** As readNanos, of values in place; there are fewer digits than zeros leave room for. */
  private narrowNanos(out: Int32Array, from: number, count: number): void {
    let excess = 0;
    for (let i = from; i < from + count; i++) {
      const zeros = out[i] & 7;
      const digits = out[i] >>> 3;
      excess |= MOST_DIGITS[zeros] - digits;
      out[i] = Math.imul(digits, NANO_FACTORS[zeros]);
    }
    if (excess < 0) throw this.input.corrupt('nanoseconds are out of range');
  }

  skip(count: number): void {
    for (let left = count; left > 0; ) {
      const taken = this.available(left);
      left -= taken;
      this.used += taken;
    }
  }

  /** How many of `wanted` the run at hand can give (from `used` on); decodes the next run when it is used up. */
  private available(wanted: number): number {
    if (this.used === this.runLength) {
      if (this.pairs === NOTHING) this.makeRoom();
      this.decodeRun();
      this.used = 0;
    }
    return Math.min(wanted, this.runLength - this.used);
  }

  /** For a run. Streams that are decoded straight into vectors need none, and small files have many of them. */
  private makeRoom(): void {
    const { maximumRun } = this;
    const memory = new ArrayBuffer(maximumRun * 12);
    this.ints = new Int32Array(memory, 0, maximumRun);
    this.pairs = new Int32Array(memory, maximumRun * 4);
  }
}
