/*
 * NULLs and the rows between them. Bitmaps are those of vectors: least significant bit first, 1 = has a value.
 */

/** How many of bits [from, from + count) are 1. */
export function countBits(bitmap: Uint8Array, from: number, count: number): number {
  const end = from + count;
  let at = from;
  let ones = 0;
  for (; at < end && (at & 7) !== 0; at++) ones += (bitmap[at >>> 3] >>> (at & 7)) & 1;
  for (; at + 8 <= end; at += 8) ones += ONES[bitmap[at >>> 3]];
  for (; at < end; at++) ones += (bitmap[at >>> 3] >>> (at & 7)) & 1;
  return ones;
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0;
  for (let rest = byte; rest !== 0; rest >>>= 1) ones += rest & 1;
  return ones;
});

/** Visits the runs of consecutive rows that have a value. */
export function forEachRun(
  bitmap: Uint8Array | undefined,
  from: number,
  count: number,
  visit: (start: number, length: number) => void,
): void {
  const end = from + count;
  if (bitmap === undefined) {
    visit(from, count);
    return;
  }
  for (let at = from; at < end; ) {
    while (at < end && ((bitmap[at >>> 3] >>> (at & 7)) & 1) === 0) at++;
    const start = at;
    while (at < end && ((bitmap[at >>> 3] >>> (at & 7)) & 1) === 1) at++;
    if (at > start) visit(start, at - start);
  }
}

type NumberArray = Int8Array | Int16Array | Int32Array | Uint8Array | Float32Array | Float64Array;

/** Copies the values of rows that have one to the start of `out`; answers how many. */
export function compactNumbers(
  values: NumberArray,
  bitmap: Uint8Array,
  from: number,
  count: number,
  out: NumberArray,
): number {
  let to = 0;
  for (let i = from; i < from + count; i++) {
    out[to] = values[i];
    to += (bitmap[i >>> 3] >>> (i & 7)) & 1;
  }
  return to;
}

export function compactLongs(
  values: BigInt64Array,
  bitmap: Uint8Array,
  from: number,
  count: number,
  out: BigInt64Array,
): number {
  let to = 0;
  for (let i = from; i < from + count; i++) {
    out[to] = values[i];
    to += (bitmap[i >>> 3] >>> (i & 7)) & 1;
  }
  return to;
}
