const [P1, P2, P3, P4, P5]: readonly bigint[] = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
];
const STRIPE_BYTES = 32;

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, by: bigint): bigint => wrap(value << by) | (value >> (64n - by));
const round = (sum: bigint, word: bigint): bigint => wrap(rotate(wrap(sum + word * P2), 31n) * P1);

/**
 * The lower half of XXH64 with seed 0: the checksum of a Zstandard frame (RFC 8878, 3.1.1). Writers of ORC leave it out, so
 * that BigInt is fast enough.
 */
export function xxh64Low(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let hash = P5;
  if (bytes.length >= STRIPE_BYTES) {
    const sums = [wrap(P1 + P2), P2, 0n, wrap(-P1)];
    for (; at + STRIPE_BYTES <= bytes.length; at += STRIPE_BYTES) {
      for (let i = 0; i < 4; i++) sums[i] = round(sums[i], view.getBigUint64(at + 8 * i, true));
    }
    hash = wrap(rotate(sums[0], 1n) + rotate(sums[1], 7n) + rotate(sums[2], 12n) + rotate(sums[3], 18n));
    for (const sum of sums) hash = wrap((hash ^ round(0n, sum)) * P1 + P4);
  }
  hash = wrap(hash + BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8) {
    hash = wrap(rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4);
  }
  if (at + 4 <= bytes.length) {
    hash = wrap(rotate(hash ^ wrap(BigInt(view.getUint32(at, true)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < bytes.length; at++) hash = wrap(rotate(hash ^ wrap(BigInt(bytes[at]) * P5), 11n) * P1);
  hash = wrap((hash ^ (hash >> 33n)) * P2);
  hash = wrap((hash ^ (hash >> 29n)) * P3);
  return Number((hash ^ (hash >> 32n)) & 0xffffffffn);
}
