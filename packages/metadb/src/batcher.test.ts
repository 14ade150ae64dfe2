import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '@skep/core';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Dialect, mysqlDialect, SQLITE } from './dialect.js';
import {
  Batcher,
  type BatcherOptions,
  type Database,
  DatabaseError,
  type Lookup,
  type Settled,
  type Statement,
  type Step,
  settled,
  type Tx,
  want,
} from './index.js';

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

let db: Database;
let held: Held[];
/** Of each database transaction: what was asked, and what was written, in one round trip each. */
let sent: string[][];

/** A database that does nothing, and remembers what it was to do. */
function fakeDatabase(dialect: Dialect): Database {
  const tx = {
    dialect,
    allOf: async (queries: readonly Statement[]) => {
      sent.push(queries.map(([sql]) => sql));
      return queries.map(([sql]) => [{ SQL: sql }]);
    },
    runLast: async (statements: readonly Statement[]) => {
      sent.push(statements.map(([sql]) => sql));
      return statements.map(([sql]) => [{ SQL: sql }]);
    },
  } as unknown as Tx;
  const transaction: Database['transaction'] = (fn) => fn(tx);
  return { path: 'db', dialect, transaction } as unknown as Database;
}

/** A batcher whose batches wait for the test. */
function doubling(options?: BatcherOptions<number>): Batcher<number, number> {
  const hold = (requests: readonly number[]) =>
    new Promise<readonly Settled<number>[]>((resolve, reject) => {
      const doubled = () => requests.map((request) => ({ value: 2 * request }));
      held.push({ requests, answer: (outcomes = doubled()) => resolve(outcomes), fail: reject });
    });
  return new Batcher<number, number>(
    db,
    (_tx, requests) => ({
      async decide() {
        const outcomes = await hold(requests);
        return { outcomes: () => outcomes };
      },
    }),
    options,
  );
}

beforeEach(() => {
  sent = [];
  db = fakeDatabase(SERVER);
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
    const batcher = new Batcher<number, string | undefined>(db, (_tx, requests) => ({
      decide: () => ({ outcomes: () => requests.map(() => ({ value: context.getStore() })) }),
    }));
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

describe('requests of several kinds', () => {
  const kind = (name: string, rank: number, more: Partial<Step<string>> = {}) =>
    new Batcher<number, string>(
      db,
      (_tx, requests) => ({
        queries: requests.map((request): Statement => [`SELECT ${name}${request}`]),
        ...more,
        decide: ({ own }) => ({
          removals: [[`DELETE ${name}`]],
          statements: [[`INSERT ${name}`]],
          last: [[`SELECT LAST ${name}`]],
          outcomes: ([[row]]) => own.map(([read]) => ({ value: `${read.SQL}, ${row.SQL}` })),
        }),
      }),
      { rank },
    );

  it('are one database transaction of two round trips, in the order of their ranks, each with its own answers', async () => {
    const [late, early] = [kind('B', 2), kind('A', 1)];
    const answers = await Promise.all([late.submit(1), early.submit(2), late.submit(3)]);
    expect(answers).toEqual(['SELECT B1, SELECT LAST B', 'SELECT A2, SELECT LAST A', 'SELECT B3, SELECT LAST B']);
    expect(sent).toEqual([
      ['SELECT A2', 'SELECT B1', 'SELECT B3'],
      ['DELETE A', 'DELETE B', 'INSERT A', 'INSERT B', 'SELECT LAST A', 'SELECT LAST B'],
    ]);
  });

  it('look for the same rows once', async () => {
    const rows: Lookup<number> = { queries: (_tx, wanted) => [[`SELECT ROWS ${wanted.join()}`]] };
    const seeking = (wanted: number[]) =>
      new Batcher<number, unknown>(db, (_tx, requests) => ({
        lookups: [want(rows, wanted)],
        decide: (found) => ({ outcomes: () => requests.map(() => ({ value: found.of(rows) })) }),
      }));
    const answers = await Promise.all([seeking([1, 2]).submit(0), seeking([2, 3]).submit(0)]);
    expect(sent[0]).toEqual(['SELECT ROWS 1,2,2,3']);
    expect(answers).toEqual([[[{ SQL: sent[0][0] }]], [[{ SQL: sent[0][0] }]]]);
  });

  it('about the same are not in one batch: the second sees what the first wrote', async () => {
    const subjectsOf = (request: number) => [request % 10];
    const [first, second] = [doubling({ subjectsOf }), doubling({ subjectsOf })];
    const answers = Promise.all([
      first.submit(1),
      first.submit(11),
      second.submit(2),
      second.submit(1),
      second.submit(3),
    ]);
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[1, 11]]);
    held[0].answer();
    await turn();
    held[1].answer();
    await turn();
    held[2].answer();
    expect(await answers).toEqual([2, 22, 4, 2, 6]);
    // Two database transactions of which the first has two parts, and the second what came after one that it could not have.
    expect(held.map(({ requests }) => requests)).toEqual([[1, 11], [2], [1, 3]]);
    expect(sent.length).toBe(4);
  });

  it('are carried out one by one where that fails', async () => {
    const [first, second] = [doubling(), doubling()];
    const answers = Promise.allSettled([first.submit(1), second.submit(2), second.submit(3)]);
    await turn();
    held[0].fail(locked());
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[1], [1], [2], [3]]);
    held[1].answer();
    held[2].fail(locked());
    held[3].answer();
    expect(await answers).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: locked() },
      { status: 'fulfilled', value: 6 },
    ]);
  });
});

describe('lanes', () => {
  it('are one for all batchers of a database', async () => {
    const batchers = [doubling(), doubling(), doubling()];
    const answers: Promise<number>[] = [];
    for (const [i, batcher] of batchers.entries()) {
      answers.push(batcher.submit(i));
      await turn();
    }
    expect(held.map(({ requests }) => requests)).toEqual([[0]]);
    held[0].answer();
    await turn();
    // What waits together is one batch, one part after the other.
    expect(held.map(({ requests }) => requests)).toEqual([[0], [1]]);
    held[1].answer();
    await turn();
    held[2].answer();
    expect(await Promise.all(answers)).toEqual([0, 2, 4]);
  });

  it('are enough for every kind with SQLite, which commits them together', async () => {
    db = fakeDatabase(SQLITE);
    const answers = Promise.all([0, 1, 2].map((request) => doubling().submit(request)));
    await turn();
    expect(held.map(({ requests }) => requests)).toEqual([[0], [1], [2]]);
    for (const { answer } of held) answer();
    expect(await answers).toEqual([0, 2, 4]);
  });

  it('are not kept by a batch that takes long', async () => {
    const batcher = doubling({ maxSize: 1 });
    const answers = Promise.all([1, 2, 3].map((request) => batcher.submit(request)));
    await systemClock.sleep(150);
    expect(held.map(({ requests }) => requests)).toEqual([[1], [2], [3]]);
    for (const { answer } of held.toReversed()) answer();
    expect(await answers).toEqual([2, 4, 6]);
  });
});

describe('any schedule', () => {
  it('carries out each request once, and answers what belongs to it', async () => {
    const asked = fc.record({
      batcher: fc.integer({ min: 0, max: 2 }),
      pauses: fc.boolean(),
      fails: fc.boolean(),
      isAborted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), async (steps, maxSize) => {
        const own = fakeDatabase(SERVER);
        const carriedOut: number[][] = [[], [], []];
        let running = 0;
        let mostRunning = 0;
        const batchers = carriedOut.map(
          (done) =>
            new Batcher<number, number>(
              own,
              (_tx, requests) => ({
                async decide() {
                  expect(requests.length).toBeLessThanOrEqual(maxSize);
                  mostRunning = Math.max(mostRunning, ++running);
                  await new Promise((resolve) => setImmediate(resolve));
                  running--;
                  done.push(...requests);
                  const outcomes = requests.map((request) =>
                    settled(() => {
                      if (steps[request].fails) throw new RangeError(`no ${request}`);
                      return 10 * request;
                    }),
                  );
                  return { outcomes: () => outcomes };
                },
              }),
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
        expect(carriedOut.map((done) => done.sort((x, y) => x - y))).toEqual(expected);
        expect(mostRunning).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });
});
