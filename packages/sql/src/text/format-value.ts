import { type ColumnVector, decimalUnscaled, isNull, type StructVector } from '@skep/orc';
import type { HiveType } from '../types/hive-type.js';
import { dateText, intervalDayTimeText, intervalYearMonthText, timestampText } from './calendar.js';
import { javaDouble, javaFloat } from './java-number.js';

const UTF8 = new TextDecoder();

/** One value as Hive's client prints it (LazySimpleSerDe with NULL, nested values as JSON). */
export function formatValue(type: HiveType, vector: ColumnVector, row: number): string {
  return isNull(vector, row) ? 'NULL' : text(type, vector, row);
}

/** A row as Hive's command line prints it: tabs between columns. */
export function formatRow(types: readonly HiveType[], batch: StructVector, row: number): string {
  return types.map((type, i) => formatValue(type, batch.children[i], row)).join('\t');
}

/** `unscaled` with the point `scale` digits from the end. */
export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function text(type: HiveType, vector: ColumnVector, row: number): string {
  switch (vector.kind) {
    case 'boolean':
      return vector.values[row] === 0 ? 'false' : 'true';
    case 'int':
      return type.kind === 'interval_year_month' ? intervalYearMonthText(vector.values[row]) : `${vector.values[row]}`;
    case 'byte':
    case 'short':
    case 'long':
      return `${vector.values[row]}`;
    case 'date':
      return dateText(vector.values[row]);
    case 'float':
      return javaFloat(vector.values[row]);
    case 'double':
      return javaDouble(vector.values[row]);
    case 'char': {
      const value = UTF8.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
      return type.kind === 'char' ? padCharacters(value, type.length) : value;
    }
    case 'string':
    case 'varchar':
    case 'binary':
      return UTF8.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
    case 'timestamp':
      return type.kind === 'interval_day_time'
        ? intervalDayTimeText(vector.seconds[row], vector.nanos[row])
        : timestampText(vector.seconds[row], vector.nanos[row]);
    case 'timestamp_instant':
      return instantText(vector.seconds[row], vector.nanos[row]);
    case 'decimal':
      return decimalText(decimalUnscaled(vector, row), vector.scale);
    case 'list':
    case 'map':
    case 'struct':
    case 'union':
      return json(type, vector, row);
  }
}

/** A timestamp with local time zone, in UTC (TimestampTZ.toString prints at least one digit of fraction). */
const instantText = (seconds: bigint, nanos: number): string => {
  const local = timestampText(seconds, nanos);
  return `${nanos === 0 ? `${local}.0` : local} UTC`;
};

function padCharacters(value: string, length: number): string {
  let count = 0;
  for (const _ of value) count++;
  return count >= length ? value : value + ' '.repeat(length - count);
}

/** Nested values (SerDeUtils.getJSONString): text in quotes, map keys too where they are text. */
function json(type: HiveType, vector: ColumnVector, row: number): string {
  if (isNull(vector, row)) return 'null';
  switch (vector.kind) {
    case 'list': {
      const element = type.kind === 'array' ? type.element : type;
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) items.push(json(element, vector.child, i));
      return `[${items.join(',')}]`;
    }
    case 'map': {
      const [key, value] = type.kind === 'map' ? [type.key, type.value] : [type, type];
      const items: string[] = [];
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        const name = json(key, vector.keys, i);
        items.push(`${name}:${json(value, vector.values, i)}`);
      }
      return `{${items.join(',')}}`;
    }
    case 'struct': {
      const fields = type.kind === 'struct' ? type.fields : [];
      const items = vector.children.map(
        (child, i) => `"${fields[i]?.name ?? vector.fieldNames[i]}":${json(fields[i]?.type ?? type, child, row)}`,
      );
      return `{${items.join(',')}}`;
    }
    case 'union': {
      const tag = vector.tags[row];
      const alternative = type.kind === 'uniontype' ? type.alternatives[tag] : type;
      return `{${tag}:${json(alternative, vector.children[tag], vector.rowOffsets[row])}}`;
    }
    case 'string':
    case 'char':
    case 'varchar':
      return `"${escapeJson(text(type, vector, row))}"`;
    case 'date':
    case 'timestamp':
    case 'timestamp_instant':
      return `"${text(type, vector, row)}"`;
    case 'binary':
      return `"${escapeJson(text(type, vector, row))}"`;
    case 'decimal':
      return trimDecimal(text(type, vector, row));
    default:
      return text(type, vector, row);
  }
}

/** Inside nested values a decimal comes without trailing zeros (HiveDecimal.toString). */
const trimDecimal = (shown: string): string => (shown.includes('.') ? shown.replace(/\.?0+$/, '') : shown);

const JSON_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** SerDeUtils.escapeString. */
const escapeJson = (value: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
  value.replace(/["\\\u0000-\u001f]/g, (c) => JSON_ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
