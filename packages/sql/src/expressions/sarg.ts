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
  /** Known when its constants are; undefined where Hive compares in another type, so that the column's statistics say nothing. */
  readonly sarg: () => Sarg | undefined;
}

/** A value that is a literal, or one that is going to be known. */
type Known = () => { readonly type: HiveType; readonly literal: SargLiteral } | undefined;

function known(use: TableUseBuilder, { literal, type, constant }: Expr): Known | undefined {
  if (literal !== undefined) return () => ({ type, literal });
  if (constant === undefined) return undefined;
  use.constants.push(constant);
  return () => (constant.value === undefined ? undefined : { type, literal: constant.value });
}

const DAY_SECONDS = 86_400n;
/** Doubles up to here are integers that no other integer is rounded to. */
const EXACT = 2 ** 53;

/** A value in the form of a column's own type; undefined where the column's statistics say nothing of the comparison. */
function literalFor(column: HiveType, value: ReturnType<Known>): SargLiteral | undefined {
  if (value === undefined || value.literal === null) return undefined;
  const { literal, type } = value;
  switch (column.kind) {
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
      return isInteger(type)
        ? literal
        : ['string', 'varchar', 'double'].includes(type.kind)
          ? numberOf(literal)
          : undefined;
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
      if (type.kind === 'timestamp') return midnightOf(literal);
      return typeof literal === 'string' ? parseDate(literal) : undefined;
    case 'timestamp': {
      if (type.kind === 'timestamp') return literal;
      if (type.kind === 'date' && typeof literal === 'number')
        return { seconds: BigInt(literal) * DAY_SECONDS, nanos: 0 };
      const parsed: TimestampValue | undefined = typeof literal === 'string' ? parseTimestamp(literal) : undefined;
      return parsed;
    }
    default:
      return undefined;
  }
}

/** Text and doubles are compared with integers as doubles: the same as comparing the integers, up to 2^53. */
function numberOf(literal: SargLiteral): number | undefined {
  const isNumber = typeof literal === 'string' ? /^[+-]?\d+(\.\d+)?$/.test(literal) : typeof literal === 'number';
  const value = isNumber ? Number(literal) : Number.NaN;
  return Math.abs(value) < EXACT ? value : undefined;
}

/** A date is compared with a timestamp as its midnight. */
function midnightOf(literal: SargLiteral): number | undefined {
  if (typeof literal !== 'object' || literal === null || !('seconds' in literal)) return undefined;
  return literal.nanos === 0 && literal.seconds % DAY_SECONDS === 0n
    ? Number(literal.seconds / DAY_SECONDS)
    : undefined;
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
  const { use, name: column } = a.column;
  const value = known(use, b);
  if (value === undefined) return undefined;
  const sarg = (): Sarg | undefined => {
    const literal = literalFor(a.type, value());
    return literal === undefined ? undefined : comparisonSarg(operator, column, literal);
  };
  return { use, sarg };
}

function comparisonSarg(operator: ComparisonOperator, column: string, literal: SargLiteral): Sarg {
  const not = (child: Sarg): Sarg => ({ op: 'not', child });
  switch (operator) {
    case '=':
      return { op: 'equals', column, literal };
    case '<=>':
      return { op: 'nullSafeEquals', column, literal };
    case '<>':
      return not({ op: 'equals', column, literal });
    case '<':
      return { op: 'lessThan', column, literal };
    case '<=':
      return { op: 'lessThanEquals', column, literal };
    case '>':
      return not({ op: 'lessThanEquals', column, literal });
    case '>=':
      return not({ op: 'lessThan', column, literal });
  }
}

export function inCondition(operand: Expr, items: readonly Expr[]): Condition | undefined {
  if (operand.column === undefined) return undefined;
  const { use, name: column } = operand.column;
  const values: Known[] = [];
  for (const item of items) {
    const value = known(use, item);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const sarg = (): Sarg | undefined => {
    const literals = values.flatMap((value) => literalFor(operand.type, value()) ?? []);
    return literals.length === values.length ? { op: 'in', column, literals } : undefined;
  };
  return { use, sarg };
}

export function betweenCondition(operand: Expr, low: Expr, high: Expr): Condition | undefined {
  if (operand.column === undefined) return undefined;
  const { use, name: column } = operand.column;
  const [from, to] = [known(use, low), known(use, high)];
  if (from === undefined || to === undefined) return undefined;
  const sarg = (): Sarg | undefined => {
    const [first, last] = [literalFor(operand.type, from()), literalFor(operand.type, to())];
    return first === undefined || last === undefined ? undefined : { op: 'between', column, low: first, high: last };
  };
  return { use, sarg };
}

export function isNullCondition(operand: Expr): Condition | undefined {
  if (operand.column === undefined) return undefined;
  const { use, name: column } = operand.column;
  return { use, sarg: () => ({ op: 'isNull', column }) };
}

export function notCondition(condition: Condition | undefined): Condition | undefined {
  if (condition === undefined) return undefined;
  const sarg = (): Sarg | undefined => {
    const child = condition.sarg();
    return child && { op: 'not', child };
  };
  return { use: condition.use, sarg };
}

/** AND or OR of conditions on one table; undefined where one has none or they are on several. */
export function joined(op: 'and' | 'or', conditions: readonly (Condition | undefined)[]): Condition | undefined {
  const first = conditions[0];
  if (first === undefined) return undefined;
  const parts: Condition[] = [];
  for (const condition of conditions) {
    if (condition === undefined || condition.use !== first.use) return undefined;
    parts.push(condition);
  }
  const sarg = (): Sarg | undefined => {
    const children = parts.flatMap((part) => part.sarg() ?? []);
    return children.length === parts.length ? { op, children } : undefined;
  };
  return { use: first.use, sarg };
}
