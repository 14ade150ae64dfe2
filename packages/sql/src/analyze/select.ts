import { semantic } from '../expressions/errors.js';
import { asBoolean } from '../expressions/logic.js';
import type { Expression, ExpressionItem, Query, Select } from '../parse/ast.js';
import type { Analysis, QueryEnvironment } from './analysis.js';
import type { Block } from './block.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { analyzeFrom, type FromContext, type Relation } from './from-clause.js';
import { containsAggregate, type Grouping, groupingOf } from './grouping.js';
import { limitSql, sortItems, type Tail } from './order-by.js';
import { Scope } from './scope.js';
import { type Output, selectItems, withAliases } from './select-list.js';
import { selectTableFunction, tableFunctionItem } from './select-table-function.js';
import { someNode } from './walk.js';
import { orderSql, windowCall } from './window.js';

export interface SelectContext {
  readonly analysis: Analysis;
  readonly environment: QueryEnvironment;
  readonly outer: Scope | undefined;
}

/** `SELECT explode(collect_list(x)) FROM t GROUP BY k` as the function over a subquery of its arguments. */
function overGroups(select: Select, item: ExpressionItem): Select {
  const { expression: call, position } = item;
  if (call.kind !== 'function') return select;
  const named = call.arguments.map((argument, i) => ({ argument, name: { name: `_u${i}`, quoted: true, position } }));
  const { from, where, groupBy, having, ...rest } = select;
  const inner: Select = {
    ...rest,
    distinct: false,
    items: named.map(({ argument, name }) => ({ kind: 'expression', expression: argument, alias: name, position })),
    ...(from && { from }),
    ...(where && { where }),
    ...(groupBy && { groupBy }),
    ...(having && { having }),
  };
  const query: Query = {
    kind: 'query',
    with: [],
    body: inner,
    orderBy: [],
    distributeBy: [],
    sortBy: [],
    clusterBy: [],
    position,
  };
  const outer = named.map(({ name }): Expression => ({ kind: 'column', path: [name], position }));
  return {
    ...rest,
    items: [{ ...item, expression: { ...call, arguments: outer } }],
    from: { kind: 'subquery', query, alias: { name: '_u', quoted: true, position }, position },
  };
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
  if (udtf !== undefined && (select.groupBy !== undefined || containsAggregate(udtf.expression))) {
    return analyzeSelect(overGroups(select, udtf), tail, context);
  }
  if (udtf !== undefined) return selectTableFunction(select, udtf, tail, input, relation, where);

  const fromSql = `${relation.sql === '' ? '' : `FROM ${relation.sql}`}${where}`;
  const grouping = groupingOf(select, tail, input, fromSql);
  const env = outerEnvironment(select, input, grouping);
  const outputs = selectItems(select.items, env, relation, grouping, select.windows);
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
  const columns = sort.every((item) => item.output !== undefined) ? outputs : outputs.map(plainNamed);
  const order = sort.map((item, i) =>
    orderSql(analysis, item.item, item.output === undefined ? `s${i}` : `c${item.output}`),
  );
  const all = [...list, ...keys.filter((key) => key !== undefined)].join(', ');
  const names = outputs.map((_, i) => `c${i}`).join(', ');
  return {
    sql: `SELECT ${names} FROM (SELECT ${select.distinct ? 'DISTINCT ' : ''}${all} ${source}${qualify}) AS ${analysis.alias('o')} ORDER BY ${order.join(', ')}${limits}`,
    columns,
    prunable,
  };
}

const plainNamed = (output: Output): Output =>
  output.plainName === undefined ? output : { ...output, name: output.plainName, label: output.plainName };

/** Whether a condition on the output may be put to the rows that come in. */
function passesRows(select: Select, grouping: Grouping | undefined, limits: string): boolean {
  if (select.distinct || grouping !== undefined || limits !== '' || select.qualify !== undefined) return false;
  return !select.items.some(
    (item) =>
      item.kind === 'expression' &&
      someNode(item.expression, (part) => part.kind === 'function' && part.over !== undefined),
  );
}

const conjunctsOf = (node: Expression): readonly Expression[] =>
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

function havingSql(
  select: Select,
  env: ExpressionEnvironment,
  outputs: readonly Output[],
  grouping: Grouping | undefined,
): string {
  if (select.having === undefined || grouping === undefined) return '';
  return ` WHERE ${asBoolean(analyzeExpression(select.having, withAliases(env, outputs)), env).sql}`;
}
