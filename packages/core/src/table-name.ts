import { SkepError } from './errors.js';

/** Database and table, both in lower case as the metastore keeps them. */
export interface TableName {
  readonly db: string;
  readonly table: string;
}

export class InvalidNameError extends SkepError {
  constructor(message: string) {
    super('INVALID_NAME', 'invalid', message);
  }
}

/** `db.table` or, with a default database, `table` (org.apache.hadoop.hive.common.TableName.fromString). */
export function parseTableName(text: string, defaultDb?: string): TableName {
  const parts = text.toLowerCase().split('.');
  if (parts.length === 1 && defaultDb !== undefined) parts.unshift(defaultDb.toLowerCase());
  if (parts.length !== 2 || parts.includes('')) throw new InvalidNameError(`not a table name: '${text}'`);
  return { db: parts[0], table: parts[1] };
}

/** `db.table`: the key of write-id lists. */
export function formatTableName(name: TableName): string {
  return `${name.db}.${name.table}`.toLowerCase();
}

/** What a NULL or empty value of a partition column is called (hive.exec.default.partition.name). */
export const DEFAULT_PARTITION_NAME = '__HIVE_DEFAULT_PARTITION__';

/** One `column=value` of a partition name; null is the default partition. */
export interface PartitionValue {
  readonly column: string;
  readonly value: string | null;
}

/** The characters FileUtils.charToEscape names; everything else, space and non-ASCII text too, stays as it is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what Hive escapes
const ESCAPED = /[\u0001-\u001f"#%'*/:=?\\\u007f{[\]^]/g;

/** FileUtils.escapePathName: `%XX` in upper case. */
export function escapePathName(text: string): string {
  return text.replace(ESCAPED, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/**
 * FileUtils.unescapePathName: each `%XX` is one character of that code, whatever else stays. Not URL decoding:
 * `+` is a plus, and the codes are characters, not UTF-8 bytes.
 */
export function unescapePathName(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Warehouse.makePartName: `k1=v1/k2=v2`, columns in lower case, values escaped. */
export function formatPartitionName(values: readonly PartitionValue[], defaultName = DEFAULT_PARTITION_NAME): string {
  return values
    .map(({ column, value }) => {
      const text = value === null || value === '' ? defaultName : escapePathName(value);
      return `${escapePathName(column.toLowerCase())}=${text}`;
    })
    .join('/');
}

/** One path element `column=value`; undefined where it is none. */
export function parsePartitionPathElement(
  element: string,
  defaultName = DEFAULT_PARTITION_NAME,
): PartitionValue | undefined {
  const at = element.indexOf('=');
  if (at <= 0) return undefined;
  const value = element.slice(at + 1);
  return {
    column: unescapePathName(element.slice(0, at)).toLowerCase(),
    value: value === defaultName || value === '' ? null : unescapePathName(value),
  };
}

/** Warehouse.makeSpecFromName: splits on `/` before unescaping, so a value may hold one. */
export function parsePartitionName(name: string, defaultName = DEFAULT_PARTITION_NAME): PartitionValue[] {
  return name.split('/').map((element) => {
    const value = parsePartitionPathElement(element, defaultName);
    if (value === undefined) throw new InvalidNameError(`not a partition name: '${name}'`);
    return value;
  });
}
