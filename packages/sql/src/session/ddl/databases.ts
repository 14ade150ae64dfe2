import { Database, LockType, type Table } from '@skep/rpc';
import type { AlterDatabaseStatement, CreateDatabaseStatement, DropDatabaseStatement } from '../../parse/ast.js';
import { findTable, lockSettings, nowSeconds, requireDatabase, type SessionContext, toRecord } from '../context.js';
import { MetaError, SemanticError, UnsupportedError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { databaseLock, hasSoftDeletes, isSoftDelete } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { foldersOfTable, leaveToCleaner, softDeleteIf } from './soft-delete.js';

export async function createDatabase(
  context: SessionContext,
  statement: CreateDatabaseStatement,
): Promise<StatementResult> {
  if (statement.remote) throw new UnsupportedError('CREATE REMOTE DATABASE');
  const name = statement.name.name.toLowerCase();
  const { catalog, fs, warehouse, identity } = context.services;
  const { names } = await catalog.listDatabases({});
  if (names.includes(name)) {
    if (statement.ifNotExists) return done;
    throw new SemanticError(10242, `Database ${name} already exists`);
  }
  const locationUri = statement.managedLocation ?? statement.location ?? `${warehouse}/${name}.db`;
  await fs.mkdirs(locationUri);
  await catalog.createDatabase({
    database: Database.fromPartial({
      name,
      description: statement.comment ?? '',
      locationUri,
      parameters: toRecord(statement.properties),
      ownerName: identity.user,
      ownerType: 'USER',
      createTime: nowSeconds(context),
    }),
    ifNotExists: statement.ifNotExists,
  });
  return done;
}

export async function dropDatabase(
  context: SessionContext,
  statement: DropDatabaseStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const name = statement.name.name.toLowerCase();
  const { catalog, txns, compactions } = context.services;
  const { names } = await catalog.listDatabases({});
  if (!names.includes(name)) {
    if (statement.ifExists) return done;
    throw new SemanticError(10072, `Database does not exist: ${statement.name.name}`, {
      position: statement.name.position,
    });
  }
  if (name === 'default') throw new MetaError('MetaException(message:Can not drop default database in catalog hive)');
  const settings = lockSettings(context.conf);
  return await runStatement(
    context,
    async () => {
      const { database } = await catalog.getDatabase({ name });
      const tables = await tablesOf(context, name);
      // Only lockless reads drop a whole database beside its readers (DropDatabaseAnalyzer).
      const isSoft = (table: Table): boolean => settings.locklessReads && isSoftDelete(table, settings);
      const isMixed = settings.locklessReads && statement.cascade && !tables.every(isSoft);
      const ofDatabase = settings.locklessReads ? LockType.LOCK_TYPE_EXCL_WRITE : LockType.LOCK_TYPE_EXCLUSIVE;
      return {
        reads: [],
        writes: isMixed ? tables.map((table) => ({ table, kind: 'drop' })) : [],
        otherLocks: [databaseLock(name, isMixed ? LockType.LOCK_TYPE_SHARED_READ : ofDatabase)],
        run: async (transaction) => {
          if (tables.length > 0 && !statement.cascade) {
            throw new MetaError(
              `InvalidOperationException(message:Database ${name} is not empty. One or more tables exist.)`,
            );
          }
          const left = tables.filter(isSoft);
          for (const table of left) {
            const { partitions } =
              table.partitionKeys.length === 0
                ? { partitions: [] }
                : await catalog.getPartitions({ database: name, table: table.name, names: [] });
            await leaveToCleaner(context, transaction, table, foldersOfTable(table, partitions));
          }
          await catalog.dropDatabase({ name, cascade: statement.cascade });
          const { txnId } = transaction;
          await txns.forgetResource({ database: name, partitions: [], keepWriteIds: left.length > 0, txnId });
          await compactions.forgetCompactions({ database: name, partitions: [] });
          await removeFolders(context, database?.locationUri ?? '', tables, left);
          if (context.currentDatabase === name) context.currentDatabase = 'default';
          return done;
        },
      };
    },
    { signal, ...softDeleteIf(hasSoftDeletes(settings)) },
  );
}

async function tablesOf(context: SessionContext, database: string): Promise<Table[]> {
  const { names } = await context.services.catalog.listTables({ database });
  const tables: Table[] = [];
  for (const name of names) {
    const table = await findTable(context, database, name);
    if (table !== undefined) tables.push(table);
  }
  return tables;
}

/** The database's folder with all in it, and managed tables elsewhere; what is left to the Cleaner stays, and with it the database's. */
async function removeFolders(
  { services: { fs } }: SessionContext,
  root: string,
  tables: readonly Table[],
  left: readonly Table[],
): Promise<void> {
  const managed = tables.filter(
    (table) => table.tableType === 'MANAGED_TABLE' || table.tableType === 'MATERIALIZED_VIEW',
  );
  const gone = managed.filter((table) => !left.includes(table)).map((table) => table.sd?.location ?? '');
  const wholeRoot = left.length === 0 && root !== '';
  const outside = gone.filter((location) => location !== '' && !(wholeRoot && location.startsWith(`${root}/`)));
  for (const location of outside) await fs.delete(location, { recursive: true });
  if (wholeRoot) await fs.delete(root, { recursive: true });
}

export async function alterDatabase(
  context: SessionContext,
  statement: AlterDatabaseStatement,
): Promise<StatementResult> {
  const name = await requireDatabase(context, statement.name);
  const { database } = await context.services.catalog.getDatabase({ name });
  if (database === undefined) return done;
  const { action } = statement;
  switch (action.kind) {
    case 'set-properties':
      database.parameters = { ...database.parameters, ...toRecord(action.properties) };
      break;
    case 'set-owner':
      database.ownerName = action.owner.name.name;
      database.ownerType = action.owner.type.toUpperCase();
      break;
    case 'set-location':
    case 'set-managed-location':
      database.locationUri = action.location;
  }
  await context.services.catalog.alterDatabase({ name, database });
  return done;
}
