import { systemClock } from '@skep/core';
import { override } from '@skep/core/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { World } from '../test/world.js';
import { keepAlive } from './keep-alive.js';

let w: World;
beforeEach(async () => {
  w = await World.open({ clock: systemClock, conf: { txnTimeoutMs: 3000 } });
});
afterEach(() => w.close());

const ended = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

it('beats although one heartbeat fails, and tells when the transaction is lost', async () => {
  let beats = 0;
  const txns = override(w.txns, {
    heartbeatTxns: async (request) => {
      if (++beats === 1) throw new RangeError('no answer');
      return await w.txns.heartbeatTxns(request);
    },
  });
  const txnId = await w.open();
  const { lastHeartbeatMs } = (await w.txns.showTxns({})).txns[0];
  const alive = keepAlive(w.with({ txns }), txnId);
  while (beats < 2) await systemClock.sleep(50);
  await systemClock.sleep(50);
  expect((await w.txns.showTxns({})).txns[0].lastHeartbeatMs).toBeGreaterThan(lastHeartbeatMs);
  expect(alive.signal.aborted).toBe(false);
  expect(w.logged).toEqual([expect.stringMatching(/heartbeat of transaction \d+ failed: .*no answer/)]);
  await w.end(txnId, 'abort');
  expect(String(await ended(alive.signal))).toMatch(/no longer open/);
  alive.stop();
});

it('ends with the caller’s signal, and sends nothing after it was stopped', async () => {
  let beats = 0;
  const txns = override(w.txns, {
    heartbeatTxns: async (request) => {
      beats++;
      return await w.txns.heartbeatTxns(request);
    },
  });
  const stop = new AbortController();
  const alive = keepAlive(w.with({ txns }), await w.open(), stop.signal);
  alive.stop();
  stop.abort('after');
  await systemClock.sleep(1100);
  expect(beats).toBe(0);
  expect(alive.signal.aborted).toBe(false);
  const other = keepAlive(w.services, await w.open(), stop.signal);
  expect(other.signal.reason).toBe('after');
  other.stop();
});

it('gives the transaction up when no heartbeat got through for as long as it lives', async () => {
  const txns = override(w.txns, {
    heartbeatTxns: async () => {
      throw new RangeError('no answer');
    },
  });
  const alive = keepAlive(w.with({ txns }), await w.open());
  expect(String(await ended(alive.signal))).toMatch(/has had no heartbeat for \d+ ms: it has timed out/);
  expect(w.logged.length).toBeGreaterThanOrEqual(3);
  alive.stop();
});
