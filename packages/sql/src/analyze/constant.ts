import { SkepError } from '@skep/core';
import type { DecimalValue, SargLiteral, TimestampValue, VectorValue } from '@skep/orc';
import type { Expression } from '../parse/ast-expression.js';
import { duckTypeName } from '../types/duck-type.js';
import type { HiveType } from '../types/hive-type.js';
import { isInteger } from '../types/type-rules.js';
import type { Analysis } from './analysis.js';
import type { Expr } from './expr.js';
import type { AnalyzedQuery } from './query.js';

/**
 * An expression without columns that a column is compared with. Its value is known when the analysis ends (Hive folds constants:
 * ConstantPropagate), so that `k = md5('1')` prunes as a literal does.
 */
export class Constant {
  /** In the form of a search argument's literal; undefined: not known. */
  value: SargLiteral | undefined;

  constructor(readonly expr: Expr) {}
}

/** Functions whose answer is another one each time, or that are there for what they do. */
const VOLATILE = new Set(
  'rand uuid surrogate_key reflect reflect2 java_method assert_true assert_true_oom raise_error enforce_constraint sq_count_check'.split(
    ' ',
  ),
);

/** Whether a node has the same value in every row, by its form alone. */
function isConstant(node: Expression): boolean {
  switch (node.kind) {
    case 'boolean':
    case 'string':
    case 'number':
    case 'date':
    case 'timestamp':
      return true;
    case 'interval':
      return isConstant(node.value);
    case 'unary':
    case 'cast':
    case 'extract':
    case 'floor-to':
      return isConstant(node.operand);
    case 'binary':
      return isConstant(node.left) && isConstant(node.right);
    case 'function':
      return node.over === undefined && !node.star && !VOLATILE.has(node.name) && node.arguments.every(isConstant);
    default:
      return false;
  }
}

/** The analysed node, marked where it is a constant expression that is no literal. */
export const withConstant = (node: Expression, expr: Expr): Expr =>
  expr.literal === undefined && expr.column === undefined && isConstant(node)
    ? { ...expr, constant: new Constant(expr) }
    : expr;

/** Reckons the constants that conditions on tables wait for, all by one query. */
export async function reckonConstants(analysis: Analysis): Promise<void> {
  const { evaluate } = analysis.context;
  const constants = [...new Set(analysis.uses.flatMap((use) => use.constants))];
  if (constants.length === 0 || evaluate === undefined) return;
  const query: AnalyzedQuery = {
    columns: constants.map(({ expr: { type } }, i) => ({ name: `c${i}`, bareName: `c${i}`, type })),
    tables: [],
    sql: `SELECT ${constants.map(({ expr }, i) => `CAST(${expr.sql} AS ${duckTypeName(expr.type)}) AS c${i}`).join(', ')}`,
    udfs: analysis.udfs.all,
    ordered: false,
  };
  let values: readonly VectorValue[];
  try {
    values = await evaluate(query);
  } catch (error) {
    // The statement fails in the same way if it comes to the expression, and tells why.
    if (error instanceof SkepError) return;
    throw error;
  }
  constants.forEach((constant, i) => {
    constant.value = literalOf(constant.expr.type, values[i]);
  });
}

/** A value as a literal of its type has it. */
function literalOf(type: HiveType, value: VectorValue | undefined): SargLiteral | undefined {
  if (value === undefined || value === null) return undefined;
  if (isInteger(type)) return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : undefined;
  switch (type.kind) {
    case 'double':
    case 'date':
    case 'string':
    case 'varchar':
      return typeof value === 'number' || typeof value === 'string' ? value : undefined;
    case 'decimal':
      return typeof value === 'object' && 'unscaled' in value ? (value as DecimalValue) : undefined;
    case 'timestamp':
      return typeof value === 'object' && 'seconds' in value ? (value as TimestampValue) : undefined;
    default:
      return undefined;
  }
}
