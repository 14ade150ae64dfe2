import type { DecimalValue } from '@skep/orc';
import type {
  DateLiteral,
  IntervalUnit,
  NumberLiteral,
  Position,
  StringLiteral,
  TimestampLiteral,
} from '../parse/ast-expression.js';
import { dateText, dayTimeNanos, parseDate, parseTimestamp } from '../text/calendar.js';
import {
  BIGINT,
  DATE,
  DOUBLE,
  decimal,
  INT,
  INTERVAL_DAY_TIME,
  INTERVAL_YEAR_MONTH,
  SMALLINT,
  STRING,
  TIMESTAMP,
  TIMESTAMPLOCALTZ,
  TINYINT,
} from '../types/hive-type.js';
import { semantic } from './errors.js';
import { type Expr, sqlString } from './expr.js';

export const stringLiteral = (node: StringLiteral): Expr => ({
  sql: sqlString(node.value),
  type: STRING,
  position: node.position,
  literal: node.value,
});

const invalidNumber = (node: NumberLiteral, text: string) =>
  semantic(
    `Line ${node.position.line}:${node.position.column} Invalid numerical constant '${text}'`,
    node.position,
    10029,
  );

/** A number as Hive types it (TypeCheckProcFactory.NumExprProcessor): int, bigint or decimal by its size, decimal, double. */
export function numberLiteral(node: NumberLiteral, negative: boolean, position: Position): Expr {
  const text = `${negative ? '-' : ''}${node.text}`;
  switch (node.suffix) {
    case 'Y':
    case 'S':
    case 'L': {
      // The sign is an operator around the constant: 128Y is none, even with a minus.
      const limits = { Y: [TINYINT, 127n], S: [SMALLINT, 32767n], L: [BIGINT, 9223372036854775807n] } as const;
      const [type, limit] = limits[node.suffix];
      const value = BigInt(node.text);
      if (value > limit) throw invalidNumber(node, `${node.text}${node.suffix}`);
      return integer(negative ? -value : value, type, position);
    }
    case 'D':
      return double(Number(text), position);
    case 'BD':
      return decimalLiteral(text, position);
    case '': {
      if (/[eE]/.test(node.text)) return double(Number(text), position);
      if (!/^\d+$/.test(node.text)) return decimalLiteral(text, position);
      const magnitude = BigInt(node.text);
      const value = negative ? -magnitude : magnitude;
      if (magnitude <= 2147483647n) return integer(value, INT, position);
      if (magnitude <= 9223372036854775807n) return integer(value, BIGINT, position);
      return decimalLiteral(text, position);
    }
  }
}

const integer = (value: bigint, type: typeof INT, position: Position): Expr => ({
  sql: `CAST(${value} AS ${{ tinyint: 'TINYINT', smallint: 'SMALLINT', int: 'INTEGER' }[type.kind as string] ?? 'BIGINT'})`,
  type,
  position,
  literal: value,
});

export const double = (value: number, position: Position): Expr => ({
  sql: Number.isFinite(value) ? `CAST('${value}' AS DOUBLE)` : `CAST('${value > 0 ? 'inf' : '-inf'}' AS DOUBLE)`,
  type: DOUBLE,
  position,
  literal: value,
});

/** Trailing zeros of the fraction do not count (HiveDecimal): 1.50 is decimal(2,1). */
function decimalLiteral(text: string, position: Position): Expr {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const kept = fraction.replace(/0+$/, '');
  const digits = `${whole}${kept}`.replace(/^0+/, '');
  const scale = kept.length;
  const precision = Math.max(digits.length, scale, 1);
  if (precision > 38) return double(Number(text), position);
  const unscaled = BigInt(`${negative ? '-' : ''}${digits || '0'}`);
  const shown = `${negative ? '-' : ''}${whole || '0'}${scale > 0 ? `.${kept}` : ''}`;
  const literal: DecimalValue = { unscaled, scale };
  return {
    sql: `CAST('${shown}' AS DECIMAL(${precision},${scale}))`,
    type: decimal(precision, scale),
    position,
    literal,
  };
}

export function dateLiteral(node: DateLiteral): Expr {
  const days = parseDate(node.value);
  if (days === undefined) {
    throw semantic(`Unable to convert time literal '${node.value}' to time value.`, node.position);
  }
  return { sql: `DATE '${dateText(days)}'`, type: DATE, position: node.position, literal: days };
}

export const nanosSql = (nanos: bigint): string => `CAST(${nanos} AS HUGEINT)`;

export function timestampLiteral(node: TimestampLiteral): Expr {
  const value = parseTimestamp(node.value);
  // A date alone is no timestamp here.
  if (value === undefined || !/\d[ T]\d/.test(node.value)) {
    throw semantic(`Unable to convert time literal '${node.value}' to time value.`, node.position);
  }
  return {
    sql: nanosSql(value.seconds * 1_000_000_000n + BigInt(value.nanos)),
    type: node.localTimeZone ? TIMESTAMPLOCALTZ : TIMESTAMP,
    position: node.position,
    literal: value,
  };
}

const MONTHS: Partial<Record<IntervalUnit, number>> = { year: 12, quarter: 3, month: 1 };
const NANOS: Partial<Record<IntervalUnit, bigint>> = {
  week: 604_800_000_000_000n,
  day: 86_400_000_000_000n,
  hour: 3_600_000_000_000n,
  minute: 60_000_000_000n,
  second: 1_000_000_000n,
};

/** `INTERVAL value unit` of a constant's text (HiveIntervalYearMonth.valueOf, HiveIntervalDayTime.valueOf); undefined where it is none. */
export function intervalOfText(text: string, unit: IntervalUnit, position: Position): Expr | undefined {
  const months = (value: number): Expr => ({ sql: `CAST(${value} AS INTEGER)`, type: INTERVAL_YEAR_MONTH, position });
  const nanos = (value: bigint): Expr => ({ sql: nanosSql(value), type: INTERVAL_DAY_TIME, position });
  const trimmed = text.trim();
  if (unit === 'year to month') {
    const match = /^([+-]?)(\d+)-(\d+)$/.exec(trimmed);
    if (match === null) return undefined;
    const value = Number(match[2]) * 12 + Number(match[3]);
    return months(match[1] === '-' ? -value : value);
  }
  if (unit === 'day to second') {
    const value = dayTimeNanos(trimmed);
    return value === undefined ? undefined : nanos(value);
  }
  const perMonth = MONTHS[unit];
  if (perMonth !== undefined) return /^[+-]?\d+$/.test(trimmed) ? months(Number(trimmed) * perMonth) : undefined;
  const perUnit = NANOS[unit];
  if (perUnit === undefined) return undefined;
  const match = /^([+-]?)(\d+)(?:\.(\d{1,9}))?$/.exec(trimmed);
  if (match === null || (match[3] !== undefined && unit !== 'second')) return undefined;
  const value = BigInt(match[2]) * perUnit + BigInt((match[3] ?? '').padEnd(9, '0'));
  return nanos(match[1] === '-' ? -value : value);
}

/** Of any expression (an integer). */
export function intervalOfValue(value: Expr, unit: IntervalUnit, position: Position): Expr | undefined {
  const perMonth = MONTHS[unit];
  if (perMonth !== undefined) {
    return { sql: `CAST(${value.sql} * ${perMonth} AS INTEGER)`, type: INTERVAL_YEAR_MONTH, position };
  }
  const perUnit = NANOS[unit];
  if (perUnit === undefined) return undefined;
  return { sql: `(CAST(${value.sql} AS HUGEINT) * ${nanosSql(perUnit)})`, type: INTERVAL_DAY_TIME, position };
}
