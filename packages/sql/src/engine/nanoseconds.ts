/*
 * 128-bit nanoseconds since 1970 (DuckDB's HUGEINT, little endian) from seconds and nanoseconds and back, without
 * BigInt: 32-bit words and sums below 2^53. Right for the years -9999 to 9999.
 */

/** `seconds` as pairs of int32 words. Writes `count` values of four words to `out`. */
export function packNanoseconds(seconds: Int32Array, nanos: Int32Array, count: number, out: Int32Array): void {
  for (let i = 0; i < count; i++) {
    const second = seconds[2 * i + 1] * 0x1_0000_0000 + (seconds[2 * i] >>> 0);
    const high = Math.floor(second / 0x10_0000);
    const low = second - high * 0x10_0000;
    // second * 1e9 + nanos = rest * 2^20 + (small & 0xfffff)
    const small = low * 1e9 + nanos[i];
    const carry = Math.floor(small / 0x10_0000);
    const rest = high * 1e9 + carry;
    const top = Math.floor(rest / 0x1000);
    const topHigh = Math.floor(top / 0x1_0000_0000);
    out[4 * i] = ((rest - top * 0x1000) << 20) | (small - carry * 0x10_0000);
    out[4 * i + 1] = top - topHigh * 0x1_0000_0000;
    out[4 * i + 2] = topHigh;
    out[4 * i + 3] = topHigh < 0 ? -1 : 0;
  }
}

/** The reverse. */
export function unpackNanoseconds(words: Int32Array, count: number, seconds: Int32Array, nanos: Int32Array): void {
  for (let i = 0; i < count; i++) {
    const high = words[4 * i + 2] * 0x1_0000_0000 + (words[4 * i + 1] >>> 0);
    const low = words[4 * i] >>> 0;
    const first = Math.floor(high / 1e9);
    const a = (high - first * 1e9) * 0x1_0000 + (low >>> 16);
    const second = Math.floor(a / 1e9);
    const b = (a - second * 1e9) * 0x1_0000 + (low & 0xffff);
    const third = Math.floor(b / 1e9);
    const total = first * 0x1_0000_0000 + second * 0x1_0000 + third;
    const totalHigh = Math.floor(total / 0x1_0000_0000);
    seconds[2 * i] = total - totalHigh * 0x1_0000_0000;
    seconds[2 * i + 1] = totalHigh;
    nanos[i] = b - third * 1e9;
  }
}
