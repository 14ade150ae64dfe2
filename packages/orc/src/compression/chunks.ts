import { CorruptFileError } from '@skep/core';
import type { Codec } from './codec.js';
import type { Scratch } from './scratch.js';

/*
 * A compressed stream is a sequence of chunks (spec: "Compression"):
 *
 *   3 bytes little endian: length × 2 + (1 when the bytes are original, not compressed) | bytes
 */
export const CHUNK_HEADER_BYTES = 3;
const LARGEST_CHUNK = (1 << 23) - 1;
const LARGEST_STREAM = 0x7fffffff;
/** Streams are longer than this only when their chunks really are. */
const MOST_EXPECTED = 16 << 20;

/** Where bytes of a stream come from, for errors and limits. */
export interface ChunkContext {
  readonly path: string;
  /** What the stream is, for errors. */
  readonly name: string;
  /** Offset in the file of the first byte. */
  readonly fileOffset: number;
  readonly codec: Codec | undefined;
  /** Most bytes that a chunk holds. */
  readonly blockSize: number;
  /** The range may end inside a chunk, which is then left out: it belongs to rows that are not read. */
  readonly mayEndEarly?: boolean;
  /** Where the bytes go when nothing keeps them. */
  readonly scratch?: Scratch | undefined;
}

export interface Decompressed {
  readonly bytes: Uint8Array;
  /** Of each chunk its offset in the compressed range and in `bytes`; empty for streams that are not compressed. */
  readonly chunkStarts: readonly number[];
  readonly chunkTargets: readonly number[];
  /** Offset in the range behind the last whole chunk. */
  readonly end: number;
  /** `bytes` are memory of this stream alone, which may be kept and written to: no scratch, and not those of the range. */
  readonly isOwn: boolean;
}

/** What went before a range: the chunks in front of it, already decompressed, with offsets from the first of them. */
export type Carried = Decompressed;

/** The whole of a range of a stream, which begins at a chunk, behind `before`. */
export function decompressRange(range: Uint8Array, context: ChunkContext, before?: Carried): Decompressed {
  const { codec, blockSize } = context;
  if (codec === undefined) return { bytes: range, chunkStarts: [], chunkTargets: [], end: range.length, isOwn: false };
  const first = before?.end ?? 0;
  const joined = new Joined(context.scratch);
  if (before !== undefined) joined.append(before.bytes, before.bytes.length);
  const chunkStarts: number[] = [...(before?.chunkStarts ?? [])];
  const chunkTargets: number[] = [...(before?.chunkTargets ?? [])];
  let at = 0;
  while (at < range.length) {
    const corrupt = (what: string, cause?: unknown) =>
      new CorruptFileError(context.path, context.fileOffset + at, `${context.name}: ${what}`, { cause });
    if (range.length - at < CHUNK_HEADER_BYTES) {
      if (context.mayEndEarly) break;
      throw corrupt('the compressed stream ends inside a chunk header');
    }
    const header = range[at] | (range[at + 1] << 8) | (range[at + 2] << 16);
    const length = header >>> 1;
    const start = at + CHUNK_HEADER_BYTES;
    if (length > range.length - start) {
      if (context.mayEndEarly) break;
      throw corrupt(`a chunk of ${length} bytes goes beyond the end of its stream`);
    }
    let bytes = range.subarray(start, start + length);
    if ((header & 1) === 0) {
      try {
        bytes = codec.decompress(bytes, blockSize);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw corrupt(`a ${codec.kind} chunk of ${length} bytes cannot be decompressed: ${why}`, cause);
      }
      if (bytes.length > blockSize) throw corrupt(`a chunk holds ${bytes.length} bytes, more than ${blockSize}`);
    }
    chunkStarts.push(first + at);
    chunkTargets.push(joined.length);
    if (joined.length + bytes.length > LARGEST_STREAM) throw corrupt('the stream holds 2 GiB or more');
    at = start + length;
    const whole = at === range.length && chunkStarts.length === 1 && (header & 1) === 1;
    if (whole) return { bytes, chunkStarts, chunkTargets, end: first + at, isOwn: false };
    // As if the rest were as compressible as this.
    joined.append(bytes, Math.ceil(((range.length - at) * bytes.length) / Math.max(1, length)));
  }
  const isOwn = context.scratch === undefined;
  return { bytes: joined.bytes(), chunkStarts, chunkTargets, end: first + at, isOwn };
}

/** The chunks from one of them on, by its offset in the range; undefined when no chunk starts there. Copied: the rest can go. */
export function carryFrom({ bytes, chunkStarts, chunkTargets, end }: Decompressed, start: number): Carried | undefined {
  const chunk = chunkStarts.indexOf(start);
  if (chunk < 0) return undefined;
  const target = chunkTargets[chunk];
  return {
    bytes: bytes.slice(target),
    chunkStarts: chunkStarts.slice(chunk).map((at) => at - start),
    chunkTargets: chunkTargets.slice(chunk).map((at) => at - target),
    end: end - start,
    isOwn: true,
  };
}

/** The chunks of a stream, one behind the other, in memory that grows when they turn out longer than expected. */
class Joined {
  length = 0;
  private memory: Uint8Array = new Uint8Array(0);

  constructor(private readonly scratch: Scratch | undefined) {}

  /** Copies `part`, behind which about `more` bytes are expected. */
  append(part: Uint8Array, more: number): void {
    const needed = this.length + part.length;
    if (needed > this.memory.length) {
      const capacity = Math.min(LARGEST_STREAM, needed + Math.min(more, MOST_EXPECTED));
      const grown = this.scratch?.take(capacity) ?? Buffer.allocUnsafeSlow(capacity);
      grown.set(this.memory.subarray(0, this.length));
      this.memory = grown;
    }
    this.memory.set(part, this.length);
    this.length = needed;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.memory.byteOffset, this.length);
  }
}

/** One block as a chunk: compressed, or the original bytes where that does not make them fewer (Java: OutStream). */
export function compressChunk(block: Uint8Array, codec: Codec): Uint8Array {
  return chunkOf(block, codec.compress(block));
}

export function chunkOf(block: Uint8Array, compressed: Uint8Array): Uint8Array {
  if (block.length > LARGEST_CHUNK) throw new RangeError(`a chunk of ${block.length} bytes`);
  const original = compressed.length >= block.length;
  const body = original ? block : compressed;
  const chunk = new Uint8Array(CHUNK_HEADER_BYTES + body.length);
  const header = body.length * 2 + (original ? 1 : 0);
  chunk[0] = header;
  chunk[1] = header >>> 8;
  chunk[2] = header >>> 16;
  chunk.set(body, CHUNK_HEADER_BYTES);
  return chunk;
}
