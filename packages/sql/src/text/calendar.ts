/*
 * Days and nanoseconds since 1970-01-01 in the proleptic Gregorian calendar, as text and back
 * (org.apache.hadoop.hive.common.type.Date and Timestamp).
 */

export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The calendar date of a day number (Hinnant's algorithm over 400-year eras). */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719468;
}

export const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

export const daysInMonth = (year: number, month: number): number =>
  month === 2 ? (isLeapYear(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

export function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  return `${year < 0 ? '-' : ''}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** `2024-02-29 23:59:59.5`: a fraction only where there is one, without trailing zeros (Timestamp.toString). */
export function timestampText(seconds: bigint | number, nanos: number): string {
  const total = Number(seconds);
  const days = Math.floor(total / 86400);
  const rest = total - days * 86400;
  const time = `${pad(Math.floor(rest / 3600), 2)}:${pad(Math.floor(rest / 60) % 60, 2)}:${pad(rest % 60, 2)}`;
  return `${dateText(days)} ${time}${fractionText(nanos)}`;
}

const fractionText = (nanos: number): string => (nanos === 0 ? '' : `.${pad(nanos, 9).replace(/0+$/, '')}`);

/** Days of `y-m-d` with whatever follows after a blank, a T or other text (DateParser); undefined where there is no such date. */
export function parseDate(text: string): number | undefined {
  const match = /^\s*(-?\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/.exec(text);
  if (match === null) return undefined;
  return validDays(Number(match[1]), Number(match[2]), Number(match[3]));
}

function validDays(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

/** Text behind the seconds is let pass, but not behind a fraction: then the time counts as none. */
const TIMESTAMP =
  /^\s*(-?\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d+)(?=\s|$)|(?=[^.\d]|$)))?/;

/** A timestamp as Hive reads text (TimestampUtils.stringToTimestamp): a time that is none counts as midnight; undefined where the date is none. */
export function parseTimestamp(text: string): { seconds: bigint; nanos: number } | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const days = validDays(Number(match[1]), Number(match[2]), Number(match[3]));
  if (days === undefined) return undefined;
  const [hour, minute, second] = [match[4], match[5], match[6]].map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return { seconds: BigInt(days) * 86400n, nanos: 0 };
  const nanos = Number((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return { seconds: BigInt(days * 86400 + hour * 3600 + minute * 60 + second), nanos };
}

/** `1 02:03:04.500000000` (HiveIntervalDayTime.toString). */
export function intervalDayTimeText(seconds: bigint, nanos: number): string {
  let total = seconds * 1_000_000_000n + BigInt(nanos);
  const sign = total < 0n ? '-' : '';
  if (total < 0n) total = -total;
  const fraction = Number(total % 1_000_000_000n);
  const whole = Number(total / 1_000_000_000n);
  const rest = whole % 86400;
  const time = `${pad(Math.floor(rest / 3600), 2)}:${pad(Math.floor(rest / 60) % 60, 2)}:${pad(rest % 60, 2)}`;
  return `${sign}${Math.floor(whole / 86400)} ${time}.${pad(fraction, 9)}`;
}

/** `1-2` (HiveIntervalYearMonth.toString). */
export const intervalYearMonthText = (months: number): string =>
  `${months < 0 ? '-' : ''}${Math.floor(Math.abs(months) / 12)}-${Math.abs(months) % 12}`;

/** Nanoseconds of `1 02:03:04.5` (HiveIntervalDayTime.valueOf); undefined where the text is none. */
export function dayTimeNanos(text: string): bigint | undefined {
  const match = /^([+-]?)(\d+) (\d+):(\d+):(\d+)(?:\.(\d{1,9}))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, day, hour, minute, second, fraction = ''] = match;
  const seconds = ((BigInt(day) * 24n + BigInt(hour)) * 60n + BigInt(minute)) * 60n + BigInt(second);
  const value = seconds * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -value : value;
}
