import { invalidTableOrColumn, semantic } from '../expressions/errors.js';
import { checkArguments } from '../functions/checks.js';
import { findFunction } from '../functions/registry.js';
import type { ExpressionItem, Select, SelectItem } from '../parse/ast.js';
import type { Block, BlockColumn } from './block.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import type { Relation } from './from-clause.js';
import { limitSql, outputPosition, type Tail } from './order-by.js';
import { orderSql } from './window.js';

/** The table function that is a select list of its own. */
export function tableFunctionItem(select: Select): ExpressionItem | undefined {
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
export function selectTableFunction(
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
  checkArguments({ analysis, name: call.name, args, position: call.position });
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
    const at = outputPosition(order, columns, env);
    if (at === undefined) throw invalidTableOrColumn(analysis.text(order.position), names, order.position);
    return orderSql(analysis, order, `c${at}`);
  });
  const sql = `SELECT ${select.distinct ? 'DISTINCT ' : ''}${list} FROM ${input} INNER JOIN LATERAL (${result.select}) AS ${alias} ON true${where}${order.length > 0 ? ` ORDER BY ${order.join(', ')}` : ''}${limitSql(tail)}`;
  return { sql, columns };
}
