import type { Clock } from '@skep/core';
import {
  type CompactFolderProgress,
  CompactFolderRequest,
  CompactFolderResponse,
  CompactFolderResult,
  CompactFolderResult_Outcome,
  InvalidRequestError,
  UnreachableError,
} from '@skep/rpc';
import { describe, expect, it } from 'vitest';
import type { CompactionFiles } from './compaction-files.js';
import { type Act, COMPACTION_ACTIONS, compactionActions, remoteCompactionFiles } from './flight-actions.js';

/** Time that moves by hand. */
class SteppedClock implements Clock {
  private timeMs = 0;
  private sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  now = () => this.timeMs;
  random = () => 0.5;
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.sleepers.push({ atMs: this.timeMs + delayMs, wake: resolve });
    });
  }
  async advance(ms: number): Promise<void> {
    this.timeMs += ms;
    const due = this.sleepers.filter(({ atMs }) => atMs <= this.timeMs);
    this.sleepers = this.sleepers.filter(({ atMs }) => atMs > this.timeMs);
    for (const { wake } of due) wake();
    await turns();
  }
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 5));
const request = CompactFolderRequest.fromPartial({ database: 'd', table: 't', txnId: 1n });
const result = CompactFolderResult.fromPartial({
  outcome: CompactFolderResult_Outcome.OUTCOME_WRITTEN,
  bytesRead: 1n << 60n,
});
const how = () => ({ signal: new AbortController().signal });

/** Files of which only the given methods do something. */
function both(files: Partial<CompactionFiles>) {
  const clock = new SteppedClock();
  const nothing: CompactionFiles = {
    ownerOf: async () => undefined,
    compact: async () => result,
    discard: async () => undefined,
  };
  const actions = compactionActions(() => ({ ...nothing, ...files }), clock);
  const act: Act = (type, body, { signal = new AbortController().signal } = {}) => {
    const action = actions.find((one) => one.type === type);
    return action === undefined ? expect.unreachable(type) : action.run(body, { user: '', signal });
  };
  return { clock, act, actions, remote: remoteCompactionFiles(act, 'there:1', clock) };
}

it('what a service must have is what it has', () => {
  expect(both({}).actions.map(({ type }) => type)).toEqual(COMPACTION_ACTIONS);
});

it('answers go there and back', async () => {
  const seen: unknown[] = [];
  const { remote } = both({
    ownerOf: async (asked) => {
      seen.push(asked);
      return asked.partition;
    },
    discard: async (asked) => void seen.push(asked),
  });
  const folder = { database: 'd', table: 't', location: 'file:/w/t' };
  expect(await remote.ownerOf({ ...folder, partition: undefined })).toBeUndefined();
  expect(await remote.ownerOf({ ...folder, partition: 'p=1' })).toBe('p=1');
  await remote.discard({ ...folder, partition: undefined, txnId: 7n, runAs: 'u' });
  expect(seen).toEqual([folder, { ...folder, partition: 'p=1' }, { ...folder, txnId: 7n, runAs: 'u' }]);
  expect(await remote.compact(request, how())).toEqual(result);
});

describe('a long compaction', () => {
  it('says from time to time how far it is', async () => {
    let finish: (done: CompactFolderResult) => void = () => undefined;
    const { clock, remote } = both({
      compact: (_, { onProgress }) => {
        onProgress?.({ bytesRead: 5n, bytesWritten: 3n });
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    const heard: CompactFolderProgress[] = [];
    const work = remote.compact(request, { ...how(), onProgress: (progress) => heard.push(progress) });
    await turns();
    // Longer than silence is borne.
    for (let i = 0; i < 20; i++) await clock.advance(5_000);
    expect(heard).toHaveLength(20);
    expect(heard[19]).toEqual({ bytesRead: 5n, bytesWritten: 3n });
    finish(result);
    expect(await work).toEqual(result);
  });

  it('of which nothing is heard is given up, and asked for once more', async () => {
    const resumed: boolean[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const silent: Act = (_, body, options) => {
      resumed.push(CompactFolderRequest.decode(body).resume);
      signals.push(options?.signal);
      return {
        [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
      };
    };
    const { clock } = both({});
    const work = remoteCompactionFiles(silent, 'there:1', clock).compact(request, how());
    work.catch(() => undefined);
    await turns();
    await clock.advance(59_000);
    expect(resumed).toEqual([false]);
    await clock.advance(1_000);
    expect(resumed).toEqual([false, true]);
    expect(signals[0]?.aborted).toBe(true);
    await clock.advance(60_000);
    await expect(work).rejects.toMatchObject({ code: 'UNREACHABLE', message: /has said nothing for 60 s/ });
  });

  it('is stopped by who gives it up, at once and at the service', async () => {
    let inner: AbortSignal | undefined;
    const { remote } = both({
      compact: (_, { signal }) => {
        inner = signal;
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const stop = new AbortController();
    const work = remote.compact(request, { signal: stop.signal });
    await turns();
    stop.abort('enough');
    await expect(work).rejects.toBe('enough');
    expect(inner?.aborted).toBe(true);
  });
});

describe('what goes wrong', () => {
  it('at the service is what it says, and nothing is asked again', async () => {
    let calls = 0;
    const { remote } = both({
      compact: async () => {
        calls++;
        throw new InvalidRequestError('no');
      },
    });
    await expect(remote.compact(request, how())).rejects.toThrow(InvalidRequestError);
    expect(calls).toBe(1);
  });

  it('on the way is the first error, where the service knows nothing', async () => {
    const errors = [new UnreachableError('there:1', 'reset'), new InvalidRequestError('not known here')];
    // biome-ignore lint/correctness/useYield: it only fails
    const act: Act = async function* fail() {
      throw errors.shift();
    };
    const files = remoteCompactionFiles(act, 'there:1', new SteppedClock());
    await expect(files.compact(request, how())).rejects.toThrow('reset');
    expect(errors).toEqual([]);
  });

  it.each([[[]], [[CompactFolderResponse.encode({}).finish()]]])(
    'in a stream without a result is a bug: %#',
    async (steps) => {
      const act: Act = async function* some() {
        yield* steps;
      };
      const files = remoteCompactionFiles(act, 'there:1', new SteppedClock());
      await expect(files.compact(request, how())).rejects.toMatchObject({ code: 'BUG' });
    },
  );

  it('in a body is said', async () => {
    const { act } = both({});
    for (const type of COMPACTION_ACTIONS) {
      const send = async () => {
        for await (const _ of act(type, new TextEncoder().encode('{}'))) expect.unreachable(type);
      };
      await expect(send()).rejects.toThrow(`the body of action ${type} is not its message`);
    }
  });
});
