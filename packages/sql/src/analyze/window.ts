import { invalidFunction, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { checkArguments } from '../functions/checks.js';
import type { AggregateFunction, Call, Invoke, WindowFunction } from '../functions/definition.js';
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
import { isText, isTime } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';
import { analyzeExpression } from './expression.js';
import type { ExpressionEnvironment } from './expression-environment.js';
import { someNode } from './walk.js';

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
  if (call.nulls !== undefined && !['first_value', 'last_value'].includes(call.name)) {
    throw semantic(`Function ${call.name} does not support null treatment.`, call.position, 10426);
  }
  const { analysis } = env;
  const inner: ExpressionEnvironment = { ...env, window: undefined };
  const of = (node: Expression) => analyzeExpression(node, inner);
  const specification = resolved(call.over, windows);
  if (found.kind === 'window' && !TAKES_FRAME.includes(call.name) && specification.frame !== undefined) {
    throw semantic(`Expecting no window frame for ${call.name}: it has its own`, specification.frame.position);
  }
  const over = overSql(specification, analysis, of);
  const args = call.arguments.map(of);
  const nulls = call.nulls === 'ignore' ? ' IGNORE NULLS' : '';
  const invoke: Invoke = (name, list, options = {}) => {
    const distinct = (options.distinct ?? call.distinct) ? 'DISTINCT ' : '';
    const filter = options.filter === undefined ? '' : ` FILTER (WHERE ${options.filter})`;
    return `${name}(${distinct}${list}${nulls})${filter} OVER (${over})`;
  };
  return {
    ...buildWindow(
      found,
      { analysis, name: call.name, args, position: call.position, distinct: call.distinct, windowed: true },
      invoke,
    ),
    position: call.position,
  };
}

const TAKES_FRAME = ['first_value', 'last_value'];

function buildWindow(found: AggregateFunction | WindowFunction, call: Call, invoke: Invoke): Expr {
  checkArguments(call);
  return found.build(call, invoke);
}

/**
 * Names of window calls without an alias: Hive reckons the calls with one PARTITION BY and ORDER BY together, and those
 * reckoned last keep the name of their place, `sum_window_0`; the others are `_c1` as any expression is.
 */
export function windowNames(
  items: readonly Expression[],
  windows: readonly NamedWindow[],
): ReadonlyMap<Expression, string> {
  const calls: { call: FunctionCall; group: string }[] = [];
  for (const item of items) {
    someNode(item, (part) => {
      if (part.kind === 'function' && part.over !== undefined) {
        const { partitionBy, orderBy } = resolved(part.over, windows);
        const order =
          orderBy.length > 0
            ? orderBy.map(({ expression, direction }) => [plain(expression), direction])
            : partitionBy.map((key) => [plain(key), 'asc']);
        calls.push({ call: part, group: JSON.stringify([partitionBy.map(plain), order]) });
      }
      return false;
    });
  }
  const lastGroup = [...new Set(calls.map(({ group }) => group))].at(-1);
  return new Map(
    calls.flatMap(({ call, group }, i) => (group === lastGroup ? [[call, `${call.name}_window_${i}`] as const] : [])),
  );
}

/** A node without its places in the text. */
const plain = (node: Expression): unknown =>
  JSON.parse(JSON.stringify(node, (key, value: unknown) => (key === 'position' ? undefined : value)));

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
  let overText = false;
  const order = over.orderBy.map((item) => {
    const key = of(item.expression);
    if (isText(key.type)) overText = true;
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
    ...(over.frame === undefined ? [] : [frameSql(over.frame, analysis, of, range && overText)]),
  ];
  return parts.join(' ');
}

/** From the first row to the last. */
const RANK: Readonly<Record<FrameBound['kind'], number>> = {
  'unbounded-preceding': 0,
  preceding: 1,
  'current-row': 2,
  following: 3,
  'unbounded-following': 4,
};

function checkFrame(frame: WindowFrame, end: FrameBound): void {
  const amount = (bound: FrameBound): number =>
    'value' in bound && bound.value.kind === 'number'
      ? Number(bound.value.text) * (bound.kind === 'preceding' ? -1 : 1)
      : 0;
  const { start } = frame;
  const wrong =
    start.kind === 'unbounded-following' ||
    end.kind === 'unbounded-preceding' ||
    RANK[start.kind] > RANK[end.kind] ||
    (start.kind === end.kind && amount(start) > amount(end));
  if (wrong) throw semantic('Window range invalid, start boundary is greater than end boundary', frame.position);
}

const hasValue = (frame: WindowFrame): boolean =>
  [frame.start, frame.end].some((bound) => bound?.kind === 'preceding' || bound?.kind === 'following');

function frameSql(frame: WindowFrame, analysis: Analysis, of: (node: Expression) => Expr, overText: boolean): string {
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
        // Text has no distances: only equal text is near (StringValueBoundaryScanner).
        if (overText) return 'CURRENT ROW';
        const value = of(b.value);
        const sql = frame.unit === 'rows' ? analysis.cast(value, BIGINT).sql : value.sql;
        return `${sql} ${b.kind.toUpperCase()}`;
      }
    }
  };
  const end = frame.end ?? ({ kind: 'current-row' } as const);
  checkFrame(frame, end);
  return `${frame.unit.toUpperCase()} BETWEEN ${bound(frame.start)} AND ${bound(end)}`;
}
