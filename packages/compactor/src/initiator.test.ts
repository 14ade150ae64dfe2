import { override } from '@skep/core/testing';
import { CompactionState } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAJOR, World } from '../test/world.js';
import { Initiator } from './initiator.js';

let w: World;
beforeEach(async () => {
  w = await World.open({ conf: { deltaNumThreshold: 3 } });
  await w.createTable();
});
afterEach(() => w.close());

const fill = async (count: number, table = 't', partition?: string) => {
  for (let a = 0; a < count; a++) await w.insert([[a, 'x']], partition ? { table, partition } : { table });
};

describe('the Initiator', () => {
  it('queues what has more deltas than the threshold, once (golden compact_many)', async () => {
    await fill(3);
    const initiator = new Initiator(w.services);
    expect(await initiator.runOnce()).toEqual([]);
    await fill(1);
    expect(await initiator.runOnce()).toEqual([1n]);
    expect(await initiator.runOnce()).toEqual([]);
    expect(await w.initiator()).toEqual([]);
    const [job] = await w.show();
    expect(job).toMatchObject({ type: MAJOR, state: CompactionState.COMPACTION_STATE_INITIATED, workerId: '' });
    expect(job.initiatorId).toMatch(/^here-\d+$/);
  });

  it('asks for no second one while the first waits for the Cleaner', async () => {
    await fill(4);
    const reader = await w.open();
    await w.initiator();
    await w.worker();
    for (let a = 1; a < 3; a++) await w.insert([[a, 'x']], { overwrite: true });
    // Obsolete bases: there is a reason, and a request for it, at most one.
    expect(await w.initiator()).toEqual([2n]);
    await w.worker();
    expect((await w.states()).sort()).toEqual(['1 ready for cleaning', '2 ready for cleaning']);
    expect(await w.initiator()).toEqual([]);
    await w.end(reader);
  });

  it('leaves alone what says so, what is gone, and what is written early', async () => {
    await w.createTable('no', { parameters: { NO_AUTO_COMPACTION: 'true' } });
    await fill(4, 'no');
    await w.createTable('gone');
    await fill(4, 'gone');
    await w.catalog.dropTable({ database: 'default', name: 'gone' });
    await w.createTable('mm', { parameters: { transactional_properties: 'insert_only' } });
    await fill(4, 'mm');
    const conf = { ...w.services.conf, compactInsertOnly: false };
    expect(await w.initiator(w.with({ conf }))).toEqual([]);
    expect(await w.show()).toEqual([]);
    expect(await w.initiator()).toEqual([1n]);
  });

  it('leaves replicas alone until their first incremental load, those of a database too', async () => {
    const pending = { 'hive.repl.first.inc.pending': 'TRUE' };
    await w.createTable('replica', { parameters: pending });
    await fill(4, 'replica');
    expect(await w.initiator()).toEqual([]);
    const why = () => new Initiator(w.services).explain({ database: 'default', table: 't' });
    await fill(4);
    const { database } = await w.catalog.getDatabase({ name: 'default' });
    const setAll = async (parameters: Record<string, string>) =>
      await w.catalog.alterDatabase({ name: 'default', database: database && { ...database, parameters } });
    await setAll(pending);
    expect(await w.initiator()).toEqual([]);
    expect(await why()).toMatch(/first incremental load/);
    await setAll({});
    expect(await w.initiator()).toEqual([1n]);
    expect(await w.show()).toMatchObject([{ table: 't' }]);
  });

  it('tells of a threshold that is no number, and compacts nothing', async () => {
    const name = 'compactorthreshold.hive.compactor.delta.num.threshold';
    await w.createTable('odd', { parameters: { [name]: 'three' } });
    await fill(4, 'odd');
    expect(await w.initiator()).toEqual([]);
    expect(await w.states()).toEqual([expect.stringContaining('did not initiate')]);
    expect((await w.show())[0].errorMessage).toContain(`${name} must be a number, not 'three'`);
  });

  it('goes by the thresholds of the database where the table has none', async () => {
    const { database } = await w.catalog.getDatabase({ name: 'default' });
    const parameters = { 'compactorthreshold.hive.compactor.delta.num.threshold': '1' };
    await w.catalog.alterDatabase({ name: 'default', database: database && { ...database, parameters } });
    await fill(2);
    expect(await w.initiator()).toEqual([1n]);
  });

  it('can be asked why it queues nothing', async () => {
    const why = (table: string, partition?: string) =>
      new Initiator(w.services).explain({ database: 'default', table, partition });
    await fill(3);
    expect(await why('t')).toBe('not due: 3 delta folders (more than 3 are compacted)');
    await fill(1);
    expect(await why('t')).toBe('due for a major compaction: 4 delta folders');
    await w.initiator();
    expect(await why('t')).toMatch(/^compaction 1 of it is under way, asked for at \d{4}-/);
    await w.createTable('no', { parameters: { no_auto_compaction: 'true' } });
    expect(await why('no')).toBe('no_auto_compaction is set on the table');
    expect(await why('gone')).toBe('the table or partition is gone');
    await w.createTable('p', { partitionKeys: ['k'] });
    expect(await why('p')).toMatch(/^a partitioned table is compacted by partition/);
  });

  it('looks at each partition, by the name as it is (B59)', async () => {
    await w.createTable('p', { partitionKeys: ['city'], parameters: { 'hive.compactor.worker.pool': 'big' } });
    for (const city of ['city=Paris', 'city=paris']) await w.addPartition('p', city);
    await fill(4, 'p', 'city=Paris');
    await fill(2, 'p', 'city=paris');
    expect(await w.initiator()).toEqual([1n]);
    expect(await w.show()).toMatchObject([{ table: 'p', partition: 'city=Paris', poolName: 'big' }]);
  });

  it('looks at all that was written, however much (B62)', async () => {
    const tables = ['a', 'b', 'c', 'd', 'e'];
    for (const table of tables) {
      await w.createTable(table);
      await fill(4, table);
    }
    const { TxnManager } = await import('@skep/txn-manager');
    const txns = new TxnManager({ db: w.db, clock: w.clock, locks: () => w.locks, conf: { candidateLimit: 2 } });
    expect(await w.initiator(w.with({ txns }))).toHaveLength(tables.length);
  });

  it('takes the request up again after a failure, but not for ever (B62)', async () => {
    await fill(4);
    const failing = w.with({
      fs: override(w.fs, {
        create: async () => {
          throw new RangeError('no');
        },
      }),
    });
    const initiator = new Initiator(w.services);
    // Nothing is written in between, and the clock has gone beyond what overlaps.
    for (const id of [1n, 2n]) {
      expect(await initiator.runOnce()).toEqual([id]);
      await w.worker(failing);
      w.advance(300_000);
    }
    expect(await initiator.runOnce()).toEqual([]);
    const rest = (await w.show()).find((c) => c.state === CompactionState.COMPACTION_STATE_DID_NOT_INITIATE);
    expect(rest?.errorMessage).toMatch(/last 2 consecutive compaction attempts failed/);
    w.advance(7 * 24 * 3_600_000);
    expect(await initiator.runOnce()).toHaveLength(1);
    await w.worker();
    await w.cleaner();
    expect(w.ls()).toEqual([expect.stringMatching(/^base_/)]);
    expect(await initiator.runOnce()).toEqual([]);
  });

  it('remembers why a table could not be judged, and goes on with the others', async () => {
    await w.createTable('u');
    await fill(4);
    await fill(4, 'u');
    const fs = override(w.fs, {
      list: async (dir) => {
        if (dir.endsWith('/t')) throw new RangeError('unreadable');
        return await w.fs.list(dir);
      },
    });
    const initiator = new Initiator(w.with({ fs }));
    expect(await initiator.runOnce()).toHaveLength(1);
    const failed = (await w.show()).find((c) => c.state === CompactionState.COMPACTION_STATE_DID_NOT_INITIATE);
    expect(failed).toMatchObject({ table: 't', errorMessage: expect.stringMatching(/unreadable/) });
    const figures = (await w.services.meter.read()).map(([{ name }, [{ value }]]) => [name, value]);
    expect(figures).toContainEqual(['compaction_initiator_failure_counter', 1]);
    w.advance(300_000);
    expect(await w.initiator()).toHaveLength(1);
  });

  it('counts aborts only where the Cleaner does not see to them', async () => {
    await w.insert([[1, 'a']], { end: 'abort' });
    const conf = { ...w.services.conf, abortedTxnThreshold: 0 };
    expect(await w.initiator(w.with({ conf }))).toEqual([]);
    const own = w.with({ conf: { ...conf, cleanAbortsUsingCleaner: false } });
    expect(await w.cleaner(own)).toBe(0);
    expect(await w.initiator(own)).toEqual([1n]);
    await w.worker(own);
    w.advance(1001);
    expect(await w.cleaner(own)).toBe(1);
    expect(await w.count('TXN_COMPONENTS')).toBe(0);
    expect(await w.initiator(own)).toEqual([]);
  });
});
