import type { SargLiteral } from '@skep/orc';
import type { Expression } from '../parse/ast-expression.js';
import type { Expr } from './expr.js';

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
