import { invalidTableOrColumn, QueryError, semantic } from '../expressions/errors.js';
import type { Expression, OrderItem, Query, Select } from '../parse/ast.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { type Output, onlyOutputs, withAliases } from './select-list.js';

/** What follows a SELECT. */
export type Tail = Pick<Query, 'orderBy' | 'sortBy' | 'clusterBy' | 'distributeBy' | 'limit' | 'offset'>;

export interface SortKey {
  readonly item: Pick<OrderItem, 'direction' | 'nulls'>;
  /** Number of the output column, or SQL of its own. */
  readonly output: number | undefined;
  readonly sql: string;
}

/** ORDER BY, or else SORT BY and CLUSTER BY (one reducer: the whole result). */
export function sortItems(
  select: Select,
  tail: Tail,
  env: ExpressionEnvironment,
  outputs: readonly Output[],
): SortKey[] {
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
    if (isPosition(item.expression, env) && select.items.some((selected) => selected.kind === 'star')) {
      const { position } = item.expression;
      throw semantic('Position in ORDER BY is not supported when using SELECT *', position, 10219);
    }
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

const isPosition = (node: Expression, env: ExpressionEnvironment): boolean =>
  node.kind === 'number' && /^\d+$/.test(node.text) && env.analysis.flag('hive.orderby.position.alias', true);

/** The output column that a key of ORDER BY is, by its number or its name. */
export function outputPosition(
  item: OrderItem,
  outputs: readonly { readonly name: string }[],
  env: ExpressionEnvironment,
): number | undefined {
  const { expression } = item;
  if (expression.kind === 'number' && /^\d+$/.test(expression.text)) {
    if (!isPosition(expression, env)) return undefined;
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

/** LIMIT and OFFSET. */
export function limitSql(tail: Pick<Query, 'limit' | 'offset'>): string {
  const number = (node: Query['limit']): string => {
    if (node?.kind !== 'number') throw semantic('Parameters of prepared statements are not supported', node?.position);
    return node.text;
  };
  const limit = tail.limit === undefined ? '' : ` LIMIT ${number(tail.limit)}`;
  return tail.offset === undefined ? limit : `${limit} OFFSET ${number(tail.offset)}`;
}
