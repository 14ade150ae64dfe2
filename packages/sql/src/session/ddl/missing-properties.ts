import type { Table } from '@skep/rpc';
import { SemanticError } from '../errors.js';

/** UNSET TBLPROPERTIES of what was never set (Hive's 10215), unless IF EXISTS. */
export function refuseMissing(
  { name, parameters }: Table,
  { keys, ifExists }: { readonly keys: readonly string[]; readonly ifExists: boolean },
): void {
  const missing = ifExists ? undefined : keys.find((key) => !(key in parameters));
  if (missing === undefined) return;
  throw new SemanticError(
    10215,
    `Please use the following syntax if not sure whether the property existed or not: ALTER TABLE tableName UNSET TBLPROPERTIES IF EXISTS (key1, key2, ...). The following property ${missing} does not exist in ${name}`,
  );
}
