import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import { StripeFooter, type StripeInformation as StripeMessage } from '../proto/gen/orc_proto.js';
import type { Fetching } from './fetching.js';
import { decodeMessage, type FileTail, toNumber } from './file-tail.js';

/** Where a stripe lies and what it holds. */
export interface StripeInformation {
  readonly offset: number;
  readonly indexLength: number;
  readonly dataLength: number;
  readonly footerLength: number;
  readonly numberOfRows: number;
  /** The number of its first row in the file. */
  readonly firstRow: number;
}

/** Stream.Kind of the specification. */
export const StreamKind = {
  present: 0,
  data: 1,
  length: 2,
  dictionaryData: 3,
  dictionaryCount: 4,
  secondary: 5,
  rowIndex: 6,
  bloomFilter: 7,
  bloomFilterUtf8: 8,
} as const;

/** By kind, as the specification names them. */
export const STREAM_NAMES: readonly string[] = [
  'PRESENT',
  'DATA',
  'LENGTH',
  'DICTIONARY_DATA',
  'DICTIONARY_COUNT',
  'SECONDARY',
  'ROW_INDEX',
  'BLOOM_FILTER',
  'BLOOM_FILTER_UTF8',
  'ENCRYPTED_INDEX',
  'ENCRYPTED_DATA',
];
/** No stripe has more rows: Java counts them in an int. */
const MOST_ROWS = 0x7fffffff;

export interface StreamInformation {
  readonly kind: number;
  readonly column: number;
  /** In the file. */
  readonly offset: number;
  readonly length: number;
}

export interface StripeLayout {
  readonly stripe: StripeInformation;
  readonly streams: readonly StreamInformation[];
  /** By column id; only those of columns that exist. */
  readonly columns: readonly ColumnLayout[];
  readonly writerTimezone: string | undefined;
}

export interface ColumnLayout {
  readonly dictionary: boolean;
  /** Integers are in RLE version 2. */
  readonly rleV2: boolean;
  readonly dictionarySize: number;
  readonly bloomEncoding: number;
  /** By kind; empty streams are left out. */
  readonly streams: ReadonlyMap<number, StreamInformation>;
}

/** The footer's list of stripes, checked against the file's size. */
export function stripesOf(tail: FileTail): StripeInformation[] {
  const { path, footerOffset } = tail;
  let firstRow = 0;
  return (tail.footer.stripes ?? []).map((message: StripeMessage, number) => {
    const field = (value: bigint | undefined, what: string) =>
      toNumber(value, path, footerOffset, `${what} of stripe ${number}`);
    const stripe = {
      offset: field(message.offset, 'offset'),
      indexLength: field(message.indexLength, 'index length'),
      dataLength: field(message.dataLength, 'data length'),
      footerLength: field(message.footerLength, 'footer length'),
      numberOfRows: field(message.numberOfRows, 'number of rows'),
      firstRow,
    };
    const end = stripe.offset + stripe.indexLength + stripe.dataLength + stripe.footerLength;
    if (end > tail.metadataOffset) {
      throw new CorruptFileError(
        path,
        footerOffset,
        `stripe ${number} ends at ${end}, behind the last stripe's possible end`,
      );
    }
    if (stripe.numberOfRows > MOST_ROWS) {
      throw new CorruptFileError(path, footerOffset, `stripe ${number} has ${stripe.numberOfRows} rows`);
    }
    firstRow += stripe.numberOfRows;
    if (!Number.isSafeInteger(firstRow)) throw new CorruptFileError(path, footerOffset, 'too many rows');
    return stripe;
  });
}

/** Reads a stripe's footer. */
export function* readStripeLayout(tail: FileTail, stripe: StripeInformation, columns: number): Fetching<StripeLayout> {
  const { path, codec, blockSize } = tail;
  const start = stripe.offset + stripe.indexLength + stripe.dataLength;
  const [raw] = yield [{ start, end: start + stripe.footerLength }];
  const { bytes } = decompressRange(raw, { path, name: 'stripe footer', fileOffset: start, codec, blockSize });
  const footer = decodeMessage(path, start, 'stripe footer', () => StripeFooter.decode(bytes));
  return stripeLayout(footer, path, start, stripe, columns);
}

function stripeLayout(
  footer: StripeFooter,
  path: string,
  footerOffset: number,
  stripe: StripeInformation,
  columns: number,
): StripeLayout {
  const encodings = footer.columns ?? [];
  if (encodings.length !== columns) {
    const what = `the stripe footer has ${encodings.length} column encodings, the file has ${columns} columns`;
    throw new CorruptFileError(path, footerOffset, what);
  }
  const ofColumn = encodings.map(() => new Map<number, StreamInformation>());
  const streams: StreamInformation[] = [];
  let offset = stripe.offset;
  for (const message of footer.streams ?? []) {
    const length = toNumber(message.length, path, footerOffset, 'stream length');
    const { kind = 0, column = 0 } = message;
    if (offset + length > footerOffset) {
      const what = `stream ${kind} of column ${column}, ${length} bytes at ${offset}, goes beyond its stripe`;
      throw new CorruptFileError(path, footerOffset, what);
    }
    const stream = { kind, column, offset, length };
    streams.push(stream);
    // Later versions may have streams for what is not a column; those of no length are as if absent.
    if (length > 0) ofColumn[column]?.set(kind, stream);
    offset += length;
  }
  return {
    stripe,
    streams,
    columns: encodings.map((encoding, column) => {
      const { kind = 0, dictionarySize = 0, bloomEncoding = 0 } = encoding;
      if (kind < 0 || kind > 3) {
        throw new CorruptFileError(path, footerOffset, `column ${column} has the unknown encoding ${kind}`);
      }
      return {
        dictionary: (kind & 1) === 1,
        rleV2: kind >= 2,
        dictionarySize,
        bloomEncoding,
        streams: ofColumn[column],
      };
    }),
    writerTimezone: footer.writerTimezone,
  };
}
