import type { Database, Migration, Tx } from './database.js';
import { DatabaseError } from './errors.js';

/** Which schema changes a database has seen. Not one of Hive's tables. */
const TABLE = 'SKEP_MIGRATIONS';

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
  const rows = await tx.all<{ ID: string }>(`SELECT ID FROM ${TABLE}`);
  return new Set(rows.map((row) => row.ID));
}

async function hasTable(tx: Tx): Promise<boolean> {
  return (await tx.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [TABLE])) !== undefined;
}

/**
 * Applies what is missing. Two processes that start at once are safe: all of it is one write transaction, and the second
 * sees inside its own that nothing is left.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  const pending = await database.read(async (tx) => {
    return pendingMigrations(database.path, migrations, (await hasTable(tx)) ? await appliedIn(tx) : new Set());
  });
  if (pending.length === 0) return;
  await database.transaction(async (tx) => {
    await tx.run(
      `CREATE TABLE IF NOT EXISTS ${TABLE} (ID varchar(128) NOT NULL PRIMARY KEY, APPLIED_AT bigint NOT NULL)`,
    );
    for (const migration of pendingMigrations(database.path, migrations, await appliedIn(tx))) {
      await migration.up(tx);
      await tx.run(`INSERT INTO ${TABLE} (ID, APPLIED_AT) VALUES (?, ?)`, [migration.id, await tx.now()]);
    }
  });
}
