import type { ColumnVector, DecimalVector } from '../vector.js';
import { getBit } from './bitmap.js';

/** A timestamp: seconds since 1970-01-01 00:00:00 (floor) and nanoseconds 0..999,999,999. */
export interface TimestampValue {
  readonly seconds: bigint;
  readonly nanos: number;
}
/** unscaled × 10^-scale. */
export interface DecimalValue {
  readonly unscaled: bigint;
  readonly scale: number;
}
export interface UnionValue {
  readonly tag: number;
  readonly value: VectorValue;
}
/**
 * One value as JavaScript holds it: boolean; number for tinyint to int, float, double and date (days); bigint for bigint;
 * string for text; Uint8Array for binary; array for lists; array of [key, value] for maps; object for structs.
 */
export type VectorValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | TimestampValue
  | DecimalValue
  | UnionValue
  | VectorValue[]
  | { [field: string]: VectorValue };

const UTF8 = new TextDecoder();

export function isNull(vector: ColumnVector, row: number): boolean {
  return vector.validity !== undefined && !getBit(vector.validity, row);
}

/** The unscaled value of a row. */
export function decimalUnscaled(vector: DecimalVector, row: number): bigint {
  const high = vector.words[2 * row + 1];
  const low = vector.words[2 * row];
  return high === low >> 63n ? low : (high << 64n) | BigInt.asUintN(64, low);
}

/** The value of a row; what VectorBuilder.append takes. Bytes are a view of the vector's. */
export function vectorValue(vector: ColumnVector, row: number): VectorValue {
  if (isNull(vector, row)) return null;
  switch (vector.kind) {
    case 'boolean':
      return vector.values[row] !== 0;
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      return vector.values[row];
    case 'string':
    case 'char':
    case 'varchar':
      return UTF8.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
    case 'binary':
      return vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]);
    case 'timestamp':
    case 'timestamp_instant':
      return { seconds: vector.seconds[row], nanos: vector.nanos[row] };
    case 'decimal':
      return { unscaled: decimalUnscaled(vector, row), scale: vector.scale };
    case 'list': {
      const out: VectorValue[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) out.push(vectorValue(vector.child, i));
      return out;
    }
    case 'map': {
      const out: VectorValue[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        out.push([vectorValue(vector.keys, i), vectorValue(vector.values, i)]);
      }
      return out;
    }
    case 'struct':
      return Object.fromEntries(vector.fieldNames.map((name, i) => [name, vectorValue(vector.children[i], row)]));
    case 'union': {
      const tag = vector.tags[row];
      return { tag, value: vectorValue(vector.children[tag], vector.rowOffsets[row]) };
    }
  }
}
