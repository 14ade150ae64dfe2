import type { Table } from '@skep/rpc';
import type {
  AlterMaterializedViewStatement,
  CreateMaterializedViewStatement,
  CreateTableStatement,
  Query,
} from '../../parse/ast.js';
import { parseStatement } from '../../parse/index.js';
import { resolveTable, type SessionContext } from '../context.js';
import { rebuildMaterializedView } from '../dml/insert.js';
import { SemanticError, UnsupportedError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { done, textResult } from '../text-result.js';
import { createTableAsSelect } from './ctas.js';
import { VIEW_DATABASE } from './views.js';

/**
 * CREATE MATERIALIZED VIEW: a table that keeps the rows of its query. Queries are never rewritten to use it (that changes no
 * answer), and REBUILD computes all of it again.
 */
export async function createMaterializedView(
  context: SessionContext,
  statement: CreateMaterializedViewStatement,
  text: string,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const { view, query, position } = statement;
  for (const [words, names] of [
    ['CLUSTERED ON', statement.clusteredOn],
    ['DISTRIBUTED ON', statement.distributedOn],
    ['SORTED ON', statement.sortedOn],
  ] as const) {
    if (names.length > 0) throw new UnsupportedError(`CREATE MATERIALIZED VIEW … ${words}`);
  }
  const table: CreateTableStatement = {
    kind: 'create-table',
    temporary: false,
    transactional: false,
    external: false,
    managed: false,
    ifNotExists: statement.ifNotExists,
    table: view,
    columns: [],
    constraints: [],
    ...(statement.comment !== undefined && { comment: statement.comment }),
    partitionedBy: statement.partitionedOn.map((name) => ({ name, position: name.position })),
    ...(statement.rowFormat !== undefined && { rowFormat: statement.rowFormat }),
    storage: statement.storage ?? {
      kind: 'format',
      name: context.conf.get('hive.materializedview.fileformat') ?? 'ORC',
      position,
    },
    ...(statement.location !== undefined && { location: statement.location }),
    properties: statement.properties,
    query,
    position,
  };
  const original = text.slice(query.position.start, query.position.end);
  return await createTableAsSelect(context, table, text, signal, (made) => {
    made.tableType = 'MATERIALIZED_VIEW';
    made.viewOriginalText = original;
    made.viewExpandedText = original;
    made.rewriteEnabled = statement.rewrite;
    made.parameters[VIEW_DATABASE] = context.currentDatabase;
  });
}

/** ALTER MATERIALIZED VIEW … REBUILD | ENABLE REWRITE | DISABLE REWRITE. */
export async function alterMaterializedView(
  context: SessionContext,
  statement: AlterMaterializedViewStatement,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const table = await resolveTable(context, statement.view);
  if (table.tableType !== 'MATERIALIZED_VIEW') {
    throw new SemanticError(10132, `${table.database}.${table.name} is not a materialized view`, {
      position: statement.view.position,
    });
  }
  if (statement.action !== 'rebuild') {
    const { database, name } = table;
    const rewriteEnabled = statement.action === 'enable-rewrite';
    await context.services.catalog.alterTable({ database, name, table: { ...table, rewriteEnabled } });
    return done;
  }
  const text = table.viewExpandedText ?? '';
  const inside = { ...context, currentDatabase: table.parameters[VIEW_DATABASE] ?? table.database };
  return await rebuildMaterializedView(inside, statement.view, table, parseStatement(text) as Query, text, signal);
}

/** SHOW MATERIALIZED VIEWS. */
export async function showMaterializedViews(
  context: SessionContext,
  database: string,
  matches: (name: string) => boolean,
): Promise<StatementResult> {
  const { catalog } = context.services;
  const { names } = await catalog.listTables({ database, tableType: 'MATERIALIZED_VIEW' });
  const tables: Table[] = [];
  for (const name of names.filter(matches)) {
    const { table } = await catalog.getTable({ database, name });
    if (table !== undefined) tables.push(table);
  }
  const pad = (cells: readonly string[]) => cells.map((cell) => cell.padEnd(20));
  const rows = tables.map((table) =>
    pad([table.name, table.rewriteEnabled ? 'Yes' : 'No', 'Manual refresh', 'Not available']),
  );
  const header = pad(['# MV Name', 'Rewriting Enabled', 'Mode', 'Incremental rebuild']);
  return textResult(
    ['mv_name', 'rewrite_enabled', 'mode', 'incremental_rebuild'],
    rows.length === 0 ? [] : [header, ...rows],
    { padded: true, ...(rows.length > 0 && { headerRow: true }) },
  );
}
