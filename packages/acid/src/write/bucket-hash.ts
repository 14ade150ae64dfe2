import {
  type BytesVector,
  type ColumnVector,
  type DecimalVector,
  decimalUnscaled,
  isNull,
  type TimestampVector,
} from '@skep/orc';
import { decimalBytes, decimalHashCode, normalizeDecimal, timestampBytes } from './java-values.js';
import { murmur3, murmur3Int, murmur3Long, murmur3Short } from './murmur3.js';

/**
 * Bucket numbers of rows by their bucket columns (ObjectInspectorUtils.getBucketNumber). Version 2 hashes by Murmur3,
 * version 1 by Java's hash codes.
 */
export function bucketNumbers(
  columns: readonly ColumnVector[],
  length: number,
  buckets: number,
  version: 1 | 2,
): Int32Array {
  const hashes = new Int32Array(length);
  for (const column of columns) {
    const fields = hashColumn(column, version);
    for (let row = 0; row < length; row++) hashes[row] = (Math.imul(31, hashes[row]) + fields[row]) | 0;
  }
  for (let row = 0; row < length; row++) hashes[row] = (hashes[row] & 0x7fffffff) % buckets;
  return hashes;
}

/** ObjectInspectorUtils.hashCodeMurmur (2) or hashCode (1) of every row; NULL is 0. */
export function hashColumn(vector: ColumnVector, version: 1 | 2): Int32Array {
  const out = version === 2 ? murmurHashes(vector) : javaHashes(vector);
  if (vector.validity !== undefined) {
    for (let row = 0; row < vector.length; row++) if (isNull(vector, row)) out[row] = 0;
  }
  return out;
}

function murmurHashes(vector: ColumnVector): Int32Array {
  const out = new Int32Array(vector.length);
  const { length } = vector;
  switch (vector.kind) {
    case 'boolean':
    case 'byte':
      for (let row = 0; row < length; row++) out[row] = vector.values[row];
      return out;
    case 'short':
      for (let row = 0; row < length; row++) out[row] = murmur3Short(vector.values[row]);
      return out;
    case 'int':
    case 'date':
      for (let row = 0; row < length; row++) out[row] = murmur3Int(vector.values[row]);
      return out;
    case 'long':
      return eachHalf(vector.values, length, out, murmur3Long);
    case 'float': {
      // Hive puts the bits, an integer, as a float: converted, not reinterpreted.
      const converted = Float32Array.from(floatBits(vector.values, length));
      const bits = new Int32Array(converted.buffer);
      for (let row = 0; row < length; row++) out[row] = murmur3Int(bits[row]);
      return out;
    }
    case 'double': {
      const converted = Float64Array.from(doubleBits(vector.values, length), Number);
      return eachHalf(new BigInt64Array(converted.buffer), length, out, murmur3Long);
    }
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return eachText(vector, out, murmur3);
    case 'timestamp':
    case 'timestamp_instant':
      return eachValid(vector, out, (row) => {
        const bytes = timestampBytes(vector.seconds[row], vector.nanos[row]);
        return murmur3(bytes, 0, bytes.length);
      });
    case 'decimal':
      return eachValid(vector, out, (row) => {
        const bytes = decimalBytes(normalizedDecimal(vector, row).unscaled);
        return murmur3(bytes, 0, bytes.length);
      });
    default:
      return nestedHashes(vector, 2, out);
  }
}

function javaHashes(vector: ColumnVector): Int32Array {
  const out = new Int32Array(vector.length);
  const { length } = vector;
  switch (vector.kind) {
    case 'boolean':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
      for (let row = 0; row < length; row++) out[row] = vector.values[row];
      return out;
    case 'long':
      return eachHalf(vector.values, length, out, (high, low) => high ^ low);
    case 'float':
      out.set(floatBits(vector.values, length));
      return out;
    case 'double':
      return eachHalf(doubleBits(vector.values, length), length, out, (high, low) => high ^ low);
    case 'string':
      return eachText(vector, out, (bytes, start, end) => byteHash(0, bytes, start, end));
    case 'char':
    case 'varchar':
    case 'binary':
      // WritableComparator.hashBytes starts from 1.
      return eachText(vector, out, (bytes, start, end) => byteHash(1, bytes, start, end));
    case 'timestamp':
      return eachValid(vector, out, (row) => timestampHash(vector, row));
    case 'timestamp_instant':
      return eachValid(vector, out, (row) => instantHash(vector, row));
    case 'decimal':
      return eachValid(vector, out, (row) => decimalHashCode(normalizedDecimal(vector, row)));
    default:
      return nestedHashes(vector, 1, out);
  }
}

type NestedVector = Extract<ColumnVector, { kind: 'list' | 'map' | 'struct' | 'union' }>;

function nestedHashes(vector: NestedVector, version: 1 | 2, out: Int32Array): Int32Array {
  const { length } = vector;
  switch (vector.kind) {
    case 'list': {
      const elements = hashColumn(vector.child, version);
      for (let row = 0; row < length; row++) {
        let hash = 0;
        for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++)
          hash = (Math.imul(31, hash) + elements[i]) | 0;
        out[row] = hash;
      }
      return out;
    }
    case 'map': {
      const keys = hashColumn(vector.keys, version);
      // Hive hashes the values of maps by Java's hash code in both versions.
      const values = hashColumn(vector.values, 1);
      for (let row = 0; row < length; row++) {
        for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) out[row] += keys[i] ^ values[i];
      }
      return out;
    }
    case 'struct':
      for (const child of vector.children) {
        const fields = hashColumn(child, version);
        for (let row = 0; row < length; row++) out[row] = (Math.imul(31, out[row]) + fields[row]) | 0;
      }
      return out;
    case 'union': {
      const children = vector.children.map((child) => hashColumn(child, version));
      for (let row = 0; row < length; row++) out[row] = children[vector.tags[row]][vector.rowOffsets[row]];
      return out;
    }
  }
}

/** 64-bit values as two 32-bit halves: BigInt arithmetic is slow. */
function eachHalf(
  values: BigInt64Array,
  length: number,
  out: Int32Array,
  hash: (high: number, low: number) => number,
): Int32Array {
  const halves = new Int32Array(values.buffer, values.byteOffset, 2 * length);
  for (let row = 0; row < length; row++) out[row] = hash(halves[2 * row + 1], halves[2 * row]);
  return out;
}

function eachText(
  vector: BytesVector,
  out: Int32Array,
  hash: (bytes: Uint8Array, start: number, end: number) => number,
): Int32Array {
  const { bytes, offsets } = vector;
  for (let row = 0; row < vector.length; row++) {
    const start = offsets[row];
    let end = offsets[row + 1];
    // HiveCharWritable.getStrippedValue: padding does not count.
    if (vector.kind === 'char') while (end > start && bytes[end - 1] === 0x20) end--;
    out[row] = hash(bytes, start, end);
  }
  return out;
}

function eachValid(vector: ColumnVector, out: Int32Array, hash: (row: number) => number): Int32Array {
  for (let row = 0; row < vector.length; row++) if (!isNull(vector, row)) out[row] = hash(row);
  return out;
}

function byteHash(start: number, bytes: Uint8Array, from: number, to: number): number {
  let hash = start;
  for (let i = from; i < to; i++) hash = (Math.imul(31, hash) + ((bytes[i] << 24) >> 24)) | 0;
  return hash;
}

/** Float.floatToIntBits: one NaN. */
function floatBits(values: Float32Array, length: number): Int32Array {
  const bits = new Int32Array(Float32Array.from(values.subarray(0, length)).buffer);
  for (let row = 0; row < length; row++) if (Number.isNaN(values[row])) bits[row] = 0x7fc00000;
  return bits;
}

/** Double.doubleToLongBits: one NaN. */
function doubleBits(values: Float64Array, length: number): BigInt64Array {
  const bits = new BigInt64Array(Float64Array.from(values.subarray(0, length)).buffer);
  for (let row = 0; row < length; row++) if (Number.isNaN(values[row])) bits[row] = 0x7ff8000000000000n;
  return bits;
}

function normalizedDecimal(vector: DecimalVector, row: number) {
  return normalizeDecimal(decimalUnscaled(vector, row), vector.scale);
}

/** TimestampWritable.hashCode of Hive 2, which version 1 keeps. */
function timestampHash(vector: TimestampVector, row: number): number {
  const bits = BigInt.asUintN(64, (vector.seconds[row] << 30n) | BigInt(vector.nanos[row]));
  return Number(BigInt.asIntN(32, (bits >> 32n) ^ bits));
}

/** java.time.Instant.hashCode. */
function instantHash(vector: TimestampVector, row: number): number {
  const seconds = BigInt.asUintN(64, vector.seconds[row]);
  return (Number(BigInt.asIntN(32, (seconds >> 32n) ^ seconds)) + Math.imul(51, vector.nanos[row])) | 0;
}
