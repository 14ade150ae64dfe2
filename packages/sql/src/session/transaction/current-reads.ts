import { findTable, lockSettings, type SessionContext } from '../context.js';
import { nameOf } from '../partition/partitions.js';
import { isTransactional, type ReadEntity } from './lock-plan.js';
import type { StatementTransaction } from './statement-transaction.js';

/**
 * With lockless reads nothing holds what a statement was planned with until its snapshot is taken. Whether that is there as it
 * was: what is dropped or renamed from now on stays readable for the transaction, as the Cleaner waits for it. The partitions
 * that are listed here are those that are read.
 */
export async function areReadsCurrent(
  context: SessionContext,
  transaction: StatementTransaction,
  reads: readonly ReadEntity[],
): Promise<boolean> {
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
