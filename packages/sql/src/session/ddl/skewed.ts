import type { StorageDescriptor } from '@skep/rpc';
import type { Expression, SkewedBy } from '../../parse/ast.js';
import { SemanticError } from '../errors.js';

/** SKEWED BY: kept and shown, as Hive does; rows are written as to any table (list bucketing needs Hive's own optimizer). */
export interface SkewedInfo {
  readonly columns: readonly string[];
  readonly values: readonly (readonly string[])[];
}

/** The storage descriptor's parameter that holds it; no statement shows a descriptor's own parameters. */
const PARAMETER = 'skep.skewed';

export function setSkewed(sd: StorageDescriptor, skewed: SkewedBy | undefined): void {
  delete sd.parameters[PARAMETER];
  sd.storedAsSubDirectories = skewed?.storedAsDirectories ?? false;
  if (skewed === undefined) return;
  const columns = skewed.columns.map((column) => column.name.toLowerCase());
  const unknown = skewed.columns.find((column) => !sd.columns.some((c) => c.name === column.name.toLowerCase()));
  if (unknown !== undefined) {
    throw new SemanticError(10202, `Skewed column name ${unknown.name} : not a column of the table`, {
      position: unknown.position,
    });
  }
  // ON ('a', 'b') of one column are two values; of several columns each value is a list.
  const values = skewed.values.flatMap((value) => (columns.length === 1 ? value.map((v) => [v]) : [value]));
  const odd = values.find((value) => value.length !== columns.length);
  if (odd !== undefined) {
    throw new SemanticError(10203, `Number of skewed column names and values do not match: ${columns.length} names`, {
      position: skewed.position,
    });
  }
  const info: SkewedInfo = { columns, values: values.map((value) => value.map(textOf)) };
  sd.parameters[PARAMETER] = JSON.stringify(info);
}

export function skewedOf(sd: StorageDescriptor): SkewedInfo | undefined {
  const text = sd.parameters[PARAMETER];
  return text === undefined ? undefined : (JSON.parse(text) as SkewedInfo);
}

function textOf(value: Expression): string {
  if (value.kind === 'string') return value.value;
  if (value.kind === 'number') return value.text;
  if ('value' in value) return String(value.value);
  throw new SemanticError(10204, 'A value of SKEWED BY must be a constant', { position: value.position });
}
