import { writeEmptyBase } from '@skep/acid';
import { DataOperation, type Partition, type Table } from '@skep/rpc';
import type { TruncateStatement } from '../../parse/ast.js';
import { lockSettings, resolveTable, type SessionContext } from '../context.js';
import { distrustPartition } from '../distrust-statistics.js';
import { SemanticError, UnsupportedError } from '../errors.js';
import { matchingPartitions, nameOf, partitionValues } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { liveRowCount } from '../scan/statistics.js';
import { done } from '../text-result.js';
import { isFullAcid, isTransactional, truncatesByBase } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import { deleteAllRows, refuseOverwriteOfUnseen } from './overwrite.js';
import { TableWriter } from './table-writer.js';

/**
 * TRUNCATE TABLE: an ACID table gets an empty base, so that a reader that has begun keeps its rows; a plain table's files are
 * removed, and an ACID table's where hive.acid.truncate.usebase is off: then under an EXCLUSIVE lock.
 */
export async function truncate(
  context: SessionContext,
  statement: TruncateStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  if (statement.columns !== undefined) throw new UnsupportedError('TRUNCATE TABLE … COLUMNS');
  return await empty(context, statement, false, signal);
}

/** Empties the folders under the statement's lock; `counts`: says how many rows an ACID table had, -1 of others. */
async function empty(
  context: SessionContext,
  statement: TruncateStatement,
  counts: boolean,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, statement.table);
      if (table.tableType === 'VIRTUAL_VIEW') {
        throw new SemanticError(10146, `Cannot truncate a view: ${table.name}`, { position: statement.table.position });
      }
      if (table.tableType !== 'MANAGED_TABLE' && !statement.force) {
        throw new SemanticError(10146, `Cannot truncate non-managed table ${table.name}.`, {
          position: statement.table.position,
        });
      }
      if (statement.partition !== undefined && table.partitionKeys.length === 0) {
        throw new SemanticError(10148, `Partition spec for non partitioned table ${table.name}.`, {
          position: statement.partition.position,
        });
      }
      const values = statement.partition === undefined ? new Map() : partitionValues(table, statement.partition);
      const partitions = table.partitionKeys.length === 0 ? [] : await matchingPartitions(context, table, values);
      if (statement.partition !== undefined && partitions.length === 0) {
        throw new SemanticError(10006, 'Partition not found', { position: statement.partition.position });
      }
      const locations =
        table.partitionKeys.length === 0
          ? [table.sd?.location ?? '']
          : partitions.map((partition) => partition.sd?.location ?? '');
      return {
        reads: [],
        writes: [
          {
            table,
            // As a TRUNCATE it is nothing that another's update could be in conflict with; in a transaction it is a DELETE.
            kind: context.transaction === undefined ? 'truncate' : isFullAcid(table) ? 'delete' : 'insert-overwrite',
            ...(partitions.length === 0
              ? {}
              : { partitions: partitions.map((partition) => nameOf(table, partition.values)) }),
          },
        ],
        run: async (transaction) => {
          const { fs, catalog } = context.services;
          for (const partition of partitions) {
            await distrustPartition(catalog, table, nameOf(table, partition.values), partition);
          }
          const result = (deleted: bigint): StatementResult =>
            counts ? { messages: [], counts: { inserted: 0n, updated: 0n, deleted } } : done;
          if (!isTransactional(table)) {
            for (const location of locations) await removeFiles(context, location);
            return result(-1n);
          }
          if (transaction.isExplicit) {
            const targets = table.partitionKeys.length === 0 ? [undefined] : partitions;
            return result(await emptyInTransaction(context, transaction, table, targets, signal));
          }
          const deleted = counts ? await liveRowCount(context, table, locations) : -1n;
          const writeId = await transaction.writeIdOf(table.database, table.name);
          const byBase = truncatesByBase(table, lockSettings(context.conf));
          for (const location of locations) {
            if (byBase) await writeEmptyBase(fs, location, writeId);
            else await removeFiles(context, location);
          }
          if (partitions.length > 0) {
            transaction.wroteTo({
              writeId,
              database: table.database,
              table: table.name,
              partitions: partitions.map((partition) => nameOf(table, partition.values)),
              operation: DataOperation.DATA_OPERATION_DELETE,
            });
          }
          return result(deleted);
        },
      };
    },
    { signal },
  );
}

/** DELETE of all rows between other statements, which have to see it and may go on with the table. */
async function emptyInTransaction(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partitions: readonly (Partition | undefined)[],
  signal?: AbortSignal,
): Promise<bigint> {
  const leg = { table, statementId: transaction.nextStatementId() };
  if (isFullAcid(table)) {
    const dynamicOperation = DataOperation.DATA_OPERATION_DELETE;
    const deletes = await TableWriter.open(context, transaction, { ...leg, kind: 'delete', dynamicOperation });
    const rows = await deleteAllRows(context, transaction, table, partitions, deletes, signal);
    await deletes.close();
    return rows;
  }
  const writer = await TableWriter.open(context, transaction, {
    ...leg,
    kind: 'overwrite',
    dynamicOperation: DataOperation.DATA_OPERATION_UPDATE,
  });
  for (const partition of partitions) await writer.touch(partition?.values ?? []);
  await writer.close();
  await refuseOverwriteOfUnseen(context, transaction, table, writer.partitions);
  return -1n;
}

async function removeFiles(context: SessionContext, location: string): Promise<void> {
  const { fs } = context.services;
  if ((await fs.stat(location)) === undefined) return;
  for (const entry of await fs.list(location)) await fs.delete(entry.path, { recursive: true });
}

/** DELETE without WHERE is a TRUNCATE in Hive 4, of any table (recorded of 4.0.1); its count is of the rows that were there. */
export async function deleteAll(
  context: SessionContext,
  statement: TruncateStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await empty(context, statement, true, signal);
}
