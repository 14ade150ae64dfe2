import { growTo, instantiate, type KernelCalls } from '../../wasm/instance.js';
import { CORRUPT, SLACK_BYTES } from '../copy-kernels.js';
import {
  DISTANCE_BITS,
  DISTANCE_COUNTS,
  DISTANCE_ENTRIES,
  DISTANCE_TABLE,
  END,
  inflateKernel,
  joinKernel,
  LENGTH_BITS,
  LENGTH_COUNTS,
  LENGTH_ENTRIES,
  LENGTH_TABLE,
  LONGER,
  NO_LITERAL,
  POSITION,
  SOURCE,
} from './inflate-kernels.js';
import {
  CODE_LENGTH_ORDER,
  DISTANCE_SYMBOLS,
  DISTANCES,
  END_OF_BLOCK,
  fixedLengths,
  LENGTH_SYMBOLS,
  LENGTHS,
  LONGEST_CODE,
} from './tables.js';

const INITIAL_PAGES = 10;

/** Entries without their code bits; 0: no such symbol. */
const LENGTH_SYMBOL_ENTRIES = Int32Array.from({ length: LENGTH_SYMBOLS }, (_, symbol) => {
  if (symbol < END_OF_BLOCK) return symbol << 8;
  if (symbol === END_OF_BLOCK) return END;
  const length = LENGTHS[symbol - END_OF_BLOCK - 1];
  return length === undefined ? LONGER : NO_LITERAL | (length.base << 8) | (length.bits << 17);
});
const DISTANCE_SYMBOL_ENTRIES = Int32Array.from({ length: DISTANCE_SYMBOLS }, (_, symbol) => {
  const distance = DISTANCES[symbol];
  return distance === undefined ? LONGER : (distance.bits << 24) | (distance.base << 8);
});

/** A code's place in the kernel's memory. */
interface CodeTable {
  readonly bits: number;
  readonly isOfLiterals: boolean;
  readonly table: Int32Array;
  readonly counts: Uint16Array;
  readonly entries: Int32Array;
  readonly symbolEntries: Int32Array;
}

/** Reads DEFLATE of well-made streams; what it cannot read is left to zlib, which says why. */
class Inflater {
  private readonly calls: KernelCalls<'inflate' | 'join'> = instantiate([inflateKernel, joinKernel], INITIAL_PAGES);
  private memory = this.calls.memory.buffer;
  private bytes = new Uint8Array(this.memory);
  private words = new Int32Array(this.memory);
  private lengths = this.lengthTable();
  private distances = this.distanceTable();
  /** Bits from the source on. */
  private at = 0;
  private endAt = 0;
  private isFixed = false;
  private readonly codeLengths = new Uint8Array(LENGTH_SYMBOLS + DISTANCE_SYMBOLS);
  private readonly next = new Int32Array(LONGEST_CODE + 2);
  private readonly order = new Int32Array(LENGTH_SYMBOLS);
  private readonly shortCodes = new Uint8Array(128);

  inflate(chunk: Uint8Array, maximumLength: number): Uint8Array | undefined {
    const end = SOURCE + chunk.length;
    const start = (end + 2 * SLACK_BYTES) & -SLACK_BYTES;
    this.reserve(start + maximumLength + SLACK_BYTES);
    this.bytes.set(chunk, SOURCE);
    this.at = 0;
    this.endAt = chunk.length * 8;
    let to = start;
    for (let isLast = false; !isLast; ) {
      isLast = this.take(1) === 1;
      const kind = this.take(2);
      if (kind === 0) to = this.stored(to, start + maximumLength);
      else {
        if (kind === 3 || !(kind === 1 ? this.fixed() : this.dynamic())) return undefined;
        to = this.calls.inflate(SOURCE, this.at, this.endAt, start, to, start + maximumLength);
        this.at = this.words[POSITION >> 2];
      }
      if (to === CORRUPT || this.at > this.endAt) return undefined;
    }
    return this.bytes.subarray(start, to);
  }

  private reserve(bytes: number): void {
    growTo(this.calls.memory, bytes);
    if (this.memory === this.calls.memory.buffer) return;
    this.memory = this.calls.memory.buffer;
    this.bytes = new Uint8Array(this.memory);
    this.words = new Int32Array(this.memory);
    this.lengths = this.lengthTable();
    this.distances = this.distanceTable();
  }

  private lengthTable(): CodeTable {
    return {
      bits: LENGTH_BITS,
      isOfLiterals: true,
      table: new Int32Array(this.memory, LENGTH_TABLE, 1 << LENGTH_BITS),
      counts: new Uint16Array(this.memory, LENGTH_COUNTS, LONGEST_CODE + 1),
      entries: new Int32Array(this.memory, LENGTH_ENTRIES, LENGTH_SYMBOLS),
      symbolEntries: LENGTH_SYMBOL_ENTRIES,
    };
  }

  private distanceTable(): CodeTable {
    return {
      bits: DISTANCE_BITS,
      isOfLiterals: false,
      table: new Int32Array(this.memory, DISTANCE_TABLE, 1 << DISTANCE_BITS),
      counts: new Uint16Array(this.memory, DISTANCE_COUNTS, LONGEST_CODE + 1),
      entries: new Int32Array(this.memory, DISTANCE_ENTRIES, DISTANCE_SYMBOLS),
      symbolEntries: DISTANCE_SYMBOL_ENTRIES,
    };
  }

  /** At most 16 bits. Behind the end there is always something to read. */
  private take(count: number): number {
    const byte = SOURCE + (this.at >>> 3);
    const { bytes } = this;
    const word = bytes[byte] | (bytes[byte + 1] << 8) | (bytes[byte + 2] << 16);
    const value = (word >>> (this.at & 7)) & ((1 << count) - 1);
    this.at += count;
    return value;
  }

  private stored(to: number, toEnd: number): number {
    this.at = (this.at + 7) & -8;
    const length = this.take(16);
    const complement = this.take(16);
    const from = SOURCE + (this.at >>> 3);
    this.at += length * 8;
    if ((length ^ complement) !== 0xffff || this.at > this.endAt || length > toEnd - to) return CORRUPT;
    this.bytes.copyWithin(to, from, from + length);
    return to + length;
  }

  private fixed(): boolean {
    if (this.isFixed) return true;
    const distances = new Uint8Array(DISTANCE_SYMBOLS).fill(5);
    this.isFixed =
      this.build(this.lengths, fixedLengths(), 0, LENGTH_SYMBOLS) &&
      this.build(this.distances, distances, 0, DISTANCE_SYMBOLS);
    return this.isFixed;
  }

  private dynamic(): boolean {
    this.isFixed = false;
    const lengths = this.take(5) + 257;
    const distances = this.take(5) + 1;
    const { codeLengths } = this;
    if (lengths > 286 || distances > 30 || !this.readCodeLengths(lengths + distances)) return false;
    if (codeLengths[END_OF_BLOCK] === 0) return false;
    return (
      this.build(this.lengths, codeLengths, 0, lengths) &&
      this.build(this.distances, codeLengths, lengths, lengths + distances)
    );
  }

  private readCodeLengths(total: number): boolean {
    const { shortCodes, codeLengths } = this;
    const own = new Uint8Array(19);
    const given = this.take(4) + 4;
    for (let i = 0; i < given; i++) own[CODE_LENGTH_ORDER[i]] = this.take(3);
    if (!fillShortCodes(own, shortCodes)) return false;
    for (let i = 0; i < total; ) {
      const peeked = this.take(7);
      const code = shortCodes[peeked];
      this.at -= 7 - (code & 7);
      const symbol = code >>> 3;
      if (symbol < 16) {
        codeLengths[i++] = symbol;
        continue;
      }
      const repeated = symbol === 16 ? (i === 0 ? -1 : codeLengths[i - 1]) : 0;
      const times = symbol === 16 ? 3 + this.take(2) : symbol === 17 ? 3 + this.take(3) : 11 + this.take(7);
      if (repeated < 0 || i + times > total || this.at > this.endAt) return false;
      codeLengths.fill(repeated, i, i + times);
      i += times;
    }
    return this.at <= this.endAt;
  }

  /**
   * The tables of a code. One that leaves bits without a meaning is left to zlib, but for distances of which none or one is used.
   */
  private build(to: CodeTable, lengths: Uint8Array, from: number, end: number): boolean {
    const { counts, entries, symbolEntries } = to;
    const { next, order } = this;
    counts.fill(0);
    for (let i = from; i < end; i++) counts[lengths[i]]++;
    const used = end - from - counts[0];
    counts[0] = 0;
    let left = 1;
    next[1] = 0;
    for (let length = 1; length <= LONGEST_CODE; length++) {
      left = 2 * left - counts[length];
      if (left < 0) return false;
      next[length + 1] = next[length] + counts[length];
    }
    const isSparse = !to.isOfLiterals && used <= 1 && (used === 0 || counts[1] === 1);
    if (left > 0 && !isSparse) return false;
    for (let i = from; i < end; i++) if (lengths[i] !== 0) order[next[lengths[i]]++] = i - from;
    for (let i = 0; i < used; i++) entries[i] = symbolEntries[order[i]];
    this.fill(to, used);
    if (to.isOfLiterals) this.calls.join(1 << LENGTH_BITS);
    return true;
  }

  /** Entries by the codes' reversed bits: the table doubles as codes get longer. */
  private fill({ bits, table, counts, entries }: CodeTable, used: number): void {
    let index = 0;
    let code = 0;
    let size = 1;
    table[0] = LONGER;
    for (let length = 1; length <= bits; length++) {
      table.copyWithin(size, 0, size);
      size *= 2;
      for (let left = counts[length]; left > 0; left--) {
        table[code] = entries[index++] | length;
        code = nextReversed(code, length);
      }
    }
    if (index < used) for (; code !== 0; code = nextReversed(code, bits)) table[code] = LONGER;
  }
}

/** The code after this one, both with their bits reversed; 0 after the last. Zeros are put behind for longer codes by themselves. */
function nextReversed(code: number, length: number): number {
  let bit = 1 << (length - 1);
  while ((code & bit) !== 0) bit >>>= 1;
  return bit === 0 ? 0 : (code & (bit - 1)) | bit;
}

/** Of the code that code lengths are in: symbol × 8 + its length, by 7 bits. */
function fillShortCodes(lengths: Uint8Array, out: Uint8Array): boolean {
  let code = 0;
  let filled = 0;
  for (let length = 1; length <= 7; length++) {
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] !== length) continue;
      filled += 1 << (7 - length);
      if (filled > 128) return false;
      for (let i = code; i < 128; i += 1 << length) out[i] = (symbol << 3) | length;
      code = nextReversed(code, length);
    }
  }
  return filled === 128;
}

let inflater: Inflater | undefined;

/**
 * The bytes of a raw DEFLATE stream, at most `maximumLength`; undefined where zlib has to look at it: it is damaged, holds more,
 * or is unusual. The answer is a view that is good until the next call.
 */
export function inflate(chunk: Uint8Array, maximumLength: number): Uint8Array | undefined {
  inflater ??= new Inflater();
  return inflater.inflate(chunk, maximumLength);
}
