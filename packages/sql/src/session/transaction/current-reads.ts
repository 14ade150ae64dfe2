import { findTable, lockSettings, type SessionContext } from '../context.js';
import { nameOf } from '../partition/partitions.js';
import { isTransactional, type ReadEntity } from './lock-plan.js';
import type { PlannedStatement } from './planned-statement.js';
import type { StatementTransaction } from './statement-transaction.js';

/**
 * With lockless reads nothing holds what a statement was planned with until its snapshot is taken. Whether that is there as it
 * was: what is dropped or renamed from now on stays readable for the transaction, as the Cleaner waits for it. The partitions
 * that are listed here are those that are read.
 *
 * An UPDATE locks the partitions that it was planned with: rows of one that came since are in its snapshot, but not under its locks.
 */
export async function areReadsCurrent(
  context: SessionContext,
  transaction: StatementTransaction,
  { reads, writes }: Pick<PlannedStatement, 'reads' | 'writes'>,
): Promise<boolean> {
  for (const { table, kind, partitions } of writes) {
    if (partitions !== undefined && (kind === 'update' || kind === 'delete')) {
      const own = reads.find((read) => read.table.id === table.id);
      if (own !== undefined && !(await areAllKnown(transaction, own))) return false;
    }
  }
  if (!lockSettings(context.conf).locklessReads) return true;
  for (const { table, partitions = [] } of reads) {
    if (!isTransactional(table) || context.temporary.has(table.database, table.name)) continue;
    await transaction.validWriteIdsOf(table.database, table.name);
    const listed =
      table.partitionKeys.length === 0
        ? []
        : (await transaction.partitionsOf(table)).map((partition) => nameOf(table, partition.values));
    // Only now, so that the lists were of this table.
    const now = await findTable(context, table.database, table.name);
    if (now?.id !== table.id || partitions.some((name) => !listed.includes(name))) return false;
  }
  return true;
}

async function areAllKnown(transaction: StatementTransaction, { table, known }: ReadEntity): Promise<boolean> {
  if (known === undefined) return true;
  return (await transaction.partitionsOf(table)).every(({ values }) => known.has(nameOf(table, values)));
}

/**
 * Nothing holds what a statement is planned with until it has its locks: a table may have been dropped, made again or renamed in
 * between. One that waited is planned once more under its locks; of any other it is asked whether its tables are still there,
 * and where they were.
 */
export async function areTablesCurrent(
  context: SessionContext,
  { reads, writes }: Pick<PlannedStatement, 'reads' | 'writes'>,
): Promise<boolean> {
  const tables = new Map([...reads, ...writes].map(({ table }) => [`${table.database}.${table.name}`, table]));
  for (const { id, database, name, sd } of tables.values()) {
    // One that the statement makes, or the session's own.
    if (id === 0n || context.temporary.has(database, name)) continue;
    const now = await findTable(context, database, name);
    if (now?.id !== id || now.sd?.location !== sd?.location) return false;
  }
  return true;
}
