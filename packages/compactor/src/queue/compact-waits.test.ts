import { ManualClock, systemClock } from '@skep/core';
import { describe, expect, it } from 'vitest';
import { CompactWaits, hasWork, type WaitingPool } from './compact-waits.js';

const patienceMs = 30_000;

function waitsOn(pools: () => readonly WaitingPool[]) {
  const seen = { looks: 0 };
  const waits = new CompactWaits({
    clock: new ManualClock(),
    poolTimeoutMs: 1000,
    waitingPools: async () => {
      seen.looks++;
      return pools();
    },
  });
  return { waits, seen };
}

describe('work of a pool', () => {
  const old = { pool: 'big', oldestMs: 10n };
  it.each<[string, WaitingPool[], boolean]>([
    ['', [], false],
    ['', [{ pool: null, oldestMs: 99n }], true],
    ['', [{ pool: 'big', oldestMs: 99n }], false],
    // After hive.compactor.worker.pool.timeout it is anybody's.
    ['', [old], true],
    ['big', [old], true],
    ['small', [old], false],
    ['big', [{ pool: null, oldestMs: 10n }], false],
  ])('for %s', (pool, waiting, expected) => {
    expect(hasWork(pool, waiting, 50n)).toBe(expected);
  });
});

describe('Workers that wait', () => {
  it('hear at once of what is there, and of what comes', async () => {
    const pools: WaitingPool[] = [{ pool: 'a', oldestMs: 0n }];
    const { waits, seen } = waitsOn(() => pools);
    expect(await waits.wait('a', patienceMs)).toBe(true);
    const later = waits.wait('b', patienceMs);
    await systemClock.sleep(20);
    pools.push({ pool: 'b', oldestMs: 0n });
    waits.notify();
    expect(await later).toBe(true);
    expect(seen.looks).toBe(3);
  });

  it('hear within a second of what another process wrote, by one query for all', async () => {
    const pools: WaitingPool[] = [];
    const { waits, seen } = waitsOn(() => pools);
    const all = Array.from({ length: 50 }, () => waits.wait('', patienceMs));
    await systemClock.sleep(20);
    expect(seen.looks).toBe(2);
    pools.push({ pool: null, oldestMs: 0n });
    const beganMs = systemClock.now();
    expect(new Set(await Promise.all(all))).toEqual(new Set([true]));
    expect(systemClock.now() - beganMs).toBeLessThan(5000);
    expect(seen.looks).toBe(3);
  });

  it('are let go when their time is over, or their signal aborted; then nobody looks', async () => {
    const { waits, seen } = waitsOn(() => []);
    expect(await waits.wait('', 30)).toBe(false);
    const control = new AbortController();
    const waiting = waits.wait('', patienceMs, control.signal);
    control.abort();
    expect(await waiting).toBe(false);
    expect(await waits.wait('', patienceMs, control.signal)).toBe(false);
    expect(await waits.wait('', 0)).toBe(false);
    const { looks } = seen;
    await systemClock.sleep(1200);
    waits.notify();
    expect(seen.looks).toBe(looks);
  });

  it('are told where the queue cannot be read, and may wait again', async () => {
    let isBroken = true;
    const { waits } = waitsOn(() => {
      if (isBroken) throw new RangeError('gone');
      return [{ pool: null, oldestMs: 0n }];
    });
    await expect(waits.wait('', patienceMs)).rejects.toThrow('gone');
    isBroken = false;
    expect(await waits.wait('', patienceMs)).toBe(true);
  });
});
