import type { TimestampValue } from '@skep/orc';
import { argumentsLength, wrongArguments } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { nanosSql } from '../expressions/literal.js';
import { civilFromDays, dateText, daysFromCivil, daysInMonth, parseTimestamp } from '../text/calendar.js';
import { zoneOffsetSeconds } from '../text/time-zone.js';
import { BIGINT, DATE, DOUBLE, decimal, INT, STRING, TIMESTAMP, typeName } from '../types/hive-type.js';
import { isApproximate, isDateOrTime, isInteger, isPrimitive, isText, isTime } from '../types/type-rules.js';
import {
  convertArgument,
  convertArguments,
  customFunction,
  jsFunction,
  mismatch,
  result,
  sqlFunction,
} from './builder.js';
import { formatTimestamp, isPattern, parseWithPattern } from './date-format.js';
import type { Call, ScalarFunction } from './definition.js';

const datePart = (names: string, sql: (date: string) => string): ScalarFunction =>
  customFunction('date', names, 'date', (call) => {
    const [arg] = convertArguments(call, ['any']);
    const ofInterval = intervalPart(call, arg);
    if (ofInterval !== undefined) return ofInterval;
    // An old class of Hive's, which converts anything to a date first: a number is none.
    if (LENIENT.includes(call.name) && isPrimitive(arg.type) && !isText(arg.type) && !isDateOrTime(arg.type)) {
      return result(call, INT, 'CAST(NULL AS INTEGER)');
    }
    return result(call, INT, `CAST(${sql(convertArgument(call, arg, 'date').sql)} AS INTEGER)`);
  });

const LENIENT = ['weekofyear', 'dayofweek'];

/** YEAR and MONTH of year-month intervals, DAY to SECOND of the others. */
function intervalPart(call: Call, { type, sql }: Expr): Expr | undefined {
  const nanos = (unit: string, limit: bigint) =>
    result(call, INT, `CAST((${sql} // ${nanosSql(NANOS_OF[unit])}) % ${limit} AS INTEGER)`);
  if (type.kind === 'interval_year_month') {
    if (call.name === 'year') return result(call, INT, `CAST(${sql} // 12 AS INTEGER)`);
    if (call.name === 'month') return result(call, INT, `CAST(${sql} % 12 AS INTEGER)`);
  }
  if (type.kind === 'interval_day_time') {
    if (call.name === 'day' || call.name === 'dayofmonth') return nanos('day', 1_000_000_000n);
    if (call.name === 'hour') return nanos('hour', 24n);
    if (call.name === 'minute') return nanos('minute', 60n);
    if (call.name === 'second') return nanos('second', 60n);
  }
  return undefined;
}

/** Of text also a time alone: hour('07:08:09'). */
const timePart = (name: 'hour' | 'minute' | 'second', index: number): ScalarFunction =>
  customFunction('date', name, 'date, timestamp or string', (call) => {
    const [arg] = convertArguments(call, ['any']);
    const ofInterval = intervalPart(call, arg);
    if (ofInterval !== undefined) return ofInterval;
    if (isText(arg.type)) {
      const timestamp = call.analysis.cast(arg, TIMESTAMP).sql;
      const time = call.analysis.udfs.call(`time_${name}`, [STRING], INT, [arg.sql], (s) => {
        const match = /^\s*(\d{1,2}):(\d{1,2})(?::(\d{1,2})|$)/.exec(s as string);
        return match === null ? null : Number(match[index] ?? 0);
      });
      return result(call, INT, `coalesce(hv_${name}(${timestamp}), ${time})`);
    }
    return result(call, INT, `hv_${name}(${convertArgument(call, arg, 'timestamp').sql})`);
  });

function addMonths(days: number, months: number): number {
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + month - 1 + months;
  const [toYear, toMonth] = [Math.floor(total / 12), (((total % 12) + 12) % 12) + 1];
  const last = daysInMonth(toYear, toMonth);
  // From the last day of a month to the last day (GenericUDFAddMonths).
  return daysFromCivil(toYear, toMonth, day === daysInMonth(year, month) || day > last ? last : day);
}

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

function nextDay(days: number, name: string): string | null {
  const wanted = name.trim().toUpperCase();
  const index = WEEKDAYS.findIndex((day) => day === wanted || day.slice(0, 3) === wanted || day.slice(0, 2) === wanted);
  if (index < 0) return null;
  const weekday = (((days + 4) % 7) + 7) % 7;
  return dateText(days + ((index - weekday + 6) % 7) + 1);
}

function truncDate(days: number, unit: string): string | null {
  const { year, month } = civilFromDays(days);
  switch (unit) {
    case 'MONTH':
    case 'MON':
    case 'MM':
      return dateText(daysFromCivil(year, month, 1));
    case 'YEAR':
    case 'YYYY':
    case 'YY':
      return dateText(daysFromCivil(year, 1, 1));
    case 'QUARTER':
    case 'Q':
      return dateText(daysFromCivil(year, month - ((month - 1) % 3), 1));
    default:
      return null;
  }
}

function monthsBetween(a: TimestampValue, b: TimestampValue, roundOff: boolean): number {
  const parts = [a, b].map(({ seconds }) => {
    const days = Number(seconds) / 86400;
    const whole = Math.floor(days);
    return { ...civilFromDays(whole), seconds: Number(seconds) - whole * 86400 };
  });
  const [x, y] = parts;
  const months = (x.year - y.year) * 12 + x.month - y.month;
  const isLast = (p: (typeof parts)[number]) => p.day === daysInMonth(p.year, p.month);
  if (x.day === y.day || (isLast(x) && isLast(y))) return months;
  const exact = months + ((x.day - y.day) * 86400 + x.seconds - y.seconds) / (31 * 86400);
  return roundOff ? Math.round(exact * 1e8) / 1e8 : exact;
}

const trunc = customFunction('date', 'trunc', 'date, format | number, digits?', (call) => {
  const [value, second] = call.args;
  if (value !== undefined && (isText(value.type) || value.type.kind === 'date' || isTime(value.type))) {
    const [date, format] = convertArguments(call, ['date', 'string']);
    if (second?.type.kind === 'void') {
      throw wrongArguments(call.analysis.text(second.position), 'TRUNC takes a format, not NULL', call.position);
    }
    const sql = call.analysis.udfs.call('trunc_date', [DATE, STRING], STRING, [date.sql, format.sql], (d, f) =>
      truncDate(d as number, f as string),
    );
    return result(call, STRING, sql);
  }
  convertArguments(call, ['any', 'any?']);
  if (value.type.kind === 'void' || (second !== undefined && !isInteger(second.type))) {
    throw wrongArguments(
      call.analysis.text((second ?? value).position),
      `Got wrong argument types : first argument type : ${typeName(value.type)}, second argument type : ${typeName((second ?? value).type)}`,
      call.position,
    );
  }
  const digits = second === undefined ? 0 : typeof second.literal === 'bigint' ? Number(second.literal) : Number.NaN;
  if (Number.isNaN(digits)) throw mismatch(call, second, 'a constant number of digits');
  return truncNumber(call, value, digits);
});

function truncNumber(call: Call, value: Expr, digits: number): Expr {
  const { type } = value;
  const { udfs } = call.analysis;
  const name = `trunc${digits}`.replace('-', '_');
  const cut = (unscaled: bigint, drop: number) =>
    drop <= 0 ? unscaled : (unscaled / 10n ** BigInt(drop)) * 10n ** BigInt(drop);
  if (isInteger(type)) {
    if (digits >= 0) return value;
    const body = (v: unknown) => {
      const whole = cut(BigInt(v as number | bigint), -digits);
      return type.kind === 'bigint' ? whole : Number(whole);
    };
    return result(call, type, udfs.call(name, [type], type, [value.sql], body));
  }
  if (type.kind === 'decimal') {
    const scale = Math.max(0, Math.min(digits, type.scale));
    const target = decimal(Math.max(1, type.precision - type.scale + scale), scale);
    const sql = udfs.call(name, [type], target, [value.sql], (v) => {
      const { unscaled } = v as { unscaled: bigint };
      return { unscaled: cut(unscaled, type.scale - digits) / 10n ** BigInt(type.scale - scale), scale };
    });
    return result(call, target, sql);
  }
  if (isApproximate(type)) {
    const sql = udfs.call(name, [type], type, [value.sql], (v) => {
      const x = v as number;
      const shifted = Number(`${x}e${digits}`);
      return Number.isFinite(shifted) ? Number(`${Math.trunc(shifted)}e${-digits}`) : x;
    });
    return result(call, type, sql);
  }
  throw mismatch(call, value, 'a date or a number');
}

const DEFAULT_FORMAT = 'yyyy-MM-dd HH:mm:ss';

const unixTimestamp = customFunction(
  'date',
  'unix_timestamp to_unix_timestamp',
  '(date, timestamp or string, format?)?',
  (call) => {
    const [value, format] = call.args;
    if (value === undefined) {
      return result(call, BIGINT, `CAST(${Math.floor((call.analysis.context.now ?? 0) / 1000)} AS BIGINT)`);
    }
    if (!isText(value.type))
      return result(call, BIGINT, `hv_seconds(${convertArguments(call, ['timestamp', 'string?'])[0].sql})`);
    const [text, pattern] = convertArguments(call, ['string', 'string?']);
    if (format === undefined) {
      const sql = call.analysis.udfs.call('unix_timestamp_of_text', [STRING], BIGINT, [text.sql], (s) => {
        // Text of the default form, or any other of a timestamp that has a time.
        const known = parseWithPattern(s as string, DEFAULT_FORMAT);
        return known ?? (/:/.test(s as string) ? (parseTimestamp(s as string)?.seconds ?? null) : null);
      });
      return result(call, BIGINT, sql);
    }
    const args = [text.sql, pattern.sql];
    const sql = call.analysis.udfs.call('unix_timestamp', [STRING, STRING], BIGINT, args, (s, p) =>
      isPattern(p as string) ? parseWithPattern(s as string, p as string) : null,
    );
    return result(call, BIGINT, sql);
  },
);

const zoned = (name: string, direction: 1 | -1): ScalarFunction =>
  jsFunction('date', name, ['timestamp', 'string'], TIMESTAMP, (t, zone) => {
    const { seconds, nanos } = t as TimestampValue;
    // Of offsets java.util.TimeZone knows only those behind GMT.
    const known = /^(UTC|UT)?[+-]/.test(zone as string) ? 'GMT' : (zone as string);
    const offset = zoneOffsetSeconds(Number(seconds), known, direction === 1);
    // A zone that Java does not know counts as GMT.
    return { seconds: seconds + BigInt(direction * (offset ?? 0)), nanos };
  });

const currentTimestamp = (call: Call): bigint => BigInt(Math.floor(call.analysis.context.now ?? 0)) * 1_000_000n;

const NANOS_OF: Readonly<Record<string, bigint>> = {
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
  day: 86_400_000_000_000n,
};

/** FLOOR(timestamp TO unit). */
const floorTo = (unit: string): ScalarFunction =>
  customFunction('date', `floor_${unit}`, 'timestamp', (call) => {
    const [t] = convertArguments(call, ['timestamp']);
    const nanos = NANOS_OF[unit];
    if (nanos !== undefined) {
      const bias = nanosSql(800000n * 86_400_000_000_000n);
      return result(call, TIMESTAMP, `(${t.sql} - ((${t.sql} + ${bias}) % ${nanosSql(nanos)}))`);
    }
    return result(call, TIMESTAMP, `hv_timestamp(CAST(date_trunc('${unit}', hv_date(${t.sql})) AS DATE))`);
  });

const dateShift = (names: string, operator: '+' | '-'): ScalarFunction =>
  sqlFunction('date', names, ['date', 'int'], DATE, (d, n) => `(${d} ${operator} ${n})`);

const noArguments = (call: Call) =>
  argumentsLength(
    call.analysis.text(call.args[0].position),
    `The function ${call.name.toUpperCase()} does not take any arguments, but found ${call.args.length}`,
    call.position,
  );

const days = (value: unknown): number => value as number;

export const dateFunctions: readonly ScalarFunction[] = [
  datePart('year', (d) => `year(${d})`),
  datePart('quarter', (d) => `quarter(${d})`),
  datePart('month', (d) => `month(${d})`),
  datePart('day dayofmonth', (d) => `day(${d})`),
  datePart('weekofyear', (d) => `weekofyear(${d})`),
  datePart('dayofweek', (d) => `dayofweek(${d}) + 1`),
  timePart('hour', 1),
  timePart('minute', 2),
  timePart('second', 3),
  dateShift('date_add', '+'),
  dateShift('date_sub', '-'),
  sqlFunction('date', 'datediff', ['date', 'date'], INT, (a, b) => `CAST(${a} - ${b} AS INTEGER)`),
  customFunction('date', 'add_months', 'date, int, format?', (call) => {
    const [timestamp, months, format] = convertArguments(call, ['timestamp', 'int', 'string?']);
    const args = [timestamp.sql, months.sql, format === undefined ? "'yyyy-MM-dd'" : format.sql];
    const sql = call.analysis.udfs.call('add_months', [TIMESTAMP, INT, STRING], STRING, args, (t, n, f) => {
      const { seconds, nanos } = t as TimestampValue;
      const day = Math.floor(Number(seconds) / 86400);
      const rest = Number(seconds) - day * 86400;
      return formatTimestamp(BigInt(addMonths(day, n as number) * 86400 + rest), nanos, f as string);
    });
    return result(call, STRING, sql);
  }),
  jsFunction('date', 'last_day', ['date'], STRING, (d) => {
    const { year, month } = civilFromDays(days(d));
    return dateText(daysFromCivil(year, month, daysInMonth(year, month)));
  }),
  jsFunction('date', 'next_day', ['date', 'string'], STRING, (d, name) => nextDay(days(d), name as string)),
  jsFunction('date', 'months_between', ['timestamp', 'timestamp', 'boolean?'], DOUBLE, (a, b, roundOff) =>
    monthsBetween(a as TimestampValue, b as TimestampValue, roundOff !== false),
  ),
  trunc,
  sqlFunction('date', 'to_date', ['date'], DATE, (d) => d),
  jsFunction('date', 'date_format', ['timestamp', 'string'], STRING, (t, f) => {
    const { seconds, nanos } = t as TimestampValue;
    // A pattern that is none gives no value (GenericUDFDateFormat).
    return isPattern(f as string) ? formatTimestamp(seconds, nanos, f as string) : null;
  }),
  jsFunction('date', 'from_unixtime', ['bigint', 'string?'], STRING, (n, f) =>
    formatTimestamp(n as bigint, 0, f === undefined ? DEFAULT_FORMAT : (f as string)),
  ),
  unixTimestamp,
  zoned('from_utc_timestamp', 1),
  zoned('to_utc_timestamp', -1),
  customFunction('date', 'current_date', '', (call) => {
    if (call.args.length > 0) throw noArguments(call);
    return result(call, DATE, `hv_date(${nanosSql(currentTimestamp(call))})`);
  }),
  customFunction('date', 'current_timestamp', '', (call) => {
    if (call.args.length > 0) throw noArguments(call);
    return result(call, TIMESTAMP, nanosSql(currentTimestamp(call)));
  }),
  ...['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map(floorTo),
];
