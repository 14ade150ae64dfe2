import { EncryptedColumnError, WrongKeyError } from '../errors.js';
import { columnName, type TypeDescription } from '../type-description.js';
import { type FileEncryption, type Variant, variantOf } from './file-encryption.js';
import { keyText } from './keys.js';

/** An encrypted column (with its descendants) as the reader tells of it. */
export interface EncryptedColumn {
  readonly key: Variant['key'];
  /** The name of the mask of what is read without the key. */
  readonly mask: string;
  /** Whether it can be read: the key was given and opens the file. */
  readonly readable: boolean;
}

/** By the ids of the roots. */
export function encryptedColumns(encryption: FileEncryption | undefined): ReadonlyMap<number, EncryptedColumn> {
  const columns = new Map<number, EncryptedColumn>();
  for (const { root } of encryption?.variants ?? []) {
    const variant = variantOf(encryption, root.id);
    if (variant !== undefined) {
      columns.set(root.id, { key: variant.key, mask: variant.mask, readable: variant.state === 'open' });
    }
  }
  return columns;
}

/**
 * Refuses columns (of the file) that are encrypted and whose key is not there: without it there are only the values that a mask left
 * (nothing, a hash), which are not the column's. ReadOptions.masked asks for those; a key that is wrong is refused even so.
 */
export function refuseEncrypted(
  path: string,
  schema: TypeDescription,
  encryption: FileEncryption | undefined,
  columns: Iterable<number>,
  masked: boolean,
): void {
  if (encryption === undefined) return;
  for (const id of columns) {
    const variant = variantOf(encryption, id);
    if (variant === undefined || variant.state === 'open') continue;
    const name = columnName(schema, id) || 'root';
    if (variant.state === 'wrong') throw new WrongKeyError(path, name, keyText(variant.key));
    if (!masked) throw new EncryptedColumnError(path, name, keyText(variant.key), variant.mask);
  }
}
