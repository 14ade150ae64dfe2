import { unpackInts } from './bit-packing.js';

/*
 * Direct runs straight into a vector: one pass that unpacks and undoes zigzag, for the widths that writers choose by
 * default (1, 2, 4 and whole bytes; the others take a second pass). A big endian load of a DataView is one instruction,
 * where single bytes cost a load, a shift and a bounds check each. Layout: bit-packing.ts.
 */

/** Bytes that a kernel may read beyond the last value: the callers leave such runs at the end of a stream to unpackInts. */
export const OVERREAD_BYTES = 4;

/** Unpacks `count` values of 1 to 32 bits into out[from, from + count); `zigzag` 1 undoes zigzag, 0 leaves the values. */
export function unpackIntsStraight(
  view: DataView,
  bytes: Uint8Array,
  position: number,
  width: number,
  zigzag: 0 | 1,
  out: Int32Array,
  from: number,
  count: number,
): void {
  const end = from + count;
  let at = position;
  switch (width) {
    case 8:
      for (let i = from; i < end; i++) {
        const value = bytes[at++];
        out[i] = (value >>> zigzag) ^ -(value & zigzag);
      }
      return;
    case 16:
      for (let i = from; i < end; i++, at += 2) {
        const value = view.getUint16(at);
        out[i] = (value >>> zigzag) ^ -(value & zigzag);
      }
      return;
    case 24:
      for (let i = from; i < end; i++, at += 3) {
        const value = view.getInt32(at) >>> 8;
        out[i] = (value >>> zigzag) ^ -(value & zigzag);
      }
      return;
    case 32:
      for (let i = from; i < end; i++, at += 4) {
        const value = view.getInt32(at);
        out[i] = (value >>> zigzag) ^ -(value & zigzag);
      }
      return;
    case 1:
      unpackBits(bytes, position, out, from, count);
      break;
    case 2:
      unpackTwos(bytes, position, out, from, count);
      break;
    case 4:
      unpackFours(bytes, position, out, from, count);
      break;
    default:
      unpackInts(bytes, position, width, out, from, count);
  }
  if (zigzag === 1) for (let i = from; i < end; i++) out[i] = (out[i] >>> 1) ^ -(out[i] & 1);
}

/**
 * Unpacks `count` zigzag values of 8 to 64 bits, whole bytes, into halves out[2 from, 2 (from + count)): low, high.
 * Answers false, having done nothing, for other widths.
 */
export function unpackLongsStraight(
  view: DataView,
  position: number,
  width: number,
  out: Int32Array,
  from: number,
  count: number,
): boolean {
  const end = (from + count) * 2;
  let at = position;
  switch (width) {
    case 8:
      for (let p = from * 2; p < end; p += 2, at++) {
        const value = view.getUint8(at);
        const low = (value >>> 1) ^ -(value & 1);
        out[p] = low;
        out[p + 1] = low >> 31;
      }
      return true;
    case 16:
      for (let p = from * 2; p < end; p += 2, at += 2) {
        const value = view.getUint16(at);
        const low = (value >>> 1) ^ -(value & 1);
        out[p] = low;
        out[p + 1] = low >> 31;
      }
      return true;
    case 24:
      for (let p = from * 2; p < end; p += 2, at += 3) {
        const value = view.getInt32(at) >>> 8;
        const low = (value >>> 1) ^ -(value & 1);
        out[p] = low;
        out[p + 1] = low >> 31;
      }
      return true;
    case 32:
      for (let p = from * 2; p < end; p += 2, at += 4) {
        const value = view.getInt32(at);
        const low = (value >>> 1) ^ -(value & 1);
        out[p] = low;
        out[p + 1] = low >> 31;
      }
      return true;
    case 40:
      for (let p = from * 2; p < end; p += 2, at += 5) {
        const high = view.getUint8(at);
        const low = view.getInt32(at + 1);
        const sign = -(low & 1);
        out[p] = ((low >>> 1) | (high << 31)) ^ sign;
        out[p + 1] = (high >>> 1) ^ sign;
      }
      return true;
    case 48:
      for (let p = from * 2; p < end; p += 2, at += 6) {
        const high = view.getUint16(at);
        const low = view.getInt32(at + 2);
        const sign = -(low & 1);
        out[p] = ((low >>> 1) | (high << 31)) ^ sign;
        out[p + 1] = (high >>> 1) ^ sign;
      }
      return true;
    case 56:
      for (let p = from * 2; p < end; p += 2, at += 7) {
        const high = view.getInt32(at) >>> 8;
        const low = view.getInt32(at + 3);
        const sign = -(low & 1);
        out[p] = ((low >>> 1) | (high << 31)) ^ sign;
        out[p + 1] = (high >>> 1) ^ sign;
      }
      return true;
    case 64:
      for (let p = from * 2; p < end; p += 2, at += 8) {
        const high = view.getInt32(at);
        const low = view.getInt32(at + 4);
        const sign = -(low & 1);
        out[p] = ((low >>> 1) | (high << 31)) ^ sign;
        out[p + 1] = (high >>> 1) ^ sign;
      }
      return true;
    default:
      return false;
  }
}

function unpackBits(bytes: Uint8Array, position: number, out: Int32Array, from: number, count: number): void {
  const whole = from + (count & ~7);
  let at = position;
  let i = from;
  for (; i < whole; i += 8) {
    const byte = bytes[at++];
    out[i] = byte >>> 7;
    out[i + 1] = (byte >>> 6) & 1;
    out[i + 2] = (byte >>> 5) & 1;
    out[i + 3] = (byte >>> 4) & 1;
    out[i + 4] = (byte >>> 3) & 1;
    out[i + 5] = (byte >>> 2) & 1;
    out[i + 6] = (byte >>> 1) & 1;
    out[i + 7] = byte & 1;
  }
  for (let shift = 7; i < from + count; i++, shift--) out[i] = (bytes[at] >>> shift) & 1;
}

function unpackTwos(bytes: Uint8Array, position: number, out: Int32Array, from: number, count: number): void {
  const whole = from + (count & ~3);
  let at = position;
  let i = from;
  for (; i < whole; i += 4) {
    const byte = bytes[at++];
    out[i] = byte >>> 6;
    out[i + 1] = (byte >>> 4) & 3;
    out[i + 2] = (byte >>> 2) & 3;
    out[i + 3] = byte & 3;
  }
  for (let shift = 6; i < from + count; i++, shift -= 2) out[i] = (bytes[at] >>> shift) & 3;
}

function unpackFours(bytes: Uint8Array, position: number, out: Int32Array, from: number, count: number): void {
  const whole = from + (count & ~1);
  let at = position;
  let i = from;
  for (; i < whole; i += 2) {
    const byte = bytes[at++];
    out[i] = byte >>> 4;
    out[i + 1] = byte & 15;
  }
  if (i < from + count) out[i] = bytes[at] >>> 4;
}
