import { EncryptedColumnError } from '../errors.js';
import type { Footer } from '../proto/gen/orc_proto.js';
import { columnById, columnName, type TypeDescription } from '../type-description.js';
import { fileColumns, type ReadColumn } from './projection.js';

/** Names of the keys by the roots of the columns that are encrypted with them (spec: "Column Encryption"). */
export function encryptedColumns(footer: Footer): ReadonlyMap<number, string> {
  const { variants = [], key = [] } = footer.encryption ?? {};
  return new Map(variants.map((variant) => [variant.root ?? 0, key[variant.key ?? 0]?.keyName ?? '?'] as const));
}

/**
 * Refuses encrypted columns: without the key there are only the values that a mask left (nothing, a hash), which are not
 * the column's. ReadOptions.masked asks for those.
 */
export function refuseEncrypted(
  path: string,
  schema: TypeDescription,
  encrypted: ReadonlyMap<number, string>,
  root: ReadColumn,
): void {
  if (encrypted.size === 0) return;
  for (const { id } of fileColumns(root)) {
    for (const [column, keyName] of encrypted) {
      const last = columnById(schema, column)?.maximumId ?? column;
      if (id >= column && id <= last) throw new EncryptedColumnError(path, columnName(schema, id) || 'root', keyName);
    }
  }
}
