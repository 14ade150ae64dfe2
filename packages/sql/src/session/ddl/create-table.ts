import { type FieldSchema, LockType, StorageDescriptor, Table } from '@skep/rpc';
import type { ColumnDefinition, CreateTableStatement } from '../../parse/ast.js';
import { columnType } from '../column-type.js';
import {
  databaseLocationOf,
  findTable,
  nowSeconds,
  qualify,
  requireDatabase,
  resolveTable,
  type SessionContext,
  tableFolder,
  toRecord,
} from '../context.js';
import { MetaError, SemanticError } from '../errors.js';
import { resolveFormat } from '../file-format.js';
import type { StatementResult } from '../result.js';
import { databaseLock, hasOwnFolder, isTransactional } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import { setSkewed } from './skewed.js';
import { placeNewTable } from './soft-delete.js';
import { checkChecks, checkDefaults, constraintsOf } from './table-constraints.js';
import { validateManaged, validateTransactional } from './transactional-rules.js';

/** CREATE TABLE with columns, or LIKE another table (CREATE TABLE AS SELECT is a write: insert.ts). */
export async function createTable(
  context: SessionContext,
  statement: CreateTableStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { database } = qualify(context, statement.table);
  return await runStatement(
    context,
    async () => {
      if (statement.table.database !== undefined) await requireDatabase(context, statement.table.database);
      if (statement.like === undefined && statement.columns.length === 0 && statement.rowFormat?.kind !== 'serde') {
        throw new SemanticError(10043, 'Either list of columns or a custom serializer should be specified');
      }
      const existing = await findTable(context, database, statement.table.name.name.toLowerCase());
      return {
        reads: [],
        writes: [],
        // IF NOT EXISTS beside one that does has nothing to do.
        otherLocks:
          existing !== undefined && statement.ifNotExists
            ? []
            : [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async ({ txnId }) => {
          if (existing !== undefined && hides(context, statement, existing)) {
            if (statement.ifNotExists) return { messages: [] };
            throw alreadyExists(database, existing.name);
          }
          const table =
            statement.like === undefined
              ? await defineTable(context, statement, text)
              : await copyDefinition(context, statement, await resolveTable(context, statement.like));
          if (!statement.temporary) await placeNewTable(context, table, txnId, statement.location !== undefined);
          else if (statement.location === undefined) placeTemporary(context, table, txnId);
          await context.services.fs.mkdirs(table.sd?.location ?? '');
          try {
            await registerTable(context, statement, table);
          } catch (error) {
            // A folder that no other table ever has is nobody's then.
            if (hasOwnFolder(table)) await context.services.fs.delete(table.sd?.location ?? '');
            throw error;
          }
          return { messages: [] };
        },
      };
    },
    { signal },
  );
}

function defaultFormat({ conf }: SessionContext, { external }: CreateTableStatement): string {
  const ofManaged = conf.get('hive.default.fileformat.managed') ?? 'none';
  if (!external && ofManaged.toLowerCase() !== 'none') return ofManaged;
  return conf.get('hive.default.fileformat') ?? 'TextFile';
}

/** A temporary table may have the name of another table, and hides it. */
export const hides = (context: SessionContext, statement: CreateTableStatement, existing: Table): boolean =>
  !statement.temporary || context.temporary.has(existing.database, existing.name);

/** The files of a session's own table are apart from those of a table that may have its name. */
export function placeTemporary(context: SessionContext, table: Table, txnId: bigint): void {
  if (table.sd === undefined) return;
  table.sd.location = `${context.services.warehouse}/_tmp_space.db/${txnId}/${tableFolder(table.name)}`;
}

export async function registerTable(
  context: SessionContext,
  statement: Pick<CreateTableStatement, 'temporary'>,
  table: Table,
): Promise<void> {
  if (statement.temporary) context.temporary.add(table);
  else await context.services.catalog.createTable({ table });
}

export const alreadyExists = (database: string, table: string): MetaError =>
  new MetaError(`AlreadyExistsException(message:Table hive.${database}.${table} already exists)`);

/**
 * The definition a CREATE TABLE statement asks for, by the rules of Hive's CreateTableDesc and the metastore's
 * transactional listener. `columns`: those of the query, for CREATE TABLE AS SELECT.
 */
export async function defineTable(
  context: SessionContext,
  statement: CreateTableStatement,
  text: string,
  columns?: readonly FieldSchema[],
): Promise<Table> {
  const { services } = context;
  const { database, table: name } = qualify(context, statement.table);
  const format = resolveFormat(statement.storage, statement.rowFormat, defaultFormat(context, statement));
  const partitionKeys = statement.partitionedBy.map((key): FieldSchema => {
    if (key.type === undefined) {
      const column = columns?.find((c) => c.name === key.name.name.toLowerCase());
      if (column === undefined)
        throw new SemanticError(10002, `Invalid column reference '${key.name.name}'`, { position: key.position });
      return { ...column };
    }
    return { name: key.name.name.toLowerCase(), type: columnType(key.type), comment: key.comment };
  });
  const own = (columns ?? statement.columns.map(fieldOf)).filter((c) => !partitionKeys.some((k) => k.name === c.name));
  checkColumns(own, partitionKeys, statement);
  await checkDefaults(context, statement, text);
  await checkChecks(context, statement, [...own, ...partitionKeys], text);
  if (own.length === 0) throw new SemanticError(10004, 'at least one column must be specified for the table');
  const parameters = toRecord(statement.properties);
  if (statement.comment !== undefined) parameters.comment = statement.comment;
  if (statement.transactional) parameters.transactional ??= 'true';
  if (statement.external) parameters.EXTERNAL = 'TRUE';
  applyDefaults(context, statement, format.inputFormat, parameters);
  parameters.bucketing_version ??= '2';
  const location = statement.location ?? `${await databaseLocationOf(context, database)}/${tableFolder(name)}`;
  const table = Table.fromPartial({
    name,
    database,
    owner: services.identity.user,
    ownerType: 'USER',
    createTime: nowSeconds(context),
    tableType: statement.external ? 'EXTERNAL_TABLE' : 'MANAGED_TABLE',
    partitionKeys,
    parameters,
    sd: StorageDescriptor.fromPartial({
      columns: own,
      location,
      inputFormat: format.inputFormat,
      outputFormat: format.outputFormat,
      serde: { serializationLib: format.serde, parameters: format.serdeParameters },
      numBuckets: statement.clusteredBy?.buckets ?? -1,
      bucketColumns: statement.clusteredBy?.columns.map((c) => c.name.toLowerCase()) ?? [],
      sortColumns: statement.clusteredBy?.sortedBy.map((s) => ({
        column: s.column.name.toLowerCase(),
        order: s.direction === 'asc' ? 1 : 0,
      })),
    }),
    constraints: constraintsOf(statement, database, name, text, services.clock.now()),
  });
  if (table.sd !== undefined) setSkewed(table.sd, statement.skewedBy);
  for (const bucketColumn of table.sd?.bucketColumns ?? []) {
    if (!own.some((c) => c.name === bucketColumn)) {
      throw new SemanticError(10002, `Invalid column reference '${bucketColumn}'`);
    }
  }
  table.parameters = { ...validateTransactional(table), ...initialStatistics(context, table) };
  if (table.sd?.serde !== undefined && !isTransactional(table)) {
    table.sd.serde.parameters = { 'serialization.format': '1', ...format.serdeParameters };
  }
  forgetFalse(table);
  if (!statement.temporary) validateManaged(context.conf, table);
  return table;
}

/** hive.create.as.acid and hive.create.as.insert.only make a managed table transactional unless it says otherwise. */
function applyDefaults(
  context: SessionContext,
  statement: CreateTableStatement,
  inputFormat: string,
  parameters: Record<string, string>,
): void {
  const isOrc = inputFormat.endsWith('.OrcInputFormat');
  const managed = !statement.external;
  const asked = Object.keys(parameters).some((key) => key.toLowerCase() === 'transactional');
  const unsorted = (statement.clusteredBy?.sortedBy.length ?? 0) === 0;
  if (asked) {
    if (statement.transactional && !isOrc) parameters.transactional_properties ??= 'insert_only';
    return;
  }
  if (!managed || (context.conf.getBoolean('hive.create.as.external.legacy') && !statement.managed)) return;
  if (isOrc && unsorted && (context.conf.getBoolean('hive.create.as.acid') || statement.managed)) {
    parameters.transactional = 'true';
  } else if (context.conf.getBoolean('hive.create.as.insert.only')) {
    parameters.transactional = 'true';
    parameters.transactional_properties = 'insert_only';
  }
}

/** A new table says nothing of what it is not (TransactionalValidationListener; recorded of Hive 4.0.1). */
function forgetFalse({ parameters }: Table): void {
  if (parameters.transactional?.toLowerCase() === 'false') delete parameters.transactional;
}

/** The basic statistics of a table without rows (StatsSetupConst); a partitioned table has none of its own. */
function initialStatistics(context: SessionContext, table: Table): Record<string, string> {
  const time = { transient_lastDdlTime: String(nowSeconds(context)) };
  if (table.partitionKeys.length > 0) return time;
  const exact = (table.sd?.columns ?? []).map((c) => c.name).sort();
  return {
    COLUMN_STATS_ACCURATE: `{"BASIC_STATS":"true","COLUMN_STATS":{${exact.map((name) => `"${name}":"true"`).join(',')}}}`,
    numFiles: '0',
    numFilesErasureCoded: '0',
    numRows: '0',
    rawDataSize: '0',
    totalSize: '0',
    ...time,
  };
}

export const fieldOf = (column: ColumnDefinition): FieldSchema => ({
  name: column.name.name.toLowerCase(),
  type: columnType(column.type),
  comment: column.comment,
});

function checkColumns(
  columns: readonly FieldSchema[],
  partitionKeys: readonly FieldSchema[],
  statement: CreateTableStatement,
): void {
  const seen = new Set<string>();
  for (const column of [...columns]) {
    if (seen.has(column.name))
      throw new SemanticError(10036, `Duplicate column name: ${column.name}`, { position: statement.position });
    seen.add(column.name);
  }
  const declared = statement.columns.map((c) => c.name.name.toLowerCase());
  for (const key of partitionKeys) {
    if (declared.includes(key.name)) throw new SemanticError(10035, `Column repeated in partitioning columns`);
  }
}

async function copyDefinition(context: SessionContext, statement: CreateTableStatement, like: Table): Promise<Table> {
  const { database, table: name } = qualify(context, statement.table);
  const location = statement.location ?? `${await databaseLocationOf(context, database)}/${tableFolder(name)}`;
  const isView = like.tableType === 'VIRTUAL_VIEW';
  // Of a view only the columns are taken: its files are those of a new table.
  const keep = isView ? [] : Object.entries(like.parameters).filter(([key]) => !notCopied.has(key));
  const format =
    isView || statement.storage !== undefined
      ? resolveFormat(statement.storage, statement.rowFormat, defaultFormat(context, statement))
      : undefined;
  const copy = Table.fromPartial({
    ...like,
    id: 0n,
    name,
    database,
    owner: context.services.identity.user,
    createTime: nowSeconds(context),
    tableType: statement.external ? 'EXTERNAL_TABLE' : 'MANAGED_TABLE',
    viewOriginalText: undefined,
    viewExpandedText: undefined,
    constraints: [],
    sd: {
      ...like.sd,
      location,
      ...(format === undefined
        ? {}
        : {
            inputFormat: format.inputFormat,
            outputFormat: format.outputFormat,
            serde: { serializationLib: format.serde, parameters: format.serdeParameters },
          }),
    },
    parameters: { bucketing_version: '2', ...Object.fromEntries(keep), ...toRecord(statement.properties) },
  });
  if (statement.external) {
    delete copy.parameters.transactional;
    delete copy.parameters.transactional_properties;
    copy.parameters.EXTERNAL = 'TRUE';
  }
  copy.parameters = { ...validateTransactional(copy), ...initialStatistics(context, copy) };
  forgetFalse(copy);
  if (!statement.temporary) validateManaged(context.conf, copy);
  return copy;
}

const notCopied = new Set([
  'EXTERNAL',
  'COLUMN_STATS_ACCURATE',
  'numFiles',
  'numRows',
  'rawDataSize',
  'totalSize',
  'last_modified_by',
  'last_modified_time',
  'comment',
]);
