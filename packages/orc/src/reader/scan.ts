import { CorruptFileError } from '@skep/core';
import { decompressRange } from '../compression/chunks.js';
import { RowIndex } from '../proto/gen/orc_proto.js';
import { timeZone } from '../time/time-zone.js';
import type { TypeDescription } from '../type-description.js';
import { allRows } from './columns/rows.js';
import { type ByteRange, type Fetching, type FetchingItems, fetchRanges } from './fetching.js';
import { decodeMessage, type FileTail } from './file-tail.js';
import type { OrcBatch, ReadOptions } from './options.js';
import { fileColumns, type ReadColumn } from './projection.js';
import { type GroupRange, loadSegment, type OpenStripe, segmentBytes } from './segment.js';
import { readStripeLayout, StreamKind, type StripeInformation, type StripeLayout } from './stripe.js';

const DEFAULT_BATCH_ROWS = 8192;
/** A stripe with more bytes to read than this is read in parts, where it has row indexes. */
const SEGMENT_BYTES = 16 << 20;
/** Most bytes of text that a batch should have, by the longest dictionary entry. */
const BATCH_TEXT_BYTES = 64 << 20;

/** What a file's scan needs to know of it. */
export interface ScannedFile {
  readonly tail: FileTail;
  readonly schema: TypeDescription;
  readonly stripes: readonly StripeInformation[];
  readonly rowIndexStride: number;
  readonly hybrid: boolean;
  readonly decimal64: boolean;
  readonly defaultTimezone: string;
}

/** All batches that the options ask for. */
export function* scan(file: ScannedFile, root: ReadColumn, options: ReadOptions): FetchingItems<OrcBatch> {
  for (const [number, stripe] of file.stripes.entries()) {
    if (!isInRange(stripe, number, options)) continue;
    try {
      yield* scanStripe(file, root, options, stripe, number);
    } catch (error) {
      throw located(error, file.tail.path, stripe.offset, number);
    }
  }
}

function isInRange({ offset }: StripeInformation, number: number, { stripeRange, byteRange }: ReadOptions): boolean {
  if (stripeRange !== undefined && (number < stripeRange.first || number >= stripeRange.end)) return false;
  return byteRange === undefined || (offset >= byteRange.start && offset < byteRange.end);
}

/** Decoders name the stream they read: put the file in front. An array that cannot be had is a size that is not true. */
function located(error: unknown, path: string, offset: number, stripe: number): unknown {
  if (error instanceof CorruptFileError && error.path !== path) {
    return new CorruptFileError(path, offset, error.message, { cause: error });
  }
  if (error instanceof RangeError) {
    return new CorruptFileError(path, offset, `stripe ${stripe}: ${error.message}`, { cause: error });
  }
  return error;
}

function* scanStripe(
  file: ScannedFile,
  root: ReadColumn,
  options: ReadOptions,
  information: StripeInformation,
  number: number,
): FetchingItems<OrcBatch> {
  const { tail, schema } = file;
  const layout = yield* readStripeLayout(tail, information, schema.maximumId + 1);
  const stride = file.rowIndexStride;
  const whole: OpenStripe = {
    tail,
    schema,
    layout,
    name: `stripe ${number}`,
    context: {
      zone: timeZone(layout.writerTimezone ?? file.defaultTimezone),
      hybrid: file.hybrid,
      decimal64: file.decimal64,
      dictionaries: new Map(),
    },
    positions: new Map(),
    groups: 1,
  };
  const split = segmentBytes(whole, root, { first: 0, end: 1 }) > SEGMENT_BYTES;
  const stripe = split ? yield* withRowIndex(whole, root, stride) : whole;
  const batchRows = Math.max(1, options.batchSize ?? DEFAULT_BATCH_ROWS);
  for (const groups of segments(stripe, root)) {
    const reader = yield* loadSegment(stripe, root, groups);
    const end = groups.end >= stripe.groups ? information.numberOfRows : groups.end * stride;
    for (let row = groups.first * stride; row < end; ) {
      const length = Math.min(batchLimit(stripe, batchRows), end - row);
      yield { rowNumber: information.firstRow + row, length, root: reader(allRows(length)) };
      row += length;
    }
  }
}

function batchLimit(stripe: OpenStripe, batchRows: number): number {
  let limit = batchRows;
  for (const { longest } of stripe.context.dictionaries.values()) {
    limit = Math.min(limit, Math.max(1, Math.floor(BATCH_TEXT_BYTES / Math.max(1, longest))));
  }
  return limit;
}

/** Row groups in parts of about SEGMENT_BYTES. */
function segments(stripe: OpenStripe, root: ReadColumn): GroupRange[] {
  const total = segmentBytes(stripe, root, { first: 0, end: stripe.groups });
  const parts = Math.min(stripe.groups, Math.ceil(total / SEGMENT_BYTES) || 1);
  const each = Math.ceil(stripe.groups / parts);
  const ranges: GroupRange[] = [];
  for (let first = 0; first < stripe.groups; first += each) {
    ranges.push({ first, end: Math.min(stripe.groups, first + each) });
  }
  return ranges;
}

/** The stripe with the row indexes of all columns that are read, or as it is when it does not have them all. */
function* withRowIndex(stripe: OpenStripe, root: ReadColumn, stride: number): Fetching<OpenStripe> {
  const { layout } = stripe;
  if (stride === 0) return stripe;
  const groups = Math.ceil(layout.stripe.numberOfRows / stride);
  const columns = fileColumns(root);
  const indexes = yield* readRowIndexes(
    stripe.tail,
    layout,
    columns.map(({ id }) => id),
  );
  const positions = new Map<number, readonly (readonly bigint[])[]>();
  for (const { id } of columns) {
    const entries = indexes.get(id)?.entry;
    if (entries === undefined || entries.length < groups) return stripe;
    positions.set(
      id,
      entries.map((entry) => entry.positions ?? []),
    );
  }
  return { ...stripe, positions, groups };
}

function* readRowIndexes(
  tail: FileTail,
  layout: StripeLayout,
  columns: readonly number[],
): Fetching<Map<number, RowIndex>> {
  const streams = columns.flatMap((column) => layout.columns[column].streams.get(StreamKind.rowIndex) ?? []);
  const ranges: ByteRange[] = streams.map(({ offset, length }) => ({ start: offset, end: offset + length }));
  const answers = yield* fetchRanges(ranges, 0);
  const indexes = new Map<number, RowIndex>();
  streams.forEach((stream, i) => {
    const name = `row index of column ${stream.column}`;
    const { codec, blockSize, path } = tail;
    const { bytes } = decompressRange(answers[i], { path, name, fileOffset: stream.offset, codec, blockSize });
    indexes.set(
      stream.column,
      decodeMessage(path, stream.offset, name, () => RowIndex.decode(bytes)),
    );
  });
  return indexes;
}
