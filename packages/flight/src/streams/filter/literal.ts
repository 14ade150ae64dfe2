import type { DecimalValue, TimestampValue, TypeDescription } from '@skep/orc';
import { typeToString } from '@skep/orc';
import { BadRequestError } from '../errors.js';
import type { Json } from '../json.js';

/** A value that a column is compared with, in the column's own terms. */
export type Literal =
  | { readonly kind: 'number'; readonly value: number }
  /** Exact: integers and decimals. */
  | { readonly kind: 'decimal'; readonly value: DecimalValue }
  | { readonly kind: 'bytes'; readonly value: Buffer }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'time'; readonly value: TimestampValue };

const DAY_MS = 86_400_000;

/** A literal for a column of that type; null is NULL. */
export function literalOf(json: Json, type: TypeDescription, column: string): Literal | null {
  if (json === null) return null;
  const literal = convert(json, type);
  if (literal !== undefined) return literal;
  throw new BadRequestError(
    `filter: ${JSON.stringify(json)} is no value to compare ${column} with, which is ${typeToString(type)}: ${form(type)}`,
  );
}

function convert(json: Json, { kind }: TypeDescription): Literal | undefined {
  switch (kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
    case 'decimal':
      return exact(json);
    case 'float':
    case 'double': {
      const value = typeof json === 'number' ? json : typeof json === 'string' ? doubleOf(json) : undefined;
      return value === undefined ? undefined : { kind: 'number', value };
    }
    case 'string':
    case 'varchar':
      return typeof json === 'string' ? { kind: 'bytes', value: Buffer.from(json) } : undefined;
    case 'char':
      // Blanks at the end do not count (HiveChar).
      return typeof json === 'string' ? { kind: 'bytes', value: Buffer.from(json.replace(/ +$/, '')) } : undefined;
    case 'binary':
      return typeof json === 'object' && json !== null && 'base64' in json && typeof json.base64 === 'string'
        ? { kind: 'bytes', value: Buffer.from(json.base64, 'base64') }
        : undefined;
    case 'boolean':
      return typeof json === 'boolean' ? { kind: 'boolean', value: json } : undefined;
    case 'date': {
      const time = typeof json === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(json) ? timeOf(json) : undefined;
      return time && { kind: 'number', value: Number(time.seconds) / (DAY_MS / 1000) };
    }
    case 'timestamp':
    case 'timestamp_instant': {
      const value = typeof json === 'string' ? timeOf(json) : undefined;
      return value && { kind: 'time', value };
    }
    default:
      return undefined;
  }
}

function form({ kind }: TypeDescription): string {
  switch (kind) {
    case 'byte':
    case 'short':
    case 'int':
    case 'long':
    case 'decimal':
      return 'a number, as text beyond 2^53';
    case 'float':
    case 'double':
      return 'a number';
    case 'binary':
      return '{"base64": "…"}';
    case 'boolean':
      return 'true or false';
    case 'date':
      return '"YYYY-MM-DD"';
    case 'timestamp':
    case 'timestamp_instant':
      return '"YYYY-MM-DD HH:MM:SS[.nnnnnnnnn]" (in UTC where the type has a zone)';
    case 'list':
    case 'map':
    case 'struct':
    case 'union':
      return 'only isNull and isNotNull are for such columns';
    default:
      return 'text';
  }
}

/** The number as it was written. JSON's own numbers are doubles: those that may have lost digits are refused. */
function exact(json: Json): Literal | undefined {
  if (typeof json === 'number' && Number.isInteger(json) && !Number.isSafeInteger(json)) return undefined;
  const text = typeof json === 'number' || typeof json === 'string' ? String(json).trim() : '';
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (match === null || `${match[2]}${match[3] ?? ''}` === '') return undefined;
  const fraction = match[3] ?? '';
  let unscaled = BigInt(`${match[2]}${fraction}`);
  let scale = fraction.length - Number(match[4] ?? 0);
  if (scale < 0) {
    unscaled *= 10n ** BigInt(-scale);
    scale = 0;
  }
  return { kind: 'decimal', value: { unscaled: match[1] === '-' ? -unscaled : unscaled, scale } };
}

function doubleOf(text: string): number | undefined {
  const value = Number(text);
  return text.trim() === '' || (Number.isNaN(value) && text !== 'NaN') ? undefined : value;
}

function timeOf(text: string): TimestampValue | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?Z?)?$/.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) return undefined;
  const seconds = BigInt(date.getTime() / 1000 + hour * 3600 + minute * 60 + second);
  return { seconds, nanos: Number((match[7] ?? '').padEnd(9, '0')) };
}
