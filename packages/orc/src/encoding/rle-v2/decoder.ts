import { IntegerDecoder } from '../integer-decoder.js';
import { packedBytes, unpackInts, unpackPairs } from './bit-packing.js';
import { decodeRuns, usedBytes } from './run-kernels.js';
import { OVERREAD_BYTES, unpackIntsStraight, unpackLongsStraight } from './unpack-kernels.js';
import { closestFixedBits, decodeBitWidth } from './widths.js';

/** Values in the longest run. */
export const MAX_RUN = 512;

/*
 * Integer run length encoding, version 2 (spec: "Integer Run Length Encoding, version 2"; Java:
 * RunLengthIntegerReaderV2). The top two bits of the first byte name the form:
 *
 *   00 www ccc                  short repeat: www + 1 bytes of one big endian value, ccc + 3 times
 *   01 wwwww l  llllllll        direct: l + 1 values, packed with the width of code w
 *   10 wwwww l  llllllll  bbb ppppp  ggg nnnnn
 *                               patched base: a base of bbb + 1 bytes (top bit: sign), l + 1 packed offsets to it, then
 *                               n patches packed as (gap: ggg + 1 bits, patch: width of code p) in the closest width
 *   11 wwwww l  llllllll        delta: base varint, first delta (zigzag varint), then l - 1 packed magnitudes that
 *                               take the first delta's sign; width code 0: each step is the first delta
 *
 * Values are zigzag encoded in signed streams, except patched base (offsets are never negative).
 */
export class RleV2Decoder extends IntegerDecoder {
  constructor(bytes: Uint8Array, position: number, signed: boolean, name = 'integer stream') {
    super(bytes, position, signed, MAX_RUN, name);
  }

  protected override decodeRun(): void {
    const first = this.input.byte();
    switch (first >>> 6) {
      case 0:
        this.shortRepeat(first);
        break;
      case 1:
        this.direct(first);
        break;
      case 2:
        this.patchedBase(first);
        break;
      default:
        this.delta(first);
    }
  }

  protected override straightInts(out: Int32Array, at: number, room: number): number {
    const { input, signed } = this;
    const values = decodeRuns('ints', input.bytes, input.at, room, signed ? 1 : 0);
    if (values !== undefined) {
      out.set(values, at);
      input.at += usedBytes();
      return values.length;
    }
    const size = this.straightBytes(room);
    if (size === 0) return 0;
    const { bytes, view } = input;
    const width = decodeBitWidth((bytes[input.at] >>> 1) & 31);
    // Unsigned values of 32 bits and more need the check that they fit.
    if (width > 32 || (width === 32 && !signed)) return 0;
    const count = (((bytes[input.at] & 1) << 8) | bytes[input.at + 1]) + 1;
    unpackIntsStraight(view, bytes, input.at + 2, width, signed ? 1 : 0, out, at, count);
    input.at += size;
    return count;
  }

  protected override straightLongs(out: Int32Array, at: number, room: number): number {
    if (!this.signed) return 0;
    const { input } = this;
    const values = decodeRuns('longs', input.bytes, input.at, room, 1);
    if (values !== undefined) {
      out.set(values, 2 * at);
      input.at += usedBytes();
      return values.length >>> 1;
    }
    const size = this.straightBytes(room);
    if (size === 0) return 0;
    const { bytes, view } = input;
    const width = decodeBitWidth((bytes[input.at] >>> 1) & 31);
    const count = (((bytes[input.at] & 1) << 8) | bytes[input.at + 1]) + 1;
    if (!unpackLongsStraight(view, input.at + 2, width, out, at, count)) return 0;
    input.at += size;
    return count;
  }

  /** Bytes of the run at hand when it is direct, has at most `room` values and kernels may read behind it; else 0. */
  private straightBytes(room: number): number {
    const { bytes, at } = this.input;
    if (bytes.length - at < 2 || bytes[at] >>> 6 !== 1) return 0;
    const count = (((bytes[at] & 1) << 8) | bytes[at + 1]) + 1;
    if (count > room) return 0;
    const size = 2 + packedBytes(count, decodeBitWidth((bytes[at] >>> 1) & 31));
    return size + OVERREAD_BYTES > bytes.length - at ? 0 : size;
  }

  private shortRepeat(first: number): void {
    const { input } = this;
    input.bigEndian(((first >>> 3) & 7) + 1);
    if (this.signed) input.unZigzag();
    this.runLength = (first & 7) + 3;
    this.fill(input.lo, input.hi, this.runLength);
  }

  private direct(first: number): void {
    const { input, ints, pairs, signed } = this;
    const count = this.countOf(first);
    const width = decodeBitWidth((first >>> 1) & 31);
    const size = packedBytes(count, width);
    input.need(size);
    if (width <= 32) {
      unpackInts(input.bytes, input.at, width, ints, 0, count);
      this.narrow = signed || width < 32;
      if (signed) for (let i = 0; i < count; i++) ints[i] = (ints[i] >>> 1) ^ -(ints[i] & 1);
      else if (width === 32) this.widenUnsigned(count);
    } else {
      this.narrow = false;
      unpackPairs(input.bytes, input.at, width, pairs, 0, count);
      if (signed) {
        for (let p = 0; p < count * 2; p += 2) {
          const sign = -(pairs[p] & 1);
          pairs[p] = ((pairs[p] >>> 1) | (pairs[p + 1] << 31)) ^ sign;
          pairs[p + 1] = (pairs[p + 1] >>> 1) ^ sign;
        }
      }
    }
    input.at += size;
    this.runLength = count;
  }

  private patchedBase(first: number): void {
    const { input, ints, pairs } = this;
    const count = this.countOf(first);
    const width = decodeBitWidth((first >>> 1) & 31);
    const third = input.byte();
    const fourth = input.byte();
    const baseBytes = (third >>> 5) + 1;
    const patchWidth = decodeBitWidth(third & 31);
    const gapWidth = (fourth >>> 5) + 1;
    const patches = fourth & 31;
    if (gapWidth + patchWidth > 64) throw input.corrupt('a patch is wider than 64 bits');
    this.readBase(baseBytes);
    const baseLo = input.lo;
    const baseHi = input.hi;
    const size = packedBytes(count, width);
    input.need(size);
    this.narrow = false;
    if (width <= 32) {
      unpackInts(input.bytes, input.at, width, ints, 0, count);
      this.widenUnsigned(count);
    } else unpackPairs(input.bytes, input.at, width, pairs, 0, count);
    input.at += size;
    if (patches > 0) this.applyPatches(patches, patchWidth, gapWidth, width, count);
    for (let p = 0; p < count * 2; p += 2) {
      const sum = (pairs[p] >>> 0) + (baseLo >>> 0);
      pairs[p] = sum | 0;
      pairs[p + 1] = pairs[p + 1] + baseHi + (sum > 0xffffffff ? 1 : 0);
    }
    this.runLength = count;
  }

  /** The base: its top bit is the sign, the rest the magnitude; into input.lo and input.hi. */
  private readBase(baseBytes: number): void {
    const { input } = this;
    input.bigEndian(baseBytes);
    const signBit = baseBytes * 8 - 1;
    const negative = signBit >= 32 ? (input.hi >>> (signBit - 32)) & 1 : (input.lo >>> signBit) & 1;
    if (negative === 0) return;
    const lo = signBit >= 32 ? input.lo : input.lo & ~(1 << signBit);
    const hi = signBit >= 32 ? input.hi & ~(1 << (signBit - 32)) : input.hi;
    input.lo = -lo | 0;
    input.hi = ~hi + (lo === 0 ? 1 : 0);
  }

  private applyPatches(patches: number, patchWidth: number, gapWidth: number, width: number, count: number): void {
    const { input, pairs } = this;
    const entryWidth = closestFixedBits(gapWidth + patchWidth);
    const size = packedBytes(patches, entryWidth);
    input.need(size);
    // Entries are few (at most 31): the spare end of neither buffer is needed.
    const entries = new Int32Array(patches * 2);
    if (entryWidth <= 32) {
      const narrow = new Int32Array(patches);
      unpackInts(input.bytes, input.at, entryWidth, narrow, 0, patches);
      for (let i = 0; i < patches; i++) entries[2 * i] = narrow[i];
    } else unpackPairs(input.bytes, input.at, entryWidth, entries, 0, patches);
    input.at += size;
    let index = 0;
    for (let i = 0; i < patches; i++) {
      const lo = entries[2 * i];
      const hi = entries[2 * i + 1];
      const gap =
        patchWidth >= 32
          ? hi >>> (patchWidth - 32)
          : ((lo >>> patchWidth) | (patchWidth === 0 ? 0 : hi << (32 - patchWidth))) >>> 0;
      const patchLo = patchWidth >= 32 ? lo : lo & ((1 << patchWidth) - 1);
      const patchHi = patchWidth > 32 ? (patchWidth === 64 ? hi : hi & ((1 << (patchWidth - 32)) - 1)) : 0;
      index += gap & 0xff;
      if (index >= count) {
        // A gap of 255 with an empty patch only moves on; a real patch must hit a value.
        if (patchLo === 0 && patchHi === 0) continue;
        throw input.corrupt('a patch lies outside its run');
      }
      // value |= patch << width
      if (width >= 32) pairs[2 * index + 1] |= width === 64 ? 0 : patchLo << (width - 32);
      else {
        pairs[2 * index] |= patchLo << width;
        pairs[2 * index + 1] |= (patchHi << width) | (patchLo >>> (32 - width));
      }
    }
  }

  private delta(first: number): void {
    const { input, ints, pairs } = this;
    const count = this.countOf(first);
    const code = (first >>> 1) & 31;
    input.integer(this.signed);
    const baseLo = input.lo;
    const baseHi = input.hi;
    input.integer(true);
    const stepLo = input.lo;
    const stepHi = input.hi;
    this.runLength = count;
    if (code === 0 && stepLo === 0 && stepHi === 0) {
      this.fill(baseLo, baseHi, count);
      return;
    }
    if (count < 2) {
      this.fill(baseLo, baseHi, count);
      return;
    }
    const width = code === 0 ? 0 : decodeBitWidth(code);
    const size = packedBytes(count - 2, width);
    input.need(size);
    const negative = stepHi < 0;
    const base = baseHi * 0x100000000 + (baseLo >>> 0);
    const step = stepHi * 0x100000000 + (stepLo >>> 0);
    const largest = width === 0 ? Math.abs(step) : Math.min(2 ** width, 2 ** 62);
    const reach = Math.abs(base) + Math.abs(step) + (count - 2) * largest;
    if (width <= 32 && reach < 0x7fffffff) {
      // All sums fit an int32.
      this.narrow = true;
      let value = baseLo;
      ints[0] = value;
      value += stepLo;
      ints[1] = value;
      if (width === 0) for (let i = 2; i < count; i++) ints[i] = value += stepLo;
      else {
        unpackInts(input.bytes, input.at, width, ints, 2, count - 2);
        if (negative) for (let i = 2; i < count; i++) ints[i] = value -= ints[i];
        else for (let i = 2; i < count; i++) ints[i] = value += ints[i];
      }
    } else {
      this.narrow = false;
      if (width === 0) {
        for (let p = 2; p < count * 2; p += 2) {
          pairs[p] = stepLo;
          pairs[p + 1] = stepHi;
        }
      } else {
        if (width <= 32) {
          unpackInts(input.bytes, input.at, width, ints, 2, count - 2);
          this.widenUnsigned(count);
        } else unpackPairs(input.bytes, input.at, width, pairs, 2, count - 2);
        if (negative) {
          for (let p = 4; p < count * 2; p += 2) {
            const lo = pairs[p];
            pairs[p] = -lo | 0;
            pairs[p + 1] = ~pairs[p + 1] + (lo === 0 ? 1 : 0);
          }
        }
        pairs[2] = stepLo;
        pairs[3] = stepHi;
      }
      let lo = baseLo;
      let hi = baseHi;
      pairs[0] = lo;
      pairs[1] = hi;
      for (let p = 2; p < count * 2; p += 2) {
        const sum = (lo >>> 0) + (pairs[p] >>> 0);
        hi = (hi + pairs[p + 1] + (sum > 0xffffffff ? 1 : 0)) | 0;
        lo = sum | 0;
        pairs[p] = lo;
        pairs[p + 1] = hi;
      }
    }
    input.at += size;
  }

  /** The 9-bit run length of direct, patched base and delta. */
  private countOf(first: number): number {
    return (((first & 1) << 8) | this.input.byte()) + 1;
  }

  /** A run of one value. */
  private fill(lo: number, hi: number, count: number): void {
    this.narrow = hi === lo >> 31;
    if (this.narrow) this.ints.fill(lo, 0, count);
    else {
      for (let p = 0; p < count * 2; p += 2) {
        this.pairs[p] = lo;
        this.pairs[p + 1] = hi;
      }
    }
  }

  /** Moves ints, taken as unsigned, to pairs. */
  private widenUnsigned(count: number): void {
    const { ints, pairs } = this;
    for (let i = 0; i < count; i++) {
      pairs[2 * i] = ints[i];
      pairs[2 * i + 1] = 0;
    }
  }
}
