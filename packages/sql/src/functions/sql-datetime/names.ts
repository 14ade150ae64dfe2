/** Names in the locale en-US, for the patterns of DateTimeFormatter and of SQL:2016. */
export const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A name in the letter case of its field: MON, Mon, mon; AM has no middle case. */
export function inCaseOf(field: string, name: string): string {
  if (field === field.toUpperCase()) return name.toUpperCase();
  return field === field.toLowerCase() ? name.toLowerCase() : name;
}
