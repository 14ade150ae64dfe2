import {
  type AcidBatch,
  type AcidSplit,
  DeleteCache,
  getAcidState,
  planSplits,
  ScanCounts,
  type ScanOptions,
  scanSplitSync,
} from '@skep/acid';
import { DEFAULT_PARTITION_NAME, ValidTxnList, ValidWriteIdList } from '@skep/core';
import {
  type ColumnVector,
  createPrimitive,
  createStruct,
  type Sarg,
  type SargLiteral,
  type StructVector,
  type TypeDescription,
  vectorOf,
  vectorValue,
} from '@skep/orc';
import type { Partition, StorageDescriptor, Table } from '@skep/rpc';
import { type FileLayout, type PreparedFiles, prepareFiles } from '../../formats/index.js';
import type { ColumnBatch, ScanHandle, ScanRequest, TableSource } from '../../query.js';
import { parseTypeName, toTypeDescription } from '../../query.js';
import type { SessionContext } from '../context.js';
import { UnsupportedError } from '../errors.js';
import { fileFormats, formatOf } from '../file-format.js';
import { partitionVector } from '../partition/partition-value.js';
import { nameOf } from '../partition/partitions.js';
import { isFullAcid, isInsertOnly, isTransactional } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { fileConjuncts, mayMatch } from './partition-pruning.js';

/** A table's columns, without the partition columns, as ORC's struct. */
export const tableSchema = (table: Table): TypeDescription =>
  createStruct((table.sd?.columns ?? []).map((c) => [c.name, toTypeDescription(parseTypeName(c.type))] as const));

/**
 * How the files of a table or partition are read and written; undefined: ORC. Formats that are known but not done are
 * refused: by input format, and text also by its SerDe.
 */
export function layoutOf(table: Table, sd: StorageDescriptor | undefined = table.sd): FileLayout | undefined {
  const format = readableFormat(sd);
  if (format === 'orc') return undefined;
  if (format === undefined) {
    const what = formatOf(sd?.inputFormat ?? '') === undefined ? sd?.inputFormat : sd?.serde?.serializationLib;
    throw new UnsupportedError(`${table.database}.${table.name}, whose files are ${what},`);
  }
  return {
    format,
    columns: (table.sd?.columns ?? []).map((column) => ({ name: column.name, type: parseTypeName(column.type) })),
    serdeParameters: sd?.serde?.parameters ?? {},
    tableProperties: table.parameters,
  };
}

/** undefined: skep has no reader for such files. Text may be of any SerDe, of which it has Hive's own. */
export function readableFormat(sd: StorageDescriptor | undefined): ReturnType<typeof formatOf> {
  const format = formatOf(sd?.inputFormat ?? '');
  const serde = sd?.serde?.serializationLib ?? '';
  return format === 'textfile' && serde !== '' && serde !== fileFormats.textfile.serde ? undefined : format;
}

/** The virtual columns that every table has, by lower-case name. */
const rowIdColumn = 'row__id';
const isDeletedColumn = 'row__is__deleted';
const fileNameColumn = 'input__file__name';
const blockOffsetColumn = 'block__offset__inside__file';

/** A folder of the table that a statement reads: its splits under the statement's snapshot. */
interface ScannedFolder {
  readonly partition: Partition | undefined;
  readonly splits: readonly AcidSplit[];
  /** Of formats other than ORC: what is read instead of the splits' ORC rows. */
  readonly files: PreparedFiles | undefined;
}

/** What a scan is going to read, for EXPLAIN. */
export interface PreparedScan extends TableSource {
  readonly folders: readonly ScannedFolder[];
  /** All partitions of the table; pruned ones are not in `folders`. */
  readonly partitionCount: number;
  /** What it has read; told while it does. */
  readonly counts: ScanCounts;
  /** Which rows a predicate leaves, by statistics and indexes alone: `rows` and `skippedRows`. Undefined: not ORC. */
  estimate(predicate: readonly Sarg[]): ScanCounts | undefined;
}

/**
 * A table under a statement's snapshot, ready to be scanned without waiting: partitions that the predicate rules out are
 * left out, folders are listed, splits are planned. `columns`: the ones that a scan may ask for, all when absent; Parquet
 * files are read ahead, so they cost memory.
 */
export async function prepareScan(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  predicate: readonly Sarg[],
  columns?: readonly string[],
): Promise<PreparedScan> {
  const schema = tableSchema(table);
  const writeIds = isTransactional(table)
    ? ValidWriteIdList.parse(await transaction.validWriteIdsOf(table.database, table.name))
    : ValidWriteIdList.allValid();
  const txns = ValidTxnList.parse(transaction.validTxns);
  const partitions = table.partitionKeys.length === 0 ? [undefined] : await transaction.partitionsOf(table);
  const chosen = partitions.filter(
    (partition) => partition === undefined || partitionMayMatch(table, partition, predicate),
  );
  const folders: ScannedFolder[] = [];
  const insertOnly = !isFullAcid(table);
  for (const partition of chosen) {
    const location = partition?.sd?.location ?? table.sd?.location ?? '';
    const own = transaction.ownWritesIn(table.database, table.name, location);
    const state = await getAcidState(context.services.fs, location, writeIds, txns, { insertOnly, own });
    const splits = await planSplits(context.services.fs, state, { insertOnly });
    const layout = layoutOf(table, partition?.sd ?? table.sd);
    if (layout !== undefined && isFullAcid(table)) throw new UnsupportedError('A full ACID table that is not ORC');
    const files = layout && (await prepareSplits(context, layout, splits, columns));
    folders.push({ partition, splits, files });
  }
  const includeDeleted = table.parameters['acid.fetch.deleted.rows']?.toLowerCase() === 'true';
  const counts = context.progress.begin(folders.reduce((sum, { splits }) => sum + filesOf(splits), 0));
  const scanOptions = { schema, writeIds, includeDeleted: includeDeleted && isFullAcid(table), counts };
  return {
    folders,
    partitionCount: partitions.length,
    counts,
    estimate: (given) => estimate(context, schema, folders, given, scanOptions),
    scan: (request) => scan(context, table, schema, folders, request, scanOptions),
  };
}

const filesOf = (splits: readonly AcidSplit[]): number =>
  splits.reduce((sum, split) => sum + (split.kind === 'events' ? split.files.length : 1), 0);

async function prepareSplits(
  context: SessionContext,
  layout: FileLayout,
  splits: readonly AcidSplit[],
  columns: readonly string[] | undefined,
): Promise<PreparedFiles> {
  const wanted = layout.columns.flatMap(({ name }, i) => ((columns?.includes(name) ?? true) ? [i] : []));
  const files = splits.flatMap((split) => (split.kind === 'events' ? [] : [split.file]));
  return await prepareFiles(context.services.fs, layout, files, wanted);
}

/** The partitions of a table; `[undefined]` for one that has no partition columns. */
export async function partitionsOf(context: SessionContext, table: Table): Promise<(Partition | undefined)[]> {
  if (table.partitionKeys.length === 0) return [undefined];
  const { partitions } = await context.services.catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [],
  });
  return partitions;
}

/** Names of the partitions a predicate leaves, for locks. */
export async function readPartitions(
  context: SessionContext,
  table: Table,
  predicate: readonly Sarg[],
): Promise<{ readonly partitions: string[]; readonly known: string[] }> {
  const all = (await partitionsOf(context, table)).filter((partition) => partition !== undefined);
  const nameOfPartition = (partition: Partition) => nameOf(table, partition.values);
  return {
    partitions: all.filter((partition) => partitionMayMatch(table, partition, predicate)).map(nameOfPartition),
    known: all.map(nameOfPartition),
  };
}

export function partitionMayMatch(table: Table, partition: Partition, predicate: readonly Sarg[]): boolean {
  return mayMatch(predicate, (column) => {
    const index = table.partitionKeys.findIndex((key) => key.name === column);
    if (index < 0) return undefined;
    const vector = partitionVector(table.partitionKeys[index].type, partition.values[index], 1);
    return { value: vectorValue(vector, 0) as SargLiteral };
  });
}

function scan(
  context: SessionContext,
  table: Table,
  schema: TypeDescription,
  folders: readonly ScannedFolder[],
  request: ScanRequest,
  options: Pick<ScanOptions, 'schema' | 'writeIds' | 'includeDeleted' | 'counts'>,
): ScanHandle {
  const dataColumns = request.columns.filter((name) => schema.fieldNames.includes(name));
  const deleteEventsInMemory = context.conf.getInt('hive.transactional.events.mem');
  const scanOptions: ScanOptions = {
    ...options,
    columns: dataColumns.map((name) => schema.fieldNames.indexOf(name)),
    sarg: fileSarg(schema, request.predicate),
    rowIds: request.columns.includes(rowIdColumn) && !isInsertOnly(table) && isTransactional(table),
    // A delete file that matters to several splits is read once.
    deleteCache: new DeleteCache(deleteEventsInMemory),
    deleteEventsInMemory,
  };
  const batches = scanFolders(context, folders, scanOptions, (batch, folder, path) =>
    columnsOf(table, schema, request.columns, dataColumns, batch, folder, path),
  );
  return {
    next: () => {
      const step = batches.next();
      return step.done ? undefined : step.value;
    },
    close: () => {
      batches.return(undefined);
    },
  };
}

function estimate(
  context: SessionContext,
  schema: TypeDescription,
  folders: readonly ScannedFolder[],
  predicate: readonly Sarg[],
  options: Pick<ScanOptions, 'schema' | 'writeIds'>,
): ScanCounts | undefined {
  if (folders.some(({ files }) => files !== undefined)) return undefined;
  const counts = new ScanCounts();
  const sarg = fileSarg(schema, predicate);
  for (const split of folders.flatMap(({ splits }) => splits)) {
    // Without a column and without deletes nothing but indexes is read.
    const alone = 'deletes' in split ? { ...split, deletes: [] } : split;
    for (const _ of scanSplitSync(context.services.fs, alone, { ...options, columns: [], sarg, counts }));
  }
  return counts;
}

/** The conditions of which the files know something. */
export const fileSarg = (schema: TypeDescription, predicate: readonly Sarg[]): Sarg => ({
  op: 'and',
  children: fileConjuncts(predicate, (column) => schema.fieldNames.includes(column.split('.')[0])),
});

function* scanFolders(
  context: SessionContext,
  folders: readonly ScannedFolder[],
  options: ScanOptions,
  columns: (batch: AcidBatch, folder: ScannedFolder, path: string) => ColumnVector[],
): Generator<ColumnBatch, undefined, undefined> {
  for (const folder of folders) {
    for (const split of folder.splits) {
      const path = split.kind === 'events' ? (split.files[0]?.file.path ?? '') : split.file.path;
      const batches =
        folder.files === undefined
          ? scanSplitSync(context.services.fs, split, options)
          : plainBatches(folder.files, path, options);
      if (folder.files !== undefined && options.counts !== undefined) options.counts.files++;
      for (const batch of batches) {
        if (batch.length > 0) yield { length: batch.length, columns: columns(batch, folder, path) };
      }
    }
  }
  return undefined;
}

/** Rows of a file that is not ORC. */
function* plainBatches(
  files: PreparedFiles,
  path: string,
  { schema, columns = [], counts }: ScanOptions,
): Generator<AcidBatch, undefined, undefined> {
  const fieldNames = columns.map((i) => schema.fieldNames[i]);
  for (const { length, columns: children } of files.rows(path, columns)) {
    if (counts !== undefined) counts.rows += length;
    yield { length, root: { kind: 'struct', length, fieldNames, children } };
  }
  return undefined;
}

/** The columns a query asked for, of one batch: from the file, from the partition's name, or virtual. */
function columnsOf(
  table: Table,
  schema: TypeDescription,
  names: readonly string[],
  dataColumns: readonly string[],
  batch: AcidBatch,
  folder: ScannedFolder,
  path: string,
): ColumnVector[] {
  return names.map((name) => {
    const data = dataColumns.indexOf(name);
    if (data >= 0) return batch.root.children[data];
    const key = table.partitionKeys.findIndex((k) => k.name === name);
    if (key >= 0) {
      const value = folder.partition?.values[key] ?? DEFAULT_PARTITION_NAME;
      return partitionVector(table.partitionKeys[key].type, value, batch.length);
    }
    return virtualColumn(name, schema, batch, path);
  });
}

function virtualColumn(name: string, schema: TypeDescription, batch: AcidBatch, path: string): ColumnVector {
  switch (name) {
    case rowIdColumn:
      return rowIdVector(batch);
    case isDeletedColumn:
      return batch.isDeleted ?? { kind: 'boolean', length: batch.length, values: new Uint8Array(batch.length) };
    case fileNameColumn:
      return repeated(createPrimitive('string'), path.includes(':') ? path : `file:${path}`, batch.length);
    case blockOffsetColumn:
      return repeated(createPrimitive('long'), 0n, batch.length);
    default:
      throw new UnsupportedError(`Column ${name} of ${schema.fieldNames.join(', ')}`);
  }
}

export function rowIdVector(batch: AcidBatch): StructVector {
  const { length, rowIds } = batch;
  if (rowIds === undefined) {
    const type = toTypeDescription(parseTypeName('struct<writeid:bigint,bucketid:int,rowid:bigint>'));
    return repeated(type, null, length) as StructVector;
  }
  return {
    kind: 'struct',
    length,
    fieldNames: ['writeid', 'bucketid', 'rowid'],
    children: [rowIds.writeId, rowIds.bucket, rowIds.rowId],
  };
}

const repeated = (type: TypeDescription, value: string | bigint | null, length: number): ColumnVector =>
  vectorOf(
    type,
    Array.from({ length }, () => value),
  );
