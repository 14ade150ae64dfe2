import { DecimalDecoder } from '../../encoding/decimal.js';
import { StreamKind } from '../stripe.js';
import type { ColumnReader } from './column-reader.js';
import { type ColumnSource, integerDecoder, openOrEmpty, presentDecoder } from './column-streams.js';
import { freshLongs, passingInts } from './fresh.js';
import { presentRows, spread128 } from './rows.js';

const TWO_32 = 0x100000000;
const POWERS_OF_TEN = [1, 10, 100, 1_000, 10_000];

/**
 * Decimals (spec: "Decimal columns"): DATA has unscaled values, SECONDARY the scale of each. Values of another scale
 * than the column's (Java writes them without zeros at the end) are brought to it; digits beyond it, which only files of
 * Hive 0.11 and 0.12 have (OpenOptions.hive11DecimalScale), are cut off as in the C++ reader.
 */
export function decimalReader(source: ColumnSource): ColumnReader {
  const { precision = 38, scale = 0 } = source.type;
  const present = presentDecoder(source);
  const stream = openOrEmpty(source, StreamKind.data);
  const data = new DecimalDecoder(stream.bytes, stream.at, stream.name);
  const secondary = integerDecoder(openOrEmpty(source, StreamKind.secondary), source.layout.rleV2, true);
  return (parent) => {
    const rows = presentRows(present, parent);
    const words = freshLongs(rows.length * 2, rows.count * 2);
    data.readDecimals(words, 0, rows.count);
    const scales = passingInts(rows.count);
    secondary.readInts(scales, 0, rows.count);
    const quarters = new Int32Array(words.buffer);
    let others = 0;
    for (let i = 0; i < scales.length; i++) others |= scales[i] ^ scale;
    for (let i = 0; others !== 0 && i < scales.length; i++) {
      if (scales[i] < scale) multiply(quarters, 4 * i, scale - scales[i]);
      else if (scales[i] > scale) setWords(words, i, withoutDigits(words, i, scales[i] - scale));
    }
    spread128(quarters, rows);
    return { kind: 'decimal', length: rows.length, validity: rows.validity, precision, scale, words };
  };
}

/** times 10^digits, modulo 2^128: the same for both signs in two's complement. Products stay below 2^53. */
function multiply(quarters: Int32Array, at: number, digits: number): void {
  for (let left = Math.min(digits, 38); left > 0; left -= 4) {
    const factor = POWERS_OF_TEN[Math.min(left, 4)];
    let carry = 0;
    for (let i = at; i < at + 4; i++) {
      const product = (quarters[i] >>> 0) * factor + carry;
      quarters[i] = product;
      carry = Math.floor(product / TWO_32);
    }
  }
}

/** Without its last digits; BigInt division rounds toward zero. */
function withoutDigits(words: BigInt64Array, row: number, digits: number): bigint {
  const value = (words[2 * row + 1] << 64n) | BigInt.asUintN(64, words[2 * row]);
  return value / 10n ** BigInt(Math.min(digits, 40));
}

function setWords(words: BigInt64Array, row: number, value: bigint): void {
  words[2 * row] = BigInt.asIntN(64, value);
  words[2 * row + 1] = value >> 64n;
}

/** The encoding of file version 2 (not released, yet found in the wild): one integer stream, all of the column's scale. */
export function decimal64Reader(source: ColumnSource): ColumnReader {
  const { precision = 18, scale = 0 } = source.type;
  const present = presentDecoder(source);
  const data = integerDecoder(openOrEmpty(source, StreamKind.data), true, true);
  return (parent) => {
    const rows = presentRows(present, parent);
    const longs = freshLongs(rows.count);
    data.readLongs(longs, 0, rows.count);
    const halves = new Int32Array(longs.buffer);
    const words = freshLongs(rows.length * 2, rows.count * 2);
    const quarters = new Int32Array(words.buffer);
    for (let i = 0; i < rows.count; i++) {
      quarters[4 * i] = halves[2 * i];
      quarters[4 * i + 1] = halves[2 * i + 1];
      quarters[4 * i + 2] = halves[2 * i + 1] >> 31;
      quarters[4 * i + 3] = halves[2 * i + 1] >> 31;
    }
    spread128(quarters, rows);
    return { kind: 'decimal', length: rows.length, validity: rows.validity, precision, scale, words };
  };
}
