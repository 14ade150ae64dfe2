import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogMigrations } from '@skep/catalog';
import { compactorMigrations } from '@skep/compactor';
import { Configuration } from '@skep/config';
import { lockMigrations } from '@skep/lock-manager';
import { type Migration, openDatabase } from '@skep/metadb';
import { createLogger } from '@skep/telemetry/log';
import { txnMigrations } from '@skep/txn-manager';
import { afterAll, describe, expect, it } from 'vitest';
import { hasMariadb, TestDatabase } from '../../../packages/metadb/test/mariadb.js';
import { leaseMigrations } from './lease.js';
import { openServices } from './open-services.js';

const WAREHOUSE = 'file:/w';
/** Every change of the schema, in the order they came. */
const ALL: readonly Migration[] = [
  ...catalogMigrations(WAREHOUSE),
  ...txnMigrations,
  ...lockMigrations,
  ...compactorMigrations,
  ...leaseMigrations,
];

const folder = mkdtempSync(join(tmpdir(), 'skep-older-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const services = (dbUrl: string) =>
  openServices({
    dbUrl,
    conf: new Configuration(),
    user: 'tester',
    version: 'test',
    log: createLogger({ level: 'error', now: () => 0, write: () => undefined }),
  });

describe.each(['SQLite', 'MariaDB'] as const)('a database on %s', (kind) => {
  const fresh = async (name: string) => {
    if (kind === 'SQLite') return { url: `sqlite:${folder}/${name}.db`, drop: async () => undefined };
    const made = await TestDatabase.create();
    return { url: made.url, drop: () => made.drop() };
  };

  it.skipIf(kind === 'MariaDB' && !hasMariadb)(
    'of each older version gets what is missing and keeps what is in it',
    { timeout: 120_000 },
    async () => {
      for (let known = 1; known < ALL.length; known++) {
        const { url, drop } = await fresh(`v${known}`);
        const older = await openDatabase({ url, migrations: ALL.slice(0, known) });
        await older.run([["UPDATE DBS SET DB_LOCATION_URI = 'file:/kept' WHERE NAME = 'default'"]]);
        await older.close();
        const opened = await services(url);
        try {
          expect(opened.warehouse).toBe('file:/kept');
          const { txnIds } = await opened.txns.openTxns({ count: 2, user: 'u', host: 'h', agentInfo: '', type: 0 });
          expect(txnIds).toEqual([1n, 2n]);
          expect((await opened.compactions.showCompactions({})).compactions).toEqual([]);
          const applied = await opened.db.read((tx) => tx.column('SELECT ID FROM SKEP_MIGRATIONS'));
          expect([...applied].sort()).toEqual(ALL.map((migration) => migration.id).sort());
        } finally {
          await opened.close();
          await drop();
        }
      }
    },
  );

  it.skipIf(kind === 'MariaDB' && !hasMariadb)('of a newer version is refused by name', async () => {
    const { url, drop } = await fresh('newer');
    const later: Migration = { id: 'catalog/999-of-tomorrow', up: async () => undefined };
    await (await openDatabase({ url, migrations: [...ALL, later] })).close();
    await expect(services(url)).rejects.toMatchObject({
      code: 'DATABASE_VERSION',
      message: expect.stringContaining('made by a newer skep (it has the schema change catalog/999-of-tomorrow)'),
    });
    await drop();
  });

  it.skipIf(kind === 'MariaDB' && !hasMariadb)(
    'of a Hive says itself where tables go; an empty one does not',
    async () => {
      const { url, drop } = await fresh('hive');
      await expect(services(url)).rejects.toMatchObject({ code: 'WAREHOUSE_MISSING' });
      const made = await openDatabase({ url, migrations: ALL });
      await made.run([['DELETE FROM SKEP_MIGRATIONS']]);
      await made.close();
      const opened = await services(url);
      expect(opened.warehouse).toBe(WAREHOUSE);
      await opened.close();
      await drop();
    },
  );
});
