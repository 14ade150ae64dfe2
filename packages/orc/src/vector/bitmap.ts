/*
 * Bitmaps as in vectors' `validity`: bit i % 8 of byte i / 8, least significant first (as in Arrow). Bits behind the
 * last row are unspecified.
 */

export function bitmapBytes(length: number): number {
  return (length + 7) >>> 3;
}

export function getBit(bitmap: Uint8Array, index: number): boolean {
  return ((bitmap[index >>> 3] >>> (index & 7)) & 1) !== 0;
}

export function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] |= 1 << (index & 7);
}

/** A bitmap of `length` ones. */
export function allSet(length: number): Uint8Array {
  return new Uint8Array(bitmapBytes(length)).fill(0xff);
}

/** How many of the first `length` bits are set. */
export function countSet(bitmap: Uint8Array, length: number): number {
  const whole = length >>> 3;
  let ones = 0;
  for (let i = 0; i < whole; i++) ones += ONES[bitmap[i]];
  if ((length & 7) !== 0) ones += ONES[bitmap[whole] & ((1 << (length & 7)) - 1)];
  return ones;
}

/** Bits [start, end) as a bitmap of their own. */
export function sliceBitmap(bitmap: Uint8Array, start: number, end: number): Uint8Array {
  const bytes = bitmapBytes(end - start);
  const first = start >>> 3;
  const shift = start & 7;
  if (shift === 0) return bitmap.subarray(first, first + bytes);
  const out = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i++) {
    const next = first + i + 1 < bitmap.length ? bitmap[first + i + 1] : 0;
    out[i] = (bitmap[first + i] >>> shift) | (next << (8 - shift));
  }
  return out;
}

/** Sets or clears bits of `to` from `at` on, as the first `length` bits of `from` (absent: all ones). */
export function copyBits(to: Uint8Array, at: number, from: Uint8Array | undefined, length: number): void {
  if ((at & 7) === 0) {
    const whole = length >>> 3;
    if (from === undefined) to.fill(0xff, at >>> 3, (at >>> 3) + whole);
    else to.set(from.subarray(0, whole), at >>> 3);
    copyEachBit(to, at, from, whole * 8, length);
  } else copyEachBit(to, at, from, 0, length);
}

function copyEachBit(to: Uint8Array, at: number, from: Uint8Array | undefined, start: number, end: number): void {
  for (let i = start; i < end; i++) {
    const bit = 1 << ((at + i) & 7);
    if (from === undefined || getBit(from, i)) to[(at + i) >>> 3] |= bit;
    else to[(at + i) >>> 3] &= ~bit;
  }
}

/** The rows set in both; absent is all rows. */
export function intersect(
  a: Uint8Array | undefined,
  b: Uint8Array | undefined,
  length: number,
): Uint8Array | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  const out = new Uint8Array(bitmapBytes(length));
  for (let i = 0; i < out.length; i++) out[i] = a[i] & b[i];
  return out;
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0;
  for (let rest = byte; rest !== 0; rest >>>= 1) ones += rest & 1;
  return ones;
});
