import { type AcidSplit, getAcidState, planSplits, type ScanOptions, scanSplit } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type ColumnVector, parseType, type Sarg, type StructVector, typeToString } from '@skep/orc';
import type { Table } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';
import { type FileLayout, prepareFiles } from '../../formats/index.js';
import type { SessionContext } from '../context.js';
import { UnsupportedError } from '../errors.js';
import { partitionVector } from '../partition/partition-value.js';
import { isFullAcid } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { fileSarg, layoutOf, partitionMayMatch, partitionsOf, rowIdVector, tableSchema } from './table-scan.js';

/** A piece of a table that is read on its own, as plain data: whoever has it needs neither catalog nor snapshot. */
export interface TableSplit {
  /** The table's columns (not partition columns) as ORC's type text. */
  readonly schema: string;
  /** The partition columns with this partition's values as its folder names them. */
  readonly keys: readonly { readonly name: string; readonly type: string; readonly value: string }[];
  /** Which rows count, in Hive's string form; absent: all. */
  readonly writeIds?: string;
  readonly split: AcidSplit;
  /** Of formats other than ORC. */
  readonly layout?: FileLayout;
}

/** The splits of a table under a transaction's snapshot (or an older one's write ids), of partitions that may match. */
export async function planTableSplits(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  predicate: readonly Sarg[],
  writeIdsText: string | undefined,
): Promise<TableSplit[]> {
  const { fs } = context.services;
  const insertOnly = !isFullAcid(table);
  const writeIds = writeIdsText === undefined ? ValidWriteIdList.allValid() : ValidWriteIdList.parse(writeIdsText);
  const txns = ValidTxnList.parse(transaction.validTxns);
  const splits: TableSplit[] = [];
  for (const partition of await partitionsOf(context, table)) {
    if (partition !== undefined && !partitionMayMatch(table, partition, predicate)) continue;
    const location = partition?.sd?.location ?? table.sd?.location ?? '';
    const own = transaction.ownWritesIn(table.database, table.name, location);
    const layout = layoutOf(table, partition?.sd ?? table.sd);
    if (layout !== undefined && isFullAcid(table)) throw new UnsupportedError('A full ACID table that is not ORC');
    const state = await getAcidState(fs, location, writeIds, txns, { insertOnly, own });
    const shared = {
      schema: typeToString(tableSchema(table)),
      keys: table.partitionKeys.map(({ name, type }, i) => ({ name, type, value: partition?.values[i] ?? '' })),
      ...(writeIdsText === undefined ? {} : { writeIds: writeIdsText }),
      ...(layout === undefined ? {} : { layout }),
    };
    for (const split of await planSplits(fs, state, { insertOnly })) splits.push({ ...shared, split });
  }
  return splits;
}

export interface SplitScanOptions {
  /** Names of data and partition columns, in the order wanted. */
  readonly columns: readonly string[];
  readonly predicate: readonly Sarg[];
  /** A last column `row__id` more. */
  readonly rowIds: boolean;
  /** About so many bytes in a batch; of a stripe so many, decompressed, are read at once. */
  readonly batchBytes?: number;
  readonly segmentBytes?: number;
  /** hive.transactional.events.mem */
  readonly deleteEventsInMemory: number;
}

/** The visible rows of a split, read as they are asked for. */
export async function* scanTableSplit(
  fs: FileSystem,
  { schema: schemaText, keys, writeIds, split, layout }: TableSplit,
  { columns, predicate, rowIds, batchBytes, segmentBytes, deleteEventsInMemory }: SplitScanOptions,
): AsyncGenerator<StructVector> {
  const schema = parseType(schemaText);
  const dataColumns = columns.filter((name) => schema.fieldNames.includes(name));
  const wanted = dataColumns.map((name) => schema.fieldNames.indexOf(name));
  const options: ScanOptions = {
    schema,
    writeIds: writeIds === undefined ? ValidWriteIdList.allValid() : ValidWriteIdList.parse(writeIds),
    columns: wanted,
    sarg: fileSarg(schema, predicate),
    rowIds,
    deleteEventsInMemory,
    ...(batchBytes === undefined ? {} : { batchBytes }),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  };
  const batches = layout === undefined ? scanSplit(fs, split, options) : plainRows(fs, layout, split, wanted);
  for await (const batch of batches) {
    const { length } = batch;
    if (length === 0) continue;
    const children = columns.map((name): ColumnVector => {
      const at = dataColumns.indexOf(name);
      if (at >= 0) return batch.root.children[at];
      const key = keys.find((candidate) => candidate.name === name);
      if (key === undefined) throw new UnsupportedError(`Column ${name} of ${schemaText}`);
      return partitionVector(key.type, key.value, length);
    });
    const fieldNames = rowIds ? [...columns, 'row__id'] : columns;
    yield { kind: 'struct', length, fieldNames, children: rowIds ? [...children, rowIdVector(batch)] : children };
  }
}

async function* plainRows(fs: FileSystem, layout: FileLayout, split: AcidSplit, wanted: readonly number[]) {
  if (split.kind === 'events') throw new UnsupportedError('A full ACID table that is not ORC');
  const files = await prepareFiles(fs, layout, [split.file], wanted);
  for (const { length, columns: children } of files.rows(split.file.path, wanted)) {
    yield { length, root: { kind: 'struct', length, fieldNames: [], children } as StructVector };
  }
}
