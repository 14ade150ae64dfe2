import type { AppendableValue, DecimalValue, TimestampValue } from '@skep/orc';
import { daysFromCivil, daysInMonth } from '../../text/calendar.js';

/*
 * Values of text files as Hive reads them (org.apache.hadoop.hive.serde2.lazy.Lazy*): undefined where the text stands for
 * none. What is accepted was recorded of Hive 4.0.1 (parse-text.test.ts).
 */

/** LazyBoolean. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^true$/i.test(text)) return true;
  return /^false$/i.test(text) ? false : undefined;
}

const DECIMAL_FLOAT = /^[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[fd]?$/i;
const HEX_FLOAT = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d+)[fd]?$/i;

const mostDigits = 15;
/** Not by **, which need not be exact. */
const POWERS_OF_TEN = Array.from({ length: mostDigits + 1 }, (_, i) => Number(`1e${i}`));

/** Plain decimals of up to 15 digits: their digits and the power of ten are exact doubles, so the quotient is the nearest. */
export function parseShortDecimal(bytes: Uint8Array): number | undefined {
  const isNegative = bytes[0] === 0x2d;
  let digits = 0;
  let scale = -1;
  let value = 0;
  for (let at = isNegative ? 1 : 0; at < bytes.length; at++) {
    const digit = bytes[at] - 0x30;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits++;
      if (scale >= 0) scale++;
    } else if (bytes[at] === 0x2e && scale < 0) scale = 0;
    else return undefined;
  }
  if (digits === 0 || digits > mostDigits) return undefined;
  const magnitude = scale > 0 ? value / POWERS_OF_TEN[scale] : value;
  return isNegative ? -magnitude : magnitude;
}

/** Java's Double.parseDouble. */
export function parseFloating(untrimmed: string): number | undefined {
  const text = trim(untrimmed);
  if (DECIMAL_FLOAT.test(text)) {
    if (/nan|infinity/i.test(text)) return specialFloat(text);
    return Number(text.replace(/[fd]$/i, ''));
  }
  const hex = HEX_FLOAT.exec(text);
  if (hex === null || hex[2] + hex[3] === '') return undefined;
  const digits = Number(`0x${hex[2]}${hex[3]}`);
  return (hex[1] === '-' ? -1 : 1) * digits * 2 ** (Number(hex[4]) - 4 * hex[3].length);
}

/** Java writes these two in one way only. */
function specialFloat(text: string): number | undefined {
  switch (text.replace(/^[+-]/, '')) {
    case 'NaN':
      return Number.NaN;
    case 'Infinity':
      return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    default:
      return undefined;
  }
}

/** HiveDecimal.create and enforcePrecisionScale: rounded half up to the scale; none where the whole digits are too many. */
export function parseDecimal(untrimmed: string, precision: number, scale: number): DecimalValue | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(trim(untrimmed));
  if (match === null) return undefined;
  const fraction = match[3] ?? '';
  if (match[2] === '' && fraction === '') return undefined;
  const digits = (match[2] + fraction).replace(/^0+/, '');
  // The value is 0.digits × 10^point.
  const point = digits.length - fraction.length + Number(match[4] ?? 0);
  if (digits === '') return { unscaled: 0n, scale };
  if (point > precision - scale) return undefined;
  const kept = point + scale;
  if (kept < 0) return { unscaled: 0n, scale };
  let unscaled = BigInt(digits.slice(0, kept).padEnd(kept, '0') || '0');
  if ((digits[kept] ?? '0') >= '5') unscaled += 1n;
  if (unscaled >= 10n ** BigInt(precision)) return undefined;
  return { unscaled: match[1] === '-' ? -unscaled : unscaled, scale };
}

const shortestDate = 8;

/** Date.valueOf: what follows the day does not matter unless it is a digit. */
export function parseDateText(text: string): number | undefined {
  if (text.length < shortestDate) return undefined;
  const match = /^(\d{1,4})-(\d{1,2})-(\d{1,2})(?!\d)/.exec(trim(text));
  return match === null ? undefined : validDays(match);
}

/** LazyTimestamp: the time of day must be there, and nothing beside it. */
export function parseTimestampText(text: string): TimestampValue | undefined {
  const match = /^(\d{1,4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?$/.exec(text);
  const days = match === null ? undefined : validDays(match);
  if (match === null || days === undefined) return undefined;
  const [hour, minute, second] = match.slice(4, 7).map(Number);
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return {
    seconds: BigInt(days * 86400 + hour * 3600 + minute * 60 + second),
    nanos: Number((match[7] ?? '').padEnd(9, '0')),
  };
}

/** LazyTimestampLocalTZ, of zones as UTC and fixed offsets. */
export function parseInstantText(text: string): TimestampValue | undefined {
  const match = /^(.*?\d)\s*(?:(?:UTC|GMT|Z)|([+-])(\d{1,2}):?(\d\d))?$/.exec(trim(text));
  const local = match === null ? undefined : parseTimestampText(match[1]);
  if (match === null || local === undefined) return undefined;
  const offset = match[2] === undefined ? 0 : (Number(match[3]) * 60 + Number(match[4])) * 60;
  return { seconds: local.seconds - BigInt(match[2] === '-' ? -offset : offset), nanos: local.nanos };
}

function validDays(match: RegExpExecArray): number | undefined {
  const [year, month, day] = match.slice(1, 4).map(Number);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

/** LazyBinary: base64 where every byte is of its alphabet, otherwise the bytes themselves. */
export function parseBinary(bytes: Uint8Array): AppendableValue {
  const isBase64 = bytes.every(
    (b) =>
      (b >= 0x41 && b <= 0x5a) ||
      (b >= 0x61 && b <= 0x7a) ||
      (b >= 0x30 && b <= 0x39) ||
      b === 0x2b ||
      b === 0x2f ||
      b === 0x3d ||
      b === 0x2d ||
      b === 0x5f,
  );
  if (!isBase64) return bytes.slice();
  const decoded = Buffer.from(Buffer.from(bytes).toString('latin1'), 'base64');
  return decoded.length > 0 ? new Uint8Array(decoded) : bytes.slice();
}

/** Java's String.trim. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}
