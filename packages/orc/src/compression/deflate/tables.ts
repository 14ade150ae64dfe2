/*
 * DEFLATE (RFC 1951). A block's symbols: 0 to 255 literals, 256 its end, 257 to 285 lengths of matches; distances have a code of
 * their own, 0 to 29. Extra bits follow the code.
 */
export const END_OF_BLOCK = 256;
export const LENGTH_SYMBOLS = 288;
export const DISTANCE_SYMBOLS = 32;
export const LONGEST_CODE = 15;
/** The order in which a block gives the lengths of the code that its code lengths are in. */
export const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Extra bits and the least value of a symbol of matches. */
export interface Extra {
  readonly bits: number;
  readonly base: number;
}

/** Of symbols 257 to 285. */
export const LENGTHS: readonly Extra[] = Array.from({ length: 29 }, (_, i) => {
  if (i === 28) return { bits: 0, base: 258 };
  const bits = Math.max(0, (i >> 2) - 1);
  return { bits, base: bits === 0 ? 3 + i : 3 + ((4 + (i & 3)) << bits) };
});

/** Of symbols 0 to 29. */
export const DISTANCES: readonly Extra[] = Array.from({ length: 30 }, (_, i) => {
  const bits = Math.max(0, (i >> 1) - 1);
  return { bits, base: bits === 0 ? 1 + i : 1 + ((2 + (i & 1)) << bits) };
});

/** Lengths of the code of blocks that bring none. */
export function fixedLengths(): Uint8Array {
  return new Uint8Array(LENGTH_SYMBOLS).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280, 288);
}
