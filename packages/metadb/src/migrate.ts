import { createTables, hasTable } from './create-tables.js';
import type { Database, Migration, Tx } from './database.js';
import { DatabaseError } from './errors.js';

/** Which schema changes a database has seen. Not one of Hive's tables. */
const TABLE = 'SKEP_MIGRATIONS';

/** A database whose schema can be changed by one process at a time. */
export interface MigratableDatabase extends Database {
  /** Runs `fn` while no other process does: in one transaction where changes of the schema can be undone. */
  exclusively<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
}

function ownerOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

/** What is left to apply; throws where the database is newer than this program. */
export function pendingMigrations(
  path: string,
  migrations: readonly Migration[],
  applied: ReadonlySet<string>,
): Migration[] {
  const known = new Set(migrations.map((migration) => migration.id));
  const owners = new Set(migrations.map((migration) => ownerOf(migration.id)));
  for (const id of applied) {
    // What a package writes that is not loaded here is none of our business.
    if (owners.has(ownerOf(id)) && !known.has(id)) {
      throw new DatabaseError('DATABASE_VERSION', path, `made by a newer skep (it has the schema change ${id})`);
    }
  }
  return migrations.filter((migration) => !applied.has(migration.id));
}

async function appliedIn(tx: Tx): Promise<Set<string>> {
  if (!(await hasTable(tx, TABLE))) return new Set();
  const rows = await tx.all<{ ID: string }>(`SELECT ID FROM ${TABLE}`);
  return new Set(rows.map((row) => row.ID));
}

/** What Hive 4.0.0 and 4.0.1 call the version of their schema. */
const HIVE_SCHEMA = '4.0.0';

/** Tables that Hive's schema has made before it says its version. */
const HIVE_TABLES = ['DBS', 'TBLS', 'TXNS'] as const;

/** A database that Hive made is taken as it is, if it is whole and of the version whose tables we know. */
async function checkHiveSchema(path: string, tx: Tx): Promise<void> {
  const row = (await hasTable(tx, 'VERSION'))
    ? await tx.get<{ SCHEMA_VERSION: string }>('SELECT SCHEMA_VERSION FROM VERSION ORDER BY VER_ID LIMIT 1')
    : undefined;
  if (row?.SCHEMA_VERSION === HIVE_SCHEMA) return;
  if (row !== undefined) {
    const help = `skep works with that of Hive ${HIVE_SCHEMA} (Hive 4.0.0 and 4.0.1): upgrade it with Hive's schematool, or give another database`;
    throw new DatabaseError(
      'DATABASE_VERSION',
      path,
      `it has the metastore schema of Hive ${row.SCHEMA_VERSION}; ${help}`,
    );
  }
  // What we began ourselves is finished by whoever finds it.
  if (await hasTable(tx, TABLE)) return;
  for (const name of HIVE_TABLES) {
    if (!(await hasTable(tx, name))) continue;
    const what = `it has the table ${name} of a Hive metastore, but VERSION does not say which: Hive's schematool did not finish there`;
    throw new DatabaseError(
      'DATABASE_VERSION',
      path,
      `${what}. Run it again on an empty database, or give another one`,
    );
  }
}

/**
 * Applies what is missing. Two processes that start at once are safe: the second waits, and then sees that nothing is
 * left.
 */
export async function migrate(database: MigratableDatabase, migrations: readonly Migration[]): Promise<void> {
  const pending = await database.read(async (tx) => {
    await checkHiveSchema(database.path, tx);
    return pendingMigrations(database.path, migrations, await appliedIn(tx));
  });
  if (pending.length === 0) return;
  await database.exclusively(async (tx) => {
    await createTables(tx, [
      { name: TABLE, columns: 'ID varchar(128) NOT NULL PRIMARY KEY, APPLIED_AT bigint NOT NULL' },
    ]);
    for (const migration of pendingMigrations(database.path, migrations, await appliedIn(tx))) {
      await migration.up(tx);
      await tx.run(`INSERT INTO ${TABLE} (ID, APPLIED_AT) VALUES (?, ?)`, [migration.id, await tx.now()]);
    }
  });
}
