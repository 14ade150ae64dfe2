import type { ColumnVector, TimestampVector, TypeDescription } from '@skep/orc';
import { type Data, type DataType, Type } from 'apache-arrow';
import { expect, isValid, mismatch, outOfRange, validityOf } from './arrow-data.js';
import { splitTime } from './int64-time.js';

type SmallInts = Int8Array | Int16Array | Int32Array;

const precisionOf = (type: DataType): number => (type as unknown as { precision: number }).precision;

/** By Arrow's TimeUnit: seconds, milli-, micro-, nanoseconds. */
const PER_SECOND = [1, 1000, 1_000_000, 1_000_000_000] as const;

export function unpackBits(data: Data): Uint8Array {
  const { length, offset } = data;
  const bits = data.values as Uint8Array;
  const values = new Uint8Array(length);
  for (let row = 0; row < length; row++) values[row] = (bits[(offset + row) >> 3] >> ((offset + row) & 7)) & 1;
  return values;
}

export function integers<T extends SmallInts>(
  data: Data,
  target: TypeDescription,
  path: string,
  array: { new (length: number): T },
  least: number,
  most: number,
): T {
  expect(data, target, path, Type.Int);
  const { values, length } = data;
  if (values instanceof array) return values.subarray(0, length) as T;
  const validity = validityOf(data);
  const out = new array(length);
  const isWide = values instanceof BigInt64Array || values instanceof BigUint64Array;
  for (let row = 0; row < length; row++) {
    const value = Number(values[row]);
    if (value < least || value > most || (isWide && !Number.isSafeInteger(value))) {
      if (isValid(validity, row)) throw outOfRange(values[row], row, target, path);
      continue;
    }
    out[row] = value;
  }
  return out;
}

export function longs(data: Data, target: TypeDescription, path: string): BigInt64Array {
  expect(data, target, path, Type.Int);
  const { values, length } = data;
  if (values instanceof BigInt64Array) return values.subarray(0, length);
  if (values instanceof BigUint64Array) {
    const validity = validityOf(data);
    const signed = new BigInt64Array(values.buffer, values.byteOffset, length);
    for (let row = 0; row < length; row++) {
      if (signed[row] < 0n && isValid(validity, row)) throw outOfRange(values[row], row, target, path);
    }
    return signed;
  }
  return BigInt64Array.from(values.subarray(0, length) as Int32Array, BigInt);
}

export function floats(data: Data, target: TypeDescription, path: string): Float32Array {
  if (precisionOf(data.type) !== 1) throw mismatch(data, target, path);
  return (data.values as Float32Array).subarray(0, data.length);
}

export function doubles(data: Data, target: TypeDescription, path: string): Float64Array {
  if (data.type.typeId === Type.Float && precisionOf(data.type) > 0) {
    const { values, length } = data;
    if (values instanceof Float64Array) return values.subarray(0, length);
    return Float64Array.from((values as Float32Array).subarray(0, length));
  }
  if (data.type.typeId === Type.Int && !(data.values instanceof BigInt64Array || data.values instanceof BigUint64Array))
    return Float64Array.from((data.values as Int32Array).subarray(0, data.length));
  throw mismatch(data, target, path);
}

export function days(data: Data, target: TypeDescription, path: string): Int32Array {
  expect(data, target, path, Type.Date);
  const { values, length } = data;
  if (values instanceof Int32Array) return values.subarray(0, length);
  const validity = validityOf(data);
  return Int32Array.from({ length }, (_, row) => {
    const day = Number((values as BigInt64Array)[row]) / 86_400_000;
    if (!Number.isInteger(day)) {
      if (isValid(validity, row)) throw outOfRange((values as BigInt64Array)[row], row, target, path);
      return 0;
    }
    return day;
  });
}

export function decimals(
  data: Data,
  target: TypeDescription,
  path: string,
  validity: Uint8Array | undefined,
): ColumnVector {
  expect(data, target, path, Type.Decimal);
  const { precision = 38, scale = 0 } = target;
  const type = data.type as unknown as { precision: number; scale: number; bitWidth: number };
  const isWhole = type.scale <= scale && type.precision - type.scale <= precision - scale;
  if (type.bitWidth !== 128 || !isWhole) throw mismatch(data, target, path);
  const { length } = data;
  const given = data.values as Uint32Array;
  let words = alignedWords(given, length);
  if (type.scale < scale) {
    const factor = 10n ** BigInt(scale - type.scale);
    const scaled = new BigInt64Array(2 * length);
    for (let row = 0; row < length; row++) {
      const value = ((words[2 * row + 1] << 64n) | BigInt.asUintN(64, words[2 * row])) * factor;
      scaled[2 * row] = BigInt.asIntN(64, value);
      scaled[2 * row + 1] = BigInt.asIntN(64, value >> 64n);
    }
    words = scaled;
  }
  return { kind: 'decimal', length, validity, precision, scale, words };
}

export function alignedWords(values: Uint32Array, length: number): BigInt64Array {
  if (values.byteOffset % 8 === 0) return new BigInt64Array(values.buffer, values.byteOffset, length * 2);
  const copy = values.slice(0, length * 4);
  return new BigInt64Array(copy.buffer, 0, length * 2);
}

export function timestamps(
  data: Data,
  target: TypeDescription,
  path: string,
  validity: Uint8Array | undefined,
): TimestampVector {
  const kind = target.kind === 'timestamp' ? 'timestamp' : 'timestamp_instant';
  const { length } = data;
  if (data.type.typeId === Type.Struct) {
    const [seconds, nanos] = data.children;
    if (!(seconds?.values instanceof BigInt64Array && nanos?.values instanceof Int32Array))
      throw mismatch(data, target, path);
    const parts = { seconds: seconds.values.subarray(0, length), nanos: nanos.values.subarray(0, length) };
    for (let row = 0; row < length; row++) {
      const isNano = parts.nanos[row] >= 0 && parts.nanos[row] < 1_000_000_000;
      if (!isNano && isValid(validity, row)) throw outOfRange(parts.nanos[row], row, target, `${path}.nanos`);
    }
    return { kind, length, validity, ...parts };
  }
  expect(data, target, path, Type.Timestamp);
  const { unit, timezone } = data.type as unknown as { unit: number; timezone: string | null };
  // An instant is no wall time: which one it was depends on the zone, and the other way round.
  if ((kind === 'timestamp') !== (timezone === null || timezone === undefined || timezone === '')) {
    throw mismatch(data, target, path);
  }
  const seconds = new BigInt64Array(length);
  const nanos = new Int32Array(length);
  splitTime(data.values as BigInt64Array, length, PER_SECOND[unit], seconds, nanos);
  return { kind, length, validity, seconds, nanos };
}
