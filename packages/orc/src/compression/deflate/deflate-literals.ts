import { growTo, instantiate, type KernelCalls } from '../../wasm/instance.js';
import { SLACK_BYTES } from '../copy-kernels.js';
import { codeLengths, reversedCodes } from './huffman-code.js';
import { CODES, COUNTS, countKernel, LONGEST_LITERAL, literalsKernel, TABLES, TEXT } from './literals-kernels.js';
import { CODE_LENGTH_ORDER, END_OF_BLOCK } from './tables.js';

const INITIAL_PAGES = 10;
/** Bytes that share a code. */
const BLOCK_BYTES = 1 << 17;
const LONGEST_CODE_LENGTH = 7;

/** Part of a list of code lengths: `symbol` is a length or, above 15, a repetition, whose number is in `extraBits` bits. */
interface LengthPart {
  readonly symbol: number;
  readonly extra: number;
  readonly extraBits: number;
}

/** Writes DEFLATE blocks of literals alone (zlib's Z_HUFFMAN_ONLY). */
class LiteralsDeflater {
  private readonly calls: KernelCalls<'count' | 'literals'> = instantiate([countKernel, literalsKernel], INITIAL_PAGES);
  private memory = this.calls.memory.buffer;
  private bytes = new Uint8Array(this.memory);
  private counts = new Uint32Array(this.memory, COUNTS, TABLES * 256);
  private codes = new Uint32Array(this.memory, CODES, 256);
  private readonly frequencies = new Uint32Array(END_OF_BLOCK + 1);
  /** Where the answer begins, and behind which of its bits it ends so far. */
  private out = 0;
  private at = 0;

  deflate(text: Uint8Array): Uint8Array | undefined {
    if (text.length === 0) return undefined;
    const end = TEXT + text.length;
    this.out = (end + 2 * SLACK_BYTES) & -SLACK_BYTES;
    // It is given up before it is longer than the text: by the code lengths of a block at most.
    this.reserve(this.out + text.length + 1024 + SLACK_BYTES);
    this.bytes.set(text, TEXT);
    this.at = 0;
    for (let from = TEXT; from < end; from += BLOCK_BYTES) {
      const to = Math.min(end, from + BLOCK_BYTES);
      if (!this.block(from, to, to === end, text.length * 8)) return undefined;
    }
    return this.bytes.subarray(this.out, this.out + ((this.at + 7) >>> 3));
  }

  private reserve(bytes: number): void {
    growTo(this.calls.memory, bytes);
    if (this.memory === this.calls.memory.buffer) return;
    this.memory = this.calls.memory.buffer;
    this.bytes = new Uint8Array(this.memory);
    this.counts = new Uint32Array(this.memory, COUNTS, TABLES * 256);
    this.codes = new Uint32Array(this.memory, CODES, 256);
  }

  /** A block with a code of its own; false where the answer would get as long as the text. */
  private block(from: number, to: number, isLast: boolean, mostBits: number): boolean {
    const { frequencies, codes } = this;
    this.count(from, to);
    const lengths = codeLengths(frequencies, LONGEST_LITERAL);
    let bits = 0;
    for (let i = 0; i <= END_OF_BLOCK; i++) bits += frequencies[i] * lengths[i];
    if (this.at + bits >= mostBits) return false;
    const reversed = reversedCodes(lengths);
    for (let i = 0; i < 256; i++) codes[i] = reversed[i] | (lengths[i] << 16);
    this.put(isLast ? 1 : 0, 1);
    this.put(2, 2);
    this.putCodeLengths(lengths);
    this.at = this.calls.literals(from, to, this.out, this.at);
    this.put(reversed[END_OF_BLOCK], lengths[END_OF_BLOCK]);
    return true;
  }

  private count(from: number, to: number): void {
    const { counts, frequencies } = this;
    counts.fill(0);
    this.calls.count(from, to);
    for (let i = 0; i < 256; i++) frequencies[i] = counts[i] + counts[256 + i] + counts[512 + i] + counts[768 + i];
    frequencies[END_OF_BLOCK] = 1;
  }

  /** The lengths of all literals and of no distance. */
  private putCodeLengths(lengths: Uint8Array): void {
    const parts = lengthParts(Uint8Array.of(...lengths, 0));
    const frequencies = new Uint32Array(19);
    for (const { symbol } of parts) frequencies[symbol]++;
    const own = codeLengths(frequencies, LONGEST_CODE_LENGTH);
    const reversed = reversedCodes(own);
    let given = CODE_LENGTH_ORDER.length;
    while (given > 4 && own[CODE_LENGTH_ORDER[given - 1]] === 0) given--;
    this.put(lengths.length - 257, 5);
    this.put(0, 5);
    this.put(given - 4, 4);
    for (let i = 0; i < given; i++) this.put(own[CODE_LENGTH_ORDER[i]], 3);
    for (const { symbol, extra, extraBits } of parts) {
      this.put(reversed[symbol], own[symbol]);
      this.put(extra, extraBits);
    }
  }

  /** At most 16 bits. */
  private put(value: number, count: number): void {
    const { bytes } = this;
    const byte = this.out + (this.at >>> 3);
    const used = this.at & 7;
    const word = (bytes[byte] & ((1 << used) - 1)) | (value << used);
    bytes[byte] = word;
    bytes[byte + 1] = word >>> 8;
    bytes[byte + 2] = word >>> 16;
    this.at += count;
  }
}

/** Code lengths with repetitions (RFC 1951, 3.2.7). */
function lengthParts(lengths: Uint8Array): LengthPart[] {
  const parts: LengthPart[] = [];
  for (let i = 0; i < lengths.length; ) {
    const length = lengths[i];
    let times = 1;
    while (i + times < lengths.length && lengths[i + times] === length) times++;
    if (length === 0 && times >= 11) {
      times = Math.min(times, 138);
      parts.push({ symbol: 18, extra: times - 11, extraBits: 7 });
    } else if (length === 0 && times >= 3) parts.push({ symbol: 17, extra: times - 3, extraBits: 3 });
    else if (times >= 4) {
      times = Math.min(times, 7);
      parts.push({ symbol: length, extra: 0, extraBits: 0 }, { symbol: 16, extra: times - 4, extraBits: 2 });
    } else {
      times = 1;
      parts.push({ symbol: length, extra: 0, extraBits: 0 });
    }
    i += times;
  }
  return parts;
}

let deflater: LiteralsDeflater | undefined;

/**
 * A raw DEFLATE stream without matches; undefined where it would be as long as the bytes. The answer is a view that is good until
 * the next call.
 */
export function deflateLiterals(bytes: Uint8Array): Uint8Array | undefined {
  deflater ??= new LiteralsDeflater();
  return deflater.deflate(bytes);
}
