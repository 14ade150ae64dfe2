import { decompressRange } from '../compression/chunks.js';
import type { BloomFilter } from '../encoding/bloom-filter.js';
import { InvalidReadError } from '../errors.js';
import { BloomFilterIndex, type ColumnStatistics, RowIndex } from '../proto/gen/orc_proto.js';
import { decodeBloomFilter, trustsBloomFilter } from '../sarg/bloom.js';
import { type ColumnEvidence, evaluate, evidenceOf, sargColumns } from '../sarg/evaluate.js';
import type { Sarg, SargColumn } from '../sarg/sarg.js';
import { mayBeTrue } from '../sarg/truth.js';
import type { StatisticsOrigin } from '../sarg/value-range.js';
import { columnById, columnByName, type TypeDescription } from '../type-description.js';
import { planColumns } from './evolution.js';
import { type Fetching, fetchRanges } from './fetching.js';
import { decodeMessage, type FileTail } from './file-tail.js';
import type { ReadOptions } from './options.js';
import type { ReadColumn } from './projection.js';
import { type StreamInformation, StreamKind, type StripeLayout } from './stripe.js';

/** A column of a search argument in the file: 'null' is one that the file does not have; undefined one of which nothing is known. */
type SearchedColumn = { readonly type: TypeDescription; readonly parents: readonly number[] } | 'null' | undefined;

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
    return column.keepsOrder === false ? undefined : { type: column.file, parents };
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

/** Which row groups may have rows that satisfy the search argument; undefined when the stripe has no index to tell. */
export function* selectGroups(
  bound: BoundSarg,
  tail: FileTail,
  layout: StripeLayout,
  stride: number,
): Fetching<boolean[] | undefined> {
  const { numberOfRows } = layout.stripe;
  const groups = Math.ceil(numberOfRows / stride);
  const searched = [...bound.columns.values()].filter((column) => typeof column === 'object');
  const types = new Map(searched.map(({ type }) => [type.id, type] as const));
  const ids = new Set(searchedIds(bound));
  const { indexes, blooms } = yield* readIndexes(tail, layout, ids, (id) =>
    bloomStream(layout, types.get(id), bound.origin),
  );
  for (const { type } of searched) if ((indexes.get(type.id)?.entry?.length ?? 0) < groups) return undefined;
  return Array.from({ length: groups }, (_, group) => {
    const rows = Math.min(stride, numberOfRows - group * stride);
    const statisticsOf = (column: number) => indexes.get(column)?.entry?.[group]?.statistics;
    return mayMatch(bound, rows, statisticsOf, (column) => decodeBloomFilter(blooms.get(column)?.bloomFilter?.[group]));
  });
}

function bloomStream(
  layout: StripeLayout,
  type: TypeDescription | undefined,
  origin: StatisticsOrigin,
): StreamInformation | undefined {
  if (type === undefined) return undefined;
  const { streams, bloomEncoding } = layout.columns[type.id];
  const utf8 = streams.get(StreamKind.bloomFilterUtf8);
  const stream = utf8 ?? streams.get(StreamKind.bloomFilter);
  return trustsBloomFilter(type, utf8 !== undefined, bloomEncoding, origin) ? stream : undefined;
}

/** Row indexes (and bloom filters) of some columns. */
export function* readIndexes(
  tail: FileTail,
  layout: StripeLayout,
  columns: Iterable<number>,
  bloomOf: (column: number) => StreamInformation | undefined = () => undefined,
): Fetching<{ indexes: Map<number, RowIndex>; blooms: Map<number, BloomFilterIndex> }> {
  const streams = [...columns].flatMap((column) => [
    layout.columns[column].streams.get(StreamKind.rowIndex) ?? [],
    bloomOf(column) ?? [],
  ]);
  const wanted = streams.flat();
  const answers = yield* fetchRanges(
    wanted.map(({ offset, length }) => ({ start: offset, end: offset + length })),
    0,
  );
  const indexes = new Map<number, RowIndex>();
  const blooms = new Map<number, BloomFilterIndex>();
  wanted.forEach(({ kind, column, offset, decrypt }, i) => {
    const name = `${kind === StreamKind.rowIndex ? 'row index' : 'bloom filter'} of column ${column}`;
    const { codec, blockSize, path } = tail;
    const raw = decrypt?.(answers[i], 0) ?? answers[i];
    const { bytes } = decompressRange(raw, { path, name, fileOffset: offset, codec, blockSize });
    if (kind === StreamKind.rowIndex) {
      indexes.set(
        column,
        decodeMessage(path, offset, name, () => RowIndex.decode(bytes)),
      );
    } else {
      blooms.set(
        column,
        decodeMessage(path, offset, name, () => BloomFilterIndex.decode(bytes)),
      );
    }
  });
  return { indexes, blooms };
}
