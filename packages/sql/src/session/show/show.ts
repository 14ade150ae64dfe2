import { formatPartitionName } from '@skep/core';
import { CompactionState, type CompactionType } from '@skep/rpc';
import type { Expression, OrderItem, ShowStatement, ShowWhat, TableName } from '../../parse/ast.js';
import { functionNames } from '../../query.js';
import { compactionTypes, stateName } from '../compaction/compact-statement.js';
import { withWaits } from '../compaction/compaction-waits.js';
import {
  compactionColumns,
  compactionHeader,
  compactionRow,
  lockColumns,
  lockHeader,
  lockRow,
  transactionColumns,
  transactionHeader,
  transactionRow,
} from '../compaction/show-compactions.js';
import { qualify, requireDatabase, resolveTable, type SessionContext } from '../context.js';
import { showMaterializedViews } from '../ddl/materialized-views.js';
import { MetaError, SemanticError, UnsupportedError } from '../errors.js';
import { partitionValues } from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { withLiveStatistics } from '../scan/statistics.js';
import { textResult } from '../text-result.js';
import { shownParameters, sortedEntries } from './describe.js';
import { showCreateTable } from './show-create.js';
import { showPartitions } from './show-partitions.js';
import { showTableExtended } from './show-table-extended.js';

type What<K extends ShowWhat['kind']> = Extract<ShowWhat, { kind: K }>;

/** SHOW …: no transaction, as in Hive. */
export async function show(context: SessionContext, statement: ShowStatement): Promise<StatementResult> {
  const { what } = statement;
  const { catalog, txns } = context.services;
  switch (what.kind) {
    case 'databases': {
      const { names } = await catalog.listDatabases({});
      return textResult(['database_name'], column(names.filter(likeMatcher(what.pattern))));
    }
    case 'tables':
      return await showTables(context, what);
    case 'views':
    case 'materialized-views': {
      const database =
        what.database === undefined ? context.currentDatabase : await requireDatabase(context, what.database);
      const matches = likeMatcher(what.pattern);
      if (what.kind === 'materialized-views') return await showMaterializedViews(context, database, matches);
      const { names } = await catalog.listTables({ database, tableType: 'VIRTUAL_VIEW' });
      return textResult(['tab_name'], column(names.filter(matches)));
    }
    case 'columns': {
      const table = await resolveTable(context, what.table);
      const matches = globMatcher(what.pattern);
      const names = [...(table.sd?.columns ?? []), ...table.partitionKeys].map((c) => c.name).filter(matches);
      if (what.sorted) names.sort();
      return textResult(['field'], column(names.map((name) => name.padEnd(20))), { padded: true });
    }
    case 'functions':
      return textResult(['tab_name'], column(functionNames().filter(likeMatcher(what.pattern))));
    case 'partitions':
      return await showPartitions(context, what);
    case 'create-table':
      return textResult(['createtab_stmt'], column(await createStatement(context, what.table)));
    case 'create-database': {
      const name = await requireDatabase(context, what.database);
      const { database } = await catalog.getDatabase({ name });
      const properties = sortedEntries(database?.parameters ?? {}).map(([k, v]) => `  '${k}'='${v}'`);
      return textResult(
        ['createdb_stmt'],
        column([
          `CREATE DATABASE \`${name}\``,
          ...(database?.description ? ['COMMENT', `  '${database.description}'`] : []),
          'LOCATION',
          `  '${database?.locationUri}'`,
          ...(properties.length > 0 ? ['WITH DBPROPERTIES (', `${properties.join(',\n')})`] : []),
        ]),
      );
    }
    case 'tblproperties':
      return await showProperties(context, what);
    case 'transactions': {
      const { txns: list } = await txns.showTxns({});
      return textResult(transactionColumns, [transactionHeader, ...list.map(transactionRow)], { headerRow: true });
    }
    case 'locks':
      return await showLocks(context, what);
    case 'compactions':
      return await showCompactions(context, what);
    case 'conf': {
      const known = context.conf.describe(what.name);
      if (known === undefined) throw new SemanticError(10000, `Unknown configuration parameter ${what.name}`);
      return textResult(['default', 'type', 'desc'], [[known.default, known.type, known.doc]]);
    }
    case 'table-extended':
      return await showTableExtended(context, what, likeMatcher(what.pattern));
    case 'processlist':
      throw new UnsupportedError('SHOW PROCESSLIST');
    case 'unsupported':
      throw new UnsupportedError(`SHOW ${what.name.toUpperCase()}`);
  }
}

async function createStatement(context: SessionContext, name: TableName): Promise<string[]> {
  const table = await resolveTable(context, name);
  return showCreateTable(table, context.temporary.has(table.database, table.name));
}

const column = (values: readonly string[]): string[][] => values.map((value) => [value]);

/** Hive's patterns: * for any text, | between alternatives, letter case does not matter. */
export function globMatcher(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const alternatives = pattern
    .split('|')
    .map((part) => part.replace(/[.+?^${}()[\]\\]/g, '\\$&').replace(/[*%]/g, '.*'));
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 'i');
  return (name) => expression.test(name);
}

async function showTables(context: SessionContext, what: What<'tables'>): Promise<StatementResult> {
  const database =
    what.database === undefined ? context.currentDatabase : await requireDatabase(context, what.database);
  const { catalog } = context.services;
  const listed = await catalog.listTables({ database, tableType: what.tableType });
  const names = listed.names.filter(likeMatcher(what.pattern));
  if (!what.extended) return textResult(['tab_name'], column(names));
  const rows: string[][] = [['# Table Name        ', 'Table Type          ']];
  for (const name of names) {
    const { table } = await catalog.getTable({ database, name });
    rows.push([name.padEnd(20), (table?.tableType ?? '').padEnd(20)]);
  }
  return textResult(['tab_name', 'table_type'], rows, { padded: true });
}

async function showProperties(context: SessionContext, what: What<'tblproperties'>): Promise<StatementResult> {
  const table = await resolveTable(context, what.table);
  const names = ['prpt_name', 'prpt_value'];
  const isPartitioned = table.partitionKeys.length > 0;
  const live = isPartitioned ? table : (await withLiveStatistics(context, table)).table;
  if (what.key === undefined) return textResult(names, shownParameters(live.parameters));
  const value = live.parameters[what.key];
  return textResult(names, [
    value === undefined
      ? [`Table ${table.database}.${table.name} does not have property: ${what.key}`, ' ']
      : [what.key, value],
  ]);
}

async function showLocks(context: SessionContext, what: What<'locks'>): Promise<StatementResult> {
  // As in Hive, a database or table that is not there has no locks.
  let database = what.database?.name.toLowerCase();
  let tableName: string | undefined;
  if (what.table !== undefined) ({ database, table: tableName } = qualify(context, what.table));
  const partition = await shownPartition(context, what);
  const { locks } = await context.services.locks.showLocks({ database, table: tableName, partition });
  return textResult(lockColumns, [lockHeader, ...locks.map(lockRow)], { headerRow: true });
}

/** The partition that SHOW LOCKS and SHOW COMPACTIONS name, which need not be there (yet, or any more). */
async function shownPartition(
  context: SessionContext,
  { table: name, partition }: Pick<What<'locks'>, 'table' | 'partition'>,
): Promise<string | undefined> {
  if (name === undefined || partition === undefined) return undefined;
  const table = await resolveTable(context, name);
  const values = partitionValues(table, partition);
  const named = table.partitionKeys.filter((key) => values.get(key.name) !== undefined);
  // Some of the keys are the name of no partition: there is nothing to show (recorded of Hive 4.0.1).
  return formatPartitionName(named.map(({ name }) => ({ column: name, value: values.get(name) ?? null })));
}

const states = new Map(
  Object.values(CompactionState)
    .filter((state): state is CompactionState => typeof state === 'number' && state > 0)
    .map((state) => [stateName(state), state]),
);

async function showCompactions(context: SessionContext, what: What<'compactions'>): Promise<StatementResult> {
  let type: CompactionType | undefined;
  if (what.type !== undefined) {
    type = compactionTypes[what.type.toLowerCase()];
    if (type === undefined) throw new MetaError(`Unexpected compaction type ${what.type}`);
  }
  let state: CompactionState | undefined;
  if (what.status !== undefined) {
    state = states.get(what.status.toLowerCase());
    if (state === undefined) throw new MetaError(`Unexpected compaction state ${what.status}`);
  }
  const named = what.table === undefined ? undefined : qualify(context, what.table);
  const partition = await shownPartition(context, what);
  const { compactions } = await context.services.compactions.showCompactions({
    id: what.compactionId,
    database: named?.database ?? what.database?.name.toLowerCase(),
    table: named?.table,
    partition,
    poolName: what.pool,
    type,
    state,
    limit: what.orderBy.length > 0 ? 0n : BigInt(what.limit ?? 0),
  });
  let rows = (await withWaits(context, compactions)).map(compactionRow);
  if (what.orderBy.length > 0) {
    rows.sort(rowOrder(what.orderBy));
    if (what.limit !== undefined && what.limit > 0) rows = rows.slice(0, what.limit);
  }
  return textResult(compactionColumns, [compactionHeader, ...rows], { headerRow: true });
}

/** ORDER BY of SHOW COMPACTIONS takes result names; numbers are compared as numbers. */
function rowOrder(items: readonly OrderItem[]): (a: string[], b: string[]) => number {
  const keys = items.map(({ expression, direction }) => {
    const name = columnName(expression);
    const index = (compactionColumns as readonly string[]).indexOf(name);
    if (index < 0)
      throw new SemanticError(10004, `Invalid column '${name}' in ORDER BY of SHOW COMPACTIONS`, {
        position: expression.position,
      });
    return { index, sign: direction === 'desc' ? -1 : 1 };
  });
  return (a, b) => {
    for (const { index, sign } of keys) {
      const [x, y] = [a[index], b[index]];
      const bothNumbers = /^\d+$/.test(x) && /^\d+$/.test(y);
      const order = bothNumbers ? Number(BigInt(x) - BigInt(y)) : x < y ? -1 : x > y ? 1 : 0;
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

function columnName(expression: Expression): string {
  return expression.kind === 'column' ? expression.path.map((part) => part.name.toLowerCase()).join('.') : '';
}

/** SHOW DATABASES, TABLES, VIEWS and FUNCTIONS take a pattern of LIKE (% and _), unlike SHOW COLUMNS. */
function likeMatcher(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const source = pattern
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  const regex = new RegExp(`^${source}$`, 'i');
  return (name) => regex.test(name);
}
