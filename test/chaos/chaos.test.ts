import { beforeAll, describe, expect, it } from 'vitest';
import { hasMariadb, TestDatabase } from '../../packages/metadb/test/mariadb.js';
import { chaos } from './src/chaos.js';

/** In CI; a minute each by hand: npm run chaos. */
const SECONDS = 12;

describe('chaos', { timeout: 400_000 }, () => {
  let bundle: string;
  beforeAll(async () => {
    const { bundleSource } = await import('../../scripts/bundle-source.mjs');
    bundle = await bundleSource('test/chaos/src/process.ts', `chaos-process-${process.pid}`);
  });

  it('on SQLite no snapshot has another sum', async () => {
    const { problems, figures } = await chaos({ bundle, seconds: SECONDS, atLeast: 5 });
    expect(problems).toEqual([]);
    expect(figures.seen).toBeGreaterThan(0);
    expect(figures.transfers).toBeGreaterThan(0);
  });

  it.skipIf(!hasMariadb)('on MariaDB no snapshot has another sum', async () => {
    const database = await TestDatabase.create();
    const { problems, figures } = await chaos({ bundle, seconds: SECONDS, atLeast: 5, dbUrl: database.url, seed: 2 });
    expect(problems).toEqual([]);
    expect(figures.seen).toBeGreaterThan(0);
    expect(figures.transfers).toBeGreaterThan(0);
  });
});
