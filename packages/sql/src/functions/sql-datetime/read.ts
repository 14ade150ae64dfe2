import type { TimestampValue } from '@skep/orc';
import { civilFromDays, daysFromCivil, daysInMonth, isLeapYear } from '../../text/calendar.js';
import { daysOfIsoWeek, isoWeek } from './iso-week.js';
import { DAY_NAMES, MONTH_NAMES } from './names.js';
import type { Pattern, Token } from './pattern.js';

const WIDTH: Readonly<Record<string, number>> = {
  yyyy: 4, yyy: 3, yy: 2, y: 1, rrrr: 4, rr: 2, mm: 2, dd: 2, ddd: 3, hh: 2, hh12: 2, hh24: 2, mi: 2, ss: 2, sssss: 5,
  iyyy: 4, iyy: 3, iy: 2, i: 1, iw: 2, id: 1, ff: 9,
}; // biome-ignore format: a table
const widthOf = (name: string): number => WIDTH[name] ?? Number(name[2]);
const SEPARATORS = "-./,';: ";

/** Text read by a pattern; null where it does not fit (a cast to NULL). `nowDays` is today: short years count from its century. */
export function readBySql(text: string, pattern: Pattern, nowDays: number): TimestampValue | null {
  const values = fields(text, pattern, civilFromDays(nowDays).year, isoWeek(nowDays).year);
  if (values === undefined) return null;
  const days = dayOf(values);
  const second = secondOf(values);
  if (days === undefined || second === undefined) return null;
  const zone = (values.get('tzh') ?? 0) * 3600 + (values.get('tzm') ?? 0) * 60 * (values.get('tzsign') ?? 1);
  return { seconds: BigInt(days * 86400 + second - zone), nanos: values.get('nanos') ?? 0 };
}

function dayOf(values: ReadonlyMap<string, number>): number | undefined {
  const isoYear = values.get('isoyear');
  if (isoYear !== undefined) return daysOfIsoWeek(isoYear, values.get('iw') ?? 0, values.get('id') ?? 0);
  const year = values.get('year') ?? 0;
  const dayOfYear = values.get('ddd');
  if (dayOfYear !== undefined) {
    if (dayOfYear < 1 || dayOfYear > (isLeapYear(year) ? 366 : 365)) return undefined;
    return daysFromCivil(year, 1, 1) + dayOfYear - 1;
  }
  const [month, day] = [values.get('month') ?? 0, values.get('dd') ?? 0];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

function secondOf(values: ReadonlyMap<string, number>): number | undefined {
  const ofDay = values.get('sssss');
  if (ofDay !== undefined) return ofDay < 86400 ? ofDay : undefined;
  const twelve = values.get('hour12');
  let hour = values.get('hh24') ?? 0;
  if (twelve !== undefined) {
    if (twelve < 1 || twelve > 12) return undefined;
    hour = (twelve % 12) + (values.get('pm') ?? 0) * 12;
  }
  const [minute, second] = [values.get('mi') ?? 0, values.get('ss') ?? 0];
  return hour > 23 || minute > 59 || second > 59 ? undefined : hour * 3600 + minute * 60 + second;
}

function fields(text: string, pattern: Pattern, year: number, isoYear: number): Map<string, number> | undefined {
  const values = new Map<string, number>();
  const { tokens, exact } = pattern;
  let at = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token.kind === 'separator') {
      if (exact) {
        if (text[at++] !== token.text) return undefined;
        continue;
      }
      // A run of separators stands for any other run.
      if (tokens[i - 1]?.kind === 'separator') continue;
      const start = at;
      while (at < text.length && SEPARATORS.includes(text[at]) && !isSign(text, at, tokens[i + 1])) at++;
      // Behind the end of the text the rest of the pattern may only be separators.
      if (at === start) return undefined;
      continue;
    }
    if (token.kind === 'text') {
      if (text.slice(at, at + token.text.length).toLowerCase() !== token.text.toLowerCase()) return undefined;
      at += token.text.length;
      continue;
    }
    const length = readField(token.name, text.slice(at), values, exact, year, isoYear);
    if (length === undefined) return undefined;
    at += length;
  }
  return at === text.length ? values : undefined;
}

const isSign = (text: string, at: number, next: Token | undefined): boolean =>
  next?.kind === 'field' && next.name === 'tzh' && text[at] === '-';

/** How much of the text it took. */
function readField(
  name: string,
  rest: string,
  values: Map<string, number>,
  exact: boolean,
  year: number,
  isoYear: number,
): number | undefined {
  switch (name) {
    case 'month':
    case 'mon': {
      const short = name === 'mon';
      const index = MONTH_NAMES.findIndex((month) =>
        rest.toLowerCase().startsWith((short ? month.slice(0, 3) : month).toLowerCase()),
      );
      if (index < 0) return undefined;
      values.set('month', index + 1);
      return short ? 3 : MONTH_NAMES[index].length;
    }
    case 'day':
    case 'dy': {
      const found = DAY_NAMES.find((day) =>
        rest.toLowerCase().startsWith((name === 'dy' ? day.slice(0, 3) : day).toLowerCase()),
      );
      return found === undefined ? undefined : name === 'dy' ? 3 : found.length;
    }
    case 'am':
    case 'pm':
    case 'a.m.':
    case 'p.m.': {
      const match = /^([ap])(?:m|\.m\.)/i.exec(rest);
      if (match === null || match[0].length !== name.length) return undefined;
      values.set('pm', match[1].toLowerCase() === 'p' ? 1 : 0);
      return match[0].length;
    }
    case 'tzh': {
      const match = /^([+-]?)(\d{1,2})/.exec(rest);
      if (match === null || Number(match[2]) > 15) return undefined;
      const sign = match[1] === '-' ? -1 : 1;
      values.set('tzh', sign * Number(match[2])).set('tzsign', sign);
      return match[0].length;
    }
    case 'tzm': {
      const match = /^\d{1,2}/.exec(rest);
      if (match === null || Number(match[0]) > 59) return undefined;
      values.set('tzm', Number(match[0]));
      return match[0].length;
    }
  }
  return readNumber(name, rest, values, exact, year, isoYear);
}

function readNumber(
  name: string,
  rest: string,
  values: Map<string, number>,
  exact: boolean,
  year: number,
  isoYear: number,
): number | undefined {
  const width = widthOf(name);
  const digits = /^\d+/.exec(rest.slice(0, width))?.[0];
  if (digits === undefined || (exact && digits.length < width && !name.startsWith('ff'))) return undefined;
  const number = Number(digits);
  if (name.startsWith('ff')) values.set('nanos', Number(digits.padEnd(9, '0')));
  else if (name.startsWith('y')) values.set('year', completed(number, digits.length, year));
  else if (name.startsWith('rr'))
    values.set('year', digits.length === 2 ? rounded(number, year) : completed(number, digits.length, year));
  else if (name === 'i' || name.startsWith('iy')) values.set('isoyear', completed(number, digits.length, isoYear));
  else if (name === 'mm') values.set('month', number);
  else if (name === 'hh' || name === 'hh12') values.set('hour12', number);
  else values.set(name, number);
  return digits.length;
}

/** The missing first digits are this year's. */
const completed = (value: number, digits: number, year: number): number => year - (year % 10 ** digits) + value;

/** RR: the nearest century. */
function rounded(value: number, year: number): number {
  const century = year - (year % 100);
  const half = year % 100 < 50;
  if (value < 50) return (half ? century : century + 100) + value;
  return (half ? century - 100 : century) + value;
}
