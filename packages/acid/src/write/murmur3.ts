/** Hive's default seed (org.apache.hive.common.util.Murmur3.DEFAULT_SEED). */
const SEED = 104729;

function mixBlock(hash: number, block: number): number {
  let k = Math.imul(block, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const mixed = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function mixTail(hash: number, tail: number): number {
  let k = Math.imul(tail, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  return hash ^ Math.imul(k, 0x1b873593);
}

function finish(hash: number, lengthBytes: number): number {
  let h = hash ^ lengthBytes;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) | 0;
}

/**
 * Murmur3.hash32 of bytes [start, end) as Hive computes it: in the last one to three bytes the sign of a byte spreads
 * over the bits above it (Java's bytes are signed), unlike in the reference.
 */
export function murmur3(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = mixBlock(hash, bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24));
  }
  if (at < end) {
    let tail = 0;
    for (let i = end - 1; i >= at; i--) tail ^= ((bytes[i] << 24) >> 24) << (8 * (i - at));
    hash = mixTail(hash, tail);
  }
  return finish(hash, end - start);
}

/** Of a 16-bit number in big-endian order (ByteBuffer.putShort). */
export function murmur3Short(value: number): number {
  const high = (value << 16) >> 24;
  const low = (value << 24) >> 24;
  return finish(mixTail(SEED, (low << 8) ^ high), 2);
}

function swap(value: number): number {
  return (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);
}

/** Of a 32-bit number in big-endian order. */
export function murmur3Int(value: number): number {
  return finish(mixBlock(SEED, swap(value)), 4);
}

/** Of a 64-bit number in big-endian order, given as halves. */
export function murmur3Long(high: number, low: number): number {
  return finish(mixBlock(mixBlock(SEED, swap(high)), swap(low)), 8);
}
