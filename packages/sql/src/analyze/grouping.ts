import { aggregateNotAllowed, invalidFunction, notInGroupBy, QueryError, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { findAggregate, isAggregate } from '../functions/call.js';
import { checkArguments } from '../functions/checks.js';
import type { Invoke } from '../functions/definition.js';
import type { Expression, FunctionCall, GroupBy, Query, Select } from '../parse/ast.js';
import { BIGINT, type HiveType } from '../types/hive-type.js';
import type { Analysis } from './analysis.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { Scope, type ScopeColumn, type ScopeTable } from './scope.js';
import { hasSubquery, someNode } from './walk.js';

/**
 * The inner half of a query with GROUP BY or aggregates: keys k0, k1, … and aggregates a0, a1, … over the FROM clause. The
 * select list, HAVING and ORDER BY are then expressions over these.
 */
export class Grouping {
  private readonly alias: string;
  private readonly keys: readonly Expr[];
  private readonly sets: readonly (readonly number[])[] | undefined;
  private readonly aggregates = new Map<string, { ref: string; type: HiveType }>();
  readonly scope: Scope;

  constructor(
    private readonly analysis: Analysis,
    private readonly input: ExpressionEnvironment,
    private readonly groupBy: GroupBy | undefined,
    keyNodes: readonly Expression[],
    private readonly fromSql: string,
  ) {
    this.alias = analysis.alias('g');
    this.keys = keyNodes.map((node) => analyzeExpression(node, input));
    this.sets = this.groupingSets();
    this.scope = new Scope(
      input.scope.tables.map((table) => this.visible(table)),
      input.scope.outer,
    );
  }

  /** SQL of the inner half; to be called when all else has been analysed. */
  get sql(): string {
    const keys = this.keys.map((key, i) => `${key.sql} AS k${i}`);
    const aggregates = [...this.aggregates].map(([sql, { ref }]) => `${sql} AS ${ref}`);
    const list = [...keys, ...aggregates];
    return `(SELECT ${list.length === 0 ? '1' : list.join(', ')} ${this.fromSql}${this.groupSql()}) AS ${this.alias}`;
  }

  /** What an expression of the outer half is: a key, GROUPING__ID; undefined where its parts decide. */
  replace(node: Expression): Expr | undefined {
    switch (node.kind) {
      case 'null':
      case 'boolean':
      case 'string':
      case 'number':
      case 'date':
      case 'timestamp':
        return undefined;
    }
    if (node.kind === 'column' && node.path.length === 1 && node.path[0].name.toLowerCase() === 'grouping__id') {
      return this.grouping(
        this.keys.map((key) => key.sql),
        node.position,
      );
    }
    if (
      someNode(
        node,
        (part) =>
          part.kind === 'function' && (part.over !== undefined || isAggregate(part) || part.name === 'grouping'),
      )
    ) {
      return undefined;
    }
    if (hasSubquery(node)) return undefined;
    const found = this.beforeGrouping(node);
    if (found === undefined) return undefined;
    const { sql, type } = found;
    const index = this.keys.findIndex((key) => key.sql === sql);
    if (index >= 0) return { sql: `${this.alias}.k${index}`, type, position: node.position };
    if (node.kind !== 'column') return undefined;
    // A column of an outer query may stand anywhere.
    if (!this.input.scope.has(node.path)) return undefined;
    throw notInGroupBy(this.analysis.text(node.path[0].position), node.position);
  }

  /** The expression over the FROM clause; undefined where its parts mean something else out here (an alias in HAVING). */
  private beforeGrouping(node: Expression): Expr | undefined {
    if (node.kind === 'column') return analyzeExpression(node, this.input);
    try {
      return analyzeExpression(node, this.input);
    } catch (error) {
      if (error instanceof QueryError) return undefined;
      throw error;
    }
  }

  /** An aggregate function's value. */
  aggregate(call: FunctionCall): Expr {
    const { analysis } = this;
    const args = call.arguments.map((argument) => analyzeExpression(argument, this.input));
    if (call.name === 'grouping') {
      const keys = args.map((arg) => {
        if (!this.keys.some((key) => key.sql === arg.sql))
          throw semantic('Expression in GROUPING function not present in GROUP BY', arg.position, 10409);
        return arg.sql;
      });
      return this.grouping(keys, call.position);
    }
    const found = findAggregate(call);
    if (found === undefined) throw invalidFunction(call.name, call.position);
    const withinGroup = call.withinGroup?.map((item) => ({
      value: analyzeExpression(item.expression, this.input),
      item,
    }));
    const invoke: Invoke = (name, list, options = {}) => {
      const distinct = (options.distinct ?? call.distinct) ? 'DISTINCT ' : '';
      const filter = options.filter === undefined ? '' : ` FILTER (WHERE ${options.filter})`;
      return `${name}(${distinct}${list})${filter}`;
    };
    checkArguments({ analysis, name: call.name, args, position: call.position });
    const built = found.build(
      { analysis, name: call.name, args, position: call.position, distinct: call.distinct, withinGroup },
      invoke,
    );
    return this.register(built.sql, built.type, call.position);
  }

  private grouping(keys: readonly string[], position: Expr['position']): Expr {
    if (this.sets === undefined) return { sql: 'CAST(0 AS BIGINT)', type: BIGINT, position };
    return this.register(`CAST(GROUPING(${keys.join(', ')}) AS BIGINT)`, BIGINT, position);
  }

  private register(sql: string, type: HiveType, position: Expr['position']): Expr {
    const known = this.aggregates.get(sql) ?? { ref: `a${this.aggregates.size}`, type };
    this.aggregates.set(sql, known);
    return { sql: `${this.alias}.${known.ref}`, type, position };
  }

  private groupSql(): string {
    if (this.sets !== undefined) {
      const sets = this.sets.map((set) => `(${set.map((i) => this.keys[i].sql).join(', ')})`);
      return ` GROUP BY GROUPING SETS (${sets.join(', ')})`;
    }
    return this.keys.length === 0 ? '' : ` GROUP BY ${this.keys.map((_, i) => i + 1).join(', ')}`;
  }

  private groupingSets(): number[][] | undefined {
    const { groupBy } = this;
    if (groupBy === undefined || groupBy.mode === 'plain') return undefined;
    const all = this.keys.map((_, i) => i);
    switch (groupBy.mode) {
      case 'rollup':
        return [...all.keys(), all.length].map((_, i) => all.slice(0, all.length - i));
      case 'cube':
        return Array.from({ length: 2 ** all.length }, (_, mask) => all.filter((i) => (mask & (1 << i)) === 0));
      case 'grouping-sets':
        return (groupBy.sets ?? []).map((set) =>
          set.map((node) => {
            const { sql } = analyzeExpression(node, this.input);
            const index = this.keys.findIndex((key) => key.sql === sql);
            if (index < 0) {
              throw semantic('Grouping sets expression is not in GROUP BY key', node.position, 10213);
            }
            return index;
          }),
        );
    }
  }

  /** Of a table, the columns that are keys: what a subquery in the outer half may refer to. */
  private visible(table: ScopeTable): ScopeTable {
    const columns: ScopeColumn[] = [];
    for (const column of table.columns) {
      const index = this.keys.findIndex((key) => key.sql === column.sql);
      if (index >= 0) columns.push({ ...column, sql: `${this.alias}.k${index}`, use: undefined });
    }
    return { ...table, columns };
  }
}

/** The grouping of a SELECT that has GROUP BY or an aggregate. */
export function groupingOf(
  select: Select,
  tail: Pick<Query, 'orderBy'>,
  input: ExpressionEnvironment,
  fromSql: string,
): Grouping | undefined {
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

export const containsAggregate = (node: Expression): boolean =>
  someNode(node, (part) => part.kind === 'function' && isAggregate(part));

function someAggregate(node: Expression): FunctionCall | undefined {
  let found: FunctionCall | undefined;
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
