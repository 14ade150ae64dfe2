import { CorruptFileError } from '@skep/core';
import type { ColumnEncoding } from '../proto/gen/orc_proto.js';

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
export interface StreamInformation {
  readonly kind: number;
  readonly column: number;
  /** In the file. */
  readonly offset: number;
  readonly length: number;
  /** The encryption variant whose stream it is; absent: the stream is not encrypted. */
  readonly variant?: number;
  /** Decrypts bytes that begin `at` bytes behind the stream's start. Only in ColumnLayout.streams. */
  readonly decrypt?: (bytes: Uint8Array, at: number) => Uint8Array;
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

/** What a stripe's footer says of a column. */
export function columnLayout(
  encoding: ColumnEncoding,
  column: number,
  streams: ReadonlyMap<number, StreamInformation>,
  path: string,
  footerOffset: number,
): ColumnLayout {
  const { kind = 0, dictionarySize = 0, bloomEncoding = 0 } = encoding;
  if (kind < 0 || kind > 3) {
    throw new CorruptFileError(path, footerOffset, `column ${column} has the unknown encoding ${kind}`);
  }
  return { dictionary: (kind & 1) === 1, rleV2: kind >= 2, dictionarySize, bloomEncoding, streams };
}
