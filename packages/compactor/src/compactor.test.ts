import { systemClock } from '@skep/core';
import { override } from '@skep/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAJOR, World } from '../test/world.js';
import { startCompactor } from './compactor.js';

let w: World;
beforeEach(async () => {
  const conf = { deltaNumThreshold: 3, workerSleepMs: 20, cleanerRunIntervalMs: 20, checkIntervalMs: 20 };
  w = await World.open({ clock: systemClock, conf });
  await w.createTable();
  for (const a of [1, 2, 3, 4]) await w.insert([[a, 'x']]);
});
afterEach(() => w.close());

async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (await what()) return;
    await systemClock.sleep(10);
  }
  expect.unreachable('it never came to be');
}

/** The Cleaner may have been there already. */
const isCompacted = ([first]: string[]): boolean => first === '1 ready for cleaning' || first === '1 succeeded';

describe('the loops', () => {
  it('find, compact and clean without anybody', async () => {
    const compactor = startCompactor(w.services, { background: true, workers: 2 });
    await until(() => w.ls().length === 1);
    await until(async () => (await w.states())[0] === '1 succeeded');
    await compactor.stop();
    expect(await w.rows()).toHaveLength(4);
    expect(w.logged).toEqual([]);
  });

  it('come at once when they are woken', async () => {
    const hour = 3_600_000;
    const conf = { ...w.services.conf, workerSleepMs: hour, cleanerRunIntervalMs: hour, checkIntervalMs: hour };
    const services = w.with({ conf: { ...conf, deltaNumThreshold: 100 } });
    const compactor = startCompactor(services, { background: true });
    await w.compact(MAJOR);
    compactor.wake();
    await until(() => w.ls().length === 1);
    await compactor.stop();
  });

  const hour = 3_600_000;
  const lazy = { workerSleepMs: hour, cleanerRunIntervalMs: hour, checkIntervalMs: hour, deltaNumThreshold: 100 };

  it.each([['in process'], ['over gRPC']])('of idle Workers begin at once what anybody asks for, %s', async (how) => {
    const remote = await World.open({ clock: systemClock, folder: w.folder, overGrpc: how === 'over gRPC' });
    const compactor = startCompactor(remote.with({ conf: { ...remote.services.conf, ...lazy } }), { background: true });
    try {
      await systemClock.sleep(100);
      const beganMs = systemClock.now();
      expect((await remote.compact(MAJOR)).accepted).toBe(true);
      await until(async () => isCompacted(await remote.states()));
      expect(systemClock.now() - beganMs).toBeLessThan(20_000);
    } finally {
      await compactor.stop();
      await remote.close();
    }
  });

  it('of idle Workers see soon what was asked of another metastore on the same database', async () => {
    const other = await World.open({ clock: systemClock, folder: w.folder });
    const compactor = startCompactor(w.with({ conf: { ...w.services.conf, ...lazy } }), { background: true });
    try {
      await systemClock.sleep(50);
      await other.compact(MAJOR);
      await until(async () => isCompacted(await w.states()));
    } finally {
      await compactor.stop();
      await other.close();
    }
  });

  it.each([
    ['fails', async () => Promise.reject(new RangeError('no such method'))],
    ['says at once that it cannot wait', async () => ({ found: false })],
  ])('rest where waiting %s', async (_, waitForCompact) => {
    let asked = 0;
    const compactions = override(w.compactions, {
      waitForCompact: () => {
        asked++;
        return waitForCompact();
      },
    });
    const conf = { ...w.services.conf, ...lazy, workerSleepMs: 100 };
    const compactor = startCompactor(w.with({ compactions, conf }), { background: true });
    await systemClock.sleep(350);
    await w.compact(MAJOR);
    await until(() => w.ls().length === 5);
    await compactor.stop();
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(20);
  });

  it('serve a named pool', async () => {
    const services = w.with({ conf: { ...w.services.conf, checkIntervalMs: 3_600_000, deltaNumThreshold: 100 } });
    await w.compact(MAJOR, { pool: 'big' });
    const compactor = startCompactor(services, { background: true, pools: { big: 1 } });
    await until(() => w.ls().length === 1);
    await compactor.stop();
  });

  it('go on after errors, and rest longer each time', async () => {
    let calls = 0;
    const compactions = override(w.compactions, {
      findNextCompact: async (request) => {
        if (++calls <= 4) throw new RangeError('no queue');
        return await w.compactions.findNextCompact(request);
      },
    });
    const startedMs = systemClock.now();
    const compactor = startCompactor(w.with({ compactions }), { background: true });
    await until(() => w.ls().length === 1);
    // 20, 40, 80 and 160 ms of rest.
    expect(systemClock.now() - startedMs).toBeGreaterThanOrEqual(280);
    await compactor.stop();
    expect(w.logged.filter((line) => /Worker: RangeError: no queue/.test(line))).toHaveLength(4);
  });

  it('do not spin where everything fails', async () => {
    let calls = 0;
    const fail = async (): Promise<never> => {
      calls++;
      throw new RangeError('down');
    };
    const compactions = override(w.compactions, { findNextCompact: fail, showCompactions: fail });
    const txns = override(w.txns, { getCleanerWatermark: fail, findCompactionCandidates: fail });
    const compactor = startCompactor(w.with({ compactions, txns }), { background: true });
    await systemClock.sleep(400);
    await compactor.stop();
    // Three loops with rests of 20, 40, 80, 160 ms.
    expect(calls).toBeGreaterThan(6);
    expect(calls).toBeLessThan(25);
  });

  it('stopped in the middle of a compaction give it up, and it is done by hand', async () => {
    await w.insert(Array.from({ length: 50_000 }, (_, a) => [a + 10, 'y'] as const));
    let stopped: Promise<void> | undefined;
    const fs = override(w.fs, {
      create: async (path) => {
        stopped ??= compactor.stop();
        return await w.fs.create(path);
      },
    });
    const compactor = startCompactor(w.with({ fs }), { background: true });
    await until(() => stopped !== undefined);
    await stopped;
    expect(w.ls().filter((name) => name.startsWith('base'))).toEqual([]);
    expect(await w.states()).toEqual(['1 initiated']);
    expect(await compactor.runWorkerOnce()).toBe(true);
    expect(await compactor.runCleanerOnce()).toBe(5);
    expect(await compactor.runInitiatorOnce()).toEqual([]);
    expect(await w.rows()).toHaveLength(50_004);
  });

  it('are none without background', async () => {
    const compactor = startCompactor(w.services, { background: false });
    await systemClock.sleep(100);
    expect(await w.show()).toEqual([]);
    expect(await compactor.runInitiatorOnce()).toEqual([1n]);
    expect(await compactor.runWorkerOnce()).toBe(true);
    expect(await compactor.runWorkerOnce()).toBe(false);
    expect(await compactor.runCleanerOnce()).toBe(4);
    await compactor.stop();
  });
});
