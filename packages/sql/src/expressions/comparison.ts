import type { BetweenExpression, ComparisonOperator, InListExpression, Position } from '../parse/ast-expression.js';
import { BOOLEAN, type HiveType, typeName } from '../types/hive-type.js';
import { comparisonType, isUnsafeComparison } from '../types/type-rules.js';
import type { AnalyzePart } from './analyze-part.js';
import { withConstant } from './constant.js';
import { argumentType, wrongArguments } from './errors.js';
import { derive, type Expr, sqlString } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';
import { betweenCondition, type Condition, comparisonCondition, inCondition, notCondition } from './sarg.js';

/** A boolean that may also be a search argument. */
export interface Predicate extends Expr {
  readonly condition?: Condition | undefined;
}

const UNSAFE =
  "Unsafe compares between different types are disabled for safety reasons. If you know what you are doing, please set hive.strict.checks.type.safety to false and make sure that hive.mapred.mode is not set to 'strict' to proceed. Note that you may get errors or incorrect results if you make a mistake while using some of the unsafe features.";

/** Both sides in the type that they are compared in. */
export function comparable(analysis: ExpressionAnalysis, a: Expr, b: Expr, strict = true): [Expr, Expr] {
  const type = comparisonType(a.type, b.type);
  if (type === undefined) {
    throw wrongArguments(
      analysis.text(b.position),
      `No matching method to compare ${typeName(a.type)} with ${typeName(b.type)}`,
      a.position,
    );
  }
  if (strict && isUnsafeComparison(a.type, b.type) && analysis.flag('hive.strict.checks.type.safety', true)) {
    throw wrongArguments(analysis.text(b.position), UNSAFE, a.position);
  }
  return [convert(analysis, charLiteral(a, b), type), convert(analysis, charLiteral(b, a), type)];
}

/** Beside a char column a constant is a char too: blanks at its end do not count. */
const charLiteral = (value: Expr, other: Expr): Expr =>
  other.type.kind === 'char' && other.column !== undefined && typeof value.literal === 'string'
    ? { ...value, sql: sqlString(value.literal.replace(/ +$/, '')) }
    : value;

/** Comparisons may convert where CAST may not: a date with a number is false, not an error. */
function convert(analysis: ExpressionAnalysis, value: Expr, type: HiveType): Expr {
  // A date is no number: NaN equals none, and is not below any.
  if (value.type.kind === 'date' && type.kind === 'double') {
    return derive(value, type, `CASE WHEN ${value.sql} IS NOT NULL THEN CAST('nan' AS DOUBLE) END`);
  }
  return analysis.cast(value, type);
}

export function compare(analysis: ExpressionAnalysis, operator: ComparisonOperator, a: Expr, b: Expr): Predicate {
  const unordered = ['array', 'map', 'struct', 'uniontype'].includes(a.type.kind);
  if (unordered && !['=', '<>', '<=>'].includes(operator)) {
    throw wrongArguments(
      analysis.text(b.position),
      `${operator} does not support ${a.type.kind === 'array' ? 'LIST' : a.type.kind.toUpperCase()} types`,
      a.position,
    );
  }
  const [left, right] = comparable(analysis, a, b);
  const symbol = operator === '<=>' ? 'IS NOT DISTINCT FROM' : operator;
  return {
    ...derive(a, BOOLEAN, `(${left.sql} ${symbol} ${right.sql})`),
    position: { ...a.position, end: b.position.end },
    condition: comparisonCondition(operator, a, b),
  };
}

/** `a IN (b, c)`: all in one type. */
export function inList(node: InListExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const items = node.items.map((item) => withConstant(item, of(item)));
  const found = inValues(analysis, of(node.operand), items, node.position);
  if (!node.negated) return found;
  return { ...found, sql: `(NOT ${found.sql})`, condition: notCondition(found.condition) };
}

export function inValues(
  analysis: ExpressionAnalysis,
  operand: Expr,
  items: readonly Expr[],
  position: Position,
): Predicate {
  let type: HiveType = operand.type;
  for (const item of items) {
    // Unsafe types are let pass here: Hive converts the constants of a list.
    comparable(analysis, operand, item, false);
    const common = comparisonType(type, item.type);
    if (common === undefined) {
      throw argumentType(
        analysis.text(item.position),
        `The arguments for IN should be the same type! Types are: {${typeName(type)} IN (${items.map((i) => typeName(i.type)).join(', ')})}`,
        operand.position,
      );
    }
    type = common;
  }
  const list = items.map((item) => analysis.cast(item, type).sql).join(', ');
  return {
    sql: `(${analysis.cast(operand, type).sql} IN (${list}))`,
    type: BOOLEAN,
    position,
    condition: inCondition(operand, items),
  };
}

export function between(node: BetweenExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const [low, high] = [withConstant(node.low, of(node.low)), withConstant(node.high, of(node.high))];
  const found = betweenValues(analysis, of(node.operand), low, high, node.position);
  if (!node.negated) return found;
  return { ...found, sql: `(NOT ${found.sql})`, condition: notCondition(found.condition) };
}

export function betweenValues(
  analysis: ExpressionAnalysis,
  operand: Expr,
  low: Expr,
  high: Expr,
  position: Position,
): Predicate {
  const from = compare(analysis, '>=', operand, low);
  const to = compare(analysis, '<=', operand, high);
  return {
    sql: `(${from.sql} AND ${to.sql})`,
    type: BOOLEAN,
    position,
    condition: betweenCondition(operand, low, high),
  };
}
