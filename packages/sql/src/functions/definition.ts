import type { Expr } from '../expressions/expr.js';
import type { ExpressionAnalysis } from '../expressions/expression-analysis.js';
import type { OrderItem, Position } from '../parse/ast-expression.js';
import type { HiveType } from '../types/hive-type.js';

export type FunctionCategory =
  | 'operator'
  | 'string'
  | 'date'
  | 'math'
  | 'conditional'
  | 'collection'
  | 'conversion'
  | 'hash'
  | 'misc'
  | 'aggregate'
  | 'window'
  | 'table';

/** A call under analysis: arguments analysed, not yet converted. */
export interface Call {
  readonly analysis: ExpressionAnalysis;
  readonly name: string;
  readonly args: readonly Expr[];
  readonly position: Position;
  /** Of aggregates: f(DISTINCT …). */
  readonly distinct?: boolean;
  /** With OVER. */
  readonly windowed?: boolean;
  /** Of aggregates: what WITHIN GROUP (ORDER BY …) orders by. */
  readonly withinGroup?: readonly SortedValue[] | undefined;
}

export interface SortedValue {
  readonly value: Expr;
  readonly item: OrderItem;
}

interface Definition {
  /** Lower case; the first is the name in the documentation. */
  readonly names: readonly string[];
  readonly category: FunctionCategory;
  /** How it is called, for the documentation. */
  readonly usage: string;
}
export interface ScalarFunction extends Definition {
  readonly kind: 'scalar';
  build(call: Call): Expr;
}
/** Writes the DuckDB aggregate `name(args)` with the call's DISTINCT, FILTER and OVER. */
export type Invoke = (name: string, args: string, options?: { filter?: string; distinct?: boolean }) => string;
export interface AggregateFunction extends Definition {
  readonly kind: 'aggregate';
  build(call: Call, invoke: Invoke): Expr;
}
/** Only with OVER. */
export interface WindowFunction extends Definition {
  readonly kind: 'window';
  build(call: Call, invoke: Invoke): Expr;
}
/** Rows of columns c0, c1, …; `select` may refer to the tables to its left. */
export interface TableFunctionResult {
  readonly columns: readonly { readonly name: string; readonly type: HiveType }[];
  readonly select: string;
}
export interface TableFunction extends Definition {
  readonly kind: 'table';
  build(call: Call): TableFunctionResult;
}
export type HiveFunction = ScalarFunction | AggregateFunction | WindowFunction | TableFunction;
