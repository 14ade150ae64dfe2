import { semantic } from '../../expressions/errors.js';

/*
 * The patterns of CAST(… AS … FORMAT '…'): SQL:2016's, as org.apache.hadoop.hive.common.format.datetime.HiveSqlDateTimeFormatter
 * has them.
 */

export type Token =
  /** `name` in lower case; `text` as written, whose letter case names of months, days and AM follow. `fill` is off after FM. */
  | { readonly kind: 'field'; readonly name: string; readonly text: string; readonly fill: boolean }
  | { readonly kind: 'separator'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface Pattern {
  readonly tokens: readonly Token[];
  /** FX: numbers have exactly their length, separators match exactly. */
  readonly exact: boolean;
}

/** Longest first. */
const FIELDS = [
  'month', 'sssss', 'yyyy', 'rrrr', 'hh12', 'hh24', 'iyyy', 'a.m.', 'p.m.', 'yyy', 'iyy', 'mon', 'ddd', 'day',
  'ff1', 'ff2', 'ff3', 'ff4', 'ff5', 'ff6', 'ff7', 'ff8', 'ff9', 'tzh', 'tzm',
  'yy', 'rr', 'mm', 'dd', 'dy', 'hh', 'mi', 'ss', 'ff', 'am', 'pm', 'ww', 'iy', 'iw', 'id',
  'y', 'd', 'q', 'w', 'i',
] as const; // biome-ignore format: a table
const SEPARATORS = "-./,';: ";
const FIELD_KIND: Readonly<Record<string, string>> = {
  yyyy: 'year', yyy: 'year', yy: 'year', y: 'year', rrrr: 'year', rr: 'year',
  mm: 'month', month: 'month', mon: 'month',
  dd: 'day of month', ddd: 'day of year', day: 'day of week', dy: 'day of week', d: 'day of week', id: 'ISO day of week',
  hh: 'hour', hh12: 'hour', hh24: 'hour', mi: 'minute', ss: 'second', sssss: 'second of day',
  am: 'AM/PM', pm: 'AM/PM', 'a.m.': 'AM/PM', 'p.m.': 'AM/PM',
  q: 'quarter', ww: 'week of year', w: 'week of month',
  iyyy: 'ISO year', iyy: 'ISO year', iy: 'ISO year', i: 'ISO year', iw: 'ISO week', tzh: 'zone hour', tzm: 'zone minute',
}; // biome-ignore format: a table
const kindOf = (name: string): string => FIELD_KIND[name] ?? 'fraction';

export function parsePattern(text: string): Pattern {
  const tokens: Token[] = [];
  const lower = text.toLowerCase();
  let at = lower.startsWith('fx') ? 2 : 0;
  const exact = at > 0;
  let fill = true;
  while (at < text.length) {
    if (text[at] === '"') {
      const end = text.indexOf('"', at + 1);
      if (end < 0) throw semantic(`Missing closing double quote in the datetime pattern '${text}'`);
      tokens.push({ kind: 'text', text: text.slice(at + 1, end).replaceAll('\\"', '"') });
      at = end + 1;
      continue;
    }
    if (SEPARATORS.includes(text[at])) {
      tokens.push({ kind: 'separator', text: text[at++] });
      continue;
    }
    if (lower.startsWith('fm', at)) {
      fill = false;
      at += 2;
      continue;
    }
    const name = FIELDS.find((field) => lower.startsWith(field, at));
    if (name !== undefined) {
      tokens.push({ kind: 'field', name, text: text.slice(at, at + name.length), fill });
      fill = true;
      at += name.length;
    } else if (lower[at] === 't' || lower[at] === 'z') tokens.push({ kind: 'text', text: text[at++].toUpperCase() });
    else throw semantic(`Bad date/time conversion pattern: ${text}: nothing is known by '${text.slice(at)}'`);
  }
  return { tokens, exact };
}

/** What text is read by must say a whole date, once (HiveSqlDateTimeFormatter.verifyForParse). */
export function checkForReading(pattern: Pattern, text: string): void {
  const refuse = (why: string) => semantic(`${why} in the datetime pattern '${text}'`);
  const kinds = pattern.tokens.flatMap((token) => (token.kind === 'field' ? [kindOf(token.name)] : []));
  const has = (kind: string) => kinds.includes(kind);
  const twice = kinds.find((kind, i) => kinds.indexOf(kind) !== i);
  if (twice !== undefined) throw refuse(`Invalid duplication of the format element ${twice}`);
  for (const kind of ['day of week', 'quarter', 'week of year', 'week of month']) {
    if (has(kind)) throw refuse(`Illegal field for reading text: ${kind}`);
  }
  const iso = kinds.some((kind) => kind.startsWith('ISO'));
  const gregorian = ['year', 'month', 'day of month', 'day of year'].some(has);
  if (iso && gregorian) throw refuse('ISO 8601 dates cannot be mixed with others');
  if (iso) {
    if (!has('ISO year') || !has('ISO week') || !has('ISO day of week'))
      throw refuse('Missing part of an ISO 8601 date');
  } else {
    if (!has('year')) throw refuse('Missing year token.');
    if (has('day of year') && (has('month') || has('day of month'))) {
      throw refuse('Invalid combination of day of year with month or day');
    }
    if (!has('day of year') && !(has('month') && has('day of month'))) {
      throw refuse('Missing day of year or (month of year + day of month) tokens.');
    }
  }
  const hour24 = pattern.tokens.some((token) => token.kind === 'field' && token.name === 'hh24');
  if (has('AM/PM') && (hour24 || !has('hour'))) throw refuse('AM/PM belongs to an hour of twelve');
  if (has('hour') && !hour24 && !has('AM/PM')) throw refuse('Missing AM/PM token.');
  if (has('second of day') && (has('hour') || has('minute') || has('second') || has('AM/PM'))) {
    throw refuse('The second of the day cannot be mixed with other parts of a time');
  }
  if (has('zone minute') && !has('zone hour')) throw refuse('TZM without TZH');
}
