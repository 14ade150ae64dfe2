import type { DecimalVector, TypeDescription } from '@skep/orc';
import { type Data, Type } from 'apache-arrow';
import { isValid, mismatch, outOfRange } from './arrow-data.js';

/** Decimals of 32 to 256 bits, and integers, as decimals of 128 bits: every value has to be one of the target's type. */
export function decimals(
  data: Data,
  target: TypeDescription,
  path: string,
  validity: Uint8Array | undefined,
): DecimalVector {
  const { precision = 38, scale = 0 } = target;
  const given = digitsOf(data, target, path);
  if (given.scale > scale || given.precision - given.scale > precision - scale) throw mismatch(data, target, path);
  let words = wordsOf(data, target, path, validity);
  const { length } = data;
  if (given.scale < scale) {
    const factor = 10n ** BigInt(scale - given.scale);
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

/** Decimal digits of unsigned integers by their bits (signed ones need no more). */
const INTEGER_DIGITS: Readonly<Record<number, number>> = { 8: 3, 16: 5, 32: 10, 64: 20 };

function digitsOf(data: Data, target: TypeDescription, path: string): { precision: number; scale: number } {
  if (data.type.typeId === Type.Decimal) return data.type as unknown as { precision: number; scale: number };
  if (data.type.typeId !== Type.Int) throw mismatch(data, target, path);
  return { precision: INTEGER_DIGITS[(data.type as unknown as { bitWidth: number }).bitWidth], scale: 0 };
}

/** Two words of 64 bits a row, the low one first. */
function wordsOf(data: Data, target: TypeDescription, path: string, validity: Uint8Array | undefined): BigInt64Array {
  const { length, type } = data;
  const values = data.values as Uint32Array;
  const { bitWidth } = type as unknown as { bitWidth: number };
  if (type.typeId === Type.Int) return extended(length, (row) => BigInt(values[row]));
  switch (bitWidth) {
    case 32: {
      const narrow = new Int32Array(values.buffer, values.byteOffset, length);
      return extended(length, (row) => BigInt(narrow[row]));
    }
    case 64: {
      const narrow = aligned(values, length);
      return extended(length, (row) => narrow[row]);
    }
    case 128:
      return aligned(values, 2 * length);
    default: {
      const wide = aligned(values, 4 * length);
      const words = new BigInt64Array(2 * length);
      for (let row = 0; row < length; row++) {
        const [low, high] = [wide[4 * row], wide[4 * row + 1]];
        const sign = high >> 63n;
        if ((wide[4 * row + 2] !== sign || wide[4 * row + 3] !== sign) && isValid(validity, row)) {
          throw outOfRange(wide[4 * row + 3], row, target, path);
        }
        words[2 * row] = low;
        words[2 * row + 1] = high;
      }
      return words;
    }
  }
}

function extended(length: number, at: (row: number) => bigint): BigInt64Array {
  const words = new BigInt64Array(2 * length);
  for (let row = 0; row < length; row++) {
    const value = at(row);
    words[2 * row] = BigInt.asIntN(64, value);
    words[2 * row + 1] = value >> 64n;
  }
  return words;
}

/** In place where the memory is aligned, which a client's need not be. */
function aligned(values: Uint32Array, count: number): BigInt64Array {
  if (values.byteOffset % 8 === 0) return new BigInt64Array(values.buffer, values.byteOffset, count);
  const copy = values.slice(0, count * 2);
  return new BigInt64Array(copy.buffer, 0, count);
}
