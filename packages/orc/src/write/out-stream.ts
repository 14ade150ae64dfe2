import { BugError } from '@skep/core';
import { CHUNK_HEADER_BYTES, compressChunk } from '../compression/chunks.js';
import type { Codec } from '../compression/codec.js';
import { OutputBuffer } from '../encoding/output-buffer.js';
import { type ChunksLater, LEAST_LATER_BYTES } from './chunks-later.js';

/** After so many full chunks it is tried again whether looking for repetitions pays. */
const TRIAL_CHUNKS = 16;
/** Of a chunk that it is tried with. */
const TRIAL_BYTES = 32 << 10;
/** Being faster may cost so much. */
const MOST_TIMES_LONGER = 1.02;

/** A place in the stream that was recorded before it is known how long the chunks before it are. */
interface OpenPosition {
  readonly positions: number[];
  readonly at: number;
  readonly chunks: number;
}

/**
 * A stream of a stripe under construction: encoders append to it, full compression chunks are compressed at once (spec:
 * "Compression"; Java: OutStream), with `later` on other threads. Without a codec the bytes are only collected.
 */
export class OutStream extends OutputBuffer {
  /** Undefined: on its way. */
  private parts: (Uint8Array | undefined)[] = [];
  /** Bytes in `parts`, at most where some are on their way. */
  private partBytes = 0;
  private partsOnTheirWay = 0;
  private open: OpenPosition[] = [];
  private chosen: Codec | undefined;
  private fullChunks = 0;

  constructor(
    private readonly codec: Codec | undefined,
    private readonly blockBytes: number,
    private readonly later?: ChunksLater,
  ) {
    super();
    this.chosen = codec;
  }

  override reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    this.drain(this.blockBytes);
    super.reserve(count);
  }

  /** Memory that the stream takes: what counts for the size of the stripe. At most so much, until `later` has settled. */
  get sizeBytes(): number {
    return this.partBytes + this.length;
  }

  /**
   * Appends where the stream is now: the offset of the chunk and the offset in it, or one offset without compression
   * (spec: "Row Group Index"). As in Java a full chunk is only left behind when more bytes come. What depends on chunks that are
   * on their way is put right by `finish`.
   */
  recordPosition(positions: number[]): void {
    if (this.codec === undefined) {
      positions.push(this.partBytes + this.length);
      return;
    }
    this.drain(this.blockBytes + 1);
    if (this.partsOnTheirWay > 0) this.open.push({ positions, at: positions.length, chunks: this.parts.length });
    positions.push(this.partBytes, this.length);
  }

  /** Numbers that recordPosition appends. */
  get positionLength(): number {
    return this.codec === undefined ? 1 : 2;
  }

  /** Compresses what is left. */
  end(): void {
    this.drain(this.blockBytes);
    if (this.length === 0) return;
    this.push(this.bytes.subarray(0, this.length));
    this.length = 0;
  }

  /** The whole stream, in pieces that the caller owns; the stream is then empty again. `later` must have settled after `end`. */
  finish(): { parts: Uint8Array[]; lengthBytes: number } {
    this.end();
    if (this.partsOnTheirWay > 0) throw new BugError('a stream is finished before its chunks are there');
    const parts = this.parts.filter((part) => part !== undefined);
    this.closePositions(parts);
    const { partBytes } = this;
    this.parts = [];
    this.partBytes = 0;
    return { parts, lengthBytes: partBytes };
  }

  private closePositions(parts: readonly Uint8Array[]): void {
    let chunk = 0;
    let offset = 0;
    for (const { positions, at, chunks } of this.open) {
      for (; chunk < chunks; chunk++) offset += parts[chunk].length;
      positions[at] = offset;
    }
    this.open = [];
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

  private push(block: Uint8Array): void {
    if (block.length === this.blockBytes) this.choose(block);
    const { chosen: codec, later } = this;
    if (later === undefined || codec?.compressLater === undefined || block.length < LEAST_LATER_BYTES) {
      const part = codec === undefined ? block.slice() : compressChunk(block, codec);
      this.parts.push(part);
      this.partBytes += part.length;
      return;
    }
    const number = this.parts.length;
    const most = CHUNK_HEADER_BYTES + block.length;
    this.parts.push(undefined);
    this.partBytes += most;
    this.partsOnTheirWay++;
    later.start(block.slice(), codec.compressLater, (part) => {
      this.parts[number] = part;
      this.partBytes += part.length - most;
      this.partsOnTheirWay--;
    });
  }

  /** Whether to look for repetitions, from the second full chunk on: short streams are not worth the trial. */
  private choose(block: Uint8Array): void {
    const { codec } = this;
    if (codec?.withoutMatches === undefined || this.fullChunks++ % TRIAL_CHUNKS !== 1) return;
    const sample = block.subarray(0, TRIAL_BYTES);
    const isLonger = codec.withoutMatches.compress(sample).length > codec.compress(sample).length * MOST_TIMES_LONGER;
    this.chosen = isLonger ? codec : codec.withoutMatches;
  }
}
