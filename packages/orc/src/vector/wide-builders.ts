import { InvalidValueError } from '../errors.js';
import type { ColumnVector } from '../vector.js';
import { type ColumnBuilder, RowCounter } from './fixed-builders.js';

const UTF8 = new TextEncoder();
const INITIAL_ROWS = 16;
const INITIAL_BYTES = 256;
const MAXIMUM_BYTES = 0x7fffffff;

/** Text and binary columns. */
export class BytesBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private offsets = new Int32Array(INITIAL_ROWS + 1);
  private bytes = new Uint8Array(INITIAL_BYTES);

  constructor(private readonly kind: 'string' | 'char' | 'varchar' | 'binary') {}

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    if (!isNull && (this.kind === 'binary' || typeof value !== 'string') && !(value instanceof Uint8Array)) {
      throw new InvalidValueError(value, this.kind);
    }
    const row = this.rows.add(!isNull);
    if (row + 2 > this.offsets.length) {
      const grown = new Int32Array(this.offsets.length * 2);
      grown.set(this.offsets);
      this.offsets = grown;
    }
    const at = this.offsets[row];
    let end = at;
    if (typeof value === 'string') {
      this.reserve(at, value.length * 3);
      end += UTF8.encodeInto(value, this.bytes.subarray(at)).written;
    } else if (value instanceof Uint8Array) {
      this.reserve(at, value.length);
      this.bytes.set(value, at);
      end += value.length;
    }
    this.offsets[row + 1] = end;
  }

  build(): ColumnVector {
    const base = this.rows.take();
    const offsets = this.offsets.subarray(0, base.length + 1);
    const bytes = this.bytes.subarray(0, offsets[base.length]);
    this.offsets = new Int32Array(INITIAL_ROWS + 1);
    this.bytes = new Uint8Array(INITIAL_BYTES);
    return { ...base, kind: this.kind, bytes, offsets };
  }

  private reserve(at: number, more: number): void {
    const needed = at + more;
    if (needed <= this.bytes.length) return;
    if (needed > MAXIMUM_BYTES)
      throw new InvalidValueError(`${needed} bytes`, this.kind, 'a vector holds at most 2 GiB');
    const grown = new Uint8Array(Math.max(needed, Math.min(this.bytes.length * 2, MAXIMUM_BYTES)));
    grown.set(this.bytes.subarray(0, at));
    this.bytes = grown;
  }
}

/** Timestamps, local and instant. */
export class TimestampBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private seconds = new BigInt64Array(INITIAL_ROWS);
  private nanos = new Int32Array(INITIAL_ROWS);

  constructor(private readonly kind: 'timestamp' | 'timestamp_instant') {}

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    const { seconds, nanos } = isNull ? { seconds: 0n, nanos: 0 } : timestampParts(value, this.kind);
    const row = this.rows.add(!isNull);
    if (row === this.nanos.length) {
      const grownSeconds = new BigInt64Array(row * 2);
      grownSeconds.set(this.seconds);
      this.seconds = grownSeconds;
      const grownNanos = new Int32Array(row * 2);
      grownNanos.set(this.nanos);
      this.nanos = grownNanos;
    }
    this.seconds[row] = seconds;
    this.nanos[row] = nanos;
  }

  build(): ColumnVector {
    const base = this.rows.take();
    const seconds = this.seconds.subarray(0, base.length);
    const nanos = this.nanos.subarray(0, base.length);
    this.seconds = new BigInt64Array(INITIAL_ROWS);
    this.nanos = new Int32Array(INITIAL_ROWS);
    return { ...base, kind: this.kind, seconds, nanos };
  }
}

function timestampParts(value: unknown, kind: string): { seconds: bigint; nanos: number } {
  const { seconds, nanos } = value as { seconds?: unknown; nanos?: unknown };
  if (
    typeof seconds !== 'bigint' ||
    BigInt.asIntN(64, seconds) !== seconds ||
    typeof nanos !== 'number' ||
    !Number.isInteger(nanos) ||
    nanos < 0 ||
    nanos > 999_999_999
  ) {
    throw new InvalidValueError(value, kind, 'seconds as bigint and nanos from 0 to 999,999,999 are needed');
  }
  return { seconds, nanos };
}

/** Decimals; a value of another scale is taken when no digit is lost. */
export class DecimalBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private words = new BigInt64Array(INITIAL_ROWS * 2);
  private readonly limit: bigint;

  constructor(
    private readonly precision: number,
    private readonly scale: number,
  ) {
    this.limit = 10n ** BigInt(precision);
  }

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    const unscaled = isNull ? 0n : this.rescale(value);
    const row = this.rows.add(!isNull);
    if (row * 2 === this.words.length) {
      const grown = new BigInt64Array(row * 4);
      grown.set(this.words);
      this.words = grown;
    }
    this.words[row * 2] = BigInt.asIntN(64, unscaled);
    this.words[row * 2 + 1] = unscaled >> 64n;
  }

  build(): ColumnVector {
    const base = this.rows.take();
    const words = this.words.subarray(0, base.length * 2);
    this.words = new BigInt64Array(INITIAL_ROWS * 2);
    return { ...base, kind: 'decimal', precision: this.precision, scale: this.scale, words };
  }

  private rescale(value: unknown): bigint {
    const { unscaled, scale } = value as { unscaled?: unknown; scale?: unknown };
    const type = `decimal(${this.precision},${this.scale})`;
    if (typeof unscaled !== 'bigint' || typeof scale !== 'number' || !(Math.abs(scale) <= 1000)) {
      throw new InvalidValueError(value, type, 'unscaled as bigint and scale are needed');
    }
    const factor = 10n ** BigInt(Math.abs(this.scale - scale));
    const rescaled = scale <= this.scale ? unscaled * factor : unscaled / factor;
    if (scale > this.scale && rescaled * factor !== unscaled)
      throw new InvalidValueError(value, type, 'digits are lost');
    if (rescaled >= this.limit || rescaled <= -this.limit)
      throw new InvalidValueError(unscaled, type, 'too many digits');
    return rescaled;
  }
}
