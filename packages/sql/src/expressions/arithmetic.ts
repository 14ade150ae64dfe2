import type { DecimalValue, VectorValue } from '@skep/orc';
import { divideHalfUp, rescale } from '../emit/cast.js';
import type { ArithmeticOperator, BinaryExpression } from '../parse/ast-expression.js';
import { duckTypeName } from '../types/duck-type.js';
import {
  BIGINT,
  DATE,
  type DecimalHiveType,
  DOUBLE,
  decimal,
  type HiveType,
  INT,
  INTERVAL_DAY_TIME,
  STRING,
  TIMESTAMP,
  typeName,
  VOID,
} from '../types/hive-type.js';
import {
  asDecimal,
  commonNumeric,
  decimalResult,
  isInteger,
  isInterval,
  isNumeric,
  isText,
  isTime,
} from '../types/type-rules.js';
import { argumentType, wrongArguments } from './errors.js';
import { derive, type Expr } from './expr.js';
import type { ExpressionAnalysis } from './expression-analysis.js';

const CLASSES: Readonly<Record<string, string>> = {
  '+': 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPNumericPlus',
  '-': 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPNumericMinus',
  '*': 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPMultiply',
  '/': 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPDivide',
  '%': 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPMod',
  div: 'org.apache.hadoop.hive.ql.udf.UDFOPLongDivide',
  '&': 'org.apache.hadoop.hive.ql.udf.UDFOPBitAnd',
  '|': 'org.apache.hadoop.hive.ql.udf.UDFOPBitOr',
  '^': 'org.apache.hadoop.hive.ql.udf.UDFOPBitXor',
};

function noMatch(analysis: ExpressionAnalysis, operator: string, a: Expr, b: Expr, choices = '') {
  return wrongArguments(
    analysis.text(b.position),
    `No matching method for class ${CLASSES[operator]} with (${typeName(a.type)}, ${typeName(b.type)})${choices}`,
    a.position,
  );
}

/** `a operator b` of two analysed operands. */
export function arithmetic(analysis: ExpressionAnalysis, operator: ArithmeticOperator, a: Expr, b: Expr): Expr {
  if (operator === '||') {
    const [left, right] = [analysis.cast(a, STRING), analysis.cast(b, STRING)];
    return derive(a, STRING, `(${left.sql} || ${right.sql})`);
  }
  if (operator === '+' || operator === '-') {
    const temporal = temporalArithmetic(analysis, operator, a, b);
    if (temporal !== undefined) return temporal;
  }
  const number = (type: HiveType) => isNumeric(type) || isText(type) || type.kind === 'void';
  if (!number(a.type) || !number(b.type)) throw noMatch(analysis, operator, a, b);
  if (operator === 'div') return integerDivision(analysis, a, b);
  if (operator === '&' || operator === '|' || operator === '^') return bitwise(analysis, operator, a, b);
  return numeric(analysis, operator, a, b);
}

function integerDivision(analysis: ExpressionAnalysis, a: Expr, b: Expr): Expr {
  const fits = (type: HiveType) => isInteger(type) || type.kind === 'void';
  if (!fits(a.type) || !fits(b.type)) {
    throw noMatch(analysis, 'div', a, b, '. Possible choices: _FUNC_(bigint, bigint)  ');
  }
  const [left, right] = [analysis.cast(a, BIGINT), analysis.cast(b, BIGINT)];
  // The one quotient that overflows, the smallest bigint by -1, wraps around.
  return derive(a, BIGINT, `hv_wrap64(CAST(${left.sql} AS HUGEINT) // CAST(${right.sql} AS HUGEINT))`);
}

function bitwise(analysis: ExpressionAnalysis, operator: '&' | '|' | '^', a: Expr, b: Expr): Expr {
  const fits = (type: HiveType) => isInteger(type) || type.kind === 'void';
  if (!fits(a.type) || !fits(b.type)) throw noMatch(analysis, operator, a, b);
  const type = promoted(a.type, b.type);
  const [left, right] = [analysis.cast(a, type), analysis.cast(b, type)];
  const sql = operator === '^' ? `xor(${left.sql}, ${right.sql})` : `(${left.sql} ${operator} ${right.sql})`;
  return derive(a, type, sql);
}

const promoted = (a: HiveType, b: HiveType): HiveType => {
  if (a.kind === 'void') return b.kind === 'void' ? INT : b;
  return b.kind === 'void' ? a : commonNumeric(a, b);
};

/** The narrowest decimal of an integer constant: `decimal * 2` reckons with decimal(1,0). */
export function decimalOf(value: Pick<Expr, 'type' | 'literal'>): DecimalHiveType {
  if (isInteger(value.type) && typeof value.literal === 'bigint') {
    return decimal(value.literal.toString().replace('-', '').length, 0);
  }
  return asDecimal(value.type);
}

function numeric(analysis: ExpressionAnalysis, operator: '+' | '-' | '*' | '/' | '%', a: Expr, b: Expr): Expr {
  const text = isText(a.type) || isText(b.type);
  const typeA = isText(a.type) ? DOUBLE : a.type;
  const typeB = isText(b.type) ? DOUBLE : b.type;
  if (typeA.kind === 'void' && typeB.kind === 'void') return derive(a, operator === '/' ? DOUBLE : VOID, 'NULL');
  const common = text ? DOUBLE : promoted(typeA, typeB);
  if (common.kind === 'decimal') {
    const exact = (value: Expr) => analysis.cast(value, value.type.kind === 'void' ? common : decimalOf(value));
    return decimalArithmetic(analysis, operator, exact(a), exact(b));
  }
  const type = operator === '/' ? DOUBLE : common;
  const [left, right] = [analysis.cast(a, type).sql, analysis.cast(b, type).sql];
  switch (operator) {
    case '/':
      return derive(a, DOUBLE, `hv_div_double(${left}, ${right})`);
    case '%':
      return derive(a, type, `hv_mod(${left}, ${right})`);
    default:
      return derive(a, type, wrapping(operator, type, left, right));
  }
}

/** Integers wrap around as Java's. */
export function wrapping(operator: '+' | '-' | '*', type: HiveType, left: string, right: string): string {
  switch (type.kind) {
    case 'tinyint':
      return `hv_wrap8(CAST(${left} AS BIGINT) ${operator} CAST(${right} AS BIGINT))`;
    case 'smallint':
      return `hv_wrap16(CAST(${left} AS BIGINT) ${operator} CAST(${right} AS BIGINT))`;
    case 'int':
      return `hv_wrap32(CAST(${left} AS BIGINT) ${operator} CAST(${right} AS BIGINT))`;
    case 'bigint':
      return `hv_wrap64(CAST(${left} AS HUGEINT) ${operator} CAST(${right} AS HUGEINT))`;
    default:
      return `(${left} ${operator} ${right})`;
  }
}

/** Decimals: DuckDB's own where its intermediate type holds the result, else exactly in JavaScript. NULL beyond 38 digits. */
export function decimalArithmetic(
  analysis: ExpressionAnalysis,
  operator: '+' | '-' | '*' | '/' | '%',
  a: Expr,
  b: Expr,
  type: DecimalHiveType = decimalResult(operator, asDecimal(a.type), asDecimal(b.type)),
): Expr {
  const [typeA, typeB] = [asDecimal(a.type), asDecimal(b.type)];
  const result = duckTypeName(type);
  if (operator === '*' && typeA.precision + typeB.precision <= 38) {
    return derive(a, type, `CAST(${a.sql} * ${b.sql} AS ${result})`);
  }
  if ((operator === '+' || operator === '-') && type.precision < 38) {
    return derive(a, type, `(CAST(${a.sql} AS ${result}) ${operator} CAST(${b.sql} AS ${result}))::${result}`);
  }
  const name = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'divide', '%': 'modulo' }[operator];
  const sql = analysis.udfs.call(`decimal_${name}`, [typeA, typeB], type, [a.sql, b.sql], (x, y) =>
    decimalOperation(operator, x, y, type),
  );
  return derive(a, type, sql);
}

function decimalOperation(
  operator: string,
  x: VectorValue,
  y: VectorValue,
  type: DecimalHiveType,
): DecimalValue | null {
  const [a, b] = [x as DecimalValue, y as DecimalValue];
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [a.unscaled * 10n ** BigInt(scale - a.scale), b.unscaled * 10n ** BigInt(scale - b.scale)];
  let unscaled: bigint | null;
  switch (operator) {
    case '+':
      unscaled = rescale(left + right, scale, type.scale);
      break;
    case '-':
      unscaled = rescale(left - right, scale, type.scale);
      break;
    case '*':
      unscaled = rescale(a.unscaled * b.unscaled, a.scale + b.scale, type.scale);
      break;
    case '/':
      if (right === 0n) return null;
      unscaled = divideHalfUp(left * 10n ** BigInt(type.scale), right);
      break;
    default:
      if (right === 0n) return null;
      unscaled = rescale(left % right, scale, type.scale);
  }
  if (unscaled === null) return null;
  const limit = 10n ** BigInt(type.precision);
  return unscaled >= limit || unscaled <= -limit ? null : { unscaled, scale: type.scale };
}

/** Dates, timestamps and intervals (GenericUDFOPDTIPlus, GenericUDFOPDTIMinus). */
function temporalArithmetic(analysis: ExpressionAnalysis, operator: '+' | '-', a: Expr, b: Expr): Expr | undefined {
  const [left, right] = [a.type, b.type];
  if (operator === '+' && isInterval(left) && (right.kind === 'date' || isTime(right))) {
    return temporalArithmetic(analysis, operator, b, a);
  }
  if (isInterval(left) && left.kind === right.kind) return derive(a, left, `(${a.sql} ${operator} ${b.sql})`);
  if (left.kind === 'date' && right.kind === 'int') {
    return derive(a, DATE, `(${a.sql} ${operator} CAST(${b.sql} AS INTEGER))`);
  }
  if (left.kind !== 'date' && !isTime(left)) return undefined;
  switch (right.kind) {
    case 'date':
    case 'timestamp':
      if (operator === '+') return undefined;
      return derive(a, INTERVAL_DAY_TIME, `(${analysis.cast(a, TIMESTAMP).sql} - ${analysis.cast(b, TIMESTAMP).sql})`);
    case 'interval_day_time':
      return derive(a, TIMESTAMP, `(${analysis.cast(a, TIMESTAMP).sql} ${operator} ${b.sql})`);
    case 'interval_year_month': {
      const months = operator === '+' ? b.sql : `(-${b.sql})`;
      if (left.kind === 'date') return derive(a, DATE, `hv_add_months(${a.sql}, ${months})`);
      const moved = `hv_timestamp(hv_add_months(hv_date(${a.sql}), ${months}))`;
      return derive(a, TIMESTAMP, `(${moved} + hv_day_nanos(${a.sql}))`);
    }
    default:
      return undefined;
  }
}

/** Unary minus and ~ (GenericUDFOPNegative, UDFOPBitNot). */
export function negate(analysis: ExpressionAnalysis, value: Expr): Expr {
  const { type } = value;
  if (type.kind === 'void') return value;
  if (isText(type)) return derive(value, DOUBLE, `(-${analysis.cast(value, DOUBLE).sql})`);
  if (isInteger(type)) return derive(value, type, wrapping('-', type, '0', value.sql));
  if (isNumeric(type) || isInterval(type)) return derive(value, type, `(-${value.sql})`);
  throw argumentType(
    analysis.text(value.position),
    `The 1st argument of GenericUDFOPNegative is expected to be a numeric or interval type, but ${typeName(type)} is found`,
    value.position,
  );
}

export function complement(analysis: ExpressionAnalysis, value: Expr): Expr {
  if (isInteger(value.type)) return derive(value, value.type, `(~${value.sql})`);
  if (value.type.kind === 'void') return analysis.cast(value, BIGINT);
  throw wrongArguments(
    analysis.text(value.position),
    `No matching method for class org.apache.hadoop.hive.ql.udf.UDFOPBitNot with (${typeName(value.type)})`,
    value.position,
  );
}

export const isArithmetic = (operator: BinaryExpression['operator']): operator is ArithmeticOperator =>
  ['+', '-', '*', '/', '%', 'div', '&', '|', '^', '||'].includes(operator);
