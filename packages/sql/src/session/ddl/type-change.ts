import type { FieldSchema, Table } from '@skep/rpc';
import { alterRefused } from '../errors.js';

const numeric = ['tinyint', 'smallint', 'int', 'bigint', 'decimal', 'float', 'double'];
const text = ['string', 'varchar', 'char'];

const base = (type: string): string => type.replace(/[(<].*$/s, '').trim();

/**
 * Whether old files can still be read after a column's type changes: the metastore's rule
 * (hive.metastore.disallow.incompatible.col.type.changes; TypeInfoUtils.implicitConvertible): numbers widen, anything
 * primitive becomes text, nested types stay what they are (their fields may grow).
 */
export function isCompatibleTypeChange(from: string, to: string): boolean {
  const [a, b] = [base(from), base(to)];
  if (from === to) return true;
  if (a === 'struct' && b === 'struct') return true;
  if (['array', 'map', 'uniontype'].includes(a) || ['struct', 'array', 'map', 'uniontype'].includes(b)) return a === b;
  if (a === 'void') return true;
  if (text.includes(b)) return a !== 'binary';
  if (a === 'date' && b === 'timestamp') return true;
  const [i, j] = [numeric.indexOf(a), numeric.indexOf(b)];
  return i >= 0 && j >= 0 && i <= j;
}

/** Refuses an incompatible change with Hive's text. */
export function checkTypeChange(from: FieldSchema, to: FieldSchema, table: Table): void {
  if (isCompatibleTypeChange(from.type, to.type)) return;
  throw alterRefused(
    `The following columns have types incompatible with the existing columns in their respective positions : ${to.name} (${table.database}.${table.name}: ${from.type} to ${to.type})`,
  );
}
