import type { IsDistinctExpression, IsExpression, LogicalExpression, Position } from '../parse/ast-expression.js';
import { BOOLEAN, typeName } from '../types/hive-type.js';
import { isNumeric, isText } from '../types/type-rules.js';
import type { AnalyzePart } from './analyze-part.js';
import { compare, type Predicate } from './comparison.js';
import { wrongArguments } from './errors.js';
import { derive } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';
import { isNullCondition, joined, notCondition } from './sarg.js';

/** A condition: boolean, or what AND, OR, NOT and WHERE take for one. */
export function asBoolean(value: Predicate, env: { analysis: ExpressionAnalysis }): Predicate {
  if (value.type.kind === 'boolean') return value;
  const { type } = value;
  if (type.kind === 'void') return derive(value, BOOLEAN, 'CAST(NULL AS BOOLEAN)');
  if (isNumeric(type) || isText(type)) return env.analysis.cast(value, BOOLEAN);
  throw wrongArguments(
    env.analysis.text(value.position),
    `"boolean" is expected, but "${typeName(type)}" is found`,
    value.position,
  );
}

export function not(value: Predicate, analysis: ExpressionAnalysis, position: Position): Predicate {
  const condition = asBoolean(value, { analysis });
  return {
    ...derive(condition, BOOLEAN, `(NOT ${condition.sql})`),
    position,
    condition: notCondition(value.condition),
  };
}

/** AND and OR. */
export function logical(node: LogicalExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const operands = node.operands.map(of);
  const sql = operands.map((operand) => asBoolean(operand, { analysis }).sql).join(` ${node.operator.toUpperCase()} `);
  return {
    sql: `(${sql})`,
    type: BOOLEAN,
    position: node.position,
    condition: joined(
      node.operator,
      operands.map((operand) => operand.condition),
    ),
  };
}

/** IS [NOT] NULL, TRUE, FALSE, UNKNOWN. */
export function is(node: IsExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const value = of(node.operand);
  const negation = node.negated ? 'NOT ' : '';
  const { position } = node;
  if (node.test === 'null' || node.test === 'unknown') {
    const condition = isNullCondition(value);
    return {
      sql: `(${value.sql} IS ${negation}NULL)`,
      type: BOOLEAN,
      position,
      condition: node.negated ? notCondition(condition) : condition,
    };
  }
  return {
    sql: `(${asBoolean(value, { analysis }).sql} IS ${negation}${node.test.toUpperCase()})`,
    type: BOOLEAN,
    position,
  };
}

export function isDistinct(node: IsDistinctExpression, analysis: ExpressionAnalysis, of: AnalyzePart): Predicate {
  const same = compare(analysis, '<=>', of(node.left), of(node.right));
  if (node.negated) return same;
  return { ...derive(same, BOOLEAN, `(NOT ${same.sql})`), condition: notCondition(same.condition) };
}
