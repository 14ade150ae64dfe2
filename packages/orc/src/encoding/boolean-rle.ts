import { ByteRleDecoder, ByteRleEncoder } from './byte-rle.js';
import type { OutputBuffer } from './output-buffer.js';

/*
 * Boolean run length encoding (spec: "Boolean Run Length Encoding"; Java: BitFieldReader/Writer): eight values a byte,
 * the first in the most significant bit, the bytes then in byte RLE. The last byte is padded with zeros.
 */
const SCRATCH_BYTES = 128;

/** Decodes boolean columns and PRESENT streams. */
export class BooleanRleDecoder {
  private readonly input: ByteRleDecoder;
  private readonly scratch = new Uint8Array(SCRATCH_BYTES);
  private current = 0;
  private bitsLeft = 0;

  constructor(bytes: Uint8Array, position = 0, name = 'boolean stream') {
    this.input = new ByteRleDecoder(bytes, position, name);
  }

  /** Fills out[from, from + count) with 0 and 1; answers how many are 1. */
  readBooleans(out: Uint8Array, from: number, count: number): number {
    let at = from;
    const end = from + count;
    let ones = 0;
    while (at < end && this.bitsLeft > 0) {
      const bit = (this.current >>> --this.bitsLeft) & 1;
      ones += bit;
      out[at++] = bit;
    }
    while (end - at >= 8) {
      const bytes = Math.min((end - at) >>> 3, SCRATCH_BYTES);
      this.input.readBytes(this.scratch, 0, bytes);
      for (let i = 0; i < bytes; i++) {
        const byte = this.scratch[i];
        ones += ONES[byte];
        for (let bit = 7; bit >= 0; bit--) out[at++] = (byte >>> bit) & 1;
      }
    }
    while (at < end) {
      const bit = this.nextBit();
      ones += bit;
      out[at++] = bit;
    }
    return ones;
  }

  /**
   * Sets bits [from, from + count) of a bitmap with bit i % 8 of byte i / 8 (least significant first, as a vector's
   * `validity`); the other bits stay. Answers how many of them are 1.
   */
  readBitmap(out: Uint8Array, from: number, count: number): number {
    let at = from;
    const end = from + count;
    let ones = 0;
    while (at < end && ((at & 7) !== 0 || this.bitsLeft > 0 || end - at < 8)) {
      const bit = this.nextBit();
      ones += bit;
      if (bit === 1) out[at >>> 3] |= 1 << (at & 7);
      else out[at >>> 3] &= ~(1 << (at & 7));
      at++;
    }
    while (end - at >= 8) {
      const bytes = Math.min((end - at) >>> 3, SCRATCH_BYTES);
      this.input.readBytes(this.scratch, 0, bytes);
      for (let i = 0; i < bytes; i++) {
        const byte = this.scratch[i];
        ones += ONES[byte];
        out[(at >>> 3) + i] = REVERSED[byte];
      }
      at += bytes * 8;
    }
    return at < end ? ones + this.readBitmap(out, at, end - at) : ones;
  }

  skip(count: number): void {
    const here = Math.min(count, this.bitsLeft);
    this.bitsLeft -= here;
    const left = count - here;
    this.input.skip(left >>> 3);
    for (let i = left & 7; i > 0; i--) this.nextBit();
  }

  private nextBit(): number {
    if (this.bitsLeft === 0) {
      this.input.readBytes(this.scratch, 0, 1);
      this.current = this.scratch[0];
      this.bitsLeft = 8;
    }
    return (this.current >>> --this.bitsLeft) & 1;
  }
}

/** The bits of each byte in opposite order. */
const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >>> bit) & 1) << (7 - bit);
  return reversed;
});
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0;
  for (let rest = byte; rest !== 0; rest >>>= 1) ones += rest & 1;
  return ones;
});

/** Encodes booleans; as Java's BitFieldWriter. */
export class BooleanRleEncoder {
  private readonly bytes: ByteRleEncoder;
  private current = 0;
  private bitsUsed = 0;

  constructor(output: OutputBuffer) {
    this.bytes = new ByteRleEncoder(output);
  }

  /** Bytes not yet in the output, and bits used of the byte at hand: the last two numbers of a row index position. */
  get pendingBytes(): number {
    return this.bytes.pending;
  }
  get pendingBits(): number {
    return this.bitsUsed;
  }

  /** values[i] is 0 or 1. */
  writeBooleans(values: Uint8Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) this.writeBit(values[i] & 1);
  }

  /** The same bit `count` times. */
  repeat(bit: 0 | 1, count: number): void {
    let left = count;
    while (left > 0 && this.bitsUsed !== 0) {
      this.writeBit(bit);
      left--;
    }
    for (; left >= 8; left -= 8) this.bytes.writeByte(bit === 0 ? 0 : 0xff);
    for (; left > 0; left--) this.writeBit(bit);
  }

  /** Bits [from, from + count) of a bitmap, least significant bit of a byte first. */
  writeBitmap(bitmap: Uint8Array, from: number, count: number): void {
    const end = from + count;
    let at = from;
    while (at < end) {
      if (this.bitsUsed === 0 && (at & 7) === 0 && end - at >= 8) {
        this.bytes.writeByte(REVERSED[bitmap[at >>> 3]]);
        at += 8;
      } else {
        this.writeBit((bitmap[at >>> 3] >>> (at & 7)) & 1);
        at++;
      }
    }
  }

  private writeBit(bit: number): void {
    this.current |= bit << (7 - this.bitsUsed);
    if (++this.bitsUsed === 8) {
      this.bytes.writeByte(this.current);
      this.current = 0;
      this.bitsUsed = 0;
    }
  }

  flush(): void {
    if (this.bitsUsed > 0) {
      this.bytes.writeByte(this.current);
      this.current = 0;
      this.bitsUsed = 0;
    }
    this.bytes.flush();
  }
}
