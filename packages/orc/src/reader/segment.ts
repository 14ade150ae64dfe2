import {
  type Carried,
  CHUNK_HEADER_BYTES,
  carryFrom,
  type Decompressed,
  decompressRange,
} from '../compression/chunks.js';
import type { Scratch } from '../compression/scratch.js';
import { type ByteRange, type Fetching, fetchRanges } from '../file/fetching.js';
import type { FileTail } from '../file/file-tail.js';
import { columnById, columnName, type TypeDescription } from '../type-description.js';
import { nullVector } from '../vector/constant.js';
import { type ColumnReader, isDecimal64, leafReader, type StripeContext } from './columns/column-reader.js';
import type { ColumnSource, OpenStream } from './columns/column-streams.js';
import { listReader, mapReader, structReader, unionReader } from './columns/nested.js';
import { groupPositions, positionedStreams, START, type StreamPosition } from './positions.js';
import { fileColumns, type ReadColumn } from './projection.js';
import { STREAM_NAMES, type StreamInformation, StreamKind, type StripeLayout } from './stripe.js';

/** Bytes that the longest integer run can have (Java: RecordReaderUtils.WORST_UNCOMPRESSED_SLOP). */
const LONGEST_RUN_BYTES = 2 + 8 * 512;
/** Ranges nearer to each other than this are read in one request. */
const FETCH_GAP_BYTES = 8 * 1024;

/** A stripe that is being read. */
export interface OpenStripe {
  readonly tail: FileTail;
  readonly schema: TypeDescription;
  readonly layout: StripeLayout;
  readonly context: StripeContext;
  /** For errors. */
  readonly name: string;
  /** By column id: of each row group its positions. Empty when the stripe is read as a whole. */
  readonly positions: ReadonlyMap<number, readonly (readonly bigint[])[]>;
  readonly groups: number;
  /** Of compressed streams the chunks in which the last segment ended, by where they start: the next one begins in them. */
  readonly carried: Map<StreamInformation, { readonly start: number; readonly chunks: Carried }>;
}

/** Consecutive row groups [first, end). */
export interface GroupRange {
  readonly first: number;
  readonly end: number;
}

interface PlannedStream {
  readonly stream: StreamInformation;
  /** The part that is read, in the file. */
  readonly range: ByteRange;
  readonly position: StreamPosition;
  /** Where the next segment's values start, when this one does not go to the end of the stripe. */
  readonly next?: StreamPosition | undefined;
}

/** Which bytes of each stream of a column hold the values of some row groups. */
function planColumn(stripe: OpenStripe, type: TypeDescription, groups: GroupRange): PlannedStream[] {
  const { tail, layout, context } = stripe;
  const column = layout.columns[type.id];
  const positioned = positionedStreams(type.kind, column, isDecimal64(type, context.decimal64));
  const entries = stripe.positions.get(type.id);
  const compressed = tail.codec !== undefined;
  const at = (group: number) =>
    entries === undefined ? undefined : groupPositions(positioned, column, compressed, entries[group] ?? []);
  const first = groups.first === 0 ? undefined : at(groups.first);
  const end = groups.end >= stripe.groups ? undefined : at(groups.end);
  const planned: PlannedStream[] = [];
  for (const [kind] of positioned) {
    const stream = column.streams.get(kind);
    if (stream === undefined) continue;
    const position = first?.get(kind) ?? START;
    const from = Math.min(position.chunk, stream.length);
    const to = end === undefined ? stream.length : endOf(end.get(kind), stream, tail);
    const range = { start: stream.offset + from, end: stream.offset + Math.max(from, to) };
    planned.push({ stream, range, position, next: end?.get(kind) });
  }
  if (column.dictionary && !context.dictionaries.has(type.id)) {
    for (const kind of [StreamKind.dictionaryData, StreamKind.length]) {
      const stream = column.streams.get(kind);
      if (stream === undefined) continue;
      planned.push({ stream, range: { start: stream.offset, end: stream.offset + stream.length }, position: START });
    }
  }
  return planned;
}

/** Where the bytes end that values before a position can need: the run or bytes at it may have begun before. */
function endOf(next: StreamPosition | undefined, stream: StreamInformation, tail: FileTail): number {
  if (next === undefined) return stream.length;
  const runBytes = next.skipValues > 0 || next.skipBits > 0 ? LONGEST_RUN_BYTES : 0;
  if (tail.codec === undefined) return Math.min(stream.length, next.chunk + runBytes);
  const chunks = Math.ceil((next.skipBytes + runBytes) / tail.blockSize);
  return Math.min(stream.length, next.chunk + chunks * (CHUNK_HEADER_BYTES + tail.blockSize));
}

/** Bytes that some row groups take in the file, about. */
export function segmentBytes(stripe: OpenStripe, root: ReadColumn, groups: GroupRange): number {
  let sum = 0;
  for (const type of fileColumns(root)) {
    for (const { range } of planColumn(stripe, type, groups)) sum += range.end - range.start;
  }
  return sum;
}

/** The bytes of some row groups. */
export interface Segment {
  readonly groups: GroupRange;
  readonly planned: readonly PlannedStream[];
  readonly bytes: readonly Uint8Array[];
}

/** Reads the bytes of some row groups, behind those of the segment that was opened last. */
export function* fetchSegment(stripe: OpenStripe, root: ReadColumn, groups: GroupRange): Fetching<Segment> {
  const planned = fileColumns(root).flatMap((type) => planColumn(stripe, type, groups));
  const bytes = yield* fetchRanges(
    planned.map((plan) => missingRange(stripe, plan)),
    FETCH_GAP_BYTES,
  );
  return { groups, planned, bytes };
}

/** Decompresses a segment; the answer decodes its rows, front to back, as long as `scratch` is not released. */
export function openSegment(
  stripe: OpenStripe,
  root: ReadColumn,
  { planned, bytes }: Segment,
  scratch: Scratch,
): ColumnReader {
  const loaded = new Map(planned.map((plan, i) => [plan.stream, { plan, bytes: bytes[i] }] as const));
  const reader = buildReader(stripe, root, (stream, name) => {
    const found = loaded.get(stream);
    return (
      found &&
      openStream(
        stripe,
        found.plan,
        decrypted(stripe, found.plan, found.bytes),
        name,
        keepsBytes(stripe, stream) ? undefined : scratch,
      )
    );
  });
  // All streams are open: what is compressed can go, though readers hold this map.
  loaded.clear();
  return reader;
}

/** What the last segment left of the stream, when this one goes on from there. */
function carriedTo({ carried }: OpenStripe, { stream, position }: PlannedStream): Carried | undefined {
  const left = carried.get(stream);
  return left?.start === position.chunk ? left.chunks : undefined;
}

function missingRange(stripe: OpenStripe, plan: PlannedStream): ByteRange {
  const { start, end } = plan.range;
  const from = start + (carriedTo(stripe, plan)?.end ?? 0);
  return { start: from, end: Math.max(from, end) };
}

function decrypted(stripe: OpenStripe, plan: PlannedStream, bytes: Uint8Array): Uint8Array {
  const { decrypt, offset } = plan.stream;
  return decrypt === undefined ? bytes : decrypt(bytes, missingRange(stripe, plan).start - offset);
}

/** Whether vectors are views of the stream's bytes: direct text (that of a dictionary is copied), float and double. */
function keepsBytes({ layout, schema }: OpenStripe, { kind, column }: StreamInformation): boolean {
  if (kind !== StreamKind.data || layout.columns[column].dictionary) return false;
  const type = columnById(schema, column)?.kind;
  return layout.columns[column].streams.has(StreamKind.length) || type === 'float' || type === 'double';
}

function openStream(
  stripe: OpenStripe,
  plan: PlannedStream,
  bytes: Uint8Array,
  name: string,
  scratch: Scratch | undefined,
): OpenStream {
  const { stream, position, range, next } = plan;
  const before = carriedTo(stripe, plan);
  const { path, codec, blockSize } = stripe.tail;
  const decompressed = decompressRange(
    bytes,
    {
      path,
      name,
      fileOffset: missingRange(stripe, plan).start,
      codec,
      blockSize,
      mayEndEarly: range.end < stream.offset + stream.length,
      scratch,
    },
    before,
  );
  const rangeStart = range.start - stream.offset;
  const chunks = next === undefined ? undefined : carryFrom(decompressed, next.chunk - rangeStart);
  if (next !== undefined && chunks !== undefined) stripe.carried.set(stream, { start: next.chunk, chunks });
  else stripe.carried.delete(stream);
  const at = startIn(decompressed, position, rangeStart);
  const { isOwn } = decompressed;
  return { bytes: decompressed.bytes, isOwn, at, skipValues: position.skipValues, skipBits: position.skipBits, name };
}

/** The place in the decompressed range; a position that is not in it fails when the decoder is made. */
function startIn(decompressed: Decompressed, position: StreamPosition, rangeStart: number): number {
  if (decompressed.chunkStarts.length === 0) return position.chunk - rangeStart + position.skipBytes;
  const chunk = decompressed.chunkStarts.indexOf(position.chunk - rangeStart);
  // A position behind the last chunk is the end of the stream: nothing is read from there.
  const base = chunk < 0 ? decompressed.bytes.length : decompressed.chunkTargets[chunk];
  return base + position.skipBytes;
}

function buildReader(
  stripe: OpenStripe,
  column: ReadColumn,
  open: (stream: StreamInformation, name: string) => OpenStream | undefined,
): ColumnReader {
  const { file, target } = column;
  if (file === undefined) return (parent) => nullVector(target, parent.length);
  const layout = stripe.layout.columns[file.id];
  const name = `${stripe.name}, column ${columnName(stripe.schema, file.id) || 'root'}`;
  const source: ColumnSource = {
    type: file,
    layout,
    name,
    open(kind) {
      const stream = layout.streams.get(kind);
      return stream && open(stream, `${name}, ${STREAM_NAMES[kind]} stream`);
    },
  };
  const children = column.children.map((child) => buildReader(stripe, child, open));
  const reader = nestedReader(source, column, children) ?? leafReader(source, stripe.context);
  const { convert } = column;
  return convert === undefined ? reader : (parent) => convert(reader(parent));
}

function nestedReader(source: ColumnSource, column: ReadColumn, children: ColumnReader[]): ColumnReader | undefined {
  switch (source.type.kind) {
    case 'struct':
      return structReader(source, column.fieldNames, children);
    case 'list':
      return listReader(source, children[0]);
    case 'map':
      return mapReader(source, children[0], children[1]);
    case 'union':
      return unionReader(source, children);
    default:
      return undefined;
  }
}
