import { type DecimalHiveType, DOUBLE, decimal, type HiveType, STRING, sameType, structOf } from './hive-type.js';

/*
 * Which types convert to which, and what two types have in common
 * (org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils, org.apache.hadoop.hive.ql.exec.FunctionRegistry).
 */

const INTEGER_DIGITS: Readonly<Record<string, number>> = { tinyint: 3, smallint: 5, int: 10, bigint: 19 };
/** Order of promotion (TypeInfoUtils.registerNumericType, with decimal below float: `decimal + float` is float). */
const NUMERIC_ORDER = ['tinyint', 'smallint', 'int', 'bigint', 'decimal', 'float', 'double'];

export const isText = (type: HiveType): boolean =>
  type.kind === 'string' || type.kind === 'varchar' || type.kind === 'char';
export const isInteger = (type: HiveType): boolean => type.kind in INTEGER_DIGITS;
export const isApproximate = (type: HiveType): boolean => type.kind === 'float' || type.kind === 'double';
export const isNumeric = (type: HiveType): boolean => NUMERIC_ORDER.includes(type.kind);
export const isTime = (type: HiveType): boolean =>
  type.kind === 'timestamp' || type.kind === 'timestamp with local time zone';
export const isDateOrTime = (type: HiveType): boolean => type.kind === 'date' || isTime(type);
export const isInterval = (type: HiveType): boolean =>
  type.kind === 'interval_year_month' || type.kind === 'interval_day_time';
export const isPrimitive = (type: HiveType): boolean => !['array', 'map', 'struct', 'uniontype'].includes(type.kind);

/** PrimitiveObjectInspectorUtils.getPrimitiveGrouping, for messages and for NULLIF. */
export function typeGroup(type: HiveType): string {
  if (isText(type)) return 'STRING_GROUP';
  if (isNumeric(type)) return 'NUMERIC_GROUP';
  return isDateOrTime(type) ? 'DATE_GROUP' : `${type.kind.toUpperCase()}_GROUP`;
}

/** The decimal that holds every value of an exact numeric type (HiveDecimalUtils.getPrecisionForType). */
export function asDecimal(type: HiveType): DecimalHiveType {
  if (type.kind === 'decimal') return type;
  return decimal(INTEGER_DIGITS[type.kind] ?? 38, type.kind in INTEGER_DIGITS ? 0 : 18);
}

const commonDecimal = (a: DecimalHiveType, b: DecimalHiveType): DecimalHiveType => {
  const scale = Math.max(a.scale, b.scale);
  const digits = Math.max(a.precision - a.scale, b.precision - b.scale);
  return decimal(Math.min(38, digits + scale), Math.min(scale, 38));
};

/** The numeric type that both are promoted to. */
export function commonNumeric(a: HiveType, b: HiveType): HiveType {
  if (a.kind === 'decimal' || b.kind === 'decimal') {
    if (isApproximate(a)) return a;
    if (isApproximate(b)) return b;
    return commonDecimal(asDecimal(a), asDecimal(b));
  }
  return NUMERIC_ORDER.indexOf(a.kind) >= NUMERIC_ORDER.indexOf(b.kind) ? a : b;
}

/**
 * The common type of the branches of CASE, COALESCE, UNION ALL and the elements of array(…); undefined where there is
 * none. With `strict` (UNION ALL) numbers and text have none.
 */
export function commonType(a: HiveType, b: HiveType, strict = false): HiveType | undefined {
  if (sameType(a, b)) return a;
  if (a.kind === 'void') return b;
  if (b.kind === 'void') return a;
  if (isNumeric(a) && isNumeric(b)) return commonNumeric(a, b);
  if (isText(a) && isText(b)) {
    if ((a.kind === 'char' && b.kind === 'char') || (a.kind === 'varchar' && b.kind === 'varchar')) {
      return a.length >= b.length ? a : b;
    }
    return STRING;
  }
  if (isDateOrTime(a) && isDateOrTime(b)) return a.kind === 'date' ? b : b.kind === 'date' ? a : undefined;
  if (isPrimitive(a) && isPrimitive(b)) {
    const convertible = (type: HiveType) => isNumeric(type) || isDateOrTime(type);
    if (!strict && ((isText(a) && convertible(b)) || (isText(b) && convertible(a)))) return STRING;
    return undefined;
  }
  if (a.kind === 'array' && b.kind === 'array') {
    const element = commonType(a.element, b.element, strict);
    return element === undefined ? undefined : { kind: 'array', element };
  }
  if (a.kind === 'map' && b.kind === 'map') {
    const key = commonType(a.key, b.key, strict);
    const value = commonType(a.value, b.value, strict);
    return key === undefined || value === undefined ? undefined : { kind: 'map', key, value };
  }
  if (a.kind === 'struct' && b.kind === 'struct' && a.fields.length === b.fields.length) {
    const fields = [];
    for (let i = 0; i < a.fields.length; i++) {
      const type = commonType(a.fields[i].type, b.fields[i].type, strict);
      if (type === undefined) return undefined;
      fields.push({ name: a.fields[i].name, type });
    }
    return structOf(fields);
  }
  return undefined;
}

/** The type that two operands are compared in (FunctionRegistry.getCommonClassForComparison); undefined where there is none. */
export function comparisonType(a: HiveType, b: HiveType): HiveType | undefined {
  if (sameType(a, b)) return a;
  if (a.kind === 'void') return b;
  if (b.kind === 'void') return a;
  if (isNumeric(a) && isNumeric(b)) return commonNumeric(a, b);
  if (isText(a) && isText(b)) return STRING;
  if (isDateOrTime(a) && (isText(b) || isDateOrTime(b))) return isText(b) || b.kind === 'date' ? a : b;
  if (isDateOrTime(b) && isText(a)) return b;
  if (isInterval(a) && isText(b)) return a;
  if (isInterval(b) && isText(a)) return b;
  const number = (type: HiveType) => isNumeric(type) || isText(type) || type.kind === 'boolean' || isDateOrTime(type);
  if (isPrimitive(a) && isPrimitive(b)) {
    if ((a.kind === 'binary' && isText(b)) || (b.kind === 'binary' && isText(a))) return STRING;
    return number(a) && number(b) ? DOUBLE : undefined;
  }
  return commonType(a, b, true);
}

/**
 * Hive's refusal of comparisons that lose digits (hive.strict.checks.type.safety; TypeCheckProcFactory): bigint with text
 * or double, decimal with text.
 */
export function isUnsafeComparison(a: HiveType, b: HiveType): boolean {
  const pair = (x: HiveType, y: HiveType) =>
    (x.kind === 'bigint' && (isText(y) || y.kind === 'double')) || (x.kind === 'decimal' && isText(y));
  return pair(a, b) || pair(b, a);
}

const limited = (precision: number, scale: number): DecimalHiveType => {
  if (precision <= 38) return decimal(precision, scale);
  const digits = precision - scale;
  return decimal(38, Math.max(38 - digits, Math.min(scale, 6)));
};

/** The type of decimal arithmetic (GenericUDFOPPlus, …Multiply, …Divide, …Mod; HiveDecimalUtils and adjustPrecScale). */
export function decimalResult(
  operator: '+' | '-' | '*' | '/' | '%',
  a: DecimalHiveType,
  b: DecimalHiveType,
): DecimalHiveType {
  const digitsA = a.precision - a.scale;
  const digitsB = b.precision - b.scale;
  const scale = Math.max(a.scale, b.scale);
  switch (operator) {
    case '+':
    case '-':
      return limited(Math.max(digitsA, digitsB) + scale + 1, scale);
    case '*':
      return limited(a.precision + b.precision + 1, a.scale + b.scale);
    case '/': {
      const quotientScale = Math.max(6, a.scale + b.precision + 1);
      return limited(digitsA + b.scale + quotientScale, quotientScale);
    }
    case '%':
      return limited(Math.max(1, Math.min(digitsA, digitsB) + scale), scale);
  }
}
