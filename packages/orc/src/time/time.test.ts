import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnknownTimeZoneError } from '../errors.js';
import { CUTOVER_DAY, gregorianDate, gregorianDay, hybridToProleptic, prolepticToHybrid } from './calendar.js';
import { dateText, timestampText } from './date-text.js';
import { timeZone } from './time-zone.js';

describe('calendars', () => {
  test('days are those of Date', () => {
    fc.assert(
      fc.property(fc.integer({ min: -99_999_999, max: 99_999_999 }), (day) => {
        const date = new Date(day * 86_400_000);
        const expected = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
        expect(gregorianDate(day)).toEqual(expected);
        expect(gregorianDay(expected.year, expected.month, expected.day)).toBe(day);
      }),
    );
  });

  test('the same label in both calendars (B118: java.util.GregorianCalendar)', () => {
    expect(hybridToProleptic(-500380)).toBe(-500382);
    expect(dateText(hybridToProleptic(-500380))).toBe('0600-01-01');
    // 1582-10-04 Julian is the day before 1582-10-15 Gregorian.
    expect(dateText(CUTOVER_DAY)).toBe('1582-10-15');
    expect(dateText(hybridToProleptic(CUTOVER_DAY - 1))).toBe('1582-10-04');
    // 1500-02-29 is Julian only: the proleptic calendar has 1500-03-01 there.
    expect(dateText(hybridToProleptic(prolepticToHybrid(gregorianDay(1500, 3, 1)) - 1))).toBe('1500-03-01');
    expect(hybridToProleptic(-719164)).toBe(-719162);
    expect(gregorianDay(1, 1, 1)).toBe(-719162);
    expect(gregorianDay(1200, 1, 1) - prolepticToHybrid(gregorianDay(1200, 1, 1))).toBe(-7);
  });

  test('there and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -2_000_000, max: 100_000 }), (day) => {
        fc.pre(day < CUTOVER_DAY - 10 || day >= CUTOVER_DAY);
        expect(hybridToProleptic(prolepticToHybrid(day))).toBe(day);
      }),
    );
    for (let day = -800_000; day < -141_000; day++) {
      if (hybridToProleptic(day) > hybridToProleptic(day + 1)) throw new RangeError(`not ascending at ${day}`);
    }
  });

  test('texts', () => {
    expect(timestampText(-1n, 999_999_999)).toBe('1969-12-31 23:59:59.999999999');
    expect(timestampText(253402300799n, 0)).toBe('9999-12-31 23:59:59.0');
    expect(dateText(-719163)).toBe('0000-12-31');
    expect(dateText(gregorianDay(-44, 3, 15))).toBe('-0044-03-15');
    expect(dateText(gregorianDay(12345, 1, 1))).toBe('12345-01-01');
  });
});

describe('time zones', () => {
  const at = (text: string) => Date.parse(text) / 1000;

  test.each([
    ['America/Los_Angeles', '2015-01-01T00:00:00Z', -8 * 3600],
    ['America/Los_Angeles', '2021-07-01T00:00:00Z', -7 * 3600],
    ['America/Los_Angeles', '2021-03-14T09:59:59Z', -8 * 3600],
    ['America/Los_Angeles', '2021-03-14T10:00:00Z', -7 * 3600],
    ['US/Pacific', '2037-07-01T00:00:00Z', -7 * 3600],
    ['America/Los_Angeles', '2245-07-01T00:00:00Z', -7 * 3600],
    // Before 1900 java.util.TimeZone has the standard offset of today. (These are what JDK 17 answers.)
    ['America/Los_Angeles', '1850-01-01T00:00:00Z', -8 * 3600],
    ['Asia/Shanghai', '1899-12-31T23:59:59Z', 28_800],
    ['Asia/Shanghai', '1900-01-01T00:00:00Z', 29_143],
    ['Asia/Kolkata', '1857-07-07T00:00:00Z', 19_800],
    ['Asia/Kolkata', '1905-07-07T00:00:00Z', 19_270],
    ['Europe/Paris', '1890-07-07T00:00:00Z', 3600],
    ['Europe/Paris', '1900-07-07T00:00:00Z', 561],
    ['Europe/Dublin', '1890-07-07T00:00:00Z', 0],
    ['Europe/Amsterdam', '1500-01-01T00:00:00Z', 3600],
    ['Asia/Shanghai', '1940-07-01T00:00:00Z', 9 * 3600],
    ['Asia/Kolkata', '2000-01-01T00:00:00Z', 19_800],
    ['Australia/Lord_Howe', '2021-01-01T00:00:00Z', 11 * 3600],
    ['GMT+05:30', '2000-01-01T00:00:00Z', 19_800],
    ['-0800', '2000-01-01T00:00:00Z', -8 * 3600],
    ['PST', '2021-07-01T00:00:00Z', -7 * 3600],
  ])('%s at %s', (name, text, offset) => {
    expect(timeZone(name)?.offsetAt(at(text))).toBe(offset);
  });

  test('the C++ writer has the whole history (what zoneinfo answers)', () => {
    const offset = (name: string, text: string) => timeZone(name, 'whole')?.offsetAt(at(text));
    expect(offset('America/New_York', '1890-01-01T00:00:00Z')).toBe(-18_000);
    expect(offset('America/New_York', '1850-01-01T00:00:00Z')).toBe(-17_762);
    expect(offset('America/New_York', '0100-01-01T00:00:00Z')).toBe(-17_762);
    expect(offset('Asia/Kolkata', '1857-07-07T00:00:00Z')).toBe(21_200);
    expect(offset('Asia/Kolkata', '2020-07-07T00:00:00Z')).toBe(19_800);
  });

  test('every instant has the offset that Intl gives', () => {
    for (const name of ['Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia', 'Africa/Casablanca']) {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
      fc.assert(
        fc.property(fc.integer({ min: at('1901-01-01T00:00:00Z'), max: at('2099-12-31T00:00:00Z') }), (instant) => {
          const local = at(`${format.format(instant * 1000).replace(' ', 'T')}Z`);
          expect(timeZone(name)?.offsetAt(instant)).toBe(local - instant);
        }),
        { numRuns: 200 },
      );
    }
  });

  test('wall times become instants; in a gap as if the clock had not been changed', () => {
    const zone = timeZone('America/Los_Angeles');
    expect(zone?.instantOf(at('2021-07-01T00:00:00Z'))).toBe(at('2021-07-01T07:00:00Z'));
    expect(zone?.instantOf(at('2021-03-14T02:30:00Z'))).toBe(at('2021-03-14T10:30:00Z'));
    expect(zone?.instantOf(at('2021-11-07T01:30:00Z'))).toBe(at('2021-11-07T08:30:00Z'));
    expect(zone?.instantOf(at('2021-11-07T02:30:00Z'))).toBe(at('2021-11-07T10:30:00Z'));
  });

  test('UTC needs no zone, unknown names are refused', () => {
    for (const name of ['UTC', 'GMT', 'Etc/UTC', 'Z', '']) expect(timeZone(name)).toBeUndefined();
    expect(() => timeZone('Mars/Olympus')).toThrow(UnknownTimeZoneError);
  });
});
