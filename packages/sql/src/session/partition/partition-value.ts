import { DEFAULT_PARTITION_NAME } from '@skep/core';
import { type AppendableValue, type ColumnVector, vectorOf } from '@skep/orc';
import { formatValue, parseTypeName, toTypeDescription } from '../../query.js';
import { UnsupportedError } from '../errors.js';

/** A partition column's vector: the same value in each row. */
export function partitionVector(type: string, text: string, length: number): ColumnVector {
  const value = partitionValue(type, text);
  return vectorOf(
    toTypeDescription(parseTypeName(type)),
    Array.from({ length }, () => value),
  );
}

const msPerDay = 86_400_000;

/** Days since 1970 of a date that exists. */
function epochDay(year: string, month: string, day: string): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  return exists ? date.getTime() / msPerDay : undefined;
}

/**
 * The value a partition's text stands for. The default partition's name is NULL for all types but text, where Hive hands
 * out the name itself (recorded of Hive 4.0.1: golden case partitions). Text that is no value of the type is NULL, too.
 */
function partitionValue(type: string, text: string): AppendableValue {
  const hiveType = parseTypeName(type);
  switch (hiveType.kind) {
    case 'string':
    case 'varchar':
    case 'char':
      return text;
    default:
      if (text === DEFAULT_PARTITION_NAME) return null;
  }
  switch (hiveType.kind) {
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : null;
    case 'tinyint':
    case 'smallint':
    case 'int':
      return /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : null;
    case 'bigint':
      return /^\s*[+-]?\d+\s*$/.test(text) ? BigInt(text.trim()) : null;
    case 'float':
    case 'double':
      return text.trim() === '' || Number.isNaN(Number(text)) ? null : Number(text);
    case 'date': {
      const match = /^\s*(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[ T].*)?\s*$/s.exec(text);
      return match === null ? null : (epochDay(match[1], match[2], match[3]) ?? null);
    }
    case 'timestamp': {
      const match = /^\s*(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?\s*$/.exec(
        text,
      );
      const day = match === null ? undefined : epochDay(match[1], match[2], match[3]);
      if (match === null || day === undefined) return null;
      const [hours, minutes, seconds] = [match[4] ?? 0, match[5] ?? 0, match[6] ?? 0].map(Number);
      if (hours > 23 || minutes > 59 || seconds > 59) return null;
      return {
        seconds: BigInt(day) * 86_400n + BigInt(hours * 3600 + minutes * 60 + seconds),
        nanos: Number((match[7] ?? '').padEnd(9, '0')),
      };
    }
    case 'decimal': {
      const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
      if (match === null || `${match[2]}${match[3] ?? ''}` === '') return null;
      // More digits than the scale are another value: the folder was not named by a value of this type.
      const given = (match[3] ?? '').replace(/0+$/, '');
      if (given.length > hiveType.scale) return null;
      const fraction = given.padEnd(hiveType.scale, '0');
      const unscaled = BigInt(`${match[2]}${fraction}` || '0');
      return { unscaled: match[1] === '-' ? -unscaled : unscaled, scale: hiveType.scale };
    }
    default:
      throw new UnsupportedError(`A partition column of type ${type}`);
  }
}

/**
 * The text of a partition's value in its type's own form, so that hr='06' and hr=6, or d='2020-1-1' and d='2020-01-01', are
 * one partition (bug report B104; recorded of Hive 4.0.1: decimals lose their trailing zeros, char is padded). Undefined: the
 * text is no value of the type.
 */
export function canonicalPartitionText(type: string, text: string): string | undefined {
  const hiveType = parseTypeName(type);
  if (text === DEFAULT_PARTITION_NAME || hiveType.kind === 'string') return text;
  if (hiveType.kind === 'varchar') return [...text].slice(0, hiveType.length).join('');
  if (hiveType.kind === 'char') {
    const kept = [...text.replace(/ +$/, '')].slice(0, hiveType.length);
    return kept.join('') + ' '.repeat(hiveType.length - kept.length);
  }
  const vector = partitionVector(type, text, 1);
  return isNullAt(vector, 0) ? undefined : partitionText(type, vector, 0);
}

/** The text of a value that names a partition: Hive's own text, the default partition's name for NULL and ''. */
export function partitionText(type: string, vector: ColumnVector, row: number): string {
  const formatted = formatValue(parseTypeName(type), vector, row);
  const text = type.startsWith('decimal') && formatted.includes('.') ? formatted.replace(/\.?0+$/, '') : formatted;
  return text === 'NULL' && isNullAt(vector, row)
    ? DEFAULT_PARTITION_NAME
    : text === ''
      ? DEFAULT_PARTITION_NAME
      : text;
}

const isNullAt = (vector: ColumnVector, row: number): boolean =>
  vector.validity !== undefined && (vector.validity[row >> 3] & (1 << (row & 7))) === 0;
