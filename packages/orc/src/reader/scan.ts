import { CorruptFileError } from '@skep/core';
import { Scratch } from '../compression/scratch.js';
import type { FileEncryption } from '../encryption/file-encryption.js';
import { readStripeStatistics } from '../encryption/stripe-statistics.js';
import { type Ahead, begin, type Fetching, type FetchingItems, finish } from '../file/fetching.js';
import type { FileTail } from '../file/file-tail.js';
import type { StatisticsOrigin } from '../sarg/value-range.js';
import { timeZone } from '../time/time-zone.js';
import type { TypeDescription } from '../type-description.js';
import { allRows } from './columns/rows.js';
import type { OrcBatch, ReadOptions } from './options.js';
import { isWorthProbing, type Probe, probeGroups } from './probe.js';
import { fileColumns, type ReadColumn } from './projection.js';
import {
  type BoundSarg,
  type KnownIndexes,
  readRowIndexes,
  searchedIds,
  selectGroups,
  stripeMayMatch,
} from './pruning.js';
import { fetchSegment, type GroupRange, type OpenStripe, openSegment, type Segment, segmentBytes } from './segment.js';
import { readStripeLayout, type StripeInformation } from './stripe.js';

const DEFAULT_BATCH_ROWS = 8192;
const DEFAULT_SEGMENT_BYTES = 8 << 20;
/** What is compressed is some times as long in memory. */
const DEFAULT_COMPRESSED_SEGMENT_BYTES = 4 << 20;
/** Most bytes of text that a batch should have, by the longest dictionary entry. */
const BATCH_TEXT_BYTES = 64 << 20;

/** What a file's scan needs to know of it. */
export interface ScannedFile {
  readonly tail: FileTail;
  readonly schema: TypeDescription;
  readonly stripes: readonly StripeInformation[];
  readonly rowIndexStride: number;
  readonly origin: StatisticsOrigin;
  readonly encryption: FileEncryption | undefined;
  readonly decimal64: boolean;
  readonly defaultTimezone: string;
}

/** All batches that the options ask for. */
export function* scan(
  file: ScannedFile,
  root: ReadColumn,
  sarg: BoundSarg | undefined,
  probe: Probe | undefined,
  options: ReadOptions,
): FetchingItems<OrcBatch> {
  const statistics =
    sarg === undefined ? [] : yield* readStripeStatistics(file.tail, file.encryption, new Set(searchedIds(sarg)));
  const wanted = file.stripes
    .map((information, number) => ({ information, number }))
    .filter(
      ({ information, number }) =>
        isInRange(information, number, options) &&
        information.numberOfRows > 0 &&
        (sarg === undefined || stripeMayMatch(sarg, statistics[number], information.numberOfRows)),
    );
  const prepare = (index: number) => {
    const { information, number } = wanted[index];
    return prepareStripe(file, root, sarg, probe, options, information, number);
  };
  let ahead: Ahead<PreparedStripe | undefined> | undefined;
  for (const [index, { information, number }] of wanted.entries()) {
    try {
      const prepared = yield* finish<PreparedStripe | undefined>(ahead ?? { computation: prepare(index) });
      const next = index + 1 < wanted.length ? prepare(index + 1) : undefined;
      ahead = prepared && (yield* readStripe(prepared, root, options, next));
    } catch (error) {
      throw located(error, file.tail.path, information.offset, number);
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

/** A stripe of which some rows are to be read, and the bytes of the first of them. */
interface PreparedStripe {
  readonly stripe: OpenStripe;
  readonly segments: readonly GroupRange[];
  readonly first: Segment;
  /** Of a row group. */
  readonly stride: number;
}

/** Undefined when no row group can match. */
function* prepareStripe(
  file: ScannedFile,
  root: ReadColumn,
  sarg: BoundSarg | undefined,
  probe: Probe | undefined,
  options: ReadOptions,
  information: StripeInformation,
  number: number,
): Fetching<PreparedStripe | undefined> {
  const { tail, schema } = file;
  const layout = yield* readStripeLayout(tail, information, schema.maximumId + 1, file.encryption, number);
  const stride = file.rowIndexStride;
  const known: KnownIndexes = new Map();
  let selected =
    sarg === undefined || stride === 0 ? undefined : yield* selectGroups(sarg, tail, layout, stride, known);
  if (selected?.every((group) => !group)) return undefined;
  const whole: OpenStripe = {
    tail,
    schema,
    layout,
    name: `stripe ${number}`,
    context: {
      zone: timeZone(layout.writerTimezone ?? file.defaultTimezone, file.origin.writer === 'cpp' ? 'whole' : 'java'),
      hybrid: file.origin.hybrid,
      decimal64: file.decimal64,
      dictionaries: new Map(),
    },
    positions: new Map(),
    groups: 1,
    carried: new Map(),
  };
  const defaultLimit = tail.codec === undefined ? DEFAULT_SEGMENT_BYTES : DEFAULT_COMPRESSED_SEGMENT_BYTES;
  const segmentLimit = Math.max(1, options.segmentBytes ?? defaultLimit);
  if (probe !== undefined && selected !== undefined && isWorthProbing(probe, whole, root)) {
    const stripe = yield* withRowIndex(whole, probe.leaders, stride, known);
    if (stripe !== whole) {
      const parts = runs(selected).flatMap((range) => segments(stripe, probe.leaders, range, segmentLimit));
      const limit = batchLimit(stripe, DEFAULT_BATCH_ROWS);
      selected = yield* probeGroups(probe, stripe, selected, parts, stride, limit);
      if (selected.every((group) => !group)) return undefined;
    }
  }
  const pruned = selected?.some((group) => !group) ?? false;
  const split = pruned || segmentBytes(whole, root, { first: 0, end: 1 }) > segmentLimit;
  const stripe = split ? yield* withRowIndex(whole, root, stride, known) : whole;
  const groups = stripe === whole || selected === undefined ? [{ first: 0, end: stripe.groups }] : runs(selected);
  const parts = groups.flatMap((range) => segments(stripe, root, range, segmentLimit));
  return { stripe, segments: parts, first: yield* fetchSegment(stripe, root, parts[0]), stride };
}

/** A stripe's batches. The next segment, and then the next stripe's first one, is fetched while rows are decoded. */
function* readStripe(
  { stripe, segments, first, stride }: PreparedStripe,
  root: ReadColumn,
  options: ReadOptions,
  nextStripe: Fetching<PreparedStripe | undefined> | undefined,
): FetchingItems<OrcBatch, Ahead<PreparedStripe | undefined> | undefined> {
  const { numberOfRows, firstRow } = stripe.layout.stripe;
  const batchRows = Math.max(1, options.batchSize ?? DEFAULT_BATCH_ROWS);
  let segment: Segment | undefined = first;
  for (let part = 1; ; part++) {
    const scratch = new Scratch();
    try {
      const reader = openSegment(stripe, root, segment, scratch);
      const { groups } = segment;
      segment = undefined;
      const end = groups.end >= stripe.groups ? numberOfRows : groups.end * stride;
      const limit = batchLimit(stripe, batchRows);
      const isLast = part === segments.length;
      const next = isLast ? undefined : yield* begin(fetchSegment(stripe, root, segments[part]));
      const ahead = isLast && nextStripe !== undefined ? yield* begin(nextStripe) : undefined;
      for (let row = groups.first * stride; row < end; ) {
        const length = Math.min(limit, end - row);
        yield { rowNumber: firstRow + row, length, root: reader(allRows(length)) };
        row += length;
      }
      if (next === undefined) return ahead;
      segment = yield* finish(next);
    } finally {
      scratch.release();
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

/** Consecutive selected row groups. */
function runs(selected: readonly boolean[]): GroupRange[] {
  const ranges: GroupRange[] = [];
  for (let group = 0; group < selected.length; group++) {
    if (!selected[group]) continue;
    const first = group;
    while (selected[group + 1]) group++;
    ranges.push({ first, end: group + 1 });
  }
  return ranges;
}

/** Row groups in parts of about `limit` bytes. */
function segments(stripe: OpenStripe, root: ReadColumn, range: GroupRange, limit: number): GroupRange[] {
  const parts = Math.min(range.end - range.first, Math.ceil(segmentBytes(stripe, root, range) / limit) || 1);
  const each = Math.ceil((range.end - range.first) / parts);
  const ranges: GroupRange[] = [];
  for (let { first } = range; first < range.end; first += each) {
    ranges.push({ first, end: Math.min(range.end, first + each) });
  }
  return ranges;
}

/** The stripe with the row indexes of all columns that are read, or as it is when it does not have them all. */
function* withRowIndex(
  stripe: OpenStripe,
  root: ReadColumn,
  stride: number,
  known: KnownIndexes,
): Fetching<OpenStripe> {
  const { layout } = stripe;
  if (stride === 0) return stripe;
  const groups = Math.ceil(layout.stripe.numberOfRows / stride);
  const columns = fileColumns(root);
  yield* readRowIndexes(
    stripe.tail,
    layout,
    columns.map(({ id }) => id),
    known,
  );
  const positions = new Map<number, readonly (readonly bigint[])[]>();
  for (const { id } of columns) {
    const entries = known.get(id)?.entry;
    if (entries === undefined || entries.length < groups) return stripe;
    positions.set(
      id,
      entries.map((entry) => entry.positions ?? []),
    );
  }
  return { ...stripe, positions, groups };
}
