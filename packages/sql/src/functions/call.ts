import type { Analysis } from '../analyze/analysis.js';
import { invalidFunction } from '../analyze/errors.js';
import type { Expr } from '../analyze/expr.js';
import type { FunctionCall, Position } from '../parse/ast-expression.js';
import { findFunction } from './registry.js';

/** A call of a scalar function. */
export function invokeFunction(analysis: Analysis, name: string, args: readonly Expr[], position: Position): Expr {
  const found = findFunction(name);
  if (found === undefined || found.kind !== 'scalar') throw invalidFunction(name, position);
  return { ...found.build({ analysis, name, args, position }), position };
}

/** Whether the call makes the query one with GROUP BY. */
export const isAggregate = (node: FunctionCall): boolean =>
  node.over === undefined && findFunction(node.name)?.kind === 'aggregate';
