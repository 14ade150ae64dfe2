import type { Expr } from '../expressions/expr.js';
import type { Expression, FunctionCall } from '../parse/ast-expression.js';
import type { Analysis, QueryEnvironment } from './analysis.js';
import type { Scope } from './scope.js';

/** Where an expression stands: what its names mean, and what else it may hold. */
export interface ExpressionEnvironment {
  readonly analysis: Analysis;
  readonly environment: QueryEnvironment;
  readonly scope: Scope;
  /** Tried before everything else: keys and aggregates of a GROUP BY, aliases of the select list. */
  readonly replace?: (node: Expression) => Expr | undefined;
  /** An aggregate function without OVER; absent where none may stand. */
  readonly aggregate?: (call: FunctionCall) => Expr;
  /** A function with OVER; absent where none may stand. */
  readonly window?: (call: FunctionCall) => Expr;
}
