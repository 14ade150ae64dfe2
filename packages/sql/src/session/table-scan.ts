import { type AcidBatch, type AcidSplit, getAcidState, planSplits, type ScanOptions, scanSplitSync } from '@skep/acid';
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
import type { Partition, Table } from '@skep/rpc';
import type { ColumnBatch, ScanHandle, ScanRequest, TableSource } from '../query.js';
import { parseTypeName, toTypeDescription } from '../query.js';
import type { SessionContext } from './context.js';
import { UnsupportedError } from './errors.js';
import { formatOf } from './file-format.js';
import { isFullAcid, isInsertOnly, isTransactional } from './lock-plan.js';
import { fileConjuncts, mayMatch } from './partition-pruning.js';
import { partitionVector } from './partition-value.js';
import { nameOf } from './partitions.js';
import type { StatementTransaction } from './statement-transaction.js';

/** A table's columns, without the partition columns, as ORC's struct. */
export const tableSchema = (table: Table): TypeDescription =>
  createStruct((table.sd?.columns ?? []).map((c) => [c.name, toTypeDescription(parseTypeName(c.type))] as const));

/** The virtual columns that every table has, by lower-case name. */
const rowIdColumn = 'row__id';
const isDeletedColumn = 'row__is__deleted';
const fileNameColumn = 'input__file__name';
const blockOffsetColumn = 'block__offset__inside__file';

/** A folder of the table that a statement reads: its splits under the statement's snapshot. */
interface ScannedFolder {
  readonly partition: Partition | undefined;
  readonly splits: readonly AcidSplit[];
}

/** What a scan is going to read, for EXPLAIN. */
export interface PreparedScan extends TableSource {
  readonly folders: readonly ScannedFolder[];
  /** All partitions of the table; pruned ones are not in `folders`. */
  readonly partitionCount: number;
}

/**
 * A table under a statement's snapshot, ready to be scanned without waiting: partitions that the predicate rules out are
 * left out, folders are listed, splits are planned.
 */
export async function prepareScan(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  predicate: readonly Sarg[],
): Promise<PreparedScan> {
  const format = formatOf(table.sd?.inputFormat ?? '');
  if (format !== 'orc') {
    throw new UnsupportedError(`Reading ${table.database}.${table.name}, whose files are ${table.sd?.inputFormat},`);
  }
  const schema = tableSchema(table);
  const writeIds = isTransactional(table)
    ? ValidWriteIdList.parse(await transaction.validWriteIdsOf(table.database, table.name))
    : ValidWriteIdList.allValid();
  const txns = ValidTxnList.parse(transaction.validTxns);
  const partitions = await partitionsOf(context, table);
  const chosen = partitions.filter(
    (partition) => partition === undefined || partitionMayMatch(table, partition, predicate),
  );
  const folders: ScannedFolder[] = [];
  const insertOnly = !isFullAcid(table);
  for (const partition of chosen) {
    const location = partition?.sd?.location ?? table.sd?.location ?? '';
    const state = await getAcidState(context.services.fs, location, writeIds, txns, { insertOnly });
    folders.push({ partition, splits: await planSplits(context.services.fs, state, { insertOnly }) });
  }
  const includeDeleted = table.parameters['acid.fetch.deleted.rows']?.toLowerCase() === 'true';
  const scanOptions = { schema, writeIds, includeDeleted: includeDeleted && isFullAcid(table) };
  return {
    folders,
    partitionCount: partitions.length,
    scan: (request) => scan(context, table, schema, folders, request, scanOptions),
  };
}

/** The partitions of a table; `[undefined]` for one that has no partition columns. */
async function partitionsOf(context: SessionContext, table: Table): Promise<(Partition | undefined)[]> {
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
): Promise<string[]> {
  const partitions = await partitionsOf(context, table);
  return partitions
    .filter(
      (partition): partition is Partition => partition !== undefined && partitionMayMatch(table, partition, predicate),
    )
    .map((partition) => nameOf(table, partition.values));
}

function partitionMayMatch(table: Table, partition: Partition, predicate: readonly Sarg[]): boolean {
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
  options: Pick<ScanOptions, 'schema' | 'writeIds' | 'includeDeleted'>,
): ScanHandle {
  const dataColumns = request.columns.filter((name) => schema.fieldNames.includes(name));
  const scanOptions: ScanOptions = {
    ...options,
    columns: dataColumns.map((name) => schema.fieldNames.indexOf(name)),
    sarg: {
      op: 'and',
      children: fileConjuncts(request.predicate, (column) => schema.fieldNames.includes(column.split('.')[0])),
    },
    rowIds: request.columns.includes(rowIdColumn) && !isInsertOnly(table) && isTransactional(table),
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

function* scanFolders(
  context: SessionContext,
  folders: readonly ScannedFolder[],
  options: ScanOptions,
  columns: (batch: AcidBatch, folder: ScannedFolder, path: string) => ColumnVector[],
): Generator<ColumnBatch, undefined, undefined> {
  for (const folder of folders) {
    for (const split of folder.splits) {
      const path = split.kind === 'events' ? (split.files[0]?.file.path ?? '') : split.file.path;
      for (const batch of scanSplitSync(context.services.fs, split, options)) {
        if (batch.length > 0) yield { length: batch.length, columns: columns(batch, folder, path) };
      }
    }
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

function rowIdVector(batch: AcidBatch): StructVector {
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
