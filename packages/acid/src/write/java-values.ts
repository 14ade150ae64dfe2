/** Byte forms and hash codes of Java's and Hive's value classes, where bucket numbers depend on them. */

/** HiveDecimal: no zeros at the end of the fraction. */
export function normalizeDecimal(unscaled: bigint, scale: number): { unscaled: bigint; scale: number } {
  if (unscaled === 0n) return { unscaled, scale: 0 };
  let [value, left] = [unscaled, scale];
  while (left > 0 && value % 10n === 0n) {
    value /= 10n;
    left--;
  }
  return { unscaled: value, scale: left };
}

/** BigInteger.toByteArray: shortest two's complement, big-endian. */
export function decimalBytes(value: bigint): Uint8Array {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length++;
  const bytes = new Uint8Array(length);
  for (let i = length - 1, rest = value; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}

/** BigDecimal.hashCode. */
export function decimalHashCode({ unscaled, scale }: { unscaled: bigint; scale: number }): number {
  const magnitude = unscaled < 0n ? -unscaled : unscaled;
  const words: number[] = [];
  for (let rest = magnitude; rest > 0n; rest >>= 32n) words.unshift(Number(rest & 0xffffffffn));
  let hash = 0;
  for (const word of words) hash = (Math.imul(31, hash) + word) | 0;
  return (Math.imul(31, unscaled < 0n ? -hash : hash) + scale) | 0;
}

/**
 * TimestampWritableV2.getBytes:
 *
 *     4 bytes  seconds, low 31 bits, big-endian; top bit: something follows
 *     vint     nanoseconds with their 9 decimal digits reversed; as -n-1 where a third part follows
 *     vint     seconds >> 31, for seconds outside 0..2^31-1
 */
export function timestampBytes(seconds: bigint, nanos: number): Uint8Array {
  const hasHigh = seconds < 0n || seconds > 0x7fffffffn;
  let reversed = 0;
  if (nanos !== 0) {
    for (let i = 0, rest = nanos; i < 9; i++, rest = Math.floor(rest / 10)) reversed = reversed * 10 + (rest % 10);
  }
  const first = Number(BigInt.asUintN(31, seconds)) + (hasHigh || reversed !== 0 || seconds < 0n ? 0x80000000 : 0);
  const bytes = [first >>> 24, (first >>> 16) & 0xff, (first >>> 8) & 0xff, first & 0xff];
  if (hasHigh || reversed !== 0) pushVLong(bytes, BigInt(hasHigh ? -reversed - 1 : reversed));
  if (hasHigh) pushVLong(bytes, seconds >> 31n);
  return Uint8Array.from(bytes);
}

/** WritableUtils.writeVLong. */
function pushVLong(bytes: number[], value: bigint): void {
  if (value >= -112n && value <= 127n) {
    bytes.push(Number(BigInt.asUintN(8, value)));
    return;
  }
  const rest = value < 0n ? ~value : value;
  let length = 0;
  for (let left = rest; left !== 0n; left >>= 8n) length++;
  bytes.push(((value < 0n ? -120 : -112) - length) & 0xff);
  for (let i = length - 1; i >= 0; i--) bytes.push(Number((rest >> BigInt(8 * i)) & 0xffn));
}
