import { invalidTableAlias, invalidTableOrColumn, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import type { Expression, ExpressionItem, NamedWindow, SelectItem } from '../parse/ast.js';
import type { BlockColumn } from './block.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import type { Relation } from './from-clause.js';
import type { Grouping } from './grouping.js';
import type { ScopeColumn } from './scope.js';
import { windowNames } from './window.js';

/** An item of a select list; `node` is what ORDER BY may repeat. */
export interface Output extends BlockColumn {
  /** The name where ORDER BY needs columns beside the select list: of a window call `_c1`. */
  readonly plainName?: string;
  readonly sql: string;
  readonly node: Expression | undefined;
}

/** The columns of a select list, stars spread out. */
export function selectItems(
  items: readonly SelectItem[],
  env: ExpressionEnvironment,
  relation: Relation,
  grouping: Grouping | undefined,
  windows: readonly NamedWindow[],
): Output[] {
  const taken = new Set<string>();
  const generated = windowNames(
    items.flatMap((item) => (item.kind === 'expression' ? [item.expression] : [])),
    windows,
  );
  return items.flatMap((item, index): Output[] => {
    if (item.kind === 'expression') return [itemOutput(item, index, env, taken, generated)];
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

function itemOutput(
  item: ExpressionItem,
  index: number,
  env: ExpressionEnvironment,
  taken: Set<string>,
  generated: ReadonlyMap<Expression, string>,
): Output {
  const value = analyzeExpression(item.expression, env);
  const known = item.alias === undefined ? generated.get(item.expression) : undefined;
  const plain = itemName(item, index, env, taken);
  const { name, label } = known === undefined ? plain : { name: known, label: known };
  taken.add(name);
  return {
    name,
    label,
    type: value.type,
    sql: value.sql,
    node: item.expression,
    literal: value.literal,
    origin: value.column,
    ...(known === undefined ? {} : { plainName: plain.name }),
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
export function withAliases(
  env: ExpressionEnvironment,
  outputs: readonly Output[],
  first = false,
): ExpressionEnvironment {
  const find = (node: Expression): Expr | undefined => {
    if (node.kind !== 'column' || node.path.length !== 1) return undefined;
    const name = node.path[0].name.toLowerCase();
    if (!first && env.scope.has(node.path)) return undefined;
    const output = outputs.find((candidate) => candidate.name === name);
    return output === undefined ? undefined : { sql: output.sql, type: output.type, position: node.position };
  };
  return { ...env, replace: (node) => find(node) ?? env.replace?.(node) };
}

/** After DISTINCT only the select list has names. */
export function onlyOutputs(env: ExpressionEnvironment, outputs: readonly Output[]): ExpressionEnvironment {
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
