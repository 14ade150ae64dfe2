const INITIAL_BYTES = 256;

/**
 * A growing byte array that encoders append to: call reserve(n), then write at most n bytes at `length` and move it.
 * A stream of a file overrides `reserve` to pass full compression chunks on.
 */
export class OutputBuffer {
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  length = 0;

  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  putBytes(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  /** An unsigned varint of the 64-bit value in two halves: at most 10 bytes, to be reserved by the caller. */
  putVarint(low: number, high: number): void {
    const { bytes } = this;
    let at = this.length;
    let lo = low;
    let hi = high;
    while (hi !== 0 || lo >>> 7 !== 0) {
      bytes[at++] = (lo & 0x7f) | 0x80;
      lo = (lo >>> 7) | (hi << 25);
      hi >>>= 7;
    }
    bytes[at++] = lo;
    this.length = at;
  }

  /** A signed varint: zigzag of the two's complement value in two halves. */
  putZigzag(lo: number, hi: number): void {
    const sign = hi >> 31;
    this.putVarint((lo << 1) ^ sign, ((hi << 1) | (lo >>> 31)) ^ sign);
  }

  /** The low `width` bytes of the 64-bit value in two halves, most significant first. */
  putBigEndian(lo: number, hi: number, width: number): void {
    for (let i = width - 1; i >= 0; i--) {
      this.bytes[this.length++] = i >= 4 ? hi >>> ((i - 4) * 8) : lo >>> (i * 8);
    }
  }
}
