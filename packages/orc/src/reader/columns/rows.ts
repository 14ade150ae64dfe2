import type { BooleanRleDecoder } from '../../encoding/boolean-rle.js';
import { bitmapBytes, countSet, getBit, setBit } from '../../vector/bitmap.js';

/** Rows to be decoded: which of them have a value, and how many that are. */
export interface Rows {
  readonly length: number;
  /** Absent when all have one. */
  readonly validity: Uint8Array | undefined;
  readonly count: number;
}

export function allRows(length: number): Rows {
  return { length, validity: undefined, count: length };
}

/**
 * The rows of a column of which those of its parent are given (spec: "PRESENT stream"): rows of NULL parents are not in
 * the column's streams at all, the others have a bit in PRESENT, and are all there when the column has no PRESENT.
 */
export function presentRows(present: BooleanRleDecoder | undefined, parent: Rows): Rows {
  if (present === undefined) return parent;
  const { length } = parent;
  const bitmap = new Uint8Array(bitmapBytes(length));
  if (parent.validity === undefined) {
    const count = present.readBitmap(bitmap, 0, length);
    return count === length ? allRows(length) : { length, validity: bitmap, count };
  }
  const bits = new Uint8Array(bitmapBytes(parent.count));
  const count = present.readBitmap(bits, 0, parent.count);
  for (let row = 0, at = 0; row < length; row++) {
    if (getBit(parent.validity, row) && getBit(bits, at++)) setBit(bitmap, row);
  }
  return { length, validity: bitmap, count };
}

/** Rows [start, end) of these. */
export function rowsOf(validity: Uint8Array | undefined, length: number): Rows {
  return { length, validity, count: validity === undefined ? length : countSet(validity, length) };
}

/*
 * Decoders give only the values that exist, one after the other; spreading moves them to their rows, from the last to
 * the first, in place. What stays under a NULL is unspecified. One kernel for each width, so that each stays monomorphic.
 */

export function spread8(values: Uint8Array, { length, validity, count }: Rows): void {
  if (validity === undefined) return;
  for (let row = length - 1, from = count - 1; from < row && from >= 0; row--) {
    if (((validity[row >>> 3] >>> (row & 7)) & 1) !== 0) values[row] = values[from--];
  }
}

export function spread32(values: Int32Array, { length, validity, count }: Rows): void {
  if (validity === undefined) return;
  for (let row = length - 1, from = count - 1; from < row && from >= 0; row--) {
    if (((validity[row >>> 3] >>> (row & 7)) & 1) !== 0) values[row] = values[from--];
  }
}

/** 64-bit values as pairs of int32: elements of a BigInt64Array may cost an allocation each. */
export function spread64(pairs: Int32Array, { length, validity, count }: Rows): void {
  if (validity === undefined) return;
  for (let row = length - 1, from = count - 1; from < row && from >= 0; row--) {
    if (((validity[row >>> 3] >>> (row & 7)) & 1) !== 0) {
      pairs[2 * row] = pairs[2 * from];
      pairs[2 * row + 1] = pairs[2 * from + 1];
      from--;
    }
  }
}

export function spread128(words: Int32Array, { length, validity, count }: Rows): void {
  if (validity === undefined) return;
  for (let row = length - 1, from = count - 1; from < row && from >= 0; row--) {
    if (((validity[row >>> 3] >>> (row & 7)) & 1) !== 0) {
      for (let half = 0; half < 4; half++) words[4 * row + half] = words[4 * from + half];
      from--;
    }
  }
}

/** Lengths of the values that exist as offsets of all rows, from 0; answers their sum, which may pass 2^31. */
export function offsetsOf(lengths: Int32Array, { length, validity }: Rows, offsets: Int32Array): number {
  let sum = 0;
  offsets[0] = 0;
  if (validity === undefined) {
    for (let row = 0; row < length; row++) {
      sum += lengths[row];
      offsets[row + 1] = sum;
    }
    return sum;
  }
  for (let row = 0, from = 0; row < length; row++) {
    if (((validity[row >>> 3] >>> (row & 7)) & 1) !== 0) sum += lengths[from++];
    offsets[row + 1] = sum;
  }
  return sum;
}
