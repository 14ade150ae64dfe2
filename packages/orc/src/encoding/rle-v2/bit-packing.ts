import type { OutputBuffer } from '../output-buffer.js';

/*
 * Values of one width packed without gaps, most significant bit first; the last byte of a run is padded with zeros
 * (spec: "Integer Run Length Encoding, version 2", Direct). The callers have checked that the bytes are there.
 */

/** Bytes that `count` values of `width` bits take. */
export function packedBytes(count: number, width: number): number {
  return Math.ceil((count * width) / 8);
}

/** Unpacks widths of 1 to 32 bits into out[from, from + count); 32-bit values come as their int32 twins. */
export function unpackInts(
  bytes: Uint8Array,
  position: number,
  width: number,
  out: Int32Array,
  from: number,
  count: number,
): void {
  let at = position;
  const end = from + count;
  if (width === 8) {
    for (let i = from; i < end; i++) out[i] = bytes[at++];
  } else if (width === 16) {
    for (let i = from; i < end; i++, at += 2) out[i] = (bytes[at] << 8) | bytes[at + 1];
  } else if (width === 24) {
    for (let i = from; i < end; i++, at += 3) out[i] = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
  } else if (width === 32) {
    for (let i = from; i < end; i++, at += 4) {
      out[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
  } else if (width < 24) {
    const mask = (1 << width) - 1;
    let window = 0;
    let have = 0;
    for (let i = from; i < end; i++) {
      while (have < width) {
        window = (window << 8) | bytes[at++];
        have += 8;
      }
      have -= width;
      out[i] = (window >>> have) & mask;
    }
  } else {
    // 26, 28, 30: a value spans up to five bytes.
    const spill = 40 - width;
    let bit = position * 8;
    for (let i = from; i < end; i++, bit += width) {
      at = bit >>> 3;
      const shift = bit & 7;
      const head = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
      const tail = shift + width > 32 ? bytes[at + 4] >>> (8 - shift) : 0;
      out[i] = ((head << shift) | tail) >>> (spill - 8);
    }
  }
}

/** Unpacks widths of 40, 48, 56 and 64 bits into halves: out[2 i] low, out[2 i + 1] high. */
export function unpackPairs(
  bytes: Uint8Array,
  position: number,
  width: number,
  out: Int32Array,
  from: number,
  count: number,
): void {
  let at = position;
  const end = (from + count) * 2;
  const highBytes = width / 8 - 4;
  for (let p = from * 2; p < end; p += 2) {
    let high = bytes[at++];
    for (let i = 1; i < highBytes; i++) high = (high << 8) | bytes[at++];
    out[p + 1] = high;
    out[p] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    at += 4;
  }
}

/** Packs widths of 1 to 32 bits. */
export function packInts(values: Int32Array, from: number, count: number, width: number, output: OutputBuffer): void {
  output.reserve(packedBytes(count, width));
  const { bytes } = output;
  let at = output.length;
  const end = from + count;
  if (width === 8) {
    for (let i = from; i < end; i++) bytes[at++] = values[i];
  } else if (width === 16) {
    for (let i = from; i < end; i++) {
      const value = values[i];
      bytes[at] = value >>> 8;
      bytes[at + 1] = value;
      at += 2;
    }
  } else if (width === 24) {
    for (let i = from; i < end; i++) {
      const value = values[i];
      bytes[at] = value >>> 16;
      bytes[at + 1] = value >>> 8;
      bytes[at + 2] = value;
      at += 3;
    }
  } else if (width === 32) {
    for (let i = from; i < end; i++) {
      const value = values[i];
      bytes[at] = value >>> 24;
      bytes[at + 1] = value >>> 16;
      bytes[at + 2] = value >>> 8;
      bytes[at + 3] = value;
      at += 4;
    }
  } else {
    // `room` bits of the byte at hand are free.
    let current = 0;
    let room = 8;
    for (let i = from; i < end; i++) {
      const value = values[i];
      let left = width;
      while (left >= room) {
        left -= room;
        bytes[at++] = current | ((value >>> left) & (0xff >>> (8 - room)));
        current = 0;
        room = 8;
      }
      if (left > 0) {
        room -= left;
        current |= (value & ((1 << left) - 1)) << room;
      }
    }
    if (room < 8) bytes[at++] = current;
  }
  output.length = at;
}

/** Packs the halves in pairs[2 i], pairs[2 i + 1] with any width of 1 to 64 bits. */
export function packPairs(pairs: Int32Array, from: number, count: number, width: number, output: OutputBuffer): void {
  output.reserve(packedBytes(count, width));
  const end = (from + count) * 2;
  if (width > 32 && (width & 7) === 0) {
    const { bytes } = output;
    let at = output.length;
    for (let p = from * 2; p < end; p += 2) {
      const lo = pairs[p];
      const hi = pairs[p + 1];
      if (width === 64) bytes[at++] = hi >>> 24;
      if (width >= 56) bytes[at++] = hi >>> 16;
      if (width >= 48) bytes[at++] = hi >>> 8;
      bytes[at] = hi;
      bytes[at + 1] = lo >>> 24;
      bytes[at + 2] = lo >>> 16;
      bytes[at + 3] = lo >>> 8;
      bytes[at + 4] = lo;
      at += 5;
    }
    output.length = at;
    return;
  }
  let current = 0;
  let room = 8;
  for (let p = from * 2; p < end; p += 2) {
    for (let left = width; left > 0; ) {
      const taken = Math.min(left, room);
      left -= taken;
      room -= taken;
      current |= (bitsAt(pairs[p], pairs[p + 1], left) & (0xff >>> (8 - taken))) << room;
      if (room === 0) {
        output.bytes[output.length++] = current;
        current = 0;
        room = 8;
      }
    }
  }
  if (room < 8) output.bytes[output.length++] = current;
}

/** The bits of a pair from bit `shift` (0 is the least) on; at least the eight lowest are right. */
function bitsAt(lo: number, hi: number, shift: number): number {
  if (shift >= 32) return hi >>> (shift - 32);
  return shift === 0 ? lo : (lo >>> shift) | (hi << (32 - shift));
}
