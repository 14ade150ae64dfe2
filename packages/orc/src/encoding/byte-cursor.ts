import { CorruptFileError } from '@skep/core';

/**
 * Reads one stream front to back, never past its end. `lo` and `hi` hold the last varint as two's complement halves:
 * 64-bit values stay pairs of int32, since BigInt arithmetic a value costs twenty times as much.
 */
export class ByteCursor {
  lo = 0;
  hi = 0;
  /** Of `bytes`, for big endian loads. */
  readonly view: DataView;

  constructor(
    readonly bytes: Uint8Array,
    public at: number,
    /** Named in errors; the offset there is within the (decompressed) stream. */
    readonly name: string,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (!(at >= 0 && at <= bytes.length)) {
      throw this.corrupt(`position ${at} is outside the stream of ${bytes.length} bytes`);
    }
  }

  corrupt(what: string): CorruptFileError {
    return new CorruptFileError(this.name, this.at, what);
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /** Checks that `count` more bytes exist. */
  need(count: number): void {
    if (count > this.bytes.length - this.at) {
      throw this.corrupt(`the stream ends early: ${count} bytes needed, ${this.bytes.length - this.at} left`);
    }
  }

  byte(): number {
    if (this.at >= this.bytes.length) this.need(1);
    return this.bytes[this.at++];
  }

  /** Base 128, least significant group first (spec: "Run Length Encoding", varint). At most 10 bytes. */
  varint(): void {
    const { bytes } = this;
    const end = bytes.length;
    let at = this.at;
    let lo = 0;
    let hi = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) {
        this.at = at;
        this.need(1);
      }
      const byte = bytes[at++];
      const group = byte & 0x7f;
      if (shift < 28) lo |= group << shift;
      else if (shift === 28) {
        lo |= group << 28;
        hi = group >>> 4;
      } else hi |= group << (shift - 32);
      if (byte < 0x80) {
        this.at = at;
        this.lo = lo;
        this.hi = hi;
        return;
      }
    }
    throw this.corrupt('a varint has more than 10 bytes');
  }

  /** A varint, zigzag decoded when `signed`. */
  integer(signed: boolean): void {
    this.varint();
    if (signed) this.unZigzag();
  }

  /** (n >>> 1) ^ -(n & 1) on the halves. */
  unZigzag(): void {
    const sign = -(this.lo & 1);
    const lo = (this.lo >>> 1) | (this.hi << 31);
    this.lo = lo ^ sign;
    this.hi = (this.hi >>> 1) ^ sign;
  }

  /** `width` bytes (1 to 8), most significant first, unsigned, into lo and hi. */
  bigEndian(width: number): void {
    this.need(width);
    let lo = 0;
    let hi = 0;
    for (let i = 0; i < width; i++) {
      hi = (hi << 8) | (lo >>> 24);
      lo = (lo << 8) | this.bytes[this.at++];
    }
    this.lo = lo;
    this.hi = hi;
  }
}
