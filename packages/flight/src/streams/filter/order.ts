import { type ColumnVector, decimalUnscaled } from '@skep/orc';
import type { Literal } from './literal.js';

/** Compares a row's value, which is not NULL, with the literal: below 0, 0, above 0. Literal and vector are of one column. */
export type RowOrder = (row: number) => number;

export function orderOf(vector: ColumnVector, literal: Literal): RowOrder {
  switch (vector.kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'float':
    case 'double': {
      const { values } = vector;
      if (literal.kind === 'number') return (row) => compareDoubles(values[row], literal.value);
      return exactOrder((row) => BigInt(values[row]), 0, literal);
    }
    case 'long': {
      const { values } = vector;
      return exactOrder((row) => values[row], 0, literal);
    }
    case 'decimal':
      return exactOrder((row) => decimalUnscaled(vector, row), vector.scale, literal);
    case 'boolean': {
      const { values } = vector;
      const wanted = literal.kind === 'boolean' && literal.value ? 1 : 0;
      return (row) => values[row] - wanted;
    }
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary': {
      const { offsets, bytes, kind } = vector;
      const wanted = literal.kind === 'bytes' ? literal.value : Buffer.alloc(0);
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return (row) => {
        let end = offsets[row + 1];
        if (kind === 'char') while (end > offsets[row] && all[end - 1] === BLANK) end--;
        return all.compare(wanted, 0, wanted.length, offsets[row], end);
      };
    }
    case 'timestamp':
    case 'timestamp_instant': {
      const { seconds, nanos } = vector;
      const wanted = literal.kind === 'time' ? literal.value : { seconds: 0n, nanos: 0 };
      return (row) => signOf(seconds[row], wanted.seconds) || nanos[row] - wanted.nanos;
    }
    default:
      return () => 0;
  }
}

const BLANK = 32;

const signOf = <T extends number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** As Java's Double.compare but for zeros, which are equal: NaN is itself, and above all. */
function compareDoubles(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return signOf(a, b);
}

/** Integers and decimals at the larger scale of the two. */
function exactOrder(unscaled: (row: number) => bigint, scale: number, literal: Literal): RowOrder {
  const wanted = literal.kind === 'decimal' ? literal.value : { unscaled: 0n, scale: 0 };
  const common = Math.max(scale, wanted.scale);
  const factor = 10n ** BigInt(common - scale);
  const right = wanted.unscaled * 10n ** BigInt(common - wanted.scale);
  if (factor === 1n) return (row) => signOf(unscaled(row), right);
  return (row) => signOf(unscaled(row) * factor, right);
}
