import type { Table } from '@skep/rpc';
import type { AlterTableAction } from '../../parse/ast.js';
import {
  databaseLocationOf,
  findTable,
  nowSeconds,
  qualify,
  requireDatabase,
  type SessionContext,
  tableFolder,
} from '../context.js';
import { alterRefused } from '../errors.js';
import { nameOf } from '../partition/partitions.js';

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
  if (table.tableType === 'MANAGED_TABLE' && table.sd !== undefined && table.sd.location === ownLocation) {
    table.sd.location = `${await databaseLocationOf(context, to.database)}/${tableFolder(to.table)}`;
  }
  table.database = to.database;
  table.name = to.table;
  return touched(context, table);
}

/** Writes the new definition; a rename takes files, write ids, compaction requests and locks along. */
export async function apply(context: SessionContext, before: Table, after: Table): Promise<void> {
  const { catalog, txns, locks, compactions, fs } = context.services;
  const moved = before.sd?.location !== after.sd?.location && (await fs.stat(before.sd?.location ?? '')) !== undefined;
  const isRename = before.name !== after.name || before.database !== after.database;
  if (isRename && moved) await fs.rename(before.sd?.location ?? '', after.sd?.location ?? '');
  try {
    await catalog.alterTable({ database: before.database, name: before.name, table: after });
  } catch (error) {
    if (isRename && moved) await fs.rename(after.sd?.location ?? '', before.sd?.location ?? '');
    throw error;
  }
  if (!isRename) return;
  if (moved && before.partitionKeys.length > 0) await movePartitions(context, before, after);
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

async function movePartitions(context: SessionContext, before: Table, after: Table): Promise<void> {
  const { catalog } = context.services;
  const [from, to] = [`${before.sd?.location}/`, `${after.sd?.location}/`];
  const { partitions } = await catalog.getPartitions({ database: after.database, table: after.name, names: [] });
  const inside = partitions.filter((partition) => partition.sd?.location.startsWith(from));
  if (inside.length === 0) return;
  await catalog.alterPartitions({
    database: after.database,
    table: after.name,
    names: inside.map((partition) => nameOf(after, partition.values)),
    partitions: inside.map((partition) => ({
      ...partition,
      sd: partition.sd && { ...partition.sd, location: to + partition.sd.location.slice(from.length) },
    })),
  });
}

/** After ALTER TABLE the metastore says when and by whom (AbstractAlterTableOperation.updateModifiedParameters). */
export function touched(context: SessionContext, table: Table): Table {
  table.parameters.last_modified_by = context.services.identity.user;
  table.parameters.last_modified_time = String(nowSeconds(context));
  table.parameters.transient_lastDdlTime = String(nowSeconds(context));
  return table;
}
