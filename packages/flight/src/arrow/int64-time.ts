/**
 * Seconds and nanoseconds as one int64 and back, by int32 halves and doubles: BigInt arithmetic is 20 times slower.
 * Every product and sum below stays under 2^53.
 */

const HALF = 65_536;
const WORD = 4_294_967_296;
const BILLION = 1_000_000_000;

/** Little endian on every platform Node runs on: element 2i is the low, 2i+1 the high half. */
function halvesOf(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** Units of a second: 1e9 (ns) or 1e6 (us). */
export type PerSecond = 1_000_000_000 | 1_000_000;

/** Seconds whose nanoseconds fit an int64, without the last one. */
const NS_SECONDS = 9_223_372_036;
/** The years 0001 to 9999 and far beyond. */
const US_SECONDS = 9_223_372_036_854;

/** seconds × perSecond + nanos; answers the first row that does not fit (beyond the range, or with nanoseconds in us), or -1. */
export function joinTime(
  seconds: BigInt64Array,
  nanos: Int32Array,
  length: number,
  perSecond: PerSecond,
  out: BigInt64Array,
  hasValue: (row: number) => boolean,
): number {
  const source = halvesOf(seconds);
  const target = halvesOf(out);
  const perUnit = BILLION / perSecond;
  const limit = perSecond === BILLION ? NS_SECONDS : US_SECONDS;
  for (let row = 0; row < length; row++) {
    const second = source[2 * row + 1] * WORD + (source[2 * row] >>> 0);
    const part = nanos[row] / perUnit;
    if (second >= limit || second < -limit || !Number.isInteger(part)) {
      if (hasValue(row)) return row;
      continue;
    }
    const secondHigh = Math.floor(second / HALF);
    const low = (second - secondHigh * HALF) * perSecond + part;
    const high = secondHigh * perSecond;
    const highHigh = Math.floor(high / HALF);
    const lowWord = (high - highHigh * HALF) * HALF + (low % WORD);
    target[2 * row] = lowWord | 0;
    target[2 * row + 1] = (highHigh + Math.floor(low / WORD) + (lowWord >= WORD ? 1 : 0)) | 0;
  }
  return -1;
}

/** The inverse: floor of the seconds, nanoseconds 0 to 999,999,999. `perSecond` may also be 1000 (ms) or 1 (s). */
export function splitTime(
  values: BigInt64Array,
  length: number,
  perSecond: PerSecond | 1000 | 1,
  seconds: BigInt64Array,
  nanos: Int32Array,
): void {
  const source = halvesOf(values);
  const target = halvesOf(seconds);
  const perUnit = BILLION / perSecond;
  for (let row = 0; row < length; row++) {
    // Long division by perSecond, 32 bits of the high word first, then twice 16 bits of the low one.
    const high = source[2 * row + 1];
    const low = source[2 * row] >>> 0;
    const first = Math.floor(high / perSecond);
    const middle = (high - first * perSecond) * HALF + Math.floor(low / HALF);
    const second = Math.floor(middle / perSecond);
    const rest = (middle - second * perSecond) * HALF + (low % HALF);
    const third = Math.floor(rest / perSecond);
    nanos[row] = (rest - third * perSecond) * perUnit;
    const lowWord = second * HALF + third;
    target[2 * row] = lowWord | 0;
    target[2 * row + 1] = (first + Math.floor(lowWord / WORD)) | 0;
  }
}
