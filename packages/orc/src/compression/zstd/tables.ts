import { BugError } from '@skep/core';
import { HUFFMAN_BITS } from './kernels.js';

/** What is wrong with a frame; codecs' callers name file and offset. */
export function corruptFrame(what: string): RangeError {
  return new RangeError(what);
}

/** A code of sequences (RFC 8878, 3.1.1.3.2.1): value = base + so many extra bits. */
export interface SequenceCode {
  readonly bases: Uint32Array;
  readonly extraBits: Uint8Array;
  /** The distribution that no block describes. */
  readonly defaults: Int16Array;
  readonly defaultLog: number;
  readonly mostLog: number;
}

function codeOf(
  direct: number,
  first: number,
  extra: readonly number[],
  defaults: readonly number[],
  mostLog: number,
): SequenceCode {
  const extraBits = Uint8Array.from([...new Array<number>(direct).fill(0), ...extra]);
  const bases = new Uint32Array(extraBits.length);
  let base = first;
  for (let code = 0; code < bases.length; code++) {
    bases[code] = base;
    base += 2 ** extraBits[code];
  }
  return { bases, extraBits, defaults: Int16Array.from(defaults), defaultLog: 6, mostLog };
}

/** A code's base is the one before and what that reaches. */
export const LITERAL_LENGTH_CODE = codeOf(
  16,
  0,
  [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
  9,
);

export const MATCH_LENGTH_CODE = codeOf(
  32,
  3,
  [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  [...[1, 4, 3, 2, 2, 2, 2, 2, 2, ...new Array<number>(37).fill(1)], ...new Array<number>(7).fill(-1)],
  9,
);

const MOST_DISTANCE_BITS = 31;

/** A code is its number of extra bits; the base is 2^code. */
export const DISTANCE_CODE: SequenceCode = {
  bases: Uint32Array.from({ length: MOST_DISTANCE_BITS + 1 }, (_, code) => 2 ** code),
  extraBits: Uint8Array.from({ length: MOST_DISTANCE_BITS + 1 }, (_, code) => code),
  defaults: Int16Array.from([
    ...[1, 1, 1, 1, 1, 1, 2, 2, 2, ...new Array<number>(15).fill(1)],
    ...new Array<number>(5).fill(-1),
  ]),
  defaultLog: 5,
  mostLog: 8,
};

/** Distributions and states of FSE: for each state its symbol, the bits to read, and what they are added to. */
export interface FseTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly next: Uint16Array;
}

/** A distribution as it is written (RFC 8878, 4.1.1), and where it ends. */
export function readDistribution(
  bytes: Uint8Array,
  start: number,
  end: number,
  mostLog: number,
  mostSymbols: number,
): { counts: Int16Array; log: number; end: number } {
  let bit = start * 8;
  const read = (count: number): number => {
    if (bit + count > end * 8) throw corruptFrame('a distribution ends early');
    const at = bit >>> 3;
    const word = (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16)) >>> (bit & 7);
    bit += count;
    return word & ((1 << count) - 1);
  };
  const log = read(4) + 5;
  if (log > mostLog) throw corruptFrame(`a distribution of 2^${log} states`);
  const counts: number[] = [];
  let left = 1 << log;
  while (left > 0) {
    const width = 32 - Math.clz32(left + 1);
    // Small values take a bit less.
    const short = 2 ** width - 1 - (left + 1);
    let value = read(width - 1);
    if (value >= short && read(1) === 1) value += 2 ** (width - 1) - short;
    const count = value - 1;
    counts.push(count);
    left -= Math.abs(count);
    if (count === 0) {
      for (let repeat = 3; repeat === 3; ) {
        repeat = read(2);
        for (let i = 0; i < repeat; i++) counts.push(0);
      }
    }
    if (counts.length > mostSymbols) throw corruptFrame('a distribution of too many symbols');
  }
  if (left < 0) throw corruptFrame('a distribution of more than all states');
  return { counts: Int16Array.from(counts), log, end: (bit + 7) >>> 3 };
}

/** States of a distribution (RFC 8878, 4.1.1: "From Normalized Distribution to Decoding Tables"); -1 is less than one. */
export function fseTable(counts: Int16Array, log: number): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const following = new Uint16Array(counts.length);
  let high = size;
  for (let symbol = 0; symbol < counts.length; symbol++) {
    if (counts[symbol] < 0) symbols[--high] = symbol;
    following[symbol] = Math.abs(counts[symbol]);
  }
  const step = (size >>> 1) + (size >>> 3) + 3;
  let at = 0;
  for (let symbol = 0; symbol < counts.length; symbol++) {
    for (let i = 0; i < counts[symbol]; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  if (at !== 0) throw new BugError('a distribution that was checked does not fill its states');
  const bits = new Uint8Array(size);
  const next = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const number = following[symbols[state]]++;
    bits[state] = log - (31 - Math.clz32(number));
    next[state] = (number << bits[state]) - size;
  }
  return { log, symbols, bits, next };
}

const MOST_WEIGHTS = 255;
const WEIGHTS_LOG = 6;

/**
 * The Huffman table at the start of a block's literals (RFC 8878, 4.2.1) as entries of bits | symbol << 8 by prefix, and
 * where its description ends.
 */
export function readHuffman(bytes: Uint8Array, start: number, end: number, out: Uint16Array): number {
  if (start >= end) throw corruptFrame('no Huffman table');
  const header = bytes[start];
  const at = start + 1;
  const size = header < 128 ? header : (header - 126) >>> 1;
  if (at + size > end) throw corruptFrame('a Huffman table ends early');
  const weights: number[] = [];
  if (header >= 128) {
    for (let i = 0; i < header - 127; i++) weights.push((bytes[at + (i >>> 1)] >>> (4 - 4 * (i & 1))) & 15);
  } else readWeights(bytes, at, at + size, weights);
  fillHuffman(weights, out);
  return at + size;
}

/** Weights that are FSE coded: two states that take turns, until the bits are used up. */
function readWeights(bytes: Uint8Array, start: number, end: number, weights: number[]): void {
  const { counts, log, end: from } = readDistribution(bytes, start, end, WEIGHTS_LOG, 16);
  const { symbols, bits, next } = fseTable(counts, log);
  if (from >= end || bytes[end - 1] === 0) throw corruptFrame('weights without bits');
  // Bits that are left, from the stream's begin; those before it are zeros.
  let left = (end - from) * 8 - (Math.clz32(bytes[end - 1]) - 23);
  const read = (count: number): number => {
    const before = left;
    left -= count;
    if (left < 0) return before > 0 ? (bytes[from] & ((1 << before) - 1)) << -left : 0;
    const at = from + (left >>> 3);
    return ((bytes[at] | (bytes[at + 1] << 8)) >>> (left & 7)) & ((1 << count) - 1);
  };
  let state = read(log);
  let other = read(log);
  if (left < 0) throw corruptFrame('weights without bits');
  for (;;) {
    weights.push(symbols[state]);
    state = next[state] + read(bits[state]);
    if (left < 0) {
      weights.push(symbols[other]);
      break;
    }
    if (weights.length > MOST_WEIGHTS) throw corruptFrame('too many weights');
    [state, other] = [other, state];
  }
}

/** The last symbol's weight is what makes the sum a power of two. */
function fillHuffman(weights: number[], out: Uint16Array): void {
  let sum = 0;
  for (const weight of weights) sum += weight === 0 ? 0 : 2 ** (weight - 1);
  if (sum === 0 || weights.length > MOST_WEIGHTS) throw corruptFrame('weights that make no Huffman code');
  const maximumBits = 32 - Math.clz32(sum);
  const rest = 2 ** maximumBits - sum;
  if (maximumBits > HUFFMAN_BITS || (rest & (rest - 1)) !== 0) {
    throw corruptFrame('weights that make no Huffman code');
  }
  weights.push(32 - Math.clz32(rest));
  // Where the entries of each weight go on: those of weight 1, the longest codes, come first.
  const spans = new Int32Array(HUFFMAN_BITS + 2);
  for (const weight of weights) if (weight > 0) spans[weight + 1] += spanOf(weight, maximumBits);
  for (let weight = 1; weight < spans.length; weight++) spans[weight] += spans[weight - 1];
  for (let symbol = 0; symbol < weights.length; symbol++) {
    const weight = weights[symbol];
    if (weight === 0) continue;
    const entry = (symbol << 8) | (maximumBits + 1 - weight);
    const stop = spans[weight] + spanOf(weight, maximumBits);
    for (let at = spans[weight]; at < stop; at++) out[at] = entry;
    spans[weight] = stop;
  }
}

function spanOf(weight: number, maximumBits: number): number {
  return 1 << (weight - 1 + HUFFMAN_BITS - maximumBits);
}
