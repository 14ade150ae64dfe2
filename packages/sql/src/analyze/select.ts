import type { SargLiteral } from '@skep/orc';
import { isAggregate } from '../functions/call.js';
import { findFunction } from '../functions/registry.js';
import type { Expression, ExpressionItem, OrderItem, Query, Select, SelectItem } from '../parse/ast.js';
import type { HiveType } from '../types/hive-type.js';
import type { Analysis, QueryEnvironment } from './analysis.js';
import { aggregateNotAllowed, invalidTableAlias, invalidTableOrColumn, QueryError, semantic } from './errors.js';
import type { Expr } from './expr.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { analyzeFrom, type FromContext, type Relation } from './from-clause.js';
import { Grouping } from './grouping.js';
import { asBoolean } from './logic.js';
import { Scope, type ScopeColumn } from './scope.js';
import type { TableUseBuilder } from './table-use.js';
import { someNode } from './walk.js';
import { orderSql, windowCall } from './window.js';

/** A query's output column. `label` is its name in a result that a user sees (`t.c` for a column of a table). */
export interface BlockColumn {
  readonly name: string;
  readonly type: HiveType;
  readonly label: string;
  readonly literal?: SargLiteral | undefined;
  /** Of a plain column of a table. */
  readonly origin?: Expr['column'];
}
/** A query as SQL whose columns are c0, c1, …. */
export interface Block {
  readonly sql: string;
  readonly columns: readonly BlockColumn[];
  /** Table uses that a condition on the block's columns may prune: there where a row in is a row out. */
  readonly prunable?: ReadonlySet<TableUseBuilder> | undefined;
}

export interface SelectContext {
  readonly analysis: Analysis;
  readonly environment: QueryEnvironment;
  readonly outer: Scope | undefined;
}

type Tail = Pick<Query, 'orderBy' | 'sortBy' | 'clusterBy' | 'distributeBy' | 'limit' | 'offset'>;

interface Output extends BlockColumn {
  readonly sql: string;
  readonly node: Expression | undefined;
}

const NO_FROM: Relation = { sql: '', tables: [], prunable: new Set() };

/** SELECT … FROM … with the ORDER BY and LIMIT that follow it. */
export function analyzeSelect(select: Select, tail: Tail, context: SelectContext): Block {
  const { analysis } = context;
  if (select.transform !== undefined) throw semantic('SELECT TRANSFORM is not supported', select.position);
  const fromContext: FromContext = context;
  const relation = select.from === undefined ? NO_FROM : analyzeFrom(select.from, fromContext);
  const scope = new Scope(relation.tables, context.outer);
  const input: ExpressionEnvironment = { analysis, environment: context.environment, scope };
  const where = whereSql(select.where, input, relation);
  const udtf = tableFunctionItem(select);
  if (udtf !== undefined) return selectTableFunction(select, udtf, tail, input, relation, where);

  const fromSql = `${relation.sql === '' ? '' : `FROM ${relation.sql}`}${where}`;
  const grouping = groupingOf(select, tail, input, fromSql);
  const env = outerEnvironment(select, input, grouping);
  const outputs = selectItems(select.items, env, relation, grouping);
  const having = havingSql(select, env, outputs, grouping);
  const qualify =
    select.qualify === undefined
      ? ''
      : ` QUALIFY ${asBoolean(analyzeExpression(select.qualify, withAliases(env, outputs)), env).sql}`;
  const sort = sortItems(select, tail, env, outputs);
  const source = grouping === undefined ? fromSql : `FROM ${grouping.sql}${having}`;
  const list = outputs.map((output, i) => `${output.sql} AS c${i}`);
  const limits = limitSql(tail);
  const prunable = passesRows(select, grouping, limits) ? relation.prunable : undefined;
  if (sort.length === 0) {
    return {
      sql: `SELECT ${select.distinct ? 'DISTINCT ' : ''}${list.join(', ')} ${source}${qualify}${limits}`,
      columns: outputs,
      prunable,
    };
  }
  const keys = sort.map((item, i) => (item.output === undefined ? `${item.sql} AS s${i}` : undefined));
  const order = sort.map((item, i) =>
    orderSql(analysis, item.item, item.output === undefined ? `s${i}` : `c${item.output}`),
  );
  const all = [...list, ...keys.filter((key) => key !== undefined)].join(', ');
  const names = outputs.map((_, i) => `c${i}`).join(', ');
  return {
    sql: `SELECT ${names} FROM (SELECT ${select.distinct ? 'DISTINCT ' : ''}${all} ${source}${qualify}) AS ${analysis.alias('o')} ORDER BY ${order.join(', ')}${limits}`,
    columns: outputs,
    prunable,
  };
}

/** Whether a condition on the output may be put to the rows that come in. */
function passesRows(select: Select, grouping: Grouping | undefined, limits: string): boolean {
  if (select.distinct || grouping !== undefined || limits !== '' || select.qualify !== undefined) return false;
  return !select.items.some(
    (item) =>
      item.kind === 'expression' &&
      someNode(item.expression, (part) => part.kind === 'function' && part.over !== undefined),
  );
}

export const conjunctsOf = (node: Expression): readonly Expression[] =>
  node.kind === 'logical' && node.operator === 'and' ? node.operands.flatMap(conjunctsOf) : [node];

function whereSql(where: Expression | undefined, env: ExpressionEnvironment, relation: Relation): string {
  if (where === undefined) return '';
  const conditions = conjunctsOf(where).map((conjunct) => {
    const value = analyzeExpression(conjunct, env);
    const { condition } = value;
    if (condition !== undefined && relation.prunable.has(condition.use)) condition.use.predicate.push(condition.sarg);
    return asBoolean(value, env).sql;
  });
  return ` WHERE ${conditions.join(' AND ')}`;
}

const containsAggregate = (node: Expression): boolean =>
  someNode(node, (part) => part.kind === 'function' && isAggregate(part));

function groupingOf(select: Select, tail: Tail, input: ExpressionEnvironment, fromSql: string): Grouping | undefined {
  const { groupBy, having } = select;
  const aggregated =
    select.items.some((item) => item.kind === 'expression' && containsAggregate(item.expression)) ||
    (having !== undefined && containsAggregate(having)) ||
    tail.orderBy.some((item) => containsAggregate(item.expression));
  if (groupBy === undefined && having !== undefined && !containsAggregate(having)) {
    throw semantic('HAVING specified without GROUP BY', having.position);
  }
  if (groupBy === undefined && !aggregated) return undefined;
  const positions = input.analysis.flag('hive.groupby.position.alias', false);
  const keys = (groupBy?.expressions ?? []).map((node) => (positions ? itemAtPosition(node, select) : node));
  for (const key of keys) {
    const aggregate = someAggregate(key);
    if (aggregate !== undefined) throw aggregateNotAllowed(aggregate.name, aggregate.position);
  }
  return new Grouping(input.analysis, input, groupBy, keys, fromSql);
}

function someAggregate(node: Expression): Extract<Expression, { kind: 'function' }> | undefined {
  let found: Extract<Expression, { kind: 'function' }> | undefined;
  someNode(node, (part) => {
    if (part.kind !== 'function' || !isAggregate(part)) return false;
    found = part;
    return true;
  });
  return found;
}

function itemAtPosition(node: Expression, select: Select): Expression {
  if (node.kind !== 'number' || !/^\d+$/.test(node.text)) return node;
  const item = select.items[Number(node.text) - 1];
  if (item === undefined || item.kind !== 'expression') {
    throw semantic(`Invalid position alias in Group By '${node.text}'`, node.position, 10219);
  }
  return item.expression;
}

function outerEnvironment(
  select: Select,
  input: ExpressionEnvironment,
  grouping: Grouping | undefined,
): ExpressionEnvironment {
  const base: ExpressionEnvironment =
    grouping === undefined
      ? input
      : {
          ...input,
          scope: grouping.scope,
          replace: (node) => grouping.replace(node),
          aggregate: (call) => grouping.aggregate(call),
        };
  const env: ExpressionEnvironment = { ...base, window: (call) => windowCall(call, env, select.windows) };
  return env;
}

function selectItems(
  items: readonly SelectItem[],
  env: ExpressionEnvironment,
  relation: Relation,
  grouping: Grouping | undefined,
): Output[] {
  const taken = new Set<string>();
  return items.flatMap((item, index): Output[] => {
    if (item.kind === 'expression') return [itemOutput(item, index, env, taken)];
    const table = item.qualifier.length === 0 ? undefined : env.scope.table(item.qualifier);
    if (item.qualifier.length > 0 && table === undefined) {
      throw invalidTableAlias(item.qualifier[item.qualifier.length - 1].name, item.position);
    }
    const tables =
      item.qualifier.length === 0 ? relation.tables : relation.tables.filter((t) => t.alias === table?.alias);
    if (tables.length === 0) throw semantic('SELECT * without FROM', item.position);
    return tables.flatMap(({ alias, columns }) =>
      columns.filter((column) => !column.virtual).map((column) => starOutput(alias, column, item, env, grouping)),
    );
  });
}

function starOutput(
  alias: string | undefined,
  column: ScopeColumn,
  item: SelectItem,
  env: ExpressionEnvironment,
  grouping: Grouping | undefined,
): Output {
  const { position } = item;
  const path = [...(alias === undefined ? [] : [alias]), column.name].map((name) => ({ name, quoted: true, position }));
  const node: Expression = { kind: 'column', path, position };
  column.use?.need(column.name);
  const sql = grouping === undefined ? column.sql : analyzeExpression(node, env).sql;
  return {
    name: column.name,
    label: alias === undefined ? column.name : `${alias}.${column.name}`,
    type: column.type,
    sql,
    node,
    origin: grouping === undefined && column.use !== undefined ? { use: column.use, name: column.name } : column.origin,
  };
}

function itemOutput(item: ExpressionItem, index: number, env: ExpressionEnvironment, taken: Set<string>): Output {
  const value = analyzeExpression(item.expression, env);
  const { name, label } = itemName(item, index, env, taken);
  taken.add(name);
  return {
    name,
    label,
    type: value.type,
    sql: value.sql,
    node: item.expression,
    literal: value.literal,
    origin: value.column,
  };
}

/** SemanticAnalyzer.getColAlias. */
function itemName(
  item: ExpressionItem,
  index: number,
  env: ExpressionEnvironment,
  taken: ReadonlySet<string>,
): { name: string; label: string } {
  if (item.alias !== undefined) {
    const name = item.alias.name.toLowerCase();
    return { name, label: name };
  }
  const { expression } = item;
  if (expression.kind === 'column') {
    const names = expression.path.map((part) => part.name.toLowerCase());
    const name = names[names.length - 1];
    const table = names.length > 1 ? env.scope.table(expression.path.slice(0, -1)) : undefined;
    return { name, label: table === undefined ? name : `${names[names.length - 2]}.${name}` };
  }
  const name = generatedName(expression, index, taken);
  return { name, label: name };
}

function generatedName(expression: Expression, index: number, taken: ReadonlySet<string>): string {
  if (expression.kind === 'field') return expression.field.name.toLowerCase();
  // A column that is only cast keeps its name, unless that is taken.
  if (expression.kind === 'cast' && expression.operand.kind === 'column') {
    const { path } = expression.operand;
    const name = path[path.length - 1].name.toLowerCase();
    if (!taken.has(name)) return name;
  }
  return `_c${index}`;
}

/** Names of the select list, for HAVING and ORDER BY. `first`: they hide columns of the same name. */
function withAliases(env: ExpressionEnvironment, outputs: readonly Output[], first = false): ExpressionEnvironment {
  const find = (node: Expression): Expr | undefined => {
    if (node.kind !== 'column' || node.path.length !== 1) return undefined;
    const name = node.path[0].name.toLowerCase();
    if (!first && env.scope.has(node.path)) return undefined;
    const output = outputs.find((candidate) => candidate.name === name);
    return output === undefined ? undefined : { sql: output.sql, type: output.type, position: node.position };
  };
  return { ...env, replace: (node) => find(node) ?? env.replace?.(node) };
}

function havingSql(
  select: Select,
  env: ExpressionEnvironment,
  outputs: readonly Output[],
  grouping: Grouping | undefined,
): string {
  if (select.having === undefined || grouping === undefined) return '';
  return ` WHERE ${asBoolean(analyzeExpression(select.having, withAliases(env, outputs)), env).sql}`;
}

interface SortKey {
  readonly item: Pick<OrderItem, 'direction' | 'nulls'>;
  /** Number of the output column, or SQL of its own. */
  readonly output: number | undefined;
  readonly sql: string;
}

/** ORDER BY, or else SORT BY and CLUSTER BY (one reducer: the whole result). */
function sortItems(select: Select, tail: Tail, env: ExpressionEnvironment, outputs: readonly Output[]): SortKey[] {
  const aliased = withAliases(env, outputs, true);
  for (const node of tail.distributeBy) analyzeExpression(node, aliased);
  const items: readonly OrderItem[] =
    tail.orderBy.length > 0
      ? tail.orderBy
      : tail.sortBy.length > 0
        ? tail.sortBy
        : tail.clusterBy.map((expression) => ({
            expression,
            direction: 'asc' as const,
            position: expression.position,
          }));
  return items.map((item) => {
    const at = outputPosition(item, outputs, env);
    if (at !== undefined) return { item, output: at, sql: '' };
    if (!select.distinct) return { item, output: undefined, sql: sortKeySql(item.expression, aliased, outputs) };
    const { sql } = analyzeExpression(item.expression, onlyOutputs(aliased, outputs));
    const same = outputs.findIndex((output) => output.sql === sql);
    if (same >= 0) return { item, output: same, sql };
    throw semantic('ORDER BY of a SELECT DISTINCT must be of its columns', item.position);
  });
}

/** Where ORDER BY names nothing, Hive lists the select list's columns. */
function sortKeySql(node: Expression, env: ExpressionEnvironment, outputs: readonly Output[]): string {
  try {
    return analyzeExpression(node, env).sql;
  } catch (error) {
    if (!(error instanceof QueryError) || error.hiveCode !== 10004 || node.kind !== 'column') throw error;
    throw invalidTableOrColumn(
      node.path[0].name,
      outputs.map((output) => output.name),
      node.position,
    );
  }
}

/** After DISTINCT only the select list has names. */
function onlyOutputs(env: ExpressionEnvironment, outputs: readonly Output[]): ExpressionEnvironment {
  return {
    ...env,
    replace: (node) => {
      const found = env.replace?.(node);
      if (found !== undefined || node.kind !== 'column') return found;
      const qualified = outputs.find((output) => output.label === node.path.map((p) => p.name.toLowerCase()).join('.'));
      if (qualified !== undefined) return { sql: qualified.sql, type: qualified.type, position: node.position };
      throw invalidTableOrColumn(
        node.path[0].name,
        outputs.map((output) => output.name),
        node.position,
      );
    },
  };
}

function outputPosition(item: OrderItem, outputs: readonly Output[], env: ExpressionEnvironment): number | undefined {
  const { expression } = item;
  if (expression.kind === 'number' && /^\d+$/.test(expression.text)) {
    if (!env.analysis.flag('hive.orderby.position.alias', true)) return undefined;
    const position = Number(expression.text);
    if (position < 1 || position > outputs.length) {
      throw semantic(`Invalid position alias in Order By '${expression.text}'`, expression.position, 10220);
    }
    return position - 1;
  }
  if (expression.kind !== 'column' || expression.path.length !== 1) return undefined;
  const name = expression.path[0].name.toLowerCase();
  const found = outputs.findIndex((output) => output.name === name);
  return found < 0 ? undefined : found;
}

export function limitSql(tail: Pick<Query, 'limit' | 'offset'>): string {
  const number = (node: Query['limit']): string => {
    if (node?.kind !== 'number') throw semantic('Parameters of prepared statements are not supported', node?.position);
    return node.text;
  };
  const limit = tail.limit === undefined ? '' : ` LIMIT ${number(tail.limit)}`;
  return tail.offset === undefined ? limit : `${limit} OFFSET ${number(tail.offset)}`;
}

function tableFunctionItem(select: Select): ExpressionItem | undefined {
  const isTable = (item: SelectItem) =>
    item.kind === 'expression' &&
    item.expression.kind === 'function' &&
    findFunction(item.expression.name)?.kind === 'table';
  const found = select.items.find(isTable);
  if (found === undefined || found.kind !== 'expression') return undefined;
  if (select.items.length > 1) {
    throw semantic(
      "UDTF's are not supported outside the SELECT clause, nor nested in expressions",
      found.position,
      10081,
    );
  }
  return found;
}

/** `SELECT explode(a) FROM t`. */
function selectTableFunction(
  select: Select,
  item: ExpressionItem,
  tail: Tail,
  env: ExpressionEnvironment,
  relation: Relation,
  where: string,
): Block {
  const { analysis } = env;
  const call = item.expression;
  if (call.kind !== 'function') throw semantic('a table function is expected', item.position);
  const found = findFunction(call.name);
  if (found?.kind !== 'table') throw semantic('a table function is expected', item.position);
  const args = call.arguments.map((argument) => analyzeExpression(argument, env));
  const result = found.build({ analysis, name: call.name, args, position: call.position });
  const names = item.aliases?.map((alias) => alias.name) ?? (item.alias === undefined ? [] : [item.alias.name]);
  const columns = result.columns.map((column, i): BlockColumn => {
    const name = (names[i] ?? column.name).toLowerCase();
    return { name, label: name, type: column.type };
  });
  const alias = analysis.alias('t');
  const input = relation.sql === '' ? `(SELECT 1 AS one) AS ${analysis.alias('t')}` : relation.sql;
  const list = columns.map((_, i) => `${alias}.c${i} AS c${i}`).join(', ');
  const order = tail.orderBy.map((order) => {
    const at = outputPosition(
      order,
      columns.map((c) => ({ ...c, sql: '', node: undefined })),
      env,
    );
    if (at === undefined) throw invalidTableOrColumn(analysis.text(order.position), names, order.position);
    return orderSql(analysis, order, `c${at}`);
  });
  const sql = `SELECT ${select.distinct ? 'DISTINCT ' : ''}${list} FROM ${input} INNER JOIN LATERAL (${result.select}) AS ${alias} ON true${where}${order.length > 0 ? ` ORDER BY ${order.join(', ')}` : ''}${limitSql(tail)}`;
  return { sql, columns };
}
