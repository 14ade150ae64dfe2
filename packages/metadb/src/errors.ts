import { type ErrorKind, SkepError } from '@skep/core';

/** What went wrong with the metastore's database, as a caller can act on it. */
export type DatabaseErrorCode =
  | 'DATABASE_UNWRITABLE'
  | 'DATABASE_CORRUPT'
  | 'DATABASE_LOCKED'
  | 'DATABASE_FULL'
  | 'DATABASE_IO'
  | 'DATABASE_CLOSED'
  | 'DATABASE_DENIED'
  | 'DATABASE_TLS'
  | 'DATABASE_UNREACHABLE'
  | 'DATABASE_UNKNOWN_OUTCOME'
  | 'DATABASE_VALUE'
  | 'DATABASE_CONSTRAINT'
  | 'DATABASE_VERSION'
  | 'DATABASE_URL'
  | 'DATABASE_STATEMENT';

const KIND: Record<DatabaseErrorCode, ErrorKind> = {
  DATABASE_UNWRITABLE: 'invalid',
  DATABASE_CORRUPT: 'corrupt',
  DATABASE_LOCKED: 'unavailable',
  DATABASE_FULL: 'unavailable',
  DATABASE_IO: 'unavailable',
  DATABASE_CLOSED: 'unavailable',
  DATABASE_DENIED: 'invalid',
  DATABASE_TLS: 'invalid',
  DATABASE_UNREACHABLE: 'unavailable',
  DATABASE_UNKNOWN_OUTCOME: 'unavailable',
  DATABASE_VALUE: 'invalid',
  DATABASE_CONSTRAINT: 'conflict',
  DATABASE_VERSION: 'invalid',
  DATABASE_URL: 'invalid',
  DATABASE_STATEMENT: 'bug',
};

/** An error of the metastore's database. Always names the database. */
export class DatabaseError extends SkepError {
  declare readonly code: DatabaseErrorCode;
  /** The file, or for a server the address without its password. */
  readonly path: string;

  constructor(code: DatabaseErrorCode, path: string, what: string, options: { cause?: unknown } = {}) {
    super(code, KIND[code], `metastore database ${path}: ${what}`, options);
    this.path = path;
  }
}

/** SQLite's result code in an error of the driver; undefined where it is none. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code.startsWith('SQLITE_') ? error.code : undefined;
}

/** Another process holds the file at this moment. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code);
}

const BY_PREFIX: readonly (readonly [string, DatabaseErrorCode, string])[] = [
  ['SQLITE_BUSY', 'DATABASE_LOCKED', 'another process keeps it locked'],
  ['SQLITE_LOCKED', 'DATABASE_LOCKED', 'another process keeps it locked'],
  ['SQLITE_PROTOCOL', 'DATABASE_LOCKED', 'another process keeps it locked'],
  ['SQLITE_NOTADB', 'DATABASE_CORRUPT', 'the file is not an SQLite database'],
  ['SQLITE_CORRUPT', 'DATABASE_CORRUPT', 'the file is damaged'],
  ['SQLITE_CANTOPEN', 'DATABASE_UNWRITABLE', 'cannot be opened'],
  ['SQLITE_READONLY', 'DATABASE_UNWRITABLE', 'cannot be written'],
  ['SQLITE_PERM', 'DATABASE_UNWRITABLE', 'cannot be written'],
  ['SQLITE_AUTH', 'DATABASE_UNWRITABLE', 'cannot be written'],
  ['SQLITE_FULL', 'DATABASE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', 'DATABASE_IO', 'reading or writing the file failed'],
  ['SQLITE_CONSTRAINT', 'DATABASE_CONSTRAINT', 'a constraint is violated'],
];

/** The typed error for whatever the driver threw; errors that are not the driver's pass as they are. */
export function toDatabaseError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const known = BY_PREFIX.find(([prefix]) => code.startsWith(prefix));
  const what = `${known?.[2] ?? 'statement failed'} (${code}: ${error.message})`;
  return new DatabaseError(known?.[1] ?? 'DATABASE_STATEMENT', path, what, { cause: error });
}
