import type { SqlValue } from './database.js';

/**
 * Where the databases differ. Statements are written in the common part of SQLite and MySQL; names of tables and columns
 * are upper case, unquoted.
 */
export interface Dialect {
  readonly name: 'sqlite' | 'mysql';
  /** Appended to a SELECT that must hold the rows until commit. SQLite's write transactions hold the whole file. */
  readonly forUpdate: string;
  /** The same, beside others who only share them. */
  readonly forShare: string;
  /**
   * Auto-increment ids become visible in their order, so a missing id is never one that is still being written. False
   * with MySQL, where Hive counts gaps below young rows as open (TxnHandler.getOpenTxns).
   */
  readonly idsAppearInOrder: boolean;
  /** Equality that takes two NULLs as equal. */
  nullSafeEquals(left: string, right: string): string;
  /** A value for a `timestamp` column, or to compare one with. */
  timestamp(epochMs: bigint): SqlValue;
  /** Starts an INSERT that leaves out rows whose key is there. */
  readonly insertIgnore: string;
  /** A query of the ids, as ID, that the last INSERT gave its so many rows: `key` is what the database counts. */
  lastInsertIds(table: string, key: string, count: number): string;
  /**
   * Statements as one, of which the server answers the queries only, not every statement with a packet of its own; undefined where it
   * has no such thing.
   */
  readonly compound: ((statements: readonly string[]) => string) | undefined;
  /** Follows the name of a table that is to be looked up by an index, so that no other rows get locked on the way. */
  useIndex(name: string): string;
  /** Tells whether the table `?` is there. */
  readonly tableExists: string;
  /** Follows the type of a column that holds what users write, in any script. Compares by bytes. */
  readonly text: string;
  /** The same without a length limit. */
  readonly longText: string;
  /** Type of an id that the database counts, which is the table's key. */
  readonly autoIncrement: string;
  /** Ends a CREATE TABLE. Columns that do not say otherwise are latin1 as in Hive's schema. */
  readonly tableOptions: string;
}

function utc(epochMs: bigint): string {
  return new Date(Number(epochMs)).toISOString().replace('T', ' ');
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  forUpdate: '',
  forShare: '',
  idsAppearInOrder: true,
  insertIgnore: 'INSERT OR IGNORE INTO',
  // Nobody else writes meanwhile. (last_insert_rowid() changes while the query's answer is being inserted elsewhere.)
  lastInsertIds: (table, key, count) => `SELECT ${key} AS ID FROM ${table} ORDER BY ${key} DESC LIMIT ${count}`,
  compound: undefined,
  useIndex: () => '',
  nullSafeEquals: (left, right) => `${left} IS ${right}`,
  timestamp: (epochMs) => utc(epochMs).slice(0, 23),
  tableExists: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
  text: '',
  longText: 'text',
  autoIncrement: 'integer NOT NULL PRIMARY KEY AUTOINCREMENT',
  tableOptions: '',
};

/**
 * The binary collation of a server. Those of old take `a` and `a ` as equal; MariaDB, and MySQL since 8.0.17, have one that does not.
 */
function binaryCollation(serverVersion: string): string {
  if (/mariadb/i.test(serverVersion)) return 'utf8mb4_nopad_bin';
  const [major, minor, patch] = serverVersion.split(/[.-]/).map(Number);
  return major * 1e6 + minor * 1e3 + patch >= 8_000_017 ? 'utf8mb4_0900_bin' : 'utf8mb4_bin';
}

/** MySQL and MariaDB. Time stamps have seconds in Hive's schema and begin with the second after the epoch. */
export function mysqlDialect(serverVersion: string): Dialect {
  return {
    name: 'mysql',
    forUpdate: ' FOR UPDATE',
    forShare: ' LOCK IN SHARE MODE',
    idsAppearInOrder: false,
    insertIgnore: 'INSERT IGNORE INTO',
    lastInsertIds: (_table, _key, count) =>
      Array.from({ length: count }, (_, i) => `SELECT LAST_INSERT_ID() + ${i} * @@auto_increment_increment AS ID`).join(
        ' UNION ALL ',
      ),
    compound: /mariadb/i.test(serverVersion) ? (all) => `BEGIN NOT ATOMIC\n${all.join(';\n')};\nEND` : undefined,
    useIndex: (name) => ` FORCE INDEX (${name})`,
    nullSafeEquals: (left, right) => `${left} <=> ${right}`,
    timestamp: (epochMs) => utc(epochMs < 1000n ? 1000n : epochMs).slice(0, 19),
    tableExists: 'SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?',
    text: ` CHARACTER SET utf8mb4 COLLATE ${binaryCollation(serverVersion)}`,
    longText: 'longtext',
    autoIncrement: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    tableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_bin',
  };
}

/** Whether a statement answers rows. */
export function isQuery(sql: string): boolean {
  return /^\s*SELECT\b/i.test(sql);
}

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
