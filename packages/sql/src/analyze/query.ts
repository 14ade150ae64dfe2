import type { Udf } from '../emit/udf.js';
import { decimalOf } from '../expressions/arithmetic.js';
import { ambiguousTable, semantic } from '../expressions/errors.js';
import type { TableUse } from '../expressions/table-use.js';
import type { Expression, OrderItem, Query, QueryBody, SetOperation, TableName } from '../parse/ast.js';
import { duckTypeName } from '../types/duck-type.js';
import { type HiveType, sameType, typeName } from '../types/hive-type.js';
import { commonType } from '../types/type-rules.js';
import {
  Analysis,
  type AnalysisContext,
  type CommonTable,
  type QueryEnvironment,
  type ResolvedTable,
  tableKey,
} from './analysis.js';
import type { Block, BlockColumn } from './block.js';
import { analyzeExpression } from './expression.js';
import { limitSql } from './order-by.js';
import { reckonConstants } from './reckon-constants.js';
import { Scope } from './scope.js';
import { analyzeSelect, type SelectContext } from './select.js';
import { valuesBlock } from './values.js';
import { orderSql } from './window.js';

export type { ColumnInfo, TableUse } from '../expressions/table-use.js';
export type { AnalysisContext, ResolvedTable } from './analysis.js';

/** A column of a result. */
export interface OutputColumn {
  /** As Hive's client shows it: `t.c` for a column of a table, `_c1` for the second expression without a name. */
  readonly name: string;
  /** As CREATE TABLE AS and CREATE VIEW take it: without the table. */
  readonly bareName: string;
  readonly type: HiveType;
}

/** A query ready to run. Plain data; may run more than once. */
export interface AnalyzedQuery {
  readonly columns: readonly OutputColumn[];
  /** Every reading of a table, those in views and subqueries too: for locks and snapshots. */
  readonly tables: readonly TableUse[];
  /** DuckDB SQL whose columns are c0, c1, …. */
  readonly sql: string;
  /** Functions in JavaScript that the SQL calls. */
  readonly udfs: readonly Udf[];
  /** True where an outermost ORDER BY decides the order of rows. */
  readonly ordered: boolean;
}

/**
 * Resolves names and types by Hive's rules and writes DuckDB SQL. Throws QueryError with Hive's number and text
 * (org.apache.hadoop.hive.ql.parse.SemanticAnalyzer, CalcitePlanner).
 */
export async function analyzeQuery(query: Query, context: AnalysisContext): Promise<AnalyzedQuery> {
  const tables = await resolveTables(query, context);
  const analysis = new Analysis(context, tables, (inner, environment, outer) =>
    analyzeBlock(inner, { analysis, environment, outer }),
  );
  const environment = { currentDatabase: context.currentDatabase, commonTables: new Map() };
  const block = analyzeBlock(query, { analysis, environment, outer: undefined });
  const columns = distinctNames(topLevelColumns(query, block));
  await reckonConstants(analysis);
  return {
    columns: columns.map(({ label, name, type }) => ({ name: label, bareName: name, type })),
    tables: analysis.uses.map((use) => use.build()),
    // DuckDB's type of an expression may differ from ours in width: the reader needs ours exactly.
    sql: `SELECT ${columns.map(({ type }, i) => `CAST(q.c${i} AS ${duckTypeName(type)}) AS c${i}`).join(', ')} FROM (${block.sql}) AS q`,
    udfs: analysis.udfs.all,
    ordered: query.orderBy.length > 0,
  };
}

function analyzeBlock(query: Query, context: SelectContext): Block {
  const environment = withCommonTables(query, context.environment);
  const inner = { ...context, environment };
  const { body } = query;
  if (body.kind === 'select') return analyzeSelect(body, query, inner);
  const block = bodyBlock(body, inner);
  const sort = query.orderBy.length > 0 ? query.orderBy : query.sortBy;
  const limits = limitSql(query);
  if (sort.length === 0 && limits === '') return block;
  const { analysis } = context;
  const alias = analysis.alias('o');
  const order = sort.map((item) => orderSql(analysis, item, outputOrder(item, block, alias, inner)));
  const names = block.columns.map((_, i) => `c${i}`).join(', ');
  const by = order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`;
  return { sql: `SELECT ${names} FROM (${block.sql}) AS ${alias}${by}${limits}`, columns: block.columns };
}

function bodyBlock(body: QueryBody, context: SelectContext): Block {
  switch (body.kind) {
    case 'query':
      return analyzeBlock(body, context);
    case 'select':
      return analyzeSelect(body, { orderBy: [], sortBy: [], clusterBy: [], distributeBy: [] }, context);
    case 'values':
      return valuesBlock(body.rows, { ...context, scope: new Scope([], context.outer) }, body.position);
    case 'set-operation':
      return setOperation(body, context);
  }
}

/** ORDER BY of a set operation: its columns by name or position, or expressions of them. */
function outputOrder(item: OrderItem, block: Block, alias: string, context: SelectContext): string {
  const { expression } = item;
  if (expression.kind === 'number' && /^\d+$/.test(expression.text)) return `c${Number(expression.text) - 1}`;
  const columns = block.columns.map((column, i) => ({
    name: column.name,
    type: column.type,
    sql: `${alias}.c${i}`,
    virtual: false,
  }));
  const scope = new Scope([{ alias: undefined, columns }]);
  return analyzeExpression(expression, { analysis: context.analysis, environment: context.environment, scope }).sql;
}

function setOperation(node: SetOperation, context: SelectContext): Block {
  const blocks = node.branches.map((branch) => bodyBlock(branch, context));
  const [first, ...rest] = blocks;
  for (const block of rest) {
    if (block.columns.length !== first.columns.length) {
      throw semantic('Schema of both sides of union should match.', node.position);
    }
  }
  const columns = first.columns.map((column, i): BlockColumn => {
    const type = blocks
      .slice(1)
      .reduce((common, block) => branchType(common, column, block.columns[i], node), exact(column, blocks, i));
    return { name: column.name, label: column.name, type };
  });
  const { analysis } = context;
  const branches = blocks.map((block) => {
    if (block.columns.every((column, i) => sameType(column.type, columns[i].type))) return `(${block.sql})`;
    const alias = analysis.alias('u');
    const list = block.columns.map((column, i) => {
      const value = { sql: `${alias}.c${i}`, type: column.type, position: node.position };
      return `${analysis.cast(value, columns[i].type).sql} AS c${i}`;
    });
    return `(SELECT ${list.join(', ')} FROM (${block.sql}) AS ${alias})`;
  });
  const word = { union: 'UNION', intersect: 'INTERSECT', except: 'EXCEPT' }[node.operator];
  const names = columns.map((_, i) => `c${i}`).join(', ');
  const alias = analysis.alias('u');
  return {
    sql: `SELECT ${names} FROM (${branches.join(` ${word}${node.all ? ' ALL' : ''} `)}) AS ${alias}(${names})`,
    columns,
  };
}

/** An integer constant beside a decimal counts with its own digits. */
function exact(column: BlockColumn, blocks: readonly Block[], i: number): HiveType {
  const beside = blocks.some((block) => block.columns[i].type.kind === 'decimal');
  return beside && typeof column.literal === 'bigint' ? decimalOf(column) : column.type;
}

function branchType(common: HiveType, first: BlockColumn, column: BlockColumn, node: SetOperation): HiveType {
  const type = common.kind === 'decimal' && typeof column.literal === 'bigint' ? decimalOf(column) : column.type;
  const found = commonType(common, type, true);
  if (found !== undefined) return found;
  throw semantic(
    `Schema of both sides of union should match: Column ${first.name} is of type ${typeName(common)} on first table and type ${typeName(column.type)} on second table. Cannot tell the position of null AST.`,
    node.position,
  );
}

/** Hive answers a UNION ALL of constant rows as VALUES: columns without a name are then col1, col2, …. */
function topLevelColumns(query: Query, block: Block): readonly BlockColumn[] {
  const { body } = query;
  if (body.kind !== 'set-operation') return block.columns;
  const constant = body.branches.every(
    (branch) =>
      branch.kind === 'select' &&
      branch.from === undefined &&
      branch.where === undefined &&
      branch.items.every((item) => item.kind === 'expression' && isConstant(item.expression)),
  );
  if (constant && body.operator === 'union' && body.all) {
    return block.columns.map((column, i) =>
      /^_c\d+$/.test(column.label) ? { ...column, label: `col${i + 1}`, name: `col${i + 1}` } : column,
    );
  }
  return block.columns;
}

/** A second column of a name gets a number: `a`, `a_1`. Names with their table may repeat. */
function distinctNames(columns: readonly BlockColumn[]): readonly BlockColumn[] {
  const seen = new Set<string>();
  return columns.map((column) => {
    if (column.label.includes('.') || !seen.has(column.label)) {
      seen.add(column.label);
      return column;
    }
    let number = 1;
    while (seen.has(`${column.label}_${number}`)) number++;
    const label = `${column.label}_${number}`;
    seen.add(label);
    return { ...column, name: label, label };
  });
}

const isConstant = (node: Expression): boolean =>
  node.kind === 'number' || node.kind === 'string' || node.kind === 'boolean' || node.kind === 'null';

function withCommonTables(query: Query, environment: QueryEnvironment): QueryEnvironment {
  if (query.with.length === 0) return environment;
  const commonTables = new Map(environment.commonTables);
  for (const { name, columns, query: body } of query.with) {
    const key = name.name.toLowerCase();
    if (query.with.some((other) => other.name !== name && other.name.name.toLowerCase() === key)) {
      throw ambiguousTable(
        name.name,
        query.with.findLast((other) => other.name.name.toLowerCase() === key)?.name.position ?? name.position,
      );
    }
    const common: CommonTable = {
      query: body,
      columns: columns?.map((column) => column.name.toLowerCase()),
      outer: new Map(commonTables),
      environment,
    };
    commonTables.set(key, common);
  }
  return { ...environment, commonTables };
}

/** Looks up every table that the query and its views name. */
async function resolveTables(query: Query, context: AnalysisContext): Promise<Map<string, ResolvedTable>> {
  const found = new Map<string, ResolvedTable>();
  const missing = new Set<string>();
  const visit = async (root: Query, database: string, depth: number): Promise<void> => {
    if (depth > 100) throw semantic('Recursive views are not supported');
    // Names of common tables are looked up too: a table elsewhere may have the same name.
    for (const name of tableNames(root)) {
      const key = tableKey(name, database);
      if (found.has(key) || missing.has(key)) continue;
      const table = await context.resolveTable(
        name.database?.name.toLowerCase(),
        name.name.name.toLowerCase(),
        name.position,
        database,
      );
      if (table === undefined) missing.add(key);
      else {
        found.set(key, table);
        if (table.kind === 'view') await visit(table.query, table.currentDatabase, depth + 1);
      }
    }
  };
  await visit(query, context.currentDatabase, 0);
  return found;
}

/** Names in FROM clauses anywhere below. */
function tableNames(root: unknown): TableName[] {
  const names: TableName[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const node = value as { kind?: unknown; table?: TableName };
    if (node.kind === 'table' && node.table !== undefined) names.push(node.table);
    for (const [key, child] of Object.entries(value)) if (key !== 'position') visit(child);
  };
  visit(root);
  return names;
}
