import { UnknownTimeZoneError } from '../errors.js';
import { DAY_SECONDS, gregorianDate, gregorianDay } from './calendar.js';

/**
 * Offsets of a time zone as the writer had them: its history, and its last rule for ever. Java (java.util.TimeZone) has the
 * standard offset of today before 1900 (sun.util.calendar.ZoneInfo: rawOffset), the C++ writer the whole history, and before it the
 * local mean time. Taken from Intl, kept as a growing table of transitions.
 */
export class TimeZone {
  /** Transitions in ascending order: from starts[i] on (seconds UTC) the offset is offsets[i]. */
  private starts: number[] = [];
  private offsets: number[] = [];
  private firstYear = 0;
  /** The first year that is not in the table. */
  private endYear = 0;
  /** The answer of the last look-up holds in [from, until). */
  private from = 0;
  private until = 0;
  private offset = 0;
  private raw: number | undefined;

  constructor(
    readonly name: string,
    /** The offset at an instant, slow. */
    private readonly ask: (instant: number) => number,
    private readonly history: ZoneHistory,
  ) {}

  /** Seconds east of UTC at an instant (seconds since 1970-01-01 UTC, no fraction). */
  offsetAt(instant: number): number {
    if (instant >= this.from && instant < this.until) return this.offset;
    if (instant < WHOLE_EARLIEST && this.history === 'whole') return this.offsetAt(WHOLE_EARLIEST);
    if (instant < EARLIEST && this.history === 'java') {
      this.raw ??= this.rawOffset();
      return this.raw;
    }
    if (instant >= LATEST) {
      return this.offsetAt(instant - CYCLE_SECONDS * (Math.floor((instant - LATEST) / CYCLE_SECONDS) + 1));
    }
    const { year } = gregorianDate(Math.floor(instant / DAY_SECONDS));
    this.cover(year);
    const { starts, offsets } = this;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle] <= instant) low = middle;
      else high = middle - 1;
    }
    this.from = starts[low];
    this.until = low + 1 < starts.length ? starts[low + 1] : yearStart(this.endYear);
    this.offset = offsets[low];
    return this.offset;
  }

  /**
   * The instant at which clocks show `local` (seconds as if UTC). Where they show it twice: the first time; where never: as if the clock
   * had not been changed, as java.time does.
   */
  instantOf(local: number): number {
    const before = this.offsetAt(local - DAY_SECONDS);
    const first = local - before;
    if (this.offsetAt(first) === before) return first;
    const second = local - this.offsetAt(local + DAY_SECONDS);
    return second + this.offsetAt(second) === local ? second : first;
  }

  /**
   * The last standard offset. Java has no summer time that is behind the standard time (Ireland, Morocco): the standard one
   * is the least of the year.
   */
  private rawOffset(): number {
    const offsets = new Set<number>();
    for (let at = yearStart(RAW_YEAR); at < yearStart(RAW_YEAR + 1); at += PROBE_SECONDS) offsets.add(this.ask(at));
    return Math.min(...offsets);
  }

  /** Extends the table to hold a year; it stays without gaps. */
  private cover(year: number): void {
    if (this.endYear === 0) {
      this.firstYear = year;
      this.endYear = year;
    }
    while (this.firstYear > year) {
      this.firstYear--;
      const { starts, offsets } = this.transitionsOf(this.firstYear);
      // The old first entry is no transition when nothing changed at that new year.
      const keep = offsets[offsets.length - 1] === this.offsets[0] ? 1 : 0;
      this.starts = [...starts, ...this.starts.slice(keep)];
      this.offsets = [...offsets, ...this.offsets.slice(keep)];
    }
    while (this.endYear <= year) {
      const { starts, offsets } = this.transitionsOf(this.endYear);
      const known = this.offsets.length > 0 && this.offsets[this.offsets.length - 1] === offsets[0] ? 1 : 0;
      this.starts.push(...starts.slice(known));
      this.offsets.push(...offsets.slice(known));
      this.endYear++;
    }
  }

  /** The offset at the start of a year and the transitions in it, found by halving each half month that has one. */
  private transitionsOf(year: number): { starts: number[]; offsets: number[] } {
    const first = yearStart(year);
    const end = yearStart(year + 1);
    const starts = [first];
    const offsets = [this.ask(first)];
    for (let at = first; at < end; at += PROBE_SECONDS) {
      const next = Math.min(at + PROBE_SECONDS, end - 1);
      const before = offsets[offsets.length - 1];
      const after = this.ask(next);
      if (after === before) continue;
      let low = at;
      let high = next;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (this.ask(middle) === before) low = middle;
        else high = middle;
      }
      starts.push(high);
      offsets.push(after);
    }
    return { starts, offsets };
  }
}

/** Whose rules hold before 1900. */
export type ZoneHistory = 'java' | 'whole';

const PROBE_SECONDS = 15 * DAY_SECONDS;
/** 1900-01-01 00:00:00 UTC: java.util.TimeZone knows no history before. */
const EARLIEST = -2_208_988_800;
/** No zone had anything but local mean time before. */
const WHOLE_EARLIEST = gregorianDay(1800, 1, 1) * DAY_SECONDS;
/** In the future of every time zone database that changes of standard offsets are in, near enough to have Ramadan in its tables. */
const RAW_YEAR = 2035;
/** From here on the rules of the last 400 years repeat: the Gregorian cycle is whole weeks. */
const LATEST = gregorianDay(2500, 1, 1) * DAY_SECONDS;
const CYCLE_SECONDS = 146_097 * DAY_SECONDS;

function yearStart(year: number): number {
  return gregorianDay(year, 1, 1) * DAY_SECONDS;
}

/** Java's three-letter ids that are no IANA names. */
const OLD_IDS: Readonly<Record<string, string>> = {
  ACT: 'Australia/Darwin',
  AET: 'Australia/Sydney',
  AST: 'America/Anchorage',
  BET: 'America/Sao_Paulo',
  BST: 'Asia/Dhaka',
  CAT: 'Africa/Harare',
  CNT: 'America/St_Johns',
  CST: 'America/Chicago',
  CTT: 'Asia/Shanghai',
  ECT: 'Europe/Paris',
  IET: 'America/Indiana/Indianapolis',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  MIT: 'Pacific/Apia',
  NET: 'Asia/Yerevan',
  NST: 'Pacific/Auckland',
  PLT: 'Asia/Karachi',
  PNT: 'America/Phoenix',
  PRT: 'America/Puerto_Rico',
  PST: 'America/Los_Angeles',
  SST: 'Pacific/Guadalcanal',
  VST: 'Asia/Ho_Chi_Minh',
};
const zones: Readonly<Record<ZoneHistory, Map<string, TimeZone>>> = { java: new Map(), whole: new Map() };

/** The zone of an IANA or Java id; undefined for UTC, which needs no table. Throws for an id that nobody knows. */
export function timeZone(name: string, history: ZoneHistory = 'java'): TimeZone | undefined {
  if (/^(UTC|GMT|Z|Etc\/UTC|Etc\/GMT|UCT|Etc\/UCT|Zulu|Greenwich)?$/.test(name)) return undefined;
  const known = zones[history].get(name);
  if (known !== undefined) return known;
  const zone = new TimeZone(name, fixedOffset(name) ?? offsetsOfIntl(name), history);
  zones[history].set(name, zone);
  return zone;
}

/** Java's custom ids: `GMT+5:30`, `UTC-08`, `+0530`. */
function fixedOffset(name: string): ((instant: number) => number) | undefined {
  const match = /^(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(name);
  if (match === null) return undefined;
  const [, sign, hours, minutes = '0'] = match;
  const seconds = (Number(hours) * 60 + Number(minutes)) * 60;
  return () => (sign === '-' ? -seconds : seconds);
}

function offsetsOfIntl(name: string): (instant: number) => number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: OLD_IDS[name] ?? name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw new UnknownTimeZoneError(name, cause);
  }
  return (instant) => {
    const field: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant * 1000)) field[type] = Number(value);
    const day = gregorianDay(field.year, field.month, field.day);
    return day * DAY_SECONDS + field.hour * 3600 + field.minute * 60 + field.second - instant;
  };
}
