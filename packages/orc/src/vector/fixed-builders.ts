import { InvalidValueError } from '../errors.js';
import type { ColumnVector } from '../vector.js';
import { bitmapBytes, setBit } from './bitmap.js';

/** Builds one column; `build` hands the vector out and starts anew. */
export interface ColumnBuilder {
  readonly length: number;
  append(value: unknown): void;
  build(): ColumnVector;
}

const INITIAL_ROWS = 16;

/** Length and NULLs, which every column has. */
export class RowCounter {
  length = 0;
  private bitmap = new Uint8Array(bitmapBytes(INITIAL_ROWS));
  private nulls = 0;

  /** Counts a row; answers its number. */
  add(valid: boolean): number {
    const row = this.length++;
    if (bitmapBytes(this.length) > this.bitmap.length) {
      const grown = new Uint8Array(this.bitmap.length * 2);
      grown.set(this.bitmap);
      this.bitmap = grown;
    }
    if (valid) setBit(this.bitmap, row);
    else this.nulls++;
    return row;
  }

  /** The part of a vector that all kinds have; starts anew. */
  take(): { length: number; validity?: Uint8Array } {
    const { length, nulls, bitmap } = this;
    this.length = 0;
    this.nulls = 0;
    this.bitmap = new Uint8Array(bitmapBytes(INITIAL_ROWS));
    return nulls === 0 ? { length } : { length, validity: bitmap.subarray(0, bitmapBytes(length)) };
  }
}

type NumberKind = 'boolean' | 'byte' | 'short' | 'int' | 'date' | 'long' | 'float' | 'double';
type NumberArray = Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

export function numberBuilder(kind: NumberKind): ColumnBuilder {
  switch (kind) {
    case 'boolean':
      return new NumberBuilder(kind, (size) => new Uint8Array(size), booleanValue);
    case 'byte':
      return new NumberBuilder(kind, (size) => new Int8Array(size), integerValue('tinyint', 7));
    case 'short':
      return new NumberBuilder(kind, (size) => new Int16Array(size), integerValue('smallint', 15));
    case 'int':
      return new NumberBuilder(kind, (size) => new Int32Array(size), integerValue('int', 31));
    case 'date':
      return new NumberBuilder(kind, (size) => new Int32Array(size), integerValue('date', 31));
    case 'long':
      return new NumberBuilder(kind, (size) => new BigInt64Array(size), longValue);
    case 'float':
      return new NumberBuilder(kind, (size) => new Float32Array(size), numberValue);
    case 'double':
      return new NumberBuilder(kind, (size) => new Float64Array(size), numberValue);
  }
}

/** Columns of one number a row. */
class NumberBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private values: NumberArray;

  constructor(
    private readonly kind: NumberKind,
    private readonly allocate: (size: number) => NumberArray,
    private readonly convert: (value: unknown) => number | bigint,
  ) {
    this.values = allocate(INITIAL_ROWS);
  }

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    const stored = isNull ? undefined : this.convert(value);
    const row = this.rows.add(!isNull);
    if (row === this.values.length) {
      const grown = this.allocate(row * 2);
      (grown as Int32Array).set(this.values as Int32Array);
      this.values = grown;
    }
    if (stored !== undefined) (this.values as { [row: number]: number | bigint })[row] = stored;
  }

  build(): ColumnVector {
    const base = this.rows.take();
    const values = this.values.subarray(0, base.length);
    this.values = this.allocate(INITIAL_ROWS);
    // The array's class belongs to the kind: see numberBuilder.
    return { ...base, kind: this.kind, values } as ColumnVector;
  }
}

function booleanValue(value: unknown): number {
  if (typeof value !== 'boolean') throw new InvalidValueError(value, 'boolean');
  return value ? 1 : 0;
}

function integerValue(type: string, bits: number): (value: unknown) => number {
  const limit = 2 ** bits;
  return (value) => {
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < -limit || number >= limit) {
      throw new InvalidValueError(value, type);
    }
    return number;
  };
}

function longValue(value: unknown): bigint {
  const long = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof long !== 'bigint' || BigInt.asIntN(64, long) !== long) throw new InvalidValueError(value, 'bigint');
  return long;
}

function numberValue(value: unknown): number {
  if (typeof value !== 'number') throw new InvalidValueError(value, 'a floating point type');
  return value;
}
