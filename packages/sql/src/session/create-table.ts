import { SkepError } from '@skep/core';
import { type Constraint, Constraint_Kind, type FieldSchema, LockType, StorageDescriptor, Table } from '@skep/rpc';
import type {
  ColumnConstraint,
  ColumnDefinition,
  CreateTableStatement,
  Expression,
  Identifier,
  TableConstraint,
} from '../parse/ast.js';
import { parseTypeText, printType } from '../parse/index.js';
import { castTo, item, selectQuery, subquery } from './ast-builders.js';
import { columnType } from './column-type.js';
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
} from './context.js';
import { MetaError, SemanticError } from './errors.js';
import { resolveFormat } from './file-format.js';
import { databaseLock, isTransactional } from './lock-plan.js';
import type { StatementResult } from './result.js';
import { runStatement } from './run-statement.js';
import { analyzeInSession } from './select.js';
import { setSkewed } from './skewed.js';
import { validateTransactional } from './transactional-rules.js';

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
        otherLocks: [databaseLock(database, LockType.LOCK_TYPE_SHARED_READ)],
        run: async ({ txnId }) => {
          if (existing !== undefined && hides(context, statement, existing)) {
            if (statement.ifNotExists) return { messages: [] };
            throw alreadyExists(database, existing.name);
          }
          const table =
            statement.like === undefined
              ? await defineTable(context, statement, text)
              : await copyDefinition(context, statement, await resolveTable(context, statement.like));
          if (statement.temporary && statement.location === undefined) placeTemporary(context, table, txnId);
          await context.services.fs.mkdirs(table.sd?.location ?? '');
          await registerTable(context, statement, table);
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
  validateManaged(context, table);
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

/** hive.strict.managed.tables (HiveStrictManagedUtils.validateStrictManagedTable). */
function validateManaged({ conf }: SessionContext, table: Table): void {
  if (!conf.getBoolean('hive.strict.managed.tables')) return;
  if (table.tableType !== 'MANAGED_TABLE' || isTransactional(table)) return;
  throw new MetaError(
    `Table ${table.database}.${table.name} failed strict managed table checks due to the following reason: Table is marked as a managed table but is not transactional.`,
  );
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

/** A CHECK must be a condition on the table's columns. */
async function checkChecks(
  context: SessionContext,
  statement: CreateTableStatement,
  columns: readonly FieldSchema[],
  text: string,
): Promise<void> {
  const constraints = [...statement.columns.map((column) => column.constraint), ...statement.constraints];
  for (const constraint of constraints) {
    if (constraint?.kind === 'check') await checkCondition(context, constraint.expression, columns, text);
  }
}

/** Hive's 10326 unless the expression is a boolean of these columns, without subqueries. */
export async function checkCondition(
  context: SessionContext,
  check: Expression,
  columns: readonly FieldSchema[],
  text: string,
): Promise<void> {
  const { position } = check;
  const refuse = (why: string, cause?: unknown): never => {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax Invalid CHECK constraint expression: ${quotedColumns(text, check)}. Invalid Constraint syntax ${why}: ${quotedColumns(text, check)}`,
      { position, cause },
    );
  };
  if (hasSubquery(check)) refuse('Subqueries are not allowed in Check Constraints');
  const nulls = columns.map(({ name, type }) => item(castTo({ kind: 'null', position }, parseTypeText(type)), name));
  const row = subquery(
    selectQuery(nulls, undefined, undefined, position),
    '_row',
    columns.map(({ name }) => name),
  );
  const query = selectQuery([item(check, '_check')], row, undefined, position);
  try {
    const [{ type }] = (await analyzeInSession(context, query, text)).columns;
    if (type === 'boolean') return;
    refuse(`Only boolean type is supported for CHECK constraint, found ${type}`);
  } catch (error) {
    if (!(error instanceof SkepError) || error.code !== 'SEMANTIC_ERROR' || error.hiveCode === 10326) throw error;
    refuse(`Invalid type for CHECK constraint (${error.message})`, error);
  }
}

function hasSubquery(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some(hasSubquery);
  return ('kind' in node && node.kind === 'query') || Object.values(node).some(hasSubquery);
}

/** A DEFAULT must have its column's very type, as Hive demands (text may default char and varchar). */
async function checkDefaults(context: SessionContext, statement: CreateTableStatement, text: string): Promise<void> {
  for (const { type, constraint } of statement.columns) {
    if (constraint?.kind !== 'default') continue;
    const { position } = constraint.value;
    const query = selectQuery([item(constraint.value, '_default')], undefined, undefined, position);
    const [found] = (await analyzeInSession(context, query, text)).columns;
    const wanted = printType(type);
    const isText = found.type === 'string' && (type.kind === 'char' || type.kind === 'varchar');
    if (found.type === wanted || isText) continue;
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax Invalid type: ${found.type} for default value: ${sourceText(text, constraint.value)}. Please make sure that the type is compatible with column type: ${wanted}`,
      { position },
    );
  }
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
  validateManaged(context, copy);
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

/** Constraints with Hive's generated names where none is given; keys that Hive does not enforce must say DISABLE. */
function constraintsOf(
  statement: CreateTableStatement,
  database: string,
  table: string,
  text: string,
  nowMs: number,
): Constraint[] {
  const all: Constraint[] = [];
  const add = (constraint: ColumnConstraint | TableConstraint, columns: readonly string[]) => {
    all.push(constraintOf(constraint, columns, `${database}.${table}`, all.length, text, nowMs));
  };
  for (const column of statement.columns) {
    if (column.constraint !== undefined) add(column.constraint, [column.name.name.toLowerCase()]);
  }
  for (const constraint of statement.constraints) {
    add(constraint, 'columns' in constraint ? constraint.columns.map((c) => c.name.toLowerCase()) : []);
  }
  if (all.filter(({ kind }) => kind === Constraint_Kind.KIND_PRIMARY_KEY).length > 1) {
    throw new SemanticError(
      10332,
      'Invalid constraint definition Cannot exist more than one primary key definition for the same table',
    );
  }
  if (statement.external && all.some(({ enable, validate }) => enable || validate)) {
    throw new SemanticError(
      10326,
      'Invalid Constraint syntax Constraints are disallowed with External tables. Only RELY is allowed.',
    );
  }
  return all;
}

const constraintKinds = {
  'primary-key': [Constraint_Kind.KIND_PRIMARY_KEY, 'pk'],
  'foreign-key': [Constraint_Kind.KIND_FOREIGN_KEY, 'fk'],
  unique: [Constraint_Kind.KIND_UNIQUE, 'uk'],
  'not-null': [Constraint_Kind.KIND_NOT_NULL, 'nn'],
  default: [Constraint_Kind.KIND_DEFAULT, 'dc'],
  // Hive names CHECK like DEFAULT.
  check: [Constraint_Kind.KIND_CHECK, 'dc'],
} as const;

/** One constraint as the catalog keeps it; `serial` makes its generated name unique within the statement. */
export function constraintOf(
  constraint: ColumnConstraint | TableConstraint,
  columns: readonly string[],
  table: string,
  serial: number,
  text: string,
  nowMs: number,
): Constraint {
  const [kind, prefix] = constraintKinds[constraint.kind];
  const isKey = constraint.kind === 'primary-key' || constraint.kind === 'foreign-key' || constraint.kind === 'unique';
  const enable = constraint.enable ?? true;
  if (isKey && enable) {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead.`,
    );
  }
  if (constraint.validate === true) {
    throw new SemanticError(
      10326,
      `Invalid Constraint syntax VALIDATE feature not supported yet. Please use NOVALIDATE instead.`,
    );
  }
  let expression = '';
  if (constraint.kind === 'default') expression = sourceText(text, constraint.value);
  if (constraint.kind === 'check') expression = quotedColumns(text, constraint.expression);
  const parent =
    constraint.kind !== 'foreign-key'
      ? { parentTable: '', parentColumns: [] as string[] }
      : {
          parentTable: [constraint.table.database?.name, constraint.table.name.name]
            .filter(Boolean)
            .join('.')
            .toLowerCase(),
          parentColumns: ('referencedColumns' in constraint ? constraint.referencedColumns : constraint.columns).map(
            (c) => c.name.toLowerCase(),
          ),
        };
  return {
    kind,
    name: constraint.name?.name.toLowerCase() ?? `${prefix}_${hash(table)}_${nowMs}_${serial}`,
    columns: [...columns],
    expression,
    enable,
    validate: false,
    // DISABLE without RELY is nothing that anybody may believe.
    rely: constraint.rely ?? enable,
    ...parent,
  };
}

const sourceText = (text: string, node: { position: { start: number; end: number } }): string =>
  text.slice(node.position.start, node.position.end);

/** A CHECK as Hive keeps it: column names in backticks. */
function quotedColumns(text: string, check: Expression): string {
  const names: { start: number; end: number; name: string }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const child of node) visit(child);
      return;
    }
    if ('kind' in node && node.kind === 'column' && 'path' in node) {
      for (const part of node.path as readonly Identifier[]) {
        names.push({ start: part.position.start, end: part.position.end, name: part.name });
      }
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(check);
  names.sort((a, b) => a.start - b.start);
  let quoted = '';
  let at = check.position.start;
  for (const { start, end, name } of names) {
    quoted += `${text.slice(at, start)}\`${name.replaceAll('`', '``')}\``;
    at = end;
  }
  quoted += text.slice(at, check.position.end);
  return quoted;
}

/** A number out of a name, as Hive puts one into generated constraint names; its value carries no meaning. */
function hash(text: string): number {
  let h = 0;
  for (const c of text) h = (Math.imul(h, 31) + (c.codePointAt(0) ?? 0)) & 0x3fffffff;
  return h;
}
