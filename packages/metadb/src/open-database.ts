import { dirname, resolve } from 'node:path';
import { type Clock, makeFolder, systemClock } from '@skep/core';
import type { Database, OpenDatabaseOptions } from './database.js';
import { DatabaseError } from './errors.js';
import { type MigratableDatabase, migrate } from './migrate.js';
import { withoutPassword } from './mysql-url.js';
import { SqliteDatabase } from './sqlite-database.js';

const MAX_HOLD_MS = 30_000;

const SQLITE_URL = /^sqlite:(?:\/\/)?(.+)$/;
const MYSQL_URL = /^(?:mysql|mariadb):/;

/** Opens the metastore's database, creates it on first use, and brings its schema up to date. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { url, clock = systemClock, maxHoldMs = MAX_HOLD_MS, retryable = [] } = options;
  const database = await connect(url, clock, maxHoldMs, retryable);
  try {
    await migrate(database, options.migrations ?? []);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function connect(
  url: string,
  clock: Clock,
  maxHoldMs: number,
  retryable: readonly RegExp[],
): Promise<MigratableDatabase> {
  if (MYSQL_URL.test(url)) {
    // Loaded where it is used: an embedded metastore starts without it.
    const { MysqlDatabase } = await import('./mysql-database.js');
    return MysqlDatabase.open(url, clock, maxHoldMs, retryable);
  }
  const match = SQLITE_URL.exec(url);
  if (match === null) {
    throw new DatabaseError(
      'DATABASE_URL',
      withoutPassword(url),
      'not of the form sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/DB',
    );
  }
  const path = match[1] === ':memory:' ? match[1] : resolve(match[1]);
  if (path !== ':memory:') makeFolderOf(path);
  return SqliteDatabase.open(path, clock, maxHoldMs);
}

function makeFolderOf(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw new DatabaseError('DATABASE_UNWRITABLE', path, `its folder cannot be made (${String(cause)})`, { cause });
  }
}
