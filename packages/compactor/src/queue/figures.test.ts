import { override } from '@skep/core/testing';
import { lockFigures } from '@skep/lock-manager';
import { LockComponent, LockLevel, LockType } from '@skep/rpc';
import { Metrics } from '@skep/telemetry';
import { TxnManager, transactionFigures } from '@skep/txn-manager';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAJOR, MINOR, World } from '../../test/world.js';
import { Cleaner } from '../cleaner.js';
import { compactionFigures } from './figures.js';

let w: World;
let metrics: Metrics;
beforeEach(async () => {
  w = await World.open();
  await w.createTable();
  metrics = new Metrics(w.clock);
  const fail = (error: unknown) => {
    throw error;
  };
  const { totals } = w.txns as TxnManager;
  expect(w.txns).toBeInstanceOf(TxnManager);
  metrics.add(transactionFigures(w.db, { abortedTxnsThreshold: 2, extended: true, totals: () => totals }), 0, fail);
  metrics.add(lockFigures(w.db), 0, fail);
  metrics.add(compactionFigures(w.db, 3_600_000), 0, fail);
});
afterEach(() => w.close());

/** Values of a scrape that are not 0, by name. */
async function scrape(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const line of (await metrics.text()).split('\n')) {
    const [, name, value] = /^((?!process_|nodejs_)[a-z]\S*) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && Number(value) !== 0) found[name] = Number(value);
  }
  return found;
}

it('a database without anything has no figures but those', async () => {
  expect(await scrape()).toEqual({});
});

it('open, aborted and ended transactions, and locks', async () => {
  const reader = await w.open();
  await w.locks.lock({
    components: [
      LockComponent.fromPartial({
        type: LockType.LOCK_TYPE_EXCLUSIVE,
        level: LockLevel.LOCK_LEVEL_TABLE,
        database: 'default',
        table: 't',
      }),
    ],
    txnId: reader,
    user: 'u',
    host: 'here',
    agentInfo: '',
    zeroWaitRead: false,
    exclusiveCtas: false,
  });
  w.advance(5000);
  await w.insert([[1, 'x']]);
  const aborts = [];
  for (let i = 0; i < 3; i++) aborts.push(await w.insert([[2, 'x']], { end: 'abort' }));
  w.advance(2000);
  expect(await scrape()).toEqual({
    num_open_transactions: 1,
    num_open_non_repl_transactions: 1,
    oldest_open_non_repl_txn_id: Number(reader),
    oldest_open_non_repl_txn_age_in_sec: 7,
    num_aborted_transactions: 3,
    oldest_aborted_txn_id: Number(aborts[0].txnId),
    oldest_aborted_txn_age_in_sec: 2,
    tables_with_x_aborted_transactions: 1,
    compaction_num_txn_to_writeid: 4,
    compaction_num_completed_txn_components: 1,
    total_num_committed_transactions: 1,
    total_num_aborted_transactions: 3,
    num_locks: 1,
    oldest_lock_age_in_sec: 7,
  });
  w.advance(400_000);
  await w.txns.runHousekeeping({ abortDeadHolders: false });
  const later = await scrape();
  expect(later.total_num_timed_out_transactions).toBe(1);
  expect(later.total_num_aborted_transactions).toBe(4);
  expect(later.num_open_transactions).toBeUndefined();
});

it('compactions by state, pool and age', async () => {
  await w.createTable('u');
  for (const table of ['t', 'u']) for (const a of [1, 2]) await w.insert([[a, 'x']], { table });
  await w.compact(MINOR);
  await w.compact(MAJOR, { table: 'u', pool: 'big' });
  w.advance(3000);
  expect(await scrape()).toMatchObject({
    compaction_num_initiated: 2,
    compaction_oldest_enqueue_age_in_sec: 3,
    'compaction_pools_initiated_item_count{pool="default"}': 1,
    'compaction_pools_initiated_item_count{pool="big"}': 1,
  });
  await w.worker();
  w.advance(1000);
  const cleaning = await scrape();
  expect(cleaning).toMatchObject({
    compaction_num_initiated: 1,
    compaction_num_ready_for_cleaning: 1,
    oldest_ready_for_cleaning_age_in_sec: 1,
    compaction_num_worker_versions: 1,
  });
  expect(cleaning['compaction_pools_initiated_item_count{pool="default"}']).toBeUndefined();
  // The Cleaner is at it, for four seconds.
  let during: Record<string, number> = {};
  const fs = override(w.fs, {
    delete: async (path, options) => {
      w.advance(4000);
      during = await scrape();
      return await w.fs.delete(path, options);
    },
  });
  await new Cleaner(w.with({ fs })).runOnce();
  expect(during.compaction_oldest_cleaning_age_in_sec).toBeGreaterThanOrEqual(4);
  expect(await scrape()).toMatchObject({ compaction_num_succeeded: 1 });
  expect((await scrape()).compaction_oldest_cleaning_age_in_sec).toBeUndefined();
});

it('hosts of Initiators and Workers, those who ask by hand apart', async () => {
  const ask = (table: string, initiatorId: string, initiatorVersion: string) =>
    w.compactions.compact({
      database: 'default',
      table,
      type: MAJOR,
      runAs: '',
      properties: {},
      initiatorId,
      initiatorVersion,
      poolName: '',
      orderBy: '',
    });
  await ask('a', 'one-host-1', '4.0.0');
  await ask('b', 'one-host-2', '4.0.1');
  await ask('c', 'other-1', '4.0.1');
  await ask('d', 'third-manual', '');
  for (const workerId of ['w-1', 'w-2']) {
    await w.compactions.findNextCompact({ workerId, workerVersion: '4.0.1', poolName: '' });
  }
  expect(await scrape()).toMatchObject({
    compaction_num_initiators: 2,
    compaction_num_initiator_versions: 2,
    compaction_num_workers: 1,
    compaction_num_worker_versions: 1,
    compaction_num_working: 2,
    skep_compaction_late_worker_versions: 1,
  });
  // Another version, but not within the hour.
  w.advance(3_600_001);
  await w.compactions.findNextCompact({ workerId: 'w-3', workerVersion: '4.1.0', poolName: '' });
  expect(await scrape()).toMatchObject({ compaction_num_worker_versions: 2, skep_compaction_late_worker_versions: 1 });
  await w.compactions.findNextCompact({ workerId: 'w-4', workerVersion: '4.0.1', poolName: '' });
  expect((await scrape()).skep_compaction_late_worker_versions).toBe(2);
});
