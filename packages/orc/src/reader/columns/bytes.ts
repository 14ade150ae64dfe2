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
import { offsetsOf, presentRows, type Rows } from './rows.js';

const MOST_BYTES = 0x7fffffff;
const BLANK = 0x20;
const SLACK_BYTES = 16;
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
    const lengths = new Int32Array(rows.count);
    lengthDecoder.readLengths(lengths, 0, rows.count);
    const offsets = new Int32Array(rows.length + 1);
    const total = offsetsOf(lengths, rows, offsets);
    if (total > data.bytes.length - at) {
      throw corruptStream(data, `${total} bytes needed at ${at}, the stream has ${data.bytes.length}`);
    }
    const bytes = data.bytes.subarray(at, at + total);
    at += total;
    const base = { kind, length: rows.length, validity: rows.validity };
    if (kind === 'char') return { ...base, ...withoutPadding(bytes, offsets) };
    return { ...base, bytes, offsets };
  };
}

function withoutPadding(bytes: Uint8Array, offsets: Int32Array): { bytes: Uint8Array; offsets: Int32Array } {
  const out = new Uint8Array(bytes.length);
  const outOffsets = new Int32Array(offsets.length);
  let to = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    let end = offsets[row + 1];
    while (end > offsets[row] && bytes[end - 1] === BLANK) end--;
    for (let from = offsets[row]; from < end; from++) out[to++] = bytes[from];
    outOffsets[row + 1] = to;
  }
  return { bytes: out.subarray(0, to), offsets: outOffsets };
}

/** The entries of a column's dictionary, which holds for one stripe. */
export interface Dictionary {
  /** SLACK_BYTES longer than the entries. */
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
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
  const lengths = new Int32Array(size);
  integerDecoder(lengthStream, source.layout.rleV2, false).readLengths(lengths, 0, size);
  const starts = new Int32Array(size);
  let total = 0;
  let longest = 0;
  for (let i = 0; i < size; i++) {
    starts[i] = total;
    total += lengths[i];
    if (total > blob.bytes.length) {
      throw corruptStream(blob, `dictionary entry ${i} ends at ${total}, the stream has ${blob.bytes.length} bytes`);
    }
    if (source.type.kind === 'char') {
      while (lengths[i] > 0 && blob.bytes[starts[i] + lengths[i] - 1] === BLANK) lengths[i]--;
    }
    if (lengths[i] > longest) longest = lengths[i];
  }
  const bytes = new Uint8Array(total + SLACK_BYTES);
  bytes.set(blob.bytes.subarray(0, total));
  const stride = Math.max(1, Math.ceil(longest / 4));
  return { bytes, starts, lengths, longest, stride, words: wordsOf(bytes, starts, longest, stride) };
}

function wordsOf(blob: Uint8Array, starts: Int32Array, longest: number, stride: number): Int32Array | undefined {
  if (longest > WORD_TEXT_BYTES || starts.length * stride > MOST_WORDS) return undefined;
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const words = new Int32Array(starts.length * stride);
  for (let i = 0; i < starts.length; i++) {
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
    const entries = new Int32Array(rows.count);
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
  const { lengths } = dictionary;
  const size = lengths.length;
  const count = entries.length;
  const offsets = new Int32Array(rows.length + 1);
  const dense = rows.validity === undefined ? offsets : new Int32Array(count + 1);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const entry = entries[i];
    // As unsigned, a negative number is too large as well.
    if (entry >>> 0 >= size) throw corruptStream(stream, `entry ${entry} of a dictionary of ${size}`);
    total += lengths[entry];
    dense[i + 1] = total;
  }
  if (total > MOST_BYTES) throw corruptStream(stream, `${total} bytes in one batch: read it with a smaller batchSize`);
  if (dense !== offsets) spreadOffsets(dense, rows, offsets);
  const bytes = new Uint8Array(total + SLACK_BYTES);
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

function copyEntries(
  entries: Int32Array,
  offsets: Int32Array,
  { bytes: blob, starts }: Dictionary,
  out: Uint8Array,
): void {
  const source = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const target = new DataView(out.buffer, out.byteOffset, out.length);
  for (let i = 0; i < entries.length; i++) {
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
