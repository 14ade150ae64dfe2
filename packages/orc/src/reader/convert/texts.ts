import { UnknownTimeZoneError } from '../../errors.js';
import { DAY_SECONDS, gregorianDate, gregorianDay } from '../../time/calendar.js';
import { dateText } from '../../time/date-text.js';
import { timeZone } from '../../time/time-zone.js';
import type { DecimalValue, TimestampValue } from '../../vector/value.js';

/** Java's Double.toString: at least one digit after the point, an exponent outside 10^-3 to 10^7. */
export function javaDoubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  // Java before 19 has two digits of the smallest number.
  if (magnitude === Number.MIN_VALUE) return value < 0 ? '-4.9E-324' : '4.9E-324';
  const [digits, exponent] = value.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** `uuuu-MM-dd HH:mm:ss` and the fraction, if there is one, without zeros at its end. */
export function timestampToText({ seconds, nanos }: TimestampValue): string {
  const whole = Number(seconds);
  const day = Math.floor(whole / DAY_SECONDS);
  const second = whole - day * DAY_SECONDS;
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${dateText(day)} ${time}${fraction}`;
}

/** `uuuu-MM-dd`; null for what is not a date. */
export function parseDate(text: string): number | null {
  const match = /^(-?\d{4,})-(\d{2})-(\d{2})$/.exec(text);
  return match === null ? null : dayOf(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** `uuuu-MM-dd HH:mm[:ss[.fraction]]` (ConvertTreeReaderFactory.TIMESTAMP_FORMAT); null for what is not a timestamp. */
export function parseTimestamp(text: string): TimestampValue | null {
  const match = /^(-?\d{4,})-(\d{2})-(\d{2}) (\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{0,9}))?)?$/.exec(text);
  if (match === null) return null;
  const [, year, month, date, hour, minute, second = '0', fraction = ''] = match;
  const day = dayOf(Number(year), Number(month), Number(date));
  if (day === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const seconds = day * DAY_SECONDS + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return { seconds: BigInt(seconds), nanos: Number(fraction.padEnd(9, '0')) };
}

/** A timestamp and behind a blank the id of its zone (INSTANT_TIMESTAMP_FORMAT); null for what is not. */
export function parseInstant(text: string): TimestampValue | null {
  const blank = text.lastIndexOf(' ');
  const local = parseTimestamp(text.slice(0, Math.max(0, blank)));
  if (local === null) return null;
  try {
    const zone = timeZone(text.slice(blank + 1));
    return zone === undefined ? local : { ...local, seconds: BigInt(zone.instantOf(Number(local.seconds))) };
  } catch (error) {
    if (error instanceof UnknownTimeZoneError) return null;
    throw error;
  }
}

function dayOf(year: number, month: number, day: number): number | null {
  if (month < 1 || month > 12 || day < 1 || day > 31 || Math.abs(year) > 999_999) return null;
  const days = gregorianDay(year, month, day);
  return gregorianDate(days).day === day ? days : null;
}

const DECIMAL_TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** HiveDecimal.create: digits, a point and an exponent, blanks around them; null for anything else. */
export function parseDecimal(text: string): DecimalValue | null {
  const match = DECIMAL_TEXT.exec(text.trim());
  if (match === null) return null;
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return null;
  const scale = fraction.length - Number(exponent);
  if (whole.length + fraction.length > 200 || Math.abs(scale) > 400) return null;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  return scale >= 0 ? { unscaled: digits, scale } : { unscaled: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** To another scale, rounding half up; null when it then has more digits than the precision (HiveDecimal.enforcePrecisionScale). */
export function fitDecimal({ unscaled, scale }: DecimalValue, precision: number, toScale: number): DecimalValue | null {
  let value = unscaled;
  if (scale < toScale) value *= 10n ** BigInt(toScale - scale);
  else if (scale > toScale) {
    const divisor = 10n ** BigInt(scale - toScale);
    const half = divisor / 2n;
    value = value < 0n ? (value - half) / divisor : (value + half) / divisor;
  }
  const limit = 10n ** BigInt(precision);
  return value < limit && value > -limit ? { unscaled: value, scale: toScale } : null;
}

/** A decimal without zeros at the end of its fraction, as HiveDecimal prints it. */
export function decimalToText({ unscaled, scale }: DecimalValue): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale > 0 && fraction !== '' ? `.${fraction}` : ''}`;
}

/** At most so many characters (code points), without blanks at the end for CHAR. */
export function truncateText(text: string, kind: string, maximumLength: number | undefined): string {
  let cut = text;
  if (maximumLength !== undefined && text.length > maximumLength) {
    const characters = [...text];
    if (characters.length > maximumLength) cut = characters.slice(0, maximumLength).join('');
  }
  return kind === 'char' ? cut.replace(/ +$/, '') : cut;
}
