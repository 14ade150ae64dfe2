import { DEFAULT_PARTITION_NAME } from '@skep/core';
import { type AppendableValue, type ColumnVector, vectorOf } from '@skep/orc';
import { formatValue, parseTypeName, toTypeDescription } from '../query.js';
import { UnsupportedError } from './errors.js';

/** A partition column's vector: the same value in each row. */
export function partitionVector(type: string, text: string, length: number): ColumnVector {
  const value = partitionValue(type, text);
  return vectorOf(
    toTypeDescription(parseTypeName(type)),
    Array.from({ length }, () => value),
  );
}

const msPerDay = 86_400_000;

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
      const time = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
      return Number.isNaN(time) ? null : Math.floor(time / msPerDay);
    }
    case 'timestamp': {
      const match = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?)?$/.exec(text);
      if (match === null) return null;
      const ms = Date.parse(`${match[1]}T${match[2] ?? '00:00:00'}Z`);
      return Number.isNaN(ms)
        ? null
        : { seconds: BigInt(Math.floor(ms / 1000)), nanos: Number((match[3] ?? '').padEnd(9, '0')) };
    }
    case 'decimal': {
      const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
      if (match === null || `${match[2]}${match[3] ?? ''}` === '') return null;
      const fraction = (match[3] ?? '').padEnd(hiveType.scale, '0').slice(0, hiveType.scale);
      const unscaled = BigInt(`${match[2]}${fraction}` || '0');
      return { unscaled: match[1] === '-' ? -unscaled : unscaled, scale: hiveType.scale };
    }
    default:
      throw new UnsupportedError(`A partition column of type ${type}`);
  }
}

/** The text of a value that names a partition: Hive's own text, the default partition's name for NULL and ''. */
export function partitionText(type: string, vector: ColumnVector, row: number): string {
  const text = formatValue(parseTypeName(type), vector, row);
  return text === 'NULL' && isNullAt(vector, row)
    ? DEFAULT_PARTITION_NAME
    : text === ''
      ? DEFAULT_PARTITION_NAME
      : text;
}

const isNullAt = (vector: ColumnVector, row: number): boolean =>
  vector.validity !== undefined && (vector.validity[row >> 3] & (1 << (row & 7))) === 0;
