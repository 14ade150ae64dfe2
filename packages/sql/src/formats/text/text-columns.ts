import { type AppendableValue, type ColumnVector, setBit, type TypeDescription, vectorOf } from '@skep/orc';

/** Collects the values of a column from the bytes of a text file. */
export interface TextColumn {
  readonly length: number;
  /** The value that bytes[start, end) stand for; NULL, and the answer false, where they stand for none. */
  append(bytes: Uint8Array, start: number, end: number): boolean;
  appendNull(): void;
  /** Takes back the last value. */
  dropLast(): void;
  /** The vector of what was appended since the last build. */
  build(): ColumnVector;
}

/** Bits that grow; all set until the first NULL. */
class Validity {
  private bits: Uint8Array | undefined;

  setNull(row: number): void {
    this.bits ??= new Uint8Array(0);
    if (row >> 3 >= this.bits.length) {
      const grown = new Uint8Array(Math.max(1024, this.bits.length * 2, (row >> 3) + 1)).fill(0xff);
      grown.set(this.bits);
      this.bits = grown;
    }
    this.bits[row >> 3] &= ~(1 << (row & 7));
  }

  /** A row that was dropped has a value again. */
  clear(row: number): void {
    if (this.bits !== undefined && row >> 3 < this.bits.length) setBit(this.bits, row);
  }

  take(length: number): Uint8Array | undefined {
    const { bits } = this;
    this.bits = undefined;
    if (bits === undefined) return undefined;
    const out = new Uint8Array((length + 7) >> 3).fill(0xff);
    out.set(bits.subarray(0, out.length));
    return out;
  }
}

/**
 * The number that digits with a sign stand for, a fraction cut off; NaN for anything else, blanks too, and above 2^53
 * (LazyInteger.parseInt).
 */
function parseInteger(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  let at = first === 0x2d || first === 0x2b ? start + 1 : start;
  if (at >= end) return Number.NaN;
  let value = 0;
  for (; at < end; at++) {
    const digit = bytes[at] - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    if (value > Number.MAX_SAFE_INTEGER) return Number.NaN;
  }
  if (at < end && !isFraction(bytes, at, end)) return Number.NaN;
  return first === 0x2d && value !== 0 ? -value : value;
}

/** A point and digits; not a point and nothing else. */
function isFraction(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== 0x2e) return false;
  for (let at = start + 1; at < end; at++) if (bytes[at] < 0x30 || bytes[at] > 0x39) return false;
  const before = bytes[start - 1];
  return end - start > 1 || (before >= 0x30 && before <= 0x39);
}

const RANGES = { byte: 0x80, short: 0x8000, int: 0x8000_0000 } as const;

export class IntegerColumn implements TextColumn {
  length = 0;
  private values = new Int32Array(1024);
  private readonly validity = new Validity();

  constructor(private readonly kind: 'byte' | 'short' | 'int') {}

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const value = parseInteger(bytes, start, end);
    const range = RANGES[this.kind];
    if (!(value >= -range && value < range)) {
      this.appendNull();
      return false;
    }
    this.put(value);
    return true;
  }

  appendNull(): void {
    this.validity.setNull(this.length);
    this.put(0);
  }

  dropLast(): void {
    this.validity.clear(--this.length);
  }

  build(): ColumnVector {
    const { kind, length } = this;
    const values = this.values.subarray(0, length);
    const validity = this.validity.take(length);
    this.length = 0;
    switch (kind) {
      case 'byte':
        return { kind, length, validity, values: Int8Array.from(values) };
      case 'short':
        return { kind, length, validity, values: Int16Array.from(values) };
      case 'int':
        return { kind, length, validity, values: values.slice() };
    }
  }

  private put(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }
}

const LATIN = new TextDecoder('latin1');
const longMinimum = -(1n << 63n);
const longMaximum = (1n << 63n) - 1n;

export class LongColumn implements TextColumn {
  length = 0;
  private values = new BigInt64Array(512);
  private halves = new Int32Array(this.values.buffer);
  private readonly validity = new Validity();

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const value = parseInteger(bytes, start, end);
    if (!Number.isNaN(value)) {
      this.reserve();
      // As two halves: a BigInt would be an allocation a value.
      const high = Math.floor(value / 0x1_0000_0000);
      this.halves[2 * this.length] = value - high * 0x1_0000_0000;
      this.halves[2 * this.length + 1] = high;
      this.length++;
      return true;
    }
    const text = LATIN.decode(bytes.subarray(start, end));
    const digits = /^\+?(-?\d+)(?:\.\d*)?$/.exec(text)?.[1];
    const big = digits === undefined ? undefined : BigInt(digits);
    if (big === undefined || big < longMinimum || big > longMaximum) {
      this.appendNull();
      return false;
    }
    this.reserve();
    this.values[this.length++] = big;
    return true;
  }

  appendNull(): void {
    this.reserve();
    this.validity.setNull(this.length);
    this.values[this.length++] = 0n;
  }

  dropLast(): void {
    this.validity.clear(--this.length);
  }

  build(): ColumnVector {
    const { length } = this;
    const validity = this.validity.take(length);
    this.length = 0;
    return { kind: 'long', length, validity, values: this.values.slice(0, length) };
  }

  private reserve(): void {
    if (this.length < this.values.length) return;
    const grown = new BigInt64Array(this.length * 2);
    grown.set(this.values);
    this.values = grown;
    this.halves = new Int32Array(grown.buffer);
  }
}

/** string, varchar and char; characters beyond the type's length are cut off. */
export class StringColumn implements TextColumn {
  length = 0;
  private bytes = new Uint8Array(4096);
  private offsets = new Int32Array(1025);
  private readonly validity = new Validity();

  constructor(
    private readonly kind: 'string' | 'char' | 'varchar',
    private readonly maximumLength: number | undefined,
    private readonly escapeByte: number | undefined,
  ) {}

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.offsets[this.length];
    this.reserveBytes(from + end - start);
    let to =
      this.escapeByte === undefined ? this.copy(bytes, start, end, from) : this.unescape(bytes, start, end, from);
    if (this.maximumLength !== undefined) to = this.cut(from, to, this.maximumLength);
    if (this.kind === 'char') while (to > from && this.bytes[to - 1] === 0x20) to--;
    this.put(to);
    return true;
  }

  appendNull(): void {
    this.validity.setNull(this.length);
    this.put(this.offsets[this.length]);
  }

  dropLast(): void {
    this.validity.clear(--this.length);
  }

  build(): ColumnVector {
    const { kind, length } = this;
    const validity = this.validity.take(length);
    const offsets = this.offsets.slice(0, length + 1);
    this.length = 0;
    return { kind, length, validity, bytes: this.bytes.slice(0, offsets[length]), offsets };
  }

  private copy(bytes: Uint8Array, start: number, end: number, to: number): number {
    // Calls of set cost some 100 ns each.
    if (end - start > 48) this.bytes.set(bytes.subarray(start, end), to);
    else for (let i = start, j = to; i < end; i++, j++) this.bytes[j] = bytes[i];
    return to + end - start;
  }

  /** LazyUtils.copyAndEscapeStringDataToText: an escaped r or n stands for the line's end. */
  private unescape(bytes: Uint8Array, start: number, end: number, to: number): number {
    let out = to;
    for (let i = start; i < end; i++) {
      let byte = bytes[i];
      if (byte === this.escapeByte && i < end - 1) {
        byte = bytes[++i];
        if (byte === 0x72) byte = 0x0d;
        else if (byte === 0x6e) byte = 0x0a;
      }
      this.bytes[out++] = byte;
    }
    return out;
  }

  /** The end of the first characters: bytes 10xxxxxx go on with the one before. */
  private cut(from: number, to: number, characters: number): number {
    if (to - from <= characters) return to;
    let count = 0;
    for (let at = from; at < to; at++) {
      if ((this.bytes[at] & 0xc0) !== 0x80 && ++count > characters) return at;
    }
    return to;
  }

  private put(to: number): void {
    if (this.length + 1 === this.offsets.length) {
      const grown = new Int32Array(this.offsets.length * 2);
      grown.set(this.offsets);
      this.offsets = grown;
    }
    this.offsets[++this.length] = to;
  }

  private reserveBytes(size: number): void {
    if (size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(size, this.bytes.length * 2));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}

/** Any other type, by way of its text. */
export class ParsedColumn implements TextColumn {
  private values: AppendableValue[] = [];

  constructor(
    private readonly type: TypeDescription,
    private readonly parse: (bytes: Uint8Array) => AppendableValue,
  ) {}

  get length(): number {
    return this.values.length;
  }

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const value = this.parse(bytes.subarray(start, end)) ?? null;
    this.values.push(value);
    return value !== null;
  }

  appendNull(): void {
    this.values.push(null);
  }

  dropLast(): void {
    this.values.pop();
  }

  build(): ColumnVector {
    const vector = vectorOf(this.type, this.values);
    this.values = [];
    return vector;
  }
}
