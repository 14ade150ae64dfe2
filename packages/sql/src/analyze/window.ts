import type { Invoke } from '../functions/definition.js';
import { findFunction } from '../functions/registry.js';
import type {
  Expression,
  FrameBound,
  FunctionCall,
  NamedWindow,
  OrderItem,
  WindowFrame,
  WindowSpecification,
} from '../parse/ast.js';
import { BIGINT } from '../types/hive-type.js';
import { isTime } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';
import { invalidFunction, semantic } from './errors.js';
import type { Expr } from './expr.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';

/** Hive 4 sorts NULLs last ascending and first descending (hive.default.nulls.last). */
export function orderSql(analysis: Analysis, item: Pick<OrderItem, 'direction' | 'nulls'>, sql: string): string {
  const last = analysis.flag('hive.default.nulls.last', true) === (item.direction === 'asc');
  const nulls = item.nulls ?? (last ? 'last' : 'first');
  return `${sql} ${item.direction.toUpperCase()} NULLS ${nulls.toUpperCase()}`;
}

/** `f(…) OVER (…)`. */
export function windowCall(call: FunctionCall, env: ExpressionEnvironment, windows: readonly NamedWindow[]): Expr {
  const found = findFunction(call.name);
  if (call.over === undefined || found === undefined || (found.kind !== 'aggregate' && found.kind !== 'window')) {
    throw invalidFunction(call.name, call.position);
  }
  const { analysis } = env;
  const inner: ExpressionEnvironment = { ...env, window: undefined };
  const of = (node: Expression) => analyzeExpression(node, inner);
  const over = overSql(resolved(call.over, windows), analysis, of);
  const args = call.arguments.map(of);
  const nulls = call.nulls === 'ignore' ? ' IGNORE NULLS' : '';
  const invoke: Invoke = (name, list, options = {}) => {
    const distinct = (options.distinct ?? call.distinct) ? 'DISTINCT ' : '';
    const filter = options.filter === undefined ? '' : ` FILTER (WHERE ${options.filter})`;
    return `${name}(${distinct}${list}${nulls})${filter} OVER (${over})`;
  };
  return {
    ...found.build({ analysis, name: call.name, args, position: call.position, distinct: call.distinct }, invoke),
    position: call.position,
  };
}

/** A specification with the named window it refers to filled in. */
function resolved(over: WindowSpecification, windows: readonly NamedWindow[], depth = 0): WindowSpecification {
  if (over.reference === undefined) return over;
  const name = over.reference.name.toLowerCase();
  const named = windows.find((window) => window.name.name.toLowerCase() === name);
  if (named === undefined || depth > windows.length) {
    throw semantic(`Window Spec ${over.reference.name} refers to an unknown source`, over.reference.position);
  }
  const base = resolved(named.specification, windows, depth + 1);
  return {
    partitionBy: over.partitionBy.length > 0 ? over.partitionBy : base.partitionBy,
    orderBy: over.orderBy.length > 0 ? over.orderBy : base.orderBy,
    ...((over.frame ?? base.frame) === undefined ? {} : { frame: over.frame ?? base.frame }),
    position: over.position,
  };
}

function overSql(over: WindowSpecification, analysis: Analysis, of: (node: Expression) => Expr): string {
  const partition = over.partitionBy.map((node) => of(node).sql);
  const range = over.frame?.unit === 'range' && hasValue(over.frame);
  const order = over.orderBy.map((item) => {
    const key = of(item.expression);
    // Distances between dates are days; between timestamps, seconds.
    const sql = !range
      ? key.sql
      : key.type.kind === 'date'
        ? `hv_days(${key.sql})`
        : isTime(key.type)
          ? `hv_seconds_double(${key.sql})`
          : key.sql;
    return orderSql(analysis, item, sql);
  });
  const parts = [
    ...(partition.length > 0 ? [`PARTITION BY ${partition.join(', ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
    ...(over.frame === undefined ? [] : [frameSql(over.frame, analysis, of)]),
  ];
  return parts.join(' ');
}

const hasValue = (frame: WindowFrame): boolean =>
  [frame.start, frame.end].some((bound) => bound?.kind === 'preceding' || bound?.kind === 'following');

function frameSql(frame: WindowFrame, analysis: Analysis, of: (node: Expression) => Expr): string {
  const bound = (b: FrameBound): string => {
    switch (b.kind) {
      case 'unbounded-preceding':
        return 'UNBOUNDED PRECEDING';
      case 'unbounded-following':
        return 'UNBOUNDED FOLLOWING';
      case 'current-row':
        return 'CURRENT ROW';
      case 'preceding':
      case 'following': {
        const value = of(b.value);
        const sql = frame.unit === 'rows' ? analysis.cast(value, BIGINT).sql : value.sql;
        return `${sql} ${b.kind.toUpperCase()}`;
      }
    }
  };
  const end = frame.end ?? ({ kind: 'current-row' } as const);
  return `${frame.unit.toUpperCase()} BETWEEN ${bound(frame.start)} AND ${bound(end)}`;
}
