import type { Clock } from '@skep/core';
import { expect, it } from 'vitest';
import { freshHome, run } from './harness.js';

/** Time passes only while somebody waits for less than an hour: heartbeats are further apart here. */
class WaitingClock implements Clock {
  readonly sleeps: number[] = [];
  private timeMs = 1_700_000_000_000;
  now(): number {
    return this.timeMs;
  }
  random(): number {
    return 0.5;
  }
  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (delayMs >= 3_600_000) {
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    }
    this.sleeps.push(delayMs);
    this.timeMs += delayMs;
  }
}

const acid = "stored as orc tblproperties ('transactional'='true')";

async function waitInVain(settings: readonly string[] = []) {
  const clock = new WaitingClock();
  const home = await freshHome({ clock, hiveconf: { 'hive.txn.timeout': '10h' } });
  try {
    const [holder, waiter] = [home.newSession(), home.newSession()];
    await run(
      holder,
      `create table t (a int) ${acid}`,
      'insert into t values (1)',
      'start transaction',
      'update t set a = 2',
    );
    await run(waiter, ...settings);
    clock.sleeps.length = 0;
    const error = await run(waiter, 'update t set a = 3').catch((thrown: unknown) => thrown);
    const { locks } = await home.services.locks.showLocks({});
    const { txns } = await home.services.txns.showTxns({});
    return { error, sleeps: clock.sleeps.slice(), locks, txns, holder: holder.openTransaction?.txnId };
  } finally {
    await home.close();
  }
}

it('a lock is asked for 100 times, over 91 min 42.3 s, as DbLockManager does', async () => {
  const { error, sleeps, locks, txns, holder } = await waitInVain();
  const doubling = [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200];
  expect(sleeps).toEqual([...doubling, ...Array.from({ length: 90 }, () => 60_000)]);
  expect(sleeps.reduce((sum, ms) => sum + ms, 0)).toBe((91 * 60 + 42) * 1000 + 300);
  expect(error).toMatchObject({ hiveCode: 10307, sqlState: '42000', code: 'LOCK_ACQUIRE_TIMEDOUT' });
  expect(String(error)).toMatch(
    new RegExp(
      `Lock acquisition for txnid:\\d+ timed out after 5502300ms\\. waits for EXCL_WRITE on default\\.t held by lockid:\\d+\\.1 of txnid:${holder} \\(`,
    ),
  );
  // The request is gone, and its transaction aborted because of it.
  expect(locks.map(({ txnId }) => txnId)).toEqual([holder]);
  expect(txns.at(-1)?.metaInfo).toMatch(
    /^rollback at .*: no lock in 5502300ms: waits for EXCL_WRITE on default\.t held by lockid/,
  );
});

it('goes by hive.lock.numretries and hive.lock.sleep.between.retries, which is a cap of 15 s at least', async () => {
  const few = await waitInVain(['set hive.lock.numretries=3']);
  expect(few.sleeps).toEqual([100, 200, 400]);
  expect(String(few.error)).toContain('timed out after 700ms');
  const capped = await waitInVain(['set hive.lock.numretries=11', 'set hive.lock.sleep.between.retries=1s']);
  expect(capped.sleeps.slice(7)).toEqual([12_800, 15_000, 15_000, 15_000]);
  const never = await waitInVain(['set hive.lock.numretries=0']);
  expect(never.sleeps).toEqual([]);
  expect(never.error).toMatchObject({ hiveCode: 10307 });
});
