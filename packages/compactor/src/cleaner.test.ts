import { override } from '@skep/core/testing';
import { TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAJOR, World } from '../test/world.js';

let w: World;
beforeEach(async () => {
  w = await World.open();
  await w.createTable();
  for (const a of [1, 2, 3]) await w.insert([[a, 'x']]);
});
afterEach(() => w.close());

const rows = ['1|x', '2|x', '3|x'];
const compactNow = async () => {
  await w.compact(MAJOR);
  await w.worker();
};

describe('an open reader', () => {
  it.each([TxnType.TXN_TYPE_UNSPECIFIED, TxnType.TXN_TYPE_READ_ONLY])(
    'of type %i that began before keeps the files it reads (B64, B67)',
    async (type) => {
      const reader = await w.open(type);
      const snapshot = await w.snapshot('t', reader);
      await compactNow();
      expect(await w.cleaner()).toBe(0);
      expect(await w.states()).toEqual(['1 ready for cleaning']);
      expect(await w.rows({ snapshot })).toEqual(rows);
      await w.end(reader);
      expect(await w.cleaner()).toBe(3);
      expect(await w.states()).toEqual(['1 succeeded']);
      expect(w.ls()).toHaveLength(1);
    },
  );

  it('that began while the compaction ran keeps them too', async () => {
    let reader = 0n;
    const txns = override(w.txns, {
      commitTxn: async (request) => {
        reader = await w.open();
        return await w.txns.commitTxn(request);
      },
    });
    await w.compact(MAJOR);
    const before = w.snapshot('t');
    await w.worker(w.with({ txns }));
    const snapshot = await before;
    expect(await w.cleaner()).toBe(0);
    expect(await w.rows({ snapshot })).toEqual(rows);
    await w.end(reader);
    expect(await w.cleaner()).toBe(3);
  });

  it('that began after it keeps nothing', async () => {
    await compactNow();
    const reader = await w.open();
    const snapshot = await w.snapshot('t', reader);
    expect(await w.cleaner()).toBe(3);
    expect(await w.rows({ snapshot })).toEqual(rows);
  });

  it('that began between two compactions keeps the first one’s result', async () => {
    await compactNow();
    const reader = await w.open();
    const snapshot = await w.snapshot('t', reader);
    await w.insert([[4, 'x']]);
    await compactNow();
    await w.cleaner();
    expect(await w.states()).toContain('2 ready for cleaning');
    expect(w.ls()).toEqual([
      expect.stringMatching(/^base_0000003_v/),
      expect.stringMatching(/^base_0000004_v/),
      'delta_0000004_0000004_0000',
    ]);
    expect(await w.rows({ snapshot })).toEqual(rows);
    await w.end(reader);
    await w.cleaner();
    expect(w.ls()).toEqual([expect.stringMatching(/^base_0000004_v/)]);
  });
});

describe('what is asked for', () => {
  it('of a table that is gone is done', async () => {
    await compactNow();
    await w.catalog.dropTable({ database: 'default', name: 't' });
    expect(await w.cleaner()).toBe(0);
    expect(await w.states()).toEqual(['1 succeeded']);
  });

  it('of a table with no_cleanup is refused', async () => {
    await w.createTable('k', { parameters: { NO_CLEANUP: 'true' } });
    for (const a of [1, 2]) await w.insert([[a, 'x']], { table: 'k' });
    await w.compact(MAJOR, { table: 'k' });
    await w.worker();
    expect(await w.cleaner()).toBe(0);
    expect(w.ls('k')).toHaveLength(3);
    expect((await w.show())[0].errorMessage).toMatch(/no_cleanup/);
    expect(await w.states()).toEqual(['1 refused']);
  });

  it('of a partition with no_cleanup is refused', async () => {
    await w.createTable('p', { partitionKeys: ['c'] });
    await w.addPartition('p', 'c=1');
    const { partitions } = await w.catalog.getPartitions({ database: 'default', table: 'p', names: ['c=1'] });
    const kept = partitions.map((partition) => ({ ...partition, parameters: { no_cleanup: 'true' } }));
    await w.catalog.alterPartitions({ database: 'default', table: 'p', names: ['c=1'], partitions: kept });
    for (const a of [1, 2]) await w.insert([[a, 'x']], { table: 'p', partition: 'c=1' });
    await w.compact(MAJOR, { table: 'p', partition: 'c=1' });
    await w.worker();
    expect(await w.cleaner()).toBe(0);
    expect(w.ls('p', 'c=1')).toHaveLength(3);
    expect((await w.show())[0].errorMessage).toBe('Partition c=1 of default.p has no_cleanup set');
    expect(await w.states()).toEqual(['1 refused']);
  });

  it('of a folder that is not there is done, but nothing aborted is forgotten', async () => {
    await w.insert([[9, 'x']], { end: 'abort' });
    await compactNow();
    await w.fs.rename(w.location(), w.location('elsewhere'));
    expect(await w.cleaner()).toBe(0);
    expect(await w.states()).toEqual(['1 succeeded']);
    await w.fs.rename(w.location('elsewhere'), w.location());
    await w.age();
    expect(await w.rows()).toEqual(rows);
  });

  it('of a renamed table is done under its new name (B58)', async () => {
    await compactNow();
    const { table } = await w.catalog.getTable({ database: 'default', name: 't' });
    await w.fs.rename(w.location(), w.location('u'));
    const sd = table?.sd && { ...table.sd, location: w.location('u') };
    await w.catalog.alterTable({ database: 'default', name: 't', table: table && { ...table, name: 'u', sd } });
    const [from, to] = ['t', 'u'].map((name) => ({ database: 'default', table: name }));
    await w.txns.renameResource({ from, to });
    await w.compactions.renameCompactions({
      fromDatabase: 'default',
      fromTable: 't',
      toDatabase: 'default',
      toTable: 'u',
    });
    expect((await w.insert([[4, 'x']], { table: 'u' })).writeId).toBe(4n);
    expect(await w.cleaner()).toBe(3);
    expect(await w.rows({ table: 'u' })).toEqual([...rows, '4|x']);
  });

  it('and cannot be done is tried again, each time later, and fails at last', async () => {
    await compactNow();
    const fs = override(w.fs, {
      delete: async () => {
        throw new RangeError('read-only');
      },
    });
    const services = w.with({ fs });
    const retention = async () => (await w.show())[0].retryRetentionMs;
    const seen: bigint[] = [];
    for (let i = 0; i < 5; i++) {
      await w.cleaner(services);
      seen.push(await retention());
      // Too early: not tried.
      const tries = w.logged.length;
      await w.cleaner(services);
      expect(w.logged).toHaveLength(tries);
      w.advance(Number(await retention()) + 1);
    }
    expect(seen).toEqual([300_000n, 600_000n, 1_200_000n, 2_400_000n, 4_800_000n]);
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    await w.cleaner(services);
    expect(await w.states()).toEqual(['1 failed']);
    expect((await w.show())[0].errorMessage).toMatch(/read-only/);
    const figures = (await w.services.meter.read()).map(([{ name }, [{ value }]]) => [name, value]);
    expect(figures).toContainEqual(['compaction_cleaner_failure_counter', 6]);
    expect(await w.rows()).toEqual(rows);
  });

  it('and is done by two Cleaners at once is done once', async () => {
    await compactNow();
    const other = await World.open({ folder: w.folder, clock: w.clock });
    await Promise.all([w.cleaner(), other.cleaner(), w.cleaner()]);
    expect(await w.states()).toEqual(['1 succeeded']);
    expect(w.ls()).toHaveLength(1);
    expect(await w.rows()).toEqual(rows);
    await other.close();
  });

  it('and is not all gone stays', async () => {
    await compactNow();
    const fs = override(w.fs, {
      delete: async (path, options) => (path.includes('0000002_') ? true : await w.fs.delete(path, options)),
    });
    await w.cleaner(w.with({ fs }));
    expect(await w.states()).toEqual(['1 ready for cleaning']);
    expect(w.ls()).toHaveLength(2);
    await w.cleaner();
    expect(await w.states()).toEqual(['1 succeeded']);
  });
});
