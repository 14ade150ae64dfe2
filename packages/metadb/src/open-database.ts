import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemClock } from '@skep/core';
import type { Database, OpenDatabaseOptions } from './database.js';
import { DatabaseError } from './errors.js';
import { migrate } from './migrate.js';
import { SqliteDatabase } from './sqlite-database.js';

const MAX_HOLD_MS = 30_000;

const SQLITE_URL = /^sqlite:(?:\/\/)?(.+)$/;

/** Opens the metastore's database, creates it on first use, and brings its schema up to date. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const match = SQLITE_URL.exec(options.url);
  // A password must not end up in a message.
  const shown = options.url.replace(/:[^:@/]*@/, ':***@');
  if (match === null) throw new DatabaseError('DATABASE_URL', shown, 'not of the form sqlite:PATH');
  const path = match[1] === ':memory:' ? match[1] : resolve(match[1]);
  if (path !== ':memory:') makeFolder(path);
  const database = await SqliteDatabase.open(path, options.clock ?? systemClock, options.maxHoldMs ?? MAX_HOLD_MS);
  try {
    await migrate(database, options.migrations ?? []);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (cause) {
    throw new DatabaseError('DATABASE_UNWRITABLE', path, `its folder cannot be made (${String(cause)})`, { cause });
  }
}
