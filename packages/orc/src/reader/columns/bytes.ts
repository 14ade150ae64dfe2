import { StreamKind } from '../stripe.js';
import type { ColumnReader } from './column-reader.js';
import {
  type ColumnSource,
  corruptStream,
  integerDecoder,
  type OpenStream,
  openOrEmpty,
  presentDecoder,
} from './column-streams.js';
import { freshBytes, freshInts, passingInts } from './fresh.js';
import { offsetsOf, presentRows, type Rows } from './rows.js';

const MOST_BYTES = 0x7fffffff;
const BLANK = 0x20;
const SLACK_BYTES = 16;
const TOUCHED_ROWS = 128;
const TOUCHED_BYTES = 32;
/** Keeps the compiler from leaving out loads whose values nobody needs. */
const touched = new Uint8Array(1);
const LONG_TEXT_BYTES = 128;
/** Dictionaries of entries to this length are kept as words of 4 bytes, all entries with the same number of words. */
const WORD_TEXT_BYTES = 16;
/** Larger ones would not stay in the processor's cache. */
const MOST_WORDS = 1 << 16;
/** An RLE v2 run of 512 equal values has 4 bytes: no integer stream holds more values for a byte than this. */
const MOST_VALUES_PER_BYTE = 128;

type BytesKind = 'string' | 'char' | 'varchar' | 'binary';

/**
 * Text and binary in direct encoding: the bytes in DATA, the lengths in LENGTH. The vector's bytes are a view of the
 * decompressed stream. CHAR is padded with blanks in the file and without them in memory, as in Java's reader.
 */
export function directBytesReader(source: ColumnSource, kind: BytesKind): ColumnReader {
  const present = presentDecoder(source);
  const lengthsStream = openOrEmpty(source, StreamKind.length);
  const lengthDecoder = integerDecoder(lengthsStream, source.layout.rleV2, false);
  const data = openOrEmpty(source, StreamKind.data);
  let at = data.at;
  return (parent) => {
    const rows = presentRows(present, parent);
    const lengths = passingInts(rows.count);
    lengthDecoder.readLengths(lengths, 0, rows.count);
    const offsets = freshInts(rows.length + 1);
    const total = offsetsOf(lengths, rows, offsets);
    if (total > data.bytes.length - at) {
      throw corruptStream(data, `${total} bytes needed at ${at}, the stream has ${data.bytes.length}`);
    }
    const bytes = data.bytes.subarray(at, at + total);
    at += total;
    const base = { kind, length: rows.length, validity: rows.validity };
    if (kind !== 'char') return { ...base, bytes, offsets };
    const trimmed = new Uint8Array(total);
    copyWithoutPadding(bytes, offsets, trimmed);
    return { ...base, bytes: trimmed.subarray(0, offsets[rows.length]), offsets };
  };
}

/** The entries of a column's dictionary, which holds for one stripe. */
export interface Dictionary {
  /** Entry i is bytes[starts[i], starts[i + 1]); TOUCHED_BYTES + SLACK_BYTES more follow. */
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly longest: number;
  /** The entries again, `stride` words each; absent when one is longer than WORD_TEXT_BYTES, or they are many. */
  readonly words: Int32Array | undefined;
  readonly stride: number;
}

export function readDictionary(source: ColumnSource, blob: OpenStream, lengthStream: OpenStream): Dictionary {
  const size = source.layout.dictionarySize;
  if (size > lengthStream.bytes.length * MOST_VALUES_PER_BYTE) {
    throw corruptStream(
      lengthStream,
      `${lengthStream.bytes.length} bytes cannot hold the lengths of ${size} dictionary entries`,
    );
  }
  const starts = new Int32Array(size + 1);
  // Lengths first, each in the place of its entry's end.
  integerDecoder(lengthStream, source.layout.rleV2, false).readLengths(starts, 1, size);
  let total = 0;
  for (let i = 1; i <= size; i++) {
    total += starts[i];
    if (total > blob.bytes.length) {
      throw corruptStream(
        blob,
        `dictionary entry ${i - 1} ends at ${total}, the stream has ${blob.bytes.length} bytes`,
      );
    }
    starts[i] = total;
  }
  const bytes = freshBytes(total + TOUCHED_BYTES + SLACK_BYTES);
  if (source.type.kind === 'char') copyWithoutPadding(blob.bytes, starts, bytes);
  else bytes.set(blob.bytes.subarray(0, total));
  bytes.fill(0, starts[size]);
  let longest = 0;
  for (let i = 0; i < size; i++) longest = Math.max(longest, starts[i + 1] - starts[i]);
  const stride = Math.max(1, Math.ceil(longest / 4));
  return { bytes, starts, longest, stride, words: wordsOf(bytes, starts, longest, stride) };
}

/** CHAR's values without the blanks at their ends, one after the other; moves `offsets` to them. */
function copyWithoutPadding(bytes: Uint8Array, offsets: Int32Array, out: Uint8Array): void {
  let start = offsets[0];
  let to = 0;
  offsets[0] = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    const next = offsets[row + 1];
    let end = next;
    while (end > start && bytes[end - 1] === BLANK) end--;
    for (let from = start; from < end; from++) out[to++] = bytes[from];
    offsets[row + 1] = to;
    start = next;
  }
}

function wordsOf(blob: Uint8Array, starts: Int32Array, longest: number, stride: number): Int32Array | undefined {
  if (longest > WORD_TEXT_BYTES || (starts.length - 1) * stride > MOST_WORDS) return undefined;
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const size = starts.length - 1;
  const words = new Int32Array(size * stride);
  for (let i = 0; i < size; i++) {
    for (let word = 0; word < stride; word++) words[i * stride + word] = view.getInt32(starts[i] + 4 * word, true);
  }
  return words;
}

/** Text in dictionary encoding: DATA holds entry numbers. */
export function dictionaryReader(source: ColumnSource, kind: BytesKind, dictionary: Dictionary): ColumnReader {
  const present = presentDecoder(source);
  const stream = openOrEmpty(source, StreamKind.data);
  const decoder = integerDecoder(stream, source.layout.rleV2, false);
  return (parent) => {
    const rows = presentRows(present, parent);
    const entries = passingInts(rows.count);
    decoder.readInts(entries, 0, rows.count);
    return { kind, length: rows.length, validity: rows.validity, ...lookUp(entries, dictionary, rows, stream) };
  };
}

function lookUp(
  entries: Int32Array,
  dictionary: Dictionary,
  rows: Rows,
  stream: OpenStream,
): { bytes: Uint8Array; offsets: Int32Array } {
  const { starts } = dictionary;
  const size = starts.length - 1;
  const count = entries.length;
  const offsets = freshInts(rows.length + 1);
  const dense = rows.validity === undefined ? offsets : new Int32Array(count + 1);
  offsets[0] = 0;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const entry = entries[i];
    // As unsigned, a negative number is too large as well.
    if (entry >>> 0 >= size) throw corruptStream(stream, `entry ${entry} of a dictionary of ${size}`);
    total += starts[entry + 1] - starts[entry];
    dense[i + 1] = total;
  }
  if (total > MOST_BYTES) throw corruptStream(stream, `${total} bytes in one batch: read it with a smaller batchSize`);
  if (dense !== offsets) spreadOffsets(dense, rows, offsets);
  const bytes = freshBytes(total + SLACK_BYTES);
  if (dictionary.words === undefined) copyEntries(entries, dense, dictionary, bytes);
  else copyWords(entries, dense, dictionary.words, dictionary.stride, bytes);
  return { bytes: bytes.subarray(0, total), offsets };
}

function spreadOffsets(dense: Int32Array, { length, validity }: Rows, offsets: Int32Array): void {
  if (validity === undefined) return;
  for (let row = 0, from = 0; row < length; row++) {
    from += (validity[row >>> 3] >>> (row & 7)) & 1;
    offsets[row + 1] = dense[from];
  }
}

/*
 * Text is short: it is copied in whole words, which may write behind a value's end, where the next one overwrites it; the arrays
 * have SLACK_BYTES more for that.
 */

/** All entries take the same few stores, without a branch that depends on their length. */
function copyWords(entries: Int32Array, offsets: Int32Array, words: Int32Array, stride: number, out: Uint8Array): void {
  const target = new DataView(out.buffer, out.byteOffset, out.length);
  const count = entries.length;
  switch (stride) {
    case 1:
      for (let i = 0; i < count; i++) target.setInt32(offsets[i], words[entries[i]], true);
      return;
    case 2:
      for (let i = 0; i < count; i++) {
        const word = 2 * entries[i];
        const to = offsets[i];
        target.setInt32(to, words[word], true);
        target.setInt32(to + 4, words[word + 1], true);
      }
      return;
    case 3:
      for (let i = 0; i < count; i++) {
        const word = 3 * entries[i];
        const to = offsets[i];
        target.setInt32(to, words[word], true);
        target.setInt32(to + 4, words[word + 1], true);
        target.setInt32(to + 8, words[word + 2], true);
      }
      return;
    default:
      for (let i = 0; i < count; i++) {
        const word = 4 * entries[i];
        const to = offsets[i];
        target.setInt32(to, words[word], true);
        target.setInt32(to + 4, words[word + 1], true);
        target.setInt32(to + 8, words[word + 2], true);
        target.setInt32(to + 12, words[word + 3], true);
      }
  }
}

/**
 * Large dictionaries are not in the processor's cache. Loads that nothing waits for overlap, copying loops do not: so the
 * entries of some rows are touched before they are copied.
 */
function copyEntries(
  entries: Int32Array,
  offsets: Int32Array,
  { bytes: blob, starts }: Dictionary,
  out: Uint8Array,
): void {
  const source = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const target = new DataView(out.buffer, out.byteOffset, out.length);
  for (let first = 0; first < entries.length; first += TOUCHED_ROWS) {
    const end = Math.min(entries.length, first + TOUCHED_ROWS);
    for (let i = first; i < end; i++) {
      const from = starts[entries[i]];
      touched[0] ^= blob[from] ^ blob[from + TOUCHED_BYTES];
    }
    for (let i = first; i < end; i++) {
      const to = offsets[i];
      const length = offsets[i + 1] - to;
      const from = starts[entries[i]];
      if (length > LONG_TEXT_BYTES) out.set(blob.subarray(from, from + length), to);
      else {
        for (let at = 0; at < length; at += 8) {
          target.setInt32(to + at, source.getInt32(from + at, true), true);
          target.setInt32(to + at + 4, source.getInt32(from + at + 4, true), true);
        }
      }
    }
  }
}
