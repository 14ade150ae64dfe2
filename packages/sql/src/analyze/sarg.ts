import type { Sarg, SargLiteral, TimestampValue } from '@skep/orc';
import type { ComparisonOperator } from '../parse/ast-expression.js';
import { parseDate, parseTimestamp } from '../text/calendar.js';
import type { HiveType } from '../types/hive-type.js';
import { isInteger } from '../types/type-rules.js';
import type { Expr } from './expr.js';
import type { TableUseBuilder } from './table-use.js';

/** A condition on columns of one table alone. */
export interface Condition {
  readonly use: TableUseBuilder;
  readonly sarg: Sarg;
}

/**
 * A literal as a value of a column's own type; undefined where Hive compares in another type, so that the column's
 * statistics say nothing.
 */
function literalFor(column: HiveType, value: Expr): SargLiteral | undefined {
  const { literal, type } = value;
  if (literal === undefined || literal === null) return undefined;
  switch (column.kind) {
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
      return isInteger(type) ? literal : undefined;
    case 'double':
      return typeof literal === 'bigint' && isInteger(type) && type.kind !== 'bigint'
        ? Number(literal)
        : typeof literal === 'number' && type.kind === 'double'
          ? literal
          : undefined;
    case 'decimal':
      return isInteger(type) || type.kind === 'decimal' ? literal : undefined;
    case 'string':
    case 'varchar':
      return typeof literal === 'string' ? literal : undefined;
    case 'date':
      if (type.kind === 'date') return literal;
      return typeof literal === 'string' ? parseDate(literal) : undefined;
    case 'timestamp': {
      if (type.kind === 'timestamp') return literal;
      const parsed: TimestampValue | undefined = typeof literal === 'string' ? parseTimestamp(literal) : undefined;
      return parsed;
    }
    default:
      return undefined;
  }
}

const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '<=>': '<=>',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

export function comparisonCondition(operator: ComparisonOperator, a: Expr, b: Expr): Condition | undefined {
  if (a.column === undefined) {
    return b.column === undefined ? undefined : comparisonCondition(MIRRORED[operator], b, a);
  }
  const literal = literalFor(a.type, b);
  if (literal === undefined) return undefined;
  const { use, name: column } = a.column;
  const not = (child: Sarg): Sarg => ({ op: 'not', child });
  switch (operator) {
    case '=':
      return { use, sarg: { op: 'equals', column, literal } };
    case '<=>':
      return { use, sarg: { op: 'nullSafeEquals', column, literal } };
    case '<>':
      return { use, sarg: not({ op: 'equals', column, literal }) };
    case '<':
      return { use, sarg: { op: 'lessThan', column, literal } };
    case '<=':
      return { use, sarg: { op: 'lessThanEquals', column, literal } };
    case '>':
      return { use, sarg: not({ op: 'lessThanEquals', column, literal }) };
    case '>=':
      return { use, sarg: not({ op: 'lessThan', column, literal }) };
  }
}

export function inCondition(operand: Expr, items: readonly Expr[]): Condition | undefined {
  if (operand.column === undefined) return undefined;
  const literals: SargLiteral[] = [];
  for (const item of items) {
    const literal = literalFor(operand.type, item);
    if (literal === undefined) return undefined;
    literals.push(literal);
  }
  return { use: operand.column.use, sarg: { op: 'in', column: operand.column.name, literals } };
}

export function betweenCondition(operand: Expr, low: Expr, high: Expr): Condition | undefined {
  if (operand.column === undefined) return undefined;
  const [from, to] = [literalFor(operand.type, low), literalFor(operand.type, high)];
  if (from === undefined || to === undefined) return undefined;
  return { use: operand.column.use, sarg: { op: 'between', column: operand.column.name, low: from, high: to } };
}

export const isNullCondition = (operand: Expr): Condition | undefined =>
  operand.column === undefined
    ? undefined
    : { use: operand.column.use, sarg: { op: 'isNull', column: operand.column.name } };

export const notCondition = (condition: Condition | undefined): Condition | undefined =>
  condition === undefined ? undefined : { use: condition.use, sarg: { op: 'not', child: condition.sarg } };

/** AND or OR of conditions on one table; undefined where one has none or they are on several. */
export function joined(op: 'and' | 'or', conditions: readonly (Condition | undefined)[]): Condition | undefined {
  const first = conditions[0];
  if (first === undefined) return undefined;
  const children: Sarg[] = [];
  for (const condition of conditions) {
    if (condition === undefined || condition.use !== first.use) return undefined;
    children.push(condition.sarg);
  }
  return { use: first.use, sarg: { op, children } };
}
