import { describe, expect, it } from 'vitest';
import { hasMariadb, TestDatabase } from '../../packages/metadb/test/mariadb.js';
import { describe as told } from './src/main.js';
import { simulate } from './src/simulate.js';

/** In CI; nightly: npm run sim -- --seeds 1000 --from N. */
const SEEDS = 50;
/** On MariaDB, where each takes seconds; nightly 50. */
const MARIADB_SEEDS = 2;

describe('simulation', { timeout: 600_000 }, () => {
  it(`${SEEDS} seeds show nothing that must not be`, async () => {
    const failed: string[] = [];
    const sums = { checkedReads: 0, committedWriters: 0, kills: 0 };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const report = await simulate(seed);
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += report.figures[name];
      if (report.violations.length > 0) failed.push(told(report));
    }
    expect(failed.join('\n')).toBe('');
    // Something happened in them.
    expect(sums.checkedReads).toBeGreaterThan(1000);
    expect(sums.committedWriters).toBeGreaterThan(1000);
    expect(sums.kills).toBeGreaterThan(100);
  });

  it.skipIf(!hasMariadb)(`${MARIADB_SEEDS} seeds on MariaDB show nothing either`, async () => {
    for (let seed = 1; seed <= MARIADB_SEEDS; seed++) {
      const database = await TestDatabase.create();
      const report = await simulate(seed, { dbUrl: database.url });
      await database.drop();
      expect(report.violations.length > 0 ? told(report) : '').toBe('');
      expect(report.figures.checkedReads).toBeGreaterThan(5);
    }
  });

  it('a seed goes the same way each time', async () => {
    // In the second one a client hears of somebody's query id.
    for (const seed of [3, 8]) expect(await simulate(seed)).toEqual(await simulate(seed));
    expect((await simulate(4)).digest).not.toBe((await simulate(3)).digest);
  });
});
