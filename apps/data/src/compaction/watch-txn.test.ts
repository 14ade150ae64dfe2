import { ManualClock } from '@skep/core';
import { TxnAbortedError, UnreachableError } from '@skep/rpc';
import { expect, it } from 'vitest';
import { watchTxn } from './watch-txn.js';

const PATIENCE_MS = 300_000;
const lost = () => new UnreachableError('m:1', 'metastore away');

/** Watches through answers, one a round: nothing, or an error. The last goes on for ever. */
async function watched(answers: readonly (Error | undefined)[]) {
  const clock = new ManualClock();
  const startMs = clock.now();
  const left = [...answers];
  let rounds = 0;
  const enough = new AbortController();
  const isOpen = async () => {
    if (++rounds >= 1000) enough.abort('watched for ever');
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer !== undefined) throw answer;
  };
  const watch = watchTxn({ isOpen, patienceMs: PATIENCE_MS, clock, signal: enough.signal });
  await new Promise<void>((resolve) => watch.signal.addEventListener('abort', () => resolve()));
  watch.stop();
  return { reason: watch.signal.reason, tookMs: clock.now() - startMs };
}

it('looks on while the transaction is open', async () => {
  expect((await watched([undefined])).reason).toBe('watched for ever');
});

it('ends when it is not', async () => {
  const { reason, tookMs } = await watched([undefined, new TxnAbortedError(7n)]);
  expect(reason).toBeInstanceOf(TxnAbortedError);
  expect(tookMs).toBe(20_000);
});

it('bears that nobody can tell, but no longer than the transaction lives without a heartbeat', async () => {
  const { reason, tookMs } = await watched([undefined, lost(), lost(), undefined, lost()]);
  expect(reason).toMatchObject({ code: 'UNREACHABLE' });
  expect(tookMs).toBe(40_000 + PATIENCE_MS);
});

it('ends at once with what it watches for', async () => {
  const watch = watchTxn({
    isOpen: async () => undefined,
    patienceMs: PATIENCE_MS,
    clock: new ManualClock(),
    signal: AbortSignal.abort('over'),
  });
  expect(watch.signal.reason).toBe('over');
  watch.stop();
});
