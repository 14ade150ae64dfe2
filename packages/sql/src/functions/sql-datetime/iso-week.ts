import { civilFromDays, daysFromCivil } from '../../text/calendar.js';

/** Monday of the first ISO week of a year: the one with January 4. */
const firstMonday = (year: number): number => {
  const january4 = daysFromCivil(year, 1, 4);
  return january4 - mondayBased(january4);
};
const mondayBased = (days: number): number => (((days + 3) % 7) + 7) % 7;

export function isoWeek(days: number): { year: number; week: number; day: number } {
  const thursday = days - mondayBased(days) + 3;
  const { year } = civilFromDays(thursday);
  return { year, week: Math.floor((days - firstMonday(year)) / 7) + 1, day: mondayBased(days) + 1 };
}

/** undefined where the year has no such week. */
export function daysOfIsoWeek(year: number, week: number, day: number): number | undefined {
  if (week < 1 || day < 1 || day > 7) return undefined;
  const days = firstMonday(year) + (week - 1) * 7 + day - 1;
  return days >= firstMonday(year + 1) ? undefined : days;
}
