/*
 * Two calendars (spec: "Calendar kind" of the footer): the hybrid one of java.util.GregorianCalendar is Julian before
 * 1582-10-15, the proleptic one Gregorian for ever. A date is the same label (year, month, day) in both; its number of days
 * since 1970-01-01 differs before the cutover. Vectors are always proleptic.
 */

/** 1582-10-15, the first Gregorian day. */
export const CUTOVER_DAY = -141427;
export const DAY_SECONDS = 86_400;

/** Days since 1970-01-01 of a Gregorian date (month 1 to 12). */
export function gregorianDay(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

/** The Gregorian date of a day since 1970-01-01; year 0 is 1 BC. */
export function gregorianDate(days: number): { year: number; month: number; day: number } {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const dayOfEra = z - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Days since 1970-01-01 (Gregorian) on which a Julian date falls. */
function julianDay(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return y * 365 + Math.floor(y / 4) + dayOfYear - 719470;
}

function julianDate(days: number): { year: number; month: number; day: number } {
  const z = days + 719470;
  const fourYears = Math.floor(z / 1461);
  const dayOfCycle = z - fourYears * 1461;
  const yearOfCycle = Math.floor((dayOfCycle - Math.floor(dayOfCycle / 1460)) / 365);
  const dayOfYear = dayOfCycle - 365 * yearOfCycle;
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfCycle + fourYears * 4 + (month <= 2 ? 1 : 0), month, day };
}

/** The proleptic day with the label that `day` has in the hybrid calendar. */
export function hybridToProleptic(day: number): number {
  if (day >= CUTOVER_DAY) return day;
  const date = julianDate(day);
  return gregorianDay(date.year, date.month, date.day);
}

/**
 * The hybrid day with the label that `day` has in the proleptic calendar. The ten labels that the hybrid calendar does not
 * have (1582-10-05 to 14) become the days after its 1582-10-04, as in java.util.GregorianCalendar.
 */
export function prolepticToHybrid(day: number): number {
  if (day >= CUTOVER_DAY) return day;
  const date = gregorianDate(day);
  return julianDay(date.year, date.month, date.day);
}
