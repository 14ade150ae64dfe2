import { Database, LockType } from '@skep/rpc';
import type {
  AlterDatabaseStatement,
  CreateDatabaseStatement,
  DescribeDatabaseStatement,
  DropDatabaseStatement,
} from '../parse/ast.js';
import { nowSeconds, requireDatabase, type SessionContext, toRecord } from './context.js';
import { sortedEntries } from './describe.js';
import { MetaError, SemanticError, UnsupportedError } from './errors.js';
import { databaseLock } from './lock-plan.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { done, textResult } from './text-result.js';

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
  const { catalog, txns, compactions, fs } = context.services;
  const { names } = await catalog.listDatabases({});
  if (!names.includes(name)) {
    if (statement.ifExists) return done;
    throw new SemanticError(10072, `Database does not exist: ${statement.name.name}`, {
      position: statement.name.position,
    });
  }
  if (name === 'default') throw new MetaError('MetaException(message:Can not drop default database in catalog hive)');
  return await runStatement(
    context,
    async () => {
      const { database } = await catalog.getDatabase({ name });
      return {
        reads: [],
        writes: [],
        otherLocks: [databaseLock(name, LockType.LOCK_TYPE_EXCLUSIVE)],
        run: async () => {
          const tables = await catalog.listTables({ database: name });
          if (tables.names.length > 0 && !statement.cascade) {
            throw new MetaError(
              `InvalidOperationException(message:Database ${name} is not empty. One or more tables exist.)`,
            );
          }
          const outside: string[] = [];
          for (const tableName of tables.names) {
            const { table } = await catalog.getTable({ database: name, name: tableName });
            const location = table?.sd?.location ?? '';
            const inside = location.startsWith(`${database?.locationUri}/`);
            if (table?.tableType === 'MANAGED_TABLE' && !inside) outside.push(location);
          }
          await catalog.dropDatabase({ name, cascade: statement.cascade });
          await txns.forgetResource({ database: name, partitions: [], keepWriteIds: false });
          await compactions.forgetCompactions({ database: name, partitions: [] });
          for (const location of [...outside, database?.locationUri ?? '']) {
            if (location !== '') await fs.delete(location, { recursive: true });
          }
          if (context.currentDatabase === name) context.currentDatabase = 'default';
          return done;
        },
      };
    },
    { signal },
  );
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

const describeColumns = [
  'db_name',
  'comment',
  'location',
  'managedlocation',
  'owner_name',
  'owner_type',
  'connector_name',
  'remote_dbname',
];

export async function describeDatabase(
  context: SessionContext,
  statement: DescribeDatabaseStatement,
): Promise<StatementResult> {
  const name = await requireDatabase(context, statement.database);
  const { database: d } = await context.services.catalog.getDatabase({ name });
  const row = [name, d?.description ?? '', d?.locationUri ?? '', '', d?.ownerName ?? '', d?.ownerType ?? '', '', ''];
  if (!statement.extended) return textResult(describeColumns, [row]);
  const parameters = sortedEntries(d?.parameters ?? {}).map(([k, v]) => `${k}=${v}`);
  return textResult(
    [...describeColumns, 'parameters'],
    [[...row, parameters.length > 0 ? `{${parameters.join(', ')}}` : '']],
  );
}
