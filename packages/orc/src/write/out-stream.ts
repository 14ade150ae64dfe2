import { compressChunk } from '../compression/chunks.js';
import type { Codec } from '../compression/codec.js';
import { OutputBuffer } from '../encoding/output-buffer.js';

/**
 * A stream of a stripe under construction: encoders append to it, full compression chunks are compressed at once (spec:
 * "Compression"; Java: OutStream). Without a codec the bytes are only collected.
 */
export class OutStream extends OutputBuffer {
  private parts: Uint8Array[] = [];
  /** Bytes in `parts`. */
  private partBytes = 0;

  constructor(
    private readonly codec: Codec | undefined,
    private readonly blockBytes: number,
  ) {
    super();
  }

  override reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    this.drain(this.blockBytes);
    super.reserve(count);
  }

  /** Memory that the stream takes: what counts for the size of the stripe. */
  get sizeBytes(): number {
    return this.partBytes + this.length;
  }

  /**
   * Appends where the stream is now: the offset of the chunk and the offset in it, or one offset without compression
   * (spec: "Row Group Index"). As in Java a full chunk is only left behind when more bytes come.
   */
  recordPosition(positions: number[]): void {
    if (this.codec === undefined) {
      positions.push(this.partBytes + this.length);
      return;
    }
    this.drain(this.blockBytes + 1);
    positions.push(this.partBytes, this.length);
  }

  /** Numbers that recordPosition appends. */
  get positionLength(): number {
    return this.codec === undefined ? 1 : 2;
  }

  /** The whole stream, in pieces that the caller owns; the stream is then empty again. */
  finish(): { parts: Uint8Array[]; lengthBytes: number } {
    this.drain(this.blockBytes);
    if (this.length > 0) this.take(this.length);
    const { parts, partBytes } = this;
    this.parts = [];
    this.partBytes = 0;
    return { parts, lengthBytes: partBytes };
  }

  private drain(untilBelow: number): void {
    let from = 0;
    const { length } = this;
    while (length - from >= untilBelow) {
      this.push(this.bytes.subarray(from, from + this.blockBytes));
      from += this.blockBytes;
    }
    if (from === 0) return;
    this.bytes.copyWithin(0, from, length);
    this.length = length - from;
  }

  private take(count: number): void {
    this.push(this.bytes.subarray(0, count));
    this.length = 0;
  }

  private push(block: Uint8Array): void {
    const part = this.codec === undefined ? block.slice() : compressChunk(block, this.codec);
    this.parts.push(part);
    this.partBytes += part.length;
  }
}
