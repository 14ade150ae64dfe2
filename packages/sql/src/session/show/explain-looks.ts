import { type LockComponent, LockType } from '@skep/rpc';
import type { Statement, TableName } from '../../parse/ast.js';
import { namedPartition } from '../compaction/compaction-targets.js';
import { lockSettings, resolveTable, type SessionContext } from '../context.js';
import { databaseLock, lockComponents } from '../transaction/lock-plan.js';

function lookedAt(statement: Statement, current: string): { readonly table?: TableName; readonly database?: string } {
  switch (statement.kind) {
    case 'alter-table':
      return statement.partition === undefined ? { table: statement.table } : {};
    case 'describe-table':
      return { table: statement.table };
    case 'describe-database':
      return { database: statement.database.name };
    case 'show': {
      const { what } = statement;
      if (what.kind === 'tables') return { database: what.database?.name ?? current };
      return what.kind === 'columns' || what.kind === 'create-table' || what.kind === 'partitions'
        ? { table: what.table }
        : {};
    }
    default:
      return {};
  }
}

/**
 * EXPLAIN LOCKS of a statement that asks for none, as it looks at a definition only: Hive has a lock of that all the same (recorded
 * of 4.0.1).
 */
export async function locksOfLooking(context: SessionContext, statement: Statement): Promise<LockComponent[]> {
  if (statement.kind === 'alter-table' && statement.partition !== undefined) {
    await namedPartition(context, await resolveTable(context, statement.table), statement);
  }
  const { table, database } = lookedAt(statement, context.currentDatabase);
  if (table !== undefined) {
    return lockComponents([{ table: await resolveTable(context, table) }], [], lockSettings(context.conf));
  }
  if (database === undefined) return [];
  return [databaseLock(database.toLowerCase(), LockType.LOCK_TYPE_SHARED_READ)];
}
