import type { SqlValue } from './database.js';

/**
 * Where the databases differ. Statements are written in the common part of SQLite and MySQL; names of tables and columns
 * are upper case, unquoted.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'mysql';
  /** Appended to a SELECT that must hold the row until commit. SQLite's write transactions hold the whole file. */
  readonly forUpdate: string;
  /**
   * Auto-increment ids become visible in their order, so a missing id is never one that is still being written. False
   * with MySQL, where Hive counts gaps below young rows as open (TxnHandler.getOpenTxns).
   */
  readonly idsAppearInOrder: boolean;
  /** Equality that takes two NULLs as equal. */
  nullSafeEquals(left: string, right: string): string;
  /** A value for a `timestamp` column. */
  timestamp(epochMs: bigint): SqlValue;
  /** Starts an INSERT that leaves out rows whose key is there. */
  readonly insertIgnore: string;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  forUpdate: '',
  idsAppearInOrder: true,
  insertIgnore: 'INSERT OR IGNORE INTO',
  nullSafeEquals: (left, right) => `${left} IS ${right}`,
  timestamp: (epochMs) => new Date(Number(epochMs)).toISOString().replace('T', ' ').slice(0, 23),
};

/** How many ids at most go into one statement: below every driver's limit of parameters. */
export const ID_CHUNK = 1000;

/**
 * `(?,?,…)` and its parameters for up to ID_CHUNK ids. Padded with the last id to a power of two, so that few texts
 * exist and each stays prepared.
 */
export function idList(ids: readonly bigint[]): { readonly sql: string; readonly params: bigint[] } {
  let size = 1;
  while (size < ids.length) size *= 2;
  const params = ids.slice();
  // An empty list matches nothing: ids are never negative.
  while (params.length < size) params.push(params.at(-1) ?? -1n);
  return { sql: `(${Array(size).fill('?').join(',')})`, params };
}

/** The list in chunks of at most ID_CHUNK. */
export function chunked<T>(items: readonly T[], size = ID_CHUNK): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
