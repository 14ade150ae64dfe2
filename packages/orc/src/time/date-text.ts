import { DAY_SECONDS, gregorianDate } from './calendar.js';

/** `YYYY-MM-DD` of a day since 1970-01-01. */
export function dateText(day: number): string {
  const date = gregorianDate(day);
  const year = date.year < 0 ? `-${String(-date.year).padStart(4, '0')}` : String(date.year).padStart(4, '0');
  return `${year}-${two(date.month)}-${two(date.day)}`;
}

/**
 * `YYYY-MM-DD HH:MM:SS.f` as java.sql.Timestamp prints it: the fraction without zeros at its end, but with one digit at least.
 */
export function timestampText(seconds: bigint, nanos: number): string {
  const whole = Number(seconds);
  const day = Math.floor(whole / DAY_SECONDS);
  const second = whole - day * DAY_SECONDS;
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  const fraction = String(nanos).padStart(9, '0').replace(/0+$/, '');
  return `${dateText(day)} ${time}.${fraction === '' ? '0' : fraction}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
