import { createDecimal, type TimestampVector, type TypeDescription } from '@skep/orc';
import { type Data, type DataType, Precision, Type } from 'apache-arrow';
import { expect, isValid, mismatch, outOfRange, validityOf } from './arrow-data.js';
import { decimals } from './decimals.js';
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
  expect(data, target, path, Type.Int, Type.Decimal);
  const { length } = data;
  const validity = validityOf(data);
  const values = data.type.typeId === Type.Decimal ? wholeDecimals(data, target, path, validity) : data.values;
  if (values instanceof array) return values.subarray(0, length) as T;
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
  expect(data, target, path, Type.Int, Type.Decimal);
  const { values, length } = data;
  if (data.type.typeId === Type.Decimal) return wholeDecimals(data, target, path, validityOf(data));
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

/** Decimals without a scale that are within 64 bits. */
function wholeDecimals(
  data: Data,
  target: TypeDescription,
  path: string,
  validity: Uint8Array | undefined,
): BigInt64Array {
  const { words } = decimals(data, createDecimal(38, 0), path, validity);
  const out = new BigInt64Array(data.length);
  for (let row = 0; row < data.length; row++) {
    const [low, high] = [words[2 * row], words[2 * row + 1]];
    if (high !== low >> 63n && isValid(validity, row)) {
      throw outOfRange((high << 64n) | BigInt.asUintN(64, low), row, target, path);
    }
    out[row] = low;
  }
  return out;
}

export function floats(data: Data, target: TypeDescription, path: string): Float32Array {
  const { values, length } = data;
  switch (precisionOf(data.type)) {
    case Precision.HALF:
      return Float32Array.from((values as Uint16Array).subarray(0, length), halfFloat);
    case Precision.SINGLE:
      return (values as Float32Array).subarray(0, length);
    default:
      throw mismatch(data, target, path);
  }
}

/** IEEE 754's binary16: sign, 5 bits of exponent, 10 of mantissa. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 0x3ff;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}

export function doubles(data: Data, target: TypeDescription, path: string): Float64Array {
  if (data.type.typeId === Type.Float) {
    const { values, length } = data;
    if (values instanceof Float64Array) return values.subarray(0, length);
    return Float64Array.from(floats(data, target, path));
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
