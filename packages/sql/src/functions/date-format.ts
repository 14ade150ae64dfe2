import { semantic } from '../expressions/errors.js';
import { civilFromDays, daysFromCivil, daysInMonth } from '../text/calendar.js';
import { zoneOffsetSeconds } from '../text/time-zone.js';
import { DAY_NAMES, MONTH_NAMES } from './sql-datetime/names.js';

/* java.time.format.DateTimeFormatter's patterns, as far as Hive's users write them (locale en-US). */

interface Piece {
  readonly letter: string;
  readonly count: number;
  readonly text: string;
}

const cache = new Map<string, readonly Piece[]>();

function pieces(pattern: string): readonly Piece[] {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const found: Piece[] = [];
  for (const [text, quoted, letters] of pattern.matchAll(/'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+/g)) {
    if (letters !== undefined) found.push({ letter: letters, count: text.length, text });
    else
      found.push({
        letter: '',
        count: 0,
        text: quoted === undefined ? text : quoted === '' ? "'" : quoted.replaceAll("''", "'"),
      });
  }
  if (cache.size > 100) cache.clear();
  cache.set(pattern, found);
  return found;
}

const unsupported = (letter: string, pattern: string) =>
  semantic(`The pattern letter '${letter}' in '${pattern}' is not supported`);

/** Whether java.time.format.DateTimeFormatter takes it: known letters, quotes that are closed. */
export const isPattern = (pattern: string): boolean =>
  /^(?:'(?:[^']|'')*'|[GuyYDMLdQqwWEecFaBhKkHmsSAnNVvzOXxZ]|[^A-Za-z'#{}[\]])*$/.test(pattern);

/** A timestamp (UTC wall time) by a pattern. */
export function formatTimestamp(seconds: bigint, nanos: number, pattern: string): string {
  const total = Number(seconds);
  const days = Math.floor(total / 86400);
  const rest = total - days * 86400;
  const { year, month, day } = civilFromDays(days);
  const hour = Math.floor(rest / 3600);
  const weekday = (((days + 4) % 7) + 7) % 7;
  const dayOfYear = days - daysFromCivil(year, 1, 1) + 1;
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  const name = (names: readonly string[], index: number, count: number) =>
    count === 4 ? names[index] : count === 5 ? names[index][0] : names[index].slice(0, 3);
  const quarter = Math.floor((month - 1) / 3) + 1;
  return pieces(pattern)
    .map(({ letter, count, text }) => {
      switch (letter) {
        case '':
          return text;
        case 'y':
        case 'u':
        case 'Y': {
          const shown = letter === 'Y' ? weekYear(days, weekday) : year;
          if (count === 2) return pad(((shown % 100) + 100) % 100, 2);
          // A year of more digits than asked for gets a sign.
          return shown > 9999 && count >= 4 ? `+${shown}` : pad(shown, count);
        }
        case 'M':
        case 'L':
          return count >= 3 ? name(MONTH_NAMES, month - 1, count) : pad(month, count);
        case 'd':
          return pad(day, count);
        case 'D':
          return pad(dayOfYear, count);
        case 'E':
          return name(DAY_NAMES, weekday, count);
        case 'e':
        case 'c':
          return count >= 3 ? name(DAY_NAMES, weekday, count) : pad(weekday + 1, count);
        case 'a':
          return hour < 12 ? 'AM' : 'PM';
        case 'H':
          return pad(hour, count);
        case 'k':
          return pad(hour === 0 ? 24 : hour, count);
        case 'K':
          return pad(hour % 12, count);
        case 'h':
          return pad(hour % 12 === 0 ? 12 : hour % 12, count);
        case 'm':
          return pad(Math.floor(rest / 60) % 60, count);
        case 's':
          return pad(rest % 60, count);
        case 'S':
          return pad(nanos, 9).padEnd(count, '0').slice(0, count);
        case 'A':
          return pad(rest * 1000 + Math.floor(nanos / 1_000_000), count);
        case 'N':
          return pad(rest * 1_000_000_000 + nanos, count);
        case 'O':
          return 'GMT';
        case 'B':
          return hour < 12 ? 'in the morning' : hour < 18 ? 'in the afternoon' : 'in the evening';
        case 'v':
          return 'UTC';
        case 'n':
          return pad(nanos, count);
        case 'G':
          return count === 4 ? 'Anno Domini' : count === 5 ? 'A' : year > 0 ? 'AD' : 'BC';
        case 'Q':
        case 'q':
          return count === 3
            ? `Q${quarter}`
            : count === 4
              ? `${['1st', '2nd', '3rd', '4th'][quarter - 1]} quarter`
              : pad(quarter, count);
        case 'w':
          return pad(weekOfYear(days, weekday), count);
        case 'W':
          // Weeks of the month begin on Sunday too.
          return pad(Math.floor((day - 1 + ((((weekday - day + 1) % 7) + 7) % 7)) / 7) + 1, count);
        case 'F':
          return pad(((day - 1) % 7) + 1, count);
        case 'z':
        case 'V':
          return 'UTC';
        case 'Z':
          return '+0000';
        case 'X':
          return 'Z';
        case 'x':
          return count === 1 ? '+00' : count === 2 ? '+0000' : '+00:00';
        default:
          throw unsupported(letter, pattern);
      }
    })
    .join('');
}

/** Weeks begin on Sunday, the first is the one with January 1 (Locale.US). */
function weekYear(days: number, weekday: number): number {
  return civilFromDays(days - weekday + 6).year;
}
function weekOfYear(days: number, weekday: number): number {
  const first = daysFromCivil(weekYear(days, weekday), 1, 1);
  const firstWeekday = (((first + 4) % 7) + 7) % 7;
  return Math.floor((days - (first - firstWeekday)) / 7) + 1;
}

const regexes = new Map<string, { regex: RegExp; letters: readonly Piece[] }>();

function parser(pattern: string): { regex: RegExp; letters: readonly Piece[] } {
  const known = regexes.get(pattern);
  if (known !== undefined) return known;
  const letters: Piece[] = [];
  const all = pieces(pattern);
  const source = all.map((piece, i) => {
    if (piece.letter === '') return piece.text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    letters.push(piece);
    const adjacent = all[i + 1] !== undefined && all[i + 1].letter !== '' && /[yuMdHhmsS]/.test(all[i + 1].letter);
    const { letter, count } = piece;
    if ('MLEec'.includes(letter) && count >= 3) return '([A-Za-z]+)';
    if (letter === 'a') return '([AaPp][Mm])';
    if (letter === 'z' || letter === 'Z' || letter === 'X' || letter === 'V') {
      return letter === 'z' ? '([A-Z]{1,5})' : '(Z|UTC|GMT|[+-]\\d\\d:?\\d\\d|[A-Z]\\w+\\/[\\w/]+)';
    }
    if ('yu'.includes(letter)) return count === 2 ? '(\\d{2})' : adjacent ? `(\\d{${count}})` : '(\\d{1,9})';
    if ('MLdHhkKmsD'.includes(letter))
      return adjacent || count >= 2 ? `(\\d{${adjacent ? count : '1,'}${adjacent ? '' : count}})` : '(\\d{1,3})';
    if (letter === 'S') return `(\\d{${count}})`;
    throw unsupported(letter, pattern);
  });
  const made = { regex: new RegExp(`^${source.join('')}$`), letters };
  if (regexes.size > 100) regexes.clear();
  regexes.set(pattern, made);
  return made;
}

/** Text by a pattern as seconds since 1970; null where it does not fit. */
export function parseWithPattern(text: string, pattern: string): bigint | null {
  const { regex, letters } = parser(pattern);
  const has = (among: string) => letters.some(({ letter }) => among.includes(letter));
  // Without a whole date it is no time.
  if (!has('yu') || !(has('ML') && has('d'))) return null;
  const match = regex.exec(text);
  if (match === null) return null;
  let [year, month, day, hour, minute, second, offset] = [1970, 1, 1, 0, 0, 0, 0];
  let afternoon: boolean | undefined;
  let zone = 'UTC';
  for (let i = 0; i < letters.length; i++) {
    const { letter, count } = letters[i];
    const part = match[i + 1];
    const value = Number(part);
    switch (letter) {
      case 'y':
      case 'u':
        year = count === 2 ? 2000 + value : value;
        break;
      case 'M':
      case 'L': {
        const index =
          count >= 3
            ? MONTH_NAMES.findIndex((n) => n.slice(0, count === 3 ? 3 : 20).toLowerCase() === part.toLowerCase())
            : value - 1;
        month = index + 1;
        break;
      }
      case 'd':
        day = value;
        break;
      case 'H':
      case 'K':
        hour = value;
        break;
      case 'h':
      case 'k':
        hour = value === (letter === 'h' ? 12 : 24) ? 0 : value;
        break;
      case 'm':
        minute = value;
        break;
      case 's':
        second = value;
        break;
      case 'a':
        afternoon = /^p/i.test(part);
        break;
      case 'z':
      case 'V':
        zone = part;
        break;
      case 'Z':
      case 'X': {
        const zone = /^([+-])(\d\d):?(\d\d)$/.exec(part);
        if (zone !== null) offset = (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 3600 + Number(zone[3]) * 60);
        break;
      }
    }
  }
  if (afternoon === true) hour += 12;
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  // A day that the month has not is its last (ResolverStyle.SMART).
  const known = Math.min(day, daysInMonth(year, month));
  const local = daysFromCivil(year, month, known) * 86400 + hour * 3600 + minute * 60 + second;
  const ahead = zone === 'UTC' ? offset : zoneOffsetSeconds(local, zone, false);
  return ahead === undefined ? null : BigInt(local - ahead);
}
