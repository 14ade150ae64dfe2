import { invalidFunction, missingOver, nestedTableFunction } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import type { ExpressionAnalysis } from '../expressions/expression-analysis.js';
import type { FunctionCall, Position } from '../parse/ast-expression.js';
import { checkArguments } from './checks.js';
import type { AggregateFunction } from './definition.js';
import { missingReason } from './missing.js';
import { findFunction, findHypothetical } from './registry.js';

/** A call of a scalar function. */
export function invokeFunction(
  analysis: ExpressionAnalysis,
  name: string,
  args: readonly Expr[],
  position: Position,
): Expr {
  const found = findFunction(name);
  if (found === undefined || found.kind !== 'scalar') {
    const why = found === undefined ? missingReason(name.toLowerCase()) : undefined;
    if (found?.kind === 'window') throw missingOver(name, position);
    if (found?.kind === 'table') throw nestedTableFunction(position);
    throw invalidFunction(why === undefined ? name : `${name}: skep does not have it, because ${why}`, position);
  }
  const call = { analysis, name, args, position };
  checkArguments(call);
  return { ...found.build(call), position };
}

/** Whether the call makes the query one with GROUP BY. */
export function isAggregate(node: FunctionCall): boolean {
  return node.over === undefined && findAggregate(node) !== undefined;
}

/** With WITHIN GROUP, RANK and its kin are aggregates. */
export function findAggregate(node: FunctionCall): AggregateFunction | undefined {
  const hypothetical = node.withinGroup === undefined ? undefined : findHypothetical(node.name);
  if (hypothetical !== undefined) return hypothetical;
  const found = findFunction(node.name);
  return found?.kind === 'aggregate' ? found : undefined;
}
