import { growTo } from '../../wasm/instance.js';
import { CORRUPT, SLACK_BYTES } from '../copy-kernels.js';
import { frameHeader, skippableBytes } from './frame.js';
import {
  DISTANCES,
  FREE,
  HUFFMAN,
  HUFFMAN_BITS,
  LITERAL_LENGTHS,
  LITERALS,
  MATCH_LENGTHS,
  MOST_BLOCK_BYTES,
  REPEATS,
  type ZstdKernels,
  zstdKernels,
} from './kernels.js';
import {
  corruptFrame,
  DISTANCE_CODE,
  type FseTable,
  fseTable,
  LITERAL_LENGTH_CODE,
  MATCH_LENGTH_CODE,
  readDistribution,
  readHuffman,
  type SequenceCode,
} from './tables.js';
import { xxh64Low } from './xxh64.js';

/*
 * Zstandard frames (RFC 8878), block by block: headers and tables are read here, the loops over symbols and sequences are
 * kernels. A compressed block:
 *
 *   literals   type 2 bits (raw, RLE, compressed, with the table before) | size format 2 | sizes 4 to 36 bits
 *              | [Huffman table] | [sizes of 3 of 4 streams, 2 bytes each] | streams
 *   sequences  number 1 to 3 bytes | modes: literal lengths 2 bits, distances 2, match lengths 2 | tables | bits
 */
const CHECKSUM_BYTES = 4;
const FIRST_REPEATS = [1, 4, 8];
/** The three codes of sequences, in the order of their tables: how each is coded and where its states are. */
const CODES: readonly { readonly code: SequenceCode; readonly at: number }[] = [
  { code: LITERAL_LENGTH_CODE, at: LITERAL_LENGTHS },
  { code: DISTANCE_CODE, at: DISTANCES },
  { code: MATCH_LENGTH_CODE, at: MATCH_LENGTHS },
];
const DEFAULT_TABLES = CODES.map(({ code }) => fseTable(code.defaults, code.defaultLog));

class ZstdDecompressor {
  private readonly kernels: ZstdKernels = zstdKernels();
  private bytes = new Uint8Array(0);
  /** Of the frame at hand: whether it had a Huffman table, states of its last tables of sequences; -1 before the first. */
  private hasHuffman = false;
  private readonly logs = [-1, -1, -1];
  /** Which of CODES have their default states in memory, where most blocks find them again. */
  private readonly areDefaults = [false, false, false];
  private literals = LITERALS;
  private literalsEnd = LITERALS;

  /** A view that is good until the next call. */
  decompress(chunk: Uint8Array, maximumLength: number): Uint8Array {
    const src = FREE;
    const srcEnd = src + chunk.length;
    const out = (srcEnd + 2 * SLACK_BYTES) & -SLACK_BYTES;
    const outEnd = out + maximumLength;
    this.reserve(outEnd + SLACK_BYTES);
    this.bytes.set(chunk, src);
    let dst = out;
    let at = src;
    do {
      const left = this.bytes.subarray(at, srcEnd);
      const skipped = skippableBytes(left);
      if (skipped > 0) at += skipped;
      else [at, dst] = this.frame(at, srcEnd, dst, outEnd);
    } while (at < srcEnd);
    return this.bytes.subarray(out, dst);
  }

  private reserve(length: number): void {
    const { memory } = this.kernels;
    growTo(memory, length);
    if (this.bytes.buffer !== memory.buffer) this.bytes = new Uint8Array(memory.buffer);
  }

  /** One frame; answers where the chunk goes on and the output ends. */
  private frame(start: number, end: number, out: number, outEnd: number): [at: number, dst: number] {
    const { bytes } = this;
    const { headerBytes, contentSize, checksum } = frameHeader(bytes.subarray(start, end));
    if (contentSize !== undefined && contentSize > outEnd - out) {
      throw new RangeError(`${contentSize} bytes are announced, ${outEnd - out} is the most`);
    }
    this.hasHuffman = false;
    this.logs.fill(-1);
    new Uint32Array(bytes.buffer, REPEATS, 3).set(FIRST_REPEATS);
    let at = start + headerBytes;
    let dst = out;
    for (let last = false; !last; ) {
      if (at + 3 > end) throw corruptFrame('the frame ends early');
      const header = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
      last = (header & 1) === 1;
      const type = (header >>> 1) & 3;
      const size = header >>> 3;
      at += 3;
      const stored = type === 1 ? 1 : size;
      if (size > MOST_BLOCK_BYTES || at + stored > end) throw corruptFrame('a block is longer than its frame');
      if (type < 2 && size > outEnd - dst) throw corruptFrame('more bytes than a chunk may have');
      if (type === 0) bytes.copyWithin(dst, at, at + size);
      else if (type === 1) bytes.fill(bytes[at], dst, dst + size);
      else if (type === 3) throw corruptFrame('a block of no known type');
      dst = type === 2 ? this.block(at, at + size, out, dst, outEnd) : dst + size;
      at += stored;
    }
    if (contentSize !== undefined && contentSize !== dst - out) {
      throw corruptFrame(`${contentSize} bytes are announced, the frame has ${dst - out}`);
    }
    if (!checksum) return [at, dst];
    if (at + CHECKSUM_BYTES > end) throw corruptFrame('the frame ends early');
    const stored = (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
    if (stored !== xxh64Low(bytes.subarray(out, dst))) throw corruptFrame('the checksum is not that of the bytes');
    return [at + CHECKSUM_BYTES, dst];
  }

  /** A compressed block; answers where its output ends. */
  private block(start: number, end: number, out: number, dst: number, outEnd: number): number {
    const { bytes } = this;
    let at = this.readLiterals(start, end);
    if (at >= end) throw corruptFrame('a block ends behind its literals');
    let sequences = bytes[at++];
    if (sequences >= 128 && at < end) {
      if (sequences < 255) sequences = ((sequences - 128) << 8) + bytes[at++];
      else {
        sequences = bytes[at] + (bytes[at + 1] << 8) + 0x7f00;
        at += 2;
      }
    }
    if (sequences === 0) {
      const length = this.literalsEnd - this.literals;
      if (at !== end || length > outEnd - dst) throw corruptFrame('a block of literals has other bytes, or too many');
      bytes.copyWithin(dst, this.literals, this.literalsEnd);
      return dst + length;
    }
    if (at >= end) throw corruptFrame('a block ends before its sequences');
    const modes = bytes[at++];
    for (let i = 0; i < CODES.length; i++) at = this.readStates(i, (modes >>> (6 - 2 * i)) & 3, at, end);
    const answer = this.kernels.sequences(
      ...[at, end, sequences, this.literals, this.literalsEnd, out, dst, outEnd],
      ...this.logs,
    );
    if (answer === CORRUPT) throw corruptFrame('sequences that lead nowhere, or to more bytes than a chunk may have');
    return answer;
  }

  /** Finds the literals, or decodes them to LITERALS; answers where they end in the block. */
  private readLiterals(start: number, end: number): number {
    const { bytes } = this;
    if (end - start < 2) throw corruptFrame('a block without literals and sequences');
    const type = bytes[start] & 3;
    const format = (bytes[start] >>> 2) & 3;
    if (type < 2) {
      const headerBytes = [1, 2, 1, 3][format];
      const sizes = bytes[start] | (bytes[start + 1] << 8) | (bytes[start + 2] << 16);
      const size = headerBytes === 1 ? bytes[start] >>> 3 : (sizes & (2 ** (8 * headerBytes) - 1)) >>> 4;
      const at = start + headerBytes;
      const stored = type === 1 ? 1 : size;
      if (at + stored > end || size > MOST_BLOCK_BYTES) throw corruptFrame('literals are longer than their block');
      this.literals = type === 1 ? LITERALS : at;
      this.literalsEnd = this.literals + size;
      if (type === 1) bytes.fill(bytes[at], LITERALS, LITERALS + size);
      return at + stored;
    }
    const bits = [10, 10, 14, 18][format];
    const headerBytes = [3, 3, 4, 5][format];
    let at = start + headerBytes;
    if (at > end) throw corruptFrame('literals end in their header');
    let sizes = 0;
    for (let i = headerBytes - 1; i >= 0; i--) sizes = sizes * 256 + bytes[start + i];
    const size = Math.floor(sizes / 16) % 2 ** bits;
    const stop = at + Math.floor(sizes / 2 ** (4 + bits));
    if (stop > end || size > MOST_BLOCK_BYTES) throw corruptFrame('literals are longer than their block');
    if (type === 2) {
      at = readHuffman(bytes, at, stop, new Uint16Array(bytes.buffer, HUFFMAN, 1 << HUFFMAN_BITS));
      this.hasHuffman = true;
    } else if (!this.hasHuffman) throw corruptFrame('literals with the table before, which there is not');
    this.decodeLiterals(at, stop, size, format === 0);
    return stop;
  }

  private decodeLiterals(start: number, end: number, size: number, single: boolean): void {
    const { bytes, kernels } = this;
    this.literals = LITERALS;
    this.literalsEnd = LITERALS + size;
    if (single) {
      const answer = kernels.huffman1(start, end, LITERALS, LITERALS + size);
      if (answer === CORRUPT) throw corruptFrame('literals that are no symbols');
      return;
    }
    let begin = start + 6;
    const begins: number[] = [begin];
    for (let i = 0; i < 3; i++) {
      begin += bytes[start + 2 * i] | (bytes[start + 2 * i + 1] << 8);
      begins.push(begin);
    }
    if (begin > end) throw corruptFrame('streams of literals are longer than their block');
    const answer = kernels.huffman4(...begins, end, LITERALS, LITERALS + size);
    if (answer === CORRUPT) throw corruptFrame('literals that are no symbols');
  }

  /** The states of one code of sequences, by its mode: default, one symbol, described, as before. */
  private readStates(index: number, mode: number, start: number, end: number): number {
    const { bytes } = this;
    const { code } = CODES[index];
    switch (mode) {
      case 0:
        if (!this.areDefaults[index]) this.putStates(index, DEFAULT_TABLES[index]);
        this.areDefaults[index] = true;
        this.logs[index] = code.defaultLog;
        return start;
      case 1: {
        if (start >= end) throw corruptFrame('a block ends before its sequences');
        const one = {
          log: 0,
          symbols: bytes.slice(start, start + 1),
          bits: new Uint8Array(1),
          next: new Uint16Array(1),
        };
        this.putStates(index, one);
        return start + 1;
      }
      case 2: {
        const read = readDistribution(bytes, start, end, code.mostLog, code.bases.length);
        this.putStates(index, fseTable(read.counts, read.log));
        return read.end;
      }
      default:
        if (this.logs[index] < 0) throw corruptFrame('sequences with the tables before, which there are not');
        return start;
    }
  }

  private putStates(index: number, { log, symbols, bits, next }: FseTable): void {
    const { code, at } = CODES[index];
    const words = new Uint32Array(this.bytes.buffer, at, 2 << log);
    for (let state = 0; state < symbols.length; state++) {
      const symbol = symbols[state];
      if (symbol >= code.bases.length) throw corruptFrame(`a sequence's code ${symbol} is unknown`);
      words[2 * state] = code.bases[symbol];
      words[2 * state + 1] = next[state] | (bits[state] << 16) | (code.extraBits[symbol] << 24);
    }
    this.logs[index] = log;
    this.areDefaults[index] = false;
  }
}

let decompressor: ZstdDecompressor | undefined;

/** All frames of a chunk: at most `maximumLength` bytes, in a view that is good until the next call. */
export function zstdDecompress(chunk: Uint8Array, maximumLength: number): Uint8Array {
  decompressor ??= new ZstdDecompressor();
  return decompressor.decompress(chunk, maximumLength);
}
