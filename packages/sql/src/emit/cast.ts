import type { DecimalValue, TimestampValue } from '@skep/orc';
import {
  intervalDayTimeText,
  intervalYearMonthText,
  parseDate,
  parseTimestamp,
  timestampText,
} from '../text/calendar.js';
import { decimalText as shownDecimal } from '../text/format-value.js';
import { parseInstant } from '../text/instant.js';
import { javaDouble, javaFloat } from '../text/java-number.js';
import { duckTypeName } from '../types/duck-type.js';
import {
  BINARY,
  DATE,
  DOUBLE,
  FLOAT,
  type HiveType,
  INTERVAL_DAY_TIME,
  INTERVAL_YEAR_MONTH,
  STRING,
  sameType,
  TIMESTAMP,
} from '../types/hive-type.js';
import { isApproximate, isInteger, isText, isTime } from '../types/type-rules.js';
import type { UdfCollector } from './udfs.js';

const UTF8 = new TextDecoder();

/**
 * SQL of a value of one Hive type as another, as Hive's CAST gives it: NULL where there is no value. Undefined where Hive
 * has no such cast. The SQL of `value` may be repeated. Of a `constant` Hive reckons row by row, of a column by its vectorized
 * code, which differs: text with blanks around is no integer, and a double too large for int loses its upper bits.
 */
export function castSql(
  udfs: UdfCollector,
  value: string,
  from: HiveType,
  to: HiveType,
  constant = false,
): string | undefined {
  if (sameType(from, to)) return value;
  if (from.kind === 'void') {
    const nothing = `CAST(NULL AS ${duckTypeName(to)})`;
    // Always NULL, yet it is reckoned: ASSERT_TRUE may fail.
    return value === 'NULL' ? nothing : `CASE WHEN ${value} IS NULL THEN ${nothing} END`;
  }
  switch (to.kind) {
    case 'string':
      return textSql(udfs, value, from);
    case 'varchar':
    case 'char': {
      if ((from.kind === 'varchar' || from.kind === 'char') && from.length <= to.length && to.kind === 'varchar')
        return value;
      const text = textSql(udfs, value, from);
      if (text === undefined) return undefined;
      const cut = `substring(${text}, 1, ${to.length})`;
      return to.kind === 'char' ? `rtrim(${cut}, ' ')` : cut;
    }
    case 'boolean':
      return booleanSql(value, from);
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
      return integerSql(value, from, to.kind, constant);
    case 'float':
    case 'double':
      return approximateSql(value, from, to.kind);
    case 'decimal':
      return decimalSql(udfs, value, from, to);
    case 'date':
      if (isTime(from)) return `hv_date(${value})`;
      if (isText(from)) return dateOfText(udfs, value);
      return undefined;
    case 'timestamp':
    case 'timestamp with local time zone':
      return timestampSql(udfs, value, from, to.kind !== 'timestamp');
    case 'binary':
      if (from.kind === 'char')
        return `encode(rpad(${value}, CAST(greatest(${from.length}, length(${value})) AS INTEGER), ' '))`;
      return isText(from) ? `encode(${value})` : undefined;
    case 'array':
    case 'map':
    case 'struct':
      return nestedSql(udfs, value, from, to);
    default:
      return undefined;
  }
}

/** A value as text, as Hive's CAST(… AS STRING). */
export function textSql(udfs: UdfCollector, value: string, from: HiveType): string | undefined {
  switch (from.kind) {
    case 'string':
    case 'varchar':
    case 'char':
      return value;
    case 'boolean':
      return `hv_boolean_text(${value})`;
    case 'double':
      return udfs.call('double_text', [DOUBLE], STRING, [value], (x) => javaDouble(x as number));
    case 'float':
      return udfs.call('float_text', [FLOAT], STRING, [value], (x) => javaFloat(x as number));
    case 'timestamp':
      return udfs.call('timestamp_text', [TIMESTAMP], STRING, [value], (x) => {
        const { seconds, nanos } = x as TimestampValue;
        return timestampText(seconds, nanos);
      });
    case 'timestamp with local time zone':
      return udfs.call('instant_text', [TIMESTAMP], STRING, [value], (x) => {
        const { seconds, nanos } = x as TimestampValue;
        return `${timestampText(seconds, nanos)}${nanos === 0 ? '.0' : ''} UTC`;
      });
    case 'interval_day_time':
      return udfs.call('interval_day_time_text', [INTERVAL_DAY_TIME], STRING, [value], (x) => {
        const { seconds, nanos } = x as TimestampValue;
        return intervalDayTimeText(seconds, nanos);
      });
    case 'interval_year_month':
      return udfs.call('interval_year_month_text', [INTERVAL_YEAR_MONTH], STRING, [value], (x) =>
        intervalYearMonthText(x as number),
      );
    case 'binary':
      return udfs.call('binary_text', [BINARY], STRING, [value], (x) => UTF8.decode(x as Uint8Array));
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'date':
      return `CAST(${value} AS VARCHAR)`;
    case 'decimal':
      return decimalText(udfs, value, from);
    default:
      return undefined;
  }
}

/** DuckDB leaves out the zero before the point where the type has no whole digits. */
function decimalText(udfs: UdfCollector, value: string, type: HiveType & { kind: 'decimal' }): string {
  if (type.scale < type.precision) return `CAST(${value} AS VARCHAR)`;
  if (type.precision < 38) return `CAST(CAST(${value} AS DECIMAL(${type.precision + 1},${type.scale})) AS VARCHAR)`;
  return udfs.call('decimal_text', [type], STRING, [value], (x) => {
    const { unscaled, scale } = x as DecimalValue;
    return shownDecimal(unscaled, scale);
  });
}

function booleanSql(value: string, from: HiveType): string | undefined {
  if (isInteger(from) || isApproximate(from) || from.kind === 'decimal') return `(${value} <> 0)`;
  if (isText(from)) return `hv_text_boolean(${value})`;
  if (isTime(from)) return `(${value} <> 0)`;
  return undefined;
}

const BITS = { tinyint: 8, smallint: 16, int: 32, bigint: 64 } as const;

function integerSql(value: string, from: HiveType, to: keyof typeof BITS, constant: boolean): string | undefined {
  const type = duckTypeName({ kind: to });
  if (from.kind === 'boolean') return `CAST(${value} AS ${type})`;
  if (from.kind in BITS) {
    const wider = BITS[from.kind as keyof typeof BITS] > BITS[to];
    return wider
      ? `hv_wrap${BITS[to]}(CAST(${value} AS ${from.kind === 'bigint' ? 'HUGEINT' : 'BIGINT'}))`
      : `CAST(${value} AS ${type})`;
  }
  if (isApproximate(from)) {
    const double = from.kind === 'float' ? `CAST(${value} AS DOUBLE)` : value;
    if (to === 'bigint') return `hv_double_bigint(${double})`;
    if (!constant) return `hv_wrap${BITS[to]}(CAST(hv_double_bigint(${double}) AS HUGEINT))`;
    return to === 'int' ? `hv_double_int(${double})` : `hv_wrap${BITS[to]}(CAST(hv_double_int(${double}) AS BIGINT))`;
  }
  if (from.kind === 'decimal') return `TRY_CAST(trunc(${value}) AS ${type})`;
  if (isText(from))
    return `TRY_CAST(hv_whole_text(${constant ? `trim(${value}, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13))` : value}) AS ${type})`;
  if (isTime(from))
    return to === 'bigint' ? `hv_seconds(${value})` : `hv_wrap${BITS[to]}(CAST(hv_seconds(${value}) AS HUGEINT))`;
  return undefined;
}

function approximateSql(value: string, from: HiveType, to: 'float' | 'double'): string | undefined {
  const type = duckTypeName({ kind: to });
  if (from.kind === 'boolean') return `CAST(CAST(${value} AS INTEGER) AS ${type})`;
  if (isInteger(from) || from.kind === 'float') return `CAST(${value} AS ${type})`;
  if (from.kind === 'double') return `hv_double_float(${value})`;
  if (from.kind === 'decimal') {
    // Up to 15 digits both parts are exact in a double, so that the quotient is the nearest one.
    return from.precision <= 15 && to === 'double'
      ? `CAST(${value} AS ${type})`
      : `CAST(CAST(${value} AS VARCHAR) AS ${type})`;
  }
  if (isText(from)) return `TRY_CAST(hv_double_text(${value}) AS ${type})`;
  if (isTime(from)) return `CAST(hv_seconds_double(${value}) AS ${type})`;
  return undefined;
}

function decimalSql(
  udfs: UdfCollector,
  value: string,
  from: HiveType,
  to: HiveType & { kind: 'decimal' },
): string | undefined {
  const type = duckTypeName(to);
  if (from.kind === 'boolean') return `TRY_CAST(CAST(${value} AS INTEGER) AS ${type})`;
  if (isInteger(from) || from.kind === 'decimal') return `TRY_CAST(${value} AS ${type})`;
  if (isTime(from)) return `TRY_CAST(hv_seconds_decimal(${value}) AS ${type})`;
  const text = isText(from) ? value : isApproximate(from) ? textSql(udfs, value, from) : undefined;
  if (text === undefined) return undefined;
  return udfs.call(`decimal_of_text`, [STRING], to, [text], (s) => decimalOfText(s as string, to.precision, to.scale));
}

/** Text as a decimal, rounded half up; null where it is none or too large (HiveDecimal.create, enforcePrecisionScale). */
export function decimalOfText(text: string, precision: number, scale: number): DecimalValue | null {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,5}))?\s*$/.exec(text);
  if (match === null || (match[2] === '' && (match[3] ?? '') === '')) return null;
  const fraction = match[3] ?? '';
  const exponent = Number(match[4] ?? 0) - fraction.length;
  const unscaled = BigInt(match[2] + fraction);
  const rescaled = rescale(match[1] === '-' ? -unscaled : unscaled, -exponent, scale);
  return rescaled === null || abs(rescaled) >= 10n ** BigInt(precision) ? null : { unscaled: rescaled, scale };
}

const abs = (x: bigint): bigint => (x < 0n ? -x : x);

/** Another scale, rounded half up; null where the number cannot be a decimal. */
export function rescale(unscaled: bigint, from: number, to: number): bigint | null {
  if (from === to || unscaled === 0n) return unscaled;
  if (from < to) return to - from > 100 ? null : unscaled * 10n ** BigInt(to - from);
  if (from - to > 400) return 0n;
  return divideHalfUp(unscaled, 10n ** BigInt(from - to));
}

export function divideHalfUp(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  if (abs(a % b) * 2n < abs(b)) return quotient;
  return a < 0n !== b < 0n ? quotient - 1n : quotient + 1n;
}

function dateOfText(udfs: UdfCollector, value: string): string {
  const slow = udfs.call('date_of_text', [STRING], DATE, [value], (s) => parseDate(s as string) ?? null);
  return `CASE WHEN regexp_full_match(${value}, '\\d{4}-\\d\\d-\\d\\d') THEN TRY_CAST(${value} AS DATE) ELSE ${slow} END`;
}

function timestampSql(udfs: UdfCollector, value: string, from: HiveType, zoned: boolean): string | undefined {
  if (from.kind === 'date') return `hv_timestamp(${value})`;
  if (isTime(from)) return value;
  if (isText(from) && zoned) {
    return udfs.call('instant_of_text', [STRING], TIMESTAMP, [value], (s) => parseInstant(s as string) ?? null);
  }
  if (isText(from)) {
    return udfs.call('timestamp_of_text', [STRING], TIMESTAMP, [value], (s) => parseTimestamp(s as string) ?? null);
  }
  // Whole numbers are milliseconds (hive.int.timestamp.conversion.in.seconds=false), others seconds.
  if (from.kind === 'boolean' || isInteger(from)) return `(CAST(${value} AS HUGEINT) * 1000000::HUGEINT)`;
  if (isApproximate(from)) return `CAST(round(CAST(${value} AS DOUBLE) * 1000000000.0::DOUBLE) AS HUGEINT)`;
  if (from.kind === 'decimal') return `CAST(CAST(${value} AS DECIMAL(29,9)) * 1000000000 AS HUGEINT)`;
  return undefined;
}

let lambdaDepth = 0;

function nestedSql(udfs: UdfCollector, value: string, from: HiveType, to: HiveType): string | undefined {
  if (from.kind === 'array' && to.kind === 'array') {
    const name = `e${lambdaDepth++}`;
    const element = castSql(udfs, name, from.element, to.element);
    lambdaDepth--;
    return element === undefined ? undefined : `list_transform(${value}, lambda ${name}: ${element})`;
  }
  if (from.kind === 'map' && to.kind === 'map') {
    const name = `e${lambdaDepth++}`;
    const key = castSql(udfs, `${name}.key`, from.key, to.key);
    const item = castSql(udfs, `${name}.value`, from.value, to.value);
    lambdaDepth--;
    if (key === undefined || item === undefined) return undefined;
    return `map_from_entries(list_transform(map_entries(${value}), lambda ${name}: {'key': ${key}, 'value': ${item}}))`;
  }
  if (from.kind === 'struct' && to.kind === 'struct' && from.fields.length === to.fields.length) {
    const items: string[] = [];
    for (let i = 0; i < from.fields.length; i++) {
      const name = from.fields[i].name.replaceAll("'", "''");
      const item = castSql(udfs, `struct_extract(${value}, '${name}')`, from.fields[i].type, to.fields[i].type);
      if (item === undefined) return undefined;
      items.push(`'${to.fields[i].name.replaceAll("'", "''")}': ${item}`);
    }
    return `CASE WHEN ${value} IS NULL THEN NULL ELSE {${items.join(', ')}} END`;
  }
  return undefined;
}
