import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '@skep/core';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Dialect, mysqlDialect, SQLITE } from './dialect.js';
import { Batcher, DatabaseError, type Settled, settled } from './index.js';

/** What a batch is told, until it is let go. */
interface Held {
  readonly requests: readonly number[];
  answer(outcomes?: readonly Settled<number>[]): void;
  fail(error: unknown): void;
}

const turn = async () => {
  await systemClock.sleep(2);
  // What was put off before is done before this.
  await new Promise((resolve) => setImmediate(resolve));
};
const locked = () => new DatabaseError('DATABASE_LOCKED', 'db', 'a row is kept');

const SERVER = mysqlDialect('10.11-MariaDB');

let db: { readonly path: string; readonly dialect: Dialect };
let held: Held[];

/** A batcher whose batches wait for the test. */
function doubling(options?: { maxSize?: number; maxWaiting?: number }): Batcher<number, number> {
  return new Batcher<number, number>(
    db,
    (requests) =>
      new Promise((resolve, reject) => {
        const doubled = () => requests.map((request) => ({ value: 2 * request }));
        held.push({ requests, answer: (outcomes = doubled()) => resolve(outcomes), fail: reject });
      }),
    options,
  );
}

beforeEach(() => {
  db = { path: 'db', dialect: SERVER };
  held = [];
});

describe('a batch', () => {
  it('has what was asked for in one turn, and each its own answer', async () => {
    const batcher = doubling();
    const answers = Promise.all([1, 2, 3].map((request) => batcher.submit(request)));
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[1, 2, 3]]);
    held[0].answer();
    expect(await answers).toEqual([2, 4, 6]);
  });

  it('begins at once where nothing runs, and gathers the next while it does', async () => {
    const batcher = doubling({ maxSize: 3 });
    const first = batcher.submit(1);
    await turn();
    const others = Promise.all([2, 3, 4, 5].map((request) => batcher.submit(request)));
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[1]]);
    held[0].answer();
    expect(await first).toBe(2);
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[1], [2, 3, 4]]);
    held[1].answer();
    await turn();
    held[2].answer();
    expect(await others).toEqual([4, 6, 8, 10]);
  });

  it('leaves out those whose callers have given up', async () => {
    const batcher = doubling();
    const abort = new AbortController();
    const answers = Promise.allSettled([
      batcher.submit(1, abort.signal),
      batcher.submit(2, new AbortController().signal),
    ]);
    abort.abort(new RangeError('given up'));
    await turn();
    held[0].answer();
    expect(held[0].requests).toEqual([2]);
    expect(await answers).toEqual([
      { status: 'rejected', reason: new RangeError('given up') },
      { status: 'fulfilled', value: 4 },
    ]);
  });

  it('refuses more than may wait', async () => {
    const batcher = doubling({ maxWaiting: 1 });
    const first = batcher.submit(1);
    await expect(batcher.submit(2)).rejects.toMatchObject({ code: 'DATABASE_LOCKED' });
    await turn();
    held[0].answer();
    expect(await first).toBe(2);
  });

  it('runs in no context of its callers', async () => {
    const context = new AsyncLocalStorage<string>();
    const batcher = new Batcher<number, string | undefined>(db, async (requests) => {
      return requests.map(() => ({ value: context.getStore() }));
    });
    expect(await context.run('of a call', () => batcher.submit(1))).toBeUndefined();
  });
});

describe('a failure', () => {
  it('of one request is that of its caller', async () => {
    const batcher = doubling();
    const answers = Promise.allSettled([1, 2].map((request) => batcher.submit(request)));
    await turn();
    held[0].answer([{ error: new RangeError('no') }, { value: 7 }]);
    expect(await answers).toEqual([
      { status: 'rejected', reason: new RangeError('no') },
      { status: 'fulfilled', value: 7 },
    ]);
  });

  it('of the whole is found by carrying out each by itself', async () => {
    const batcher = doubling();
    const answers = Promise.allSettled([1, 2].map((request) => batcher.submit(request)));
    await turn();
    held[0].fail(locked());
    await turn();
    expect(held.slice(1).map(({ requests }) => requests)).toEqual([[1], [2]]);
    held[1].fail(locked());
    held[2].answer();
    expect(await answers).toEqual([
      { status: 'rejected', reason: locked() },
      { status: 'fulfilled', value: 4 },
    ]);
  });

  it("whose outcome is unknown is everybody's: nothing is done twice", async () => {
    const batcher = doubling();
    const answers = Promise.allSettled([1, 2].map((request) => batcher.submit(request)));
    await turn();
    const lost = new DatabaseError('DATABASE_UNKNOWN_OUTCOME', 'db', 'the connection broke');
    held[0].fail(lost);
    expect((await answers).map((one) => one.status === 'rejected' && one.reason)).toEqual([lost, lost]);
    expect(held.length).toBe(1);
  });
});

describe('lanes', () => {
  it('are two for all batchers of a database, first come first served', async () => {
    const batchers = [doubling(), doubling(), doubling()];
    const answers = Promise.all(batchers.map((batcher, i) => batcher.submit(i)));
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[0], [1]]);
    held[1].answer();
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[0], [1], [2]]);
    held[0].answer();
    held[2].answer();
    expect(await answers).toEqual([0, 2, 4]);
  });

  it('are enough for every kind with SQLite, which commits them together', async () => {
    db = { path: 'db', dialect: SQLITE };
    const answers = Promise.all([0, 1, 2].map((request) => doubling().submit(request)));
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[0], [1], [2]]);
    for (const { answer } of held) answer();
    expect(await answers).toEqual([0, 2, 4]);
  });

  it('are not kept by a batch that takes long', async () => {
    const batcher = doubling();
    const first = batcher.submit(1);
    await turn();
    const second = batcher.submit(2);
    await systemClock.sleep(150);
    expect(held.map(({ requests }) => requests)).toEqual([[1], [2]]);
    held[1].answer();
    expect(await second).toBe(4);
    held[0].answer();
    expect(await first).toBe(2);
  });
});

describe('any schedule', () => {
  it('carries out each request once, in order, and answers what belongs to it', async () => {
    const step = fc.record({
      batcher: fc.integer({ min: 0, max: 2 }),
      pauses: fc.boolean(),
      fails: fc.boolean(),
      isAborted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), async (steps, maxSize) => {
        const own = { path: 'db', dialect: SERVER };
        const carriedOut: number[][] = [[], [], []];
        let running = 0;
        let mostRunning = 0;
        const batchers = carriedOut.map(
          (done) =>
            new Batcher<number, number>(
              own,
              async (requests) => {
                expect(requests.length).toBeLessThanOrEqual(maxSize);
                mostRunning = Math.max(mostRunning, ++running);
                await new Promise((resolve) => setImmediate(resolve));
                running--;
                done.push(...requests);
                return requests.map((request) => {
                  return settled(() => {
                    if (steps[request].fails) throw new RangeError(`no ${request}`);
                    return 10 * request;
                  });
                });
              },
              { maxSize },
            ),
        );
        const answers: Promise<unknown>[] = [];
        for (const [i, { batcher, pauses, isAborted }] of steps.entries()) {
          answers.push(batchers[batcher].submit(i, isAborted ? AbortSignal.abort('ended') : undefined));
          answers.at(-1)?.catch(() => undefined);
          if (pauses) await new Promise((resolve) => setImmediate(resolve));
        }
        const ends = await Promise.allSettled(answers);
        for (const [i, end] of ends.entries()) {
          const { fails, isAborted } = steps[i];
          if (isAborted) expect(end).toEqual({ status: 'rejected', reason: 'ended' });
          else if (fails) expect(end).toEqual({ status: 'rejected', reason: new RangeError(`no ${i}`) });
          else expect(end).toEqual({ status: 'fulfilled', value: 10 * i });
        }
        const expected = [0, 1, 2].map((batcher) =>
          steps.flatMap((one, i) => (one.batcher === batcher && !one.isAborted ? [i] : [])),
        );
        expect(carriedOut).toEqual(expected);
        expect(mostRunning).toBeLessThanOrEqual(2);
      }),
      { numRuns: 60 },
    );
  });
});
