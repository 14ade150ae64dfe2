import { decompressRange } from '../compression/chunks.js';
import type { BloomFilter } from '../encoding/bloom-filter.js';
import { InvalidReadError } from '../errors.js';
import { type ByteRange, type Fetching, fetchRanges } from '../file/fetching.js';
import { decodeMessage, type FileTail } from '../file/file-tail.js';
import { BloomFilterIndex, type ColumnStatistics, RowIndex } from '../proto/gen/orc_proto.js';
import { decodeBloomFilter, trustsBloomFilter } from '../sarg/bloom.js';
import { type ColumnEvidence, evaluate, evidenceOf, sargColumns } from '../sarg/evaluate.js';
import { columnsOfEqualities } from '../sarg/row-truth.js';
import type { Sarg, SargColumn } from '../sarg/sarg.js';
import { mayBeTrue } from '../sarg/truth.js';
import type { StatisticsOrigin } from '../sarg/value-range.js';
import { columnById, columnByName, type TypeDescription } from '../type-description.js';
import { planColumns } from './evolution.js';
import type { ReadOptions } from './options.js';
import type { ReadColumn } from './projection.js';
import { type StreamInformation, StreamKind, type StripeLayout } from './stripe.js';

/** A column of a search argument in the file: 'null' is one that the file does not have; undefined one of which nothing is known. */
type SearchedColumn =
  | { readonly type: TypeDescription; readonly target: TypeDescription; readonly parents: readonly number[] }
  | 'null'
  | undefined;

/** A search argument with its columns found in the file. */
export interface BoundSarg {
  readonly sarg: Sarg;
  readonly columns: ReadonlyMap<SargColumn, SearchedColumn>;
  readonly origin: StatisticsOrigin;
}

export function bindSarg(
  schema: TypeDescription,
  options: ReadOptions,
  path: string,
  origin: StatisticsOrigin,
): BoundSarg | undefined {
  const { sarg } = options;
  if (sarg === undefined) return undefined;
  const target = options.readSchema ?? schema;
  const root = planColumns(schema, { ...options, include: undefined }, path);
  const columns = new Map<SargColumn, SearchedColumn>();
  for (const column of sargColumns(sarg)) {
    const type = typeof column === 'number' ? columnById(target, column) : columnByName(target, column);
    if (type === undefined)
      throw new InvalidReadError(`${path}: the search argument names column ${column}, which does not exist`);
    columns.set(column, find(root, type.id, []));
  }
  return { sarg, columns, origin };
}

/** The file's columns that a search argument looks at, their parents included. */
export function searchedIds(bound: BoundSarg | undefined): number[] {
  return [...(bound?.columns.values() ?? [])].flatMap((column) =>
    typeof column === 'object' ? [column.type.id, ...column.parents] : [],
  );
}

/** Down the structs to the column; one inside a list, map or union cannot be searched. */
function find(column: ReadColumn, id: number, parents: readonly number[]): SearchedColumn {
  if (column.file === undefined) return 'null';
  if (column.target.id === id) {
    return column.keepsOrder === false ? undefined : { type: column.file, target: column.target, parents };
  }
  if (column.target.kind !== 'struct') return undefined;
  const child = column.children.find(({ target }) => id >= target.id && id <= target.maximumId);
  // The root has no NULLs.
  const above = column.file.id === 0 ? parents : [...parents, column.file.id];
  return child && find(child, id, above);
}

/** False when no row of the stripe can satisfy the search argument, by its statistics. */
export function stripeMayMatch(
  bound: BoundSarg,
  statistics: readonly ColumnStatistics[] | undefined,
  rows: number,
): boolean {
  // Before HIVE-8732 Java's maximum of a stripe was wrong.
  if (statistics === undefined || (bound.origin.writer === 'java' && bound.origin.writerVersion < 1)) return true;
  return mayMatch(bound, rows, (column) => statistics[column]);
}

function mayMatch(
  { sarg, columns, origin }: BoundSarg,
  rows: number,
  statisticsOf: (column: number) => ColumnStatistics | undefined,
  bloomOf?: (column: number) => BloomFilter | undefined,
): boolean {
  const evidence = (name: SargColumn): ColumnEvidence | 'null' | undefined => {
    const column = columns.get(name);
    if (column === undefined || column === 'null') return column;
    const { type, parents } = column;
    return evidenceOf(type, statisticsOf(type.id), parents.map(statisticsOf), rows, origin, bloomOf?.(type.id));
  };
  return mayBeTrue(evaluate(sarg, evidence));
}

/** Row indexes that were read, by column id. */
export type KnownIndexes = Map<number, RowIndex>;

/**
 * Which row groups may have rows that satisfy the search argument; undefined when the stripe has no index to tell. The indexes that
 * are read are put into `known`. Bloom filters are read where statistics leave something, of columns that are compared for equality.
 */
export function* selectGroups(
  bound: BoundSarg,
  tail: FileTail,
  layout: StripeLayout,
  stride: number,
  known: KnownIndexes,
): Fetching<boolean[] | undefined> {
  const { numberOfRows } = layout.stripe;
  const groups = Math.ceil(numberOfRows / stride);
  const searched = [...bound.columns.values()].filter((column) => typeof column === 'object');
  yield* readRowIndexes(tail, layout, searchedIds(bound), known);
  for (const { type } of searched) if ((known.get(type.id)?.entry?.length ?? 0) < groups) return undefined;
  const blooms: Map<number, BloomFilterIndex> = new Map();
  const select = (group: number) => {
    const rows = Math.min(stride, numberOfRows - group * stride);
    const statisticsOf = (column: number) => known.get(column)?.entry?.[group]?.statistics;
    return mayMatch(bound, rows, statisticsOf, (column) => decodeBloomFilter(blooms.get(column)?.bloomFilter?.[group]));
  };
  const selected = Array.from({ length: groups }, (_, group) => select(group));
  if (!selected.includes(true)) return selected;
  const equal = new Set(columnsOfEqualities(bound.sarg));
  for (const [name, column] of bound.columns) {
    if (typeof column !== 'object' || !equal.has(name) || blooms.has(column.type.id)) continue;
    const stream = bloomStream(layout, column.type, bound.origin);
    if (stream !== undefined) blooms.set(column.type.id, yield* readBloomFilters(tail, stream));
  }
  return blooms.size === 0 ? selected : selected.map((isSelected, group) => isSelected && select(group));
}

function bloomStream(
  layout: StripeLayout,
  type: TypeDescription,
  origin: StatisticsOrigin,
): StreamInformation | undefined {
  const { streams, bloomEncoding } = layout.columns[type.id];
  const utf8 = streams.get(StreamKind.bloomFilterUtf8);
  const stream = utf8 ?? streams.get(StreamKind.bloomFilter);
  return trustsBloomFilter(type, utf8 !== undefined, bloomEncoding, origin) ? stream : undefined;
}

/** Row indexes of some columns, those that are not known yet. */
export function* readRowIndexes(
  tail: FileTail,
  layout: StripeLayout,
  columns: Iterable<number>,
  known: KnownIndexes,
): Fetching<void> {
  const wanted = [...new Set(columns)].flatMap((column) =>
    known.has(column) ? [] : (layout.columns[column].streams.get(StreamKind.rowIndex) ?? []),
  );
  const answers = yield* fetchRanges(wanted.map(rangeOf), 0);
  wanted.forEach((stream, i) => {
    const { column, offset } = stream;
    const name = `row index of column ${column}`;
    const bytes = indexBytes(tail, stream, answers[i], name);
    known.set(
      column,
      decodeMessage(tail.path, offset, name, () => RowIndex.decode(bytes)),
    );
  });
}

export function* readBloomFilters(tail: FileTail, stream: StreamInformation): Fetching<BloomFilterIndex> {
  const [answer] = yield* fetchRanges([rangeOf(stream)], 0);
  const name = `bloom filter of column ${stream.column}`;
  const bytes = indexBytes(tail, stream, answer, name);
  return decodeMessage(tail.path, stream.offset, name, () => BloomFilterIndex.decode(bytes));
}

const rangeOf = ({ offset, length }: StreamInformation): ByteRange => ({ start: offset, end: offset + length });

function indexBytes(
  { codec, blockSize, path }: FileTail,
  { offset, decrypt }: StreamInformation,
  raw: Uint8Array,
  name: string,
): Uint8Array {
  const compressed = decrypt?.(raw, 0) ?? raw;
  return decompressRange(compressed, { path, name, fileOffset: offset, codec, blockSize }).bytes;
}
