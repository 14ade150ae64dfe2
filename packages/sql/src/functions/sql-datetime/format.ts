import type { TimestampValue } from '@skep/orc';
import { civilFromDays, daysFromCivil } from '../../text/calendar.js';
import { isoWeek } from './iso-week.js';
import { DAY_NAMES, inCaseOf, MONTH_NAMES } from './names.js';
import type { Pattern } from './pattern.js';

/** A timestamp (a date at midnight) by a pattern. */
export function formatBySql({ seconds, nanos }: TimestampValue, { tokens }: Pattern): string {
  const total = Number(seconds);
  const days = Math.floor(total / 86400);
  const second = total - days * 86400;
  const { year, month, day } = civilFromDays(days);
  const dayOfYear = days - daysFromCivil(year, 1, 1) + 1;
  const weekday = (((days + 4) % 7) + 7) % 7;
  const iso = isoWeek(days);
  const hour = Math.floor(second / 3600);
  return tokens
    .map((token) => {
      if (token.kind !== 'field') return token.text;
      const { name, text, fill } = token;
      const number = (value: number, width: number) => (fill ? String(value).padStart(width, '0') : String(value));
      const lastDigits = (value: number, width: number) => number(value % 10 ** width, width);
      const word = (value: string, width: number) => inCaseOf(text, fill ? value.padEnd(width) : value);
      switch (name) {
        case 'yyyy':
        case 'rrrr':
          return number(year, 4);
        case 'yyy':
        case 'yy':
        case 'y':
        case 'rr':
          return lastDigits(year, name.length);
        case 'iyyy':
        case 'iyy':
        case 'iy':
        case 'i':
          return lastDigits(iso.year, name.length);
        case 'mm':
          return number(month, 2);
        case 'month':
          return word(MONTH_NAMES[month - 1], 9);
        case 'mon':
          return word(MONTH_NAMES[month - 1].slice(0, 3), 3);
        case 'dd':
          return number(day, 2);
        case 'ddd':
          return number(dayOfYear, 3);
        case 'd':
          return String(weekday + 1);
        case 'day':
          return word(DAY_NAMES[weekday], 9);
        case 'dy':
          return word(DAY_NAMES[weekday].slice(0, 3), 3);
        case 'iw':
          return number(iso.week, 2);
        case 'id':
          return number(iso.day, 2);
        case 'q':
          return String(Math.floor((month - 1) / 3) + 1);
        case 'ww':
          return number(Math.floor((dayOfYear - 1) / 7) + 1, 2);
        case 'w':
          return String(Math.floor((day - 1) / 7) + 1);
        case 'hh':
        case 'hh12':
          return number(hour % 12 === 0 ? 12 : hour % 12, 2);
        case 'hh24':
          return number(hour, 2);
        case 'mi':
          return number(Math.floor(second / 60) % 60, 2);
        case 'ss':
          return number(second % 60, 2);
        case 'sssss':
          return number(second, 5);
        case 'am':
        case 'pm':
          return inCaseOf(text, hour < 12 ? 'Am' : 'Pm');
        case 'a.m.':
        case 'p.m.':
          return inCaseOf(text, hour < 12 ? 'A.m.' : 'P.m.');
        case 'tzh':
          return '+00';
        case 'tzm':
          return '00';
        default: {
          // ff, ff1 … ff9
          const digits = String(nanos)
            .padStart(9, '0')
            .slice(0, name === 'ff' ? 9 : Number(name[2]));
          return fill ? digits : digits.replace(/0+$/, '') || '0';
        }
      }
    })
    .join('');
}
