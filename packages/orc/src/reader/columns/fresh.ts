/** Below, zeros cost less than the call that avoids them. */
const LEAST_BYTES = 2048;
/** Values of a batch that are only looked at while it is decoded, at most so many are kept for the next one. */
const MOST_KEPT = 1 << 16;

/*
 * Memory for vectors. What the decoder writes (the first `filled` values) is not zeroed before, the rest is: zeroing fresh
 * memory takes up to eight times as long as decoding into it.
 */

export function freshBytes(length: number): Uint8Array {
  return new Uint8Array(unfilled(length));
}

export function freshInts(length: number, filled = length): Int32Array {
  const ints = new Int32Array(unfilled(length * 4));
  return filled < length ? ints.fill(0, filled) : ints;
}

export function freshLongs(length: number, filled = length): BigInt64Array {
  const longs = new BigInt64Array(unfilled(length * 8));
  return filled < length ? longs.fill(0n, filled) : longs;
}

export function unfilled(bytes: number): ArrayBuffer {
  return bytes < LEAST_BYTES ? new ArrayBuffer(bytes) : Buffer.allocUnsafeSlow(bytes).buffer;
}

let kept = new Int32Array(0);

/** `count` integers of unspecified content, until the next call: for lengths and entry numbers on their way to a vector. */
export function passingInts(count: number): Int32Array {
  if (count > MOST_KEPT) return freshInts(count);
  if (count > kept.length) kept = new Int32Array(count);
  return kept.subarray(0, count);
}
