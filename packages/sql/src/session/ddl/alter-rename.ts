import type { Table } from '@skep/rpc';
import type { AlterTableAction } from '../../parse/ast.js';
import {
  databaseLocationOf,
  findTable,
  lockSettings,
  nowSeconds,
  qualify,
  requireDatabase,
  type SessionContext,
  tableFolder,
} from '../context.js';
import { alterRefused } from '../errors.js';
import { beingMoved, refuseTaken } from '../folder-moves.js';
import { isTransactional } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';

export async function renamed(
  context: SessionContext,
  table: Table,
  action: Extract<AlterTableAction, { kind: 'rename' }>,
): Promise<Table> {
  // A name without a database is one of the session's, not of the table's own (recorded of Hive 4.0.1).
  const to = qualify(context, action.to);
  if (action.to.database !== undefined) await requireDatabase(context, action.to.database);
  if ((await findTable(context, to.database, to.table)) !== undefined) {
    throw alterRefused(`new table ${to.database}.${to.table} already exists`);
  }
  const ownLocation = `${await databaseLocationOf(context, table.database)}/${tableFolder(table.name)}`;
  // Beside readers that hold no locks its folder stays where it is.
  const isReadWithoutLocks = isTransactional(table) && lockSettings(context.conf).locklessReads;
  const isManaged = table.tableType === 'MANAGED_TABLE' && !isReadWithoutLocks;
  if (isManaged && table.sd !== undefined && table.sd.location === ownLocation) {
    table.sd.location = `${await databaseLocationOf(context, to.database)}/${tableFolder(to.table)}`;
  }
  table.database = to.database;
  table.name = to.table;
  return touched(context, table);
}

/**
 * Writes the new definition. A rename takes write ids, locks and compaction requests along, in one with the name, and then the
 * folder (folder-moves.ts): whoever is killed leaves the old name with all that is there, or the new one.
 */
export async function apply(
  context: SessionContext,
  before: Table,
  after: Table,
  transaction?: StatementTransaction,
): Promise<void> {
  const { catalog, fs } = context.services;
  const txnId = transaction?.txnId;
  const { database, name } = before;
  const isRename = name !== after.name || database !== after.database;
  if (!isRename) {
    await catalog.alterTable({ database, name, table: after, txnId });
    return;
  }
  const [from, to] = [before.sd?.location ?? '', after.sd?.location ?? ''];
  const moves = from !== to && (await fs.stat(from)) !== undefined;
  if (moves) await refuseTaken(fs, to);
  const move = { from, to, oldName: `${database}.${name}`, newName: `${after.database}.${after.name}` };
  const table = moves ? beingMoved(after, move, txnId ?? 0n) : after;
  const { factsRenamed } = await catalog.alterTable({ database, name, table, txnId });
  if (!factsRenamed) await renameFacts(context, before, after);
  if (!moves) return;
  const now = { database: after.database, name: after.name, txnId };
  try {
    await fs.rename(from, to);
  } catch (error) {
    await catalog.alterTable({ ...now, table: before });
    if (!factsRenamed) await renameFacts(context, after, before);
    throw error;
  }
  await catalog.alterTable({ ...now, table: after });
}

/** Where the services do not share a database, each is told. */
async function renameFacts({ services }: SessionContext, before: Table, after: Table): Promise<void> {
  const { txns, locks, compactions } = services;
  await txns.renameResource({
    from: { database: before.database, table: before.name },
    to: { database: after.database, table: after.name },
  });
  const names = {
    fromDatabase: before.database,
    fromTable: before.name,
    toDatabase: after.database,
    toTable: after.name,
  };
  await compactions.renameCompactions(names);
  await locks.renameLocks(names);
}

/** After ALTER TABLE the metastore says when and by whom (AbstractAlterTableOperation.updateModifiedParameters). */
export function touched(context: SessionContext, table: Table): Table {
  table.parameters.last_modified_by = context.services.identity.user;
  table.parameters.last_modified_time = String(nowSeconds(context));
  table.parameters.transient_lastDdlTime = String(nowSeconds(context));
  return table;
}
