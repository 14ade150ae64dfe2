import { override } from '@skep/core/testing';
import { hasMariadb } from '@skep/metadb/testing';
import { CompactionState, CompactionType, type CompactRequest, LockType } from '@skep/rpc';
import { afterEach, describe, expect, it } from 'vitest';
import { MAJOR, MINOR, onMariadb, World, type WorldOptions } from '../test/world.js';
import { Worker } from './worker.js';

const REBALANCE = CompactionType.COMPACTION_TYPE_REBALANCE;

let w: World;
afterEach(() => w.close());

const start = async (options: WorldOptions = {}, table: Parameters<World['createTable']>[1] = {}) => {
  w = await World.open(options);
  await w.createTable('t', table);
};
const ask = (fields: Partial<CompactRequest>) =>
  w.compactions.compact({
    ...{ database: 'default', table: 't', type: MAJOR, runAs: '', properties: {}, initiatorVersion: '' },
    ...{ initiatorId: 'here-manual', poolName: '', orderBy: '' },
    ...fields,
  });
const last = async () => {
  const [row] = await w.show();
  return { state: row.state, errorMessage: row.errorMessage };
};

it.each([
  [{ table: '' }, /needs a database and a table/],
  [{ type: CompactionType.COMPACTION_TYPE_UNSPECIFIED }, /MINOR, MAJOR or REBALANCE/],
  [{ type: CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP }, /MINOR, MAJOR or REBALANCE/],
  [{ type: REBALANCE, numberOfBuckets: 0 }, /at least 1 is needed/],
] as const)('a request that cannot be meant is refused: %j', async (fields, why) => {
  await start();
  await expect(ask(fields)).rejects.toThrow(why);
  expect(await w.show()).toEqual([]);
});

describe('many deltas', () => {
  const three = async (conf: WorldOptions['conf']) => {
    await start({ conf });
    for (let a = 1; a <= 7; a++) await w.insert([[a, 'x']]);
    await w.remove([[2n, 536870912, 0n]]);
  };
  const left = ['1|x', '3|x', '4|x', '5|x', '6|x', '7|x'];

  it.each([
    [MINOR, ['delete_delta_0000001_0000008_v0000009', 'delta_0000001_0000008_v0000009']],
    [MAJOR, ['base_0000008_v0000009']],
  ])('are merged in parts first (type %i, B50)', async (type, expected) => {
    await three({ maxNumDelta: 3 });
    const ids = await w.rows({ ids: true });
    await w.compact(type);
    await w.worker();
    expect(await w.rows()).toEqual(left);
    expect(await w.rows({ ids: true })).toEqual(ids);
    expect(w.ls().filter((name) => name.includes('_v'))).toEqual(expected);
    await w.cleaner();
    expect(w.ls()).toEqual(expected);
    expect(await w.states()).toEqual(['1 succeeded']);
  });

  it('are read at once no more than the request says', async () => {
    await three({});
    await ask({ type: MINOR, properties: { 'compactor.hive.compactor.max.num.delta': '2' } });
    const opened: string[] = [];
    const fs = override(w.fs, {
      create: async (path, options) => {
        opened.push(path);
        return await w.fs.create(path, options);
      },
    });
    await w.worker(w.with({ fs }));
    const folders = new Set(opened.flatMap((path) => /\/(delta_\d+_\d+_v\d+)\//.exec(path)?.[1] ?? []));
    expect([...folders]).toEqual([
      'delta_0000001_0000002_v0000009',
      'delta_0000003_0000004_v0000009',
      'delta_0000005_0000006_v0000009',
      'delta_0000007_0000008_v0000009',
      'delta_0000001_0000008_v0000009',
    ]);
    expect(await w.rows()).toEqual(left);
  });

  it('leave nothing of the parts when it is given up', async () => {
    await three({ maxNumDelta: 2 });
    await w.compact(MINOR);
    const fs = override(w.fs, {
      create: async (path, options) => {
        if (path.includes('delta_0000001_0000008_v')) throw new RangeError('disk full');
        return await w.fs.create(path, options);
      },
    });
    await w.worker(w.with({ fs }));
    expect(w.ls().filter((name) => name.includes('_v'))).toEqual([]);
    expect(await last()).toMatchObject({ state: CompactionState.COMPACTION_STATE_FAILED });
    expect(await w.rows()).toEqual(left);
  });
});

describe('a rebalance', () => {
  it('spreads the rows evenly, in the order asked for, under a lock against writers', async () => {
    await start();
    await w.insert([5, 3, 1].map((a) => [a, 'x'] as const));
    await w.insert([4, 2, 6].map((a) => [a, 'y'] as const));
    await ask({ type: REBALANCE, numberOfBuckets: 3, orderBy: 'a desc' });
    const seen: LockType[] = [];
    const txns = override(w.txns, {
      commitTxn: async (request) => {
        seen.push(...(await w.locks.showLocks({})).locks.map(({ type }) => type));
        return await w.txns.commitTxn(request);
      },
    });
    await w.worker(w.with({ txns }));
    expect(seen).toEqual([LockType.LOCK_TYPE_EXCL_WRITE]);
    const [b0, b1, b2] = [536870912, 536936448, 537001984];
    expect(await w.rows({ ids: true })).toEqual([
      ...[`2,${b0},0|6|y`, `2,${b0},1|5|x`],
      ...[`2,${b1},2|4|y`, `2,${b1},3|3|x`],
      ...[`2,${b2},4|2|y`, `2,${b2},5|1|x`],
    ]);
    expect(w.ls('t', 'base_0000002_v0000003')).toEqual([
      '_orc_acid_version',
      'bucket_00000',
      'bucket_00001',
      'bucket_00002',
    ]);
    await w.cleaner();
    expect(w.ls()).toEqual(['base_0000002_v0000003']);
  });

  it.each([
    [
      'deleted by',
      async () => void (await w.remove([[1n, 536870912, 1n]], { partition: 'p=b' })),
      ['0|x', '2|y'],
      true,
    ],
    [
      'inserted by',
      async () => void (await w.insert([[3, 'z']], { partition: 'p=b' })),
      ['0|x', '1|x', '2|y', '3|z'],
      false,
    ],
  ] as const)(
    "does not lose what was %s a write above another partition's open one",
    async (_, write, seen, isPutOff) => {
      await start({}, { partitionKeys: ['p'] });
      for (const name of ['p=a', 'p=b']) await w.addPartition('t', name);
      const partition = 'p=b';
      await w.insert(
        [0, 1].map((a) => [a, 'x'] as const),
        { partition },
      );
      await w.insert([[2, 'y']], { partition });
      const open = await w.insert([[9, 'other']], { partition: 'p=a', end: 'open' });
      await write();
      await ask({ type: REBALANCE, partition, numberOfBuckets: 1, orderBy: 'a desc' });
      await w.worker();
      expect(await w.rows({ partition })).toEqual(seen);
      const { state, errorMessage } = await last();
      if (isPutOff) {
        // It waits, and says for what; no Worker is kept busy by it.
        expect(state).toBe(CompactionState.COMPACTION_STATE_INITIATED);
        expect(errorMessage).toMatch(
          /^delete_delta_0000004_0000004_0000 may delete rows .* write id 3 of the table is open/,
        );
        expect(await w.worker()).toBe(false);
        w.advance(1000);
        expect(await w.worker()).toBe(true);
        w.advance(999);
        expect(await w.worker()).toBe(false);
      } else expect(state).toBe(CompactionState.COMPACTION_STATE_READY_FOR_CLEANING);
      await w.cleaner();
      await w.end(open.txnId);
      w.advance(1);
      if (!isPutOff) await ask({ type: REBALANCE, partition, numberOfBuckets: 1, orderBy: 'a desc' });
      await w.worker();
      expect(await w.states()).toContain(`${isPutOff ? 1 : 2} ready for cleaning`);
      expect(await w.rows({ partition })).toEqual(seen);
      expect(w.ls('t', partition)).toContainEqual(expect.stringMatching(/^base_0000004_v/));
    },
  );

  it('is refused when it has waited for hive.compactor.worker.timeout', async () => {
    await start({ conf: { workerTimeoutMs: 10_000 } }, { partitionKeys: ['p'] });
    for (const name of ['p=a', 'p=b']) await w.addPartition('t', name);
    await w.insert([[1, 'x']], { partition: 'p=b' });
    await w.insert([[9, 'other']], { partition: 'p=a', end: 'open' });
    await w.remove([[1n, 536870912, 0n]], { partition: 'p=b' });
    await ask({ type: REBALANCE, partition: 'p=b' });
    for (let round = 0; round < 17; round++) {
      await w.worker();
      w.advance(1000);
    }
    await w.worker();
    expect(await last()).toMatchObject({
      state: CompactionState.COMPACTION_STATE_REFUSED,
      errorMessage: expect.stringMatching(/which was waited for too long$/),
    });
  });

  it('is refused, or of an insert-only table fails, with the reason where it cannot be', async () => {
    await start({}, { parameters: { transactional_properties: 'insert_only' } });
    await w.insert([[1, 'x']]);
    await ask({ type: REBALANCE });
    await w.worker();
    expect(await last()).toEqual({
      state: CompactionState.COMPACTION_STATE_FAILED,
      errorMessage: 'REBALANCE compaction is not supported on insert only tables.',
    });
    await w.createTable('u');
    await ask({ type: REBALANCE, table: 'u', orderBy: 'nope' });
    await w.worker();
    const refused = (await w.show()).find(({ table }) => table === 'u');
    expect(refused?.errorMessage).toMatch(/^ORDER BY nope: a rebalance can sort by the columns of default\.u only/);
  });
});

describe.each([['SQLite', undefined], ...(hasMariadb ? [['MariaDB', onMariadb] as const] : [])] as const)(
  'a Worker whose request was revoked (%s)',
  (_, urlOf) => {
    it("cannot end it when it is another's, nor change it", async () => {
      const url = await urlOf?.();
      await start(url === undefined ? {} : { url });
      await w.compact(MAJOR);
      const take = async (workerId: string) =>
        (await w.compactions.findNextCompact({ workerId, workerVersion: '', poolName: '' })).job;
      const first = await take('here-1');
      w.advance(5);
      await w.compactions.revokeWorkers({ host: 'here', aliveWorkerIds: [], olderThanMs: 0n });
      const second = await take('here-1');
      expect(second?.id).toBe(first?.id);
      const mine = { id: 1n, workerId: 'here-1', workerStartMs: first?.startMs };
      const notMine = { code: 'NO_SUCH_COMPACTION' };
      const state = CompactionState.COMPACTION_STATE_FAILED;
      await expect(w.compactions.markCompacted(mine)).rejects.toMatchObject(notMine);
      await expect(w.compactions.finishCompaction({ ...mine, state, errorMessage: 'x' })).rejects.toMatchObject(
        notMine,
      );
      await expect(
        w.compactions.updateCompactorState({ ...mine, txnId: 9n, highestWriteId: 9n }),
      ).rejects.toMatchObject(notMine);
      expect((await w.show())[0]).toMatchObject({
        state: CompactionState.COMPACTION_STATE_WORKING,
        highestWriteId: 0n,
      });
      await w.compactions.markCompacted({ ...mine, workerStartMs: second?.startMs });
      expect(await w.states()).toEqual(['1 ready for cleaning']);
    });
  },
);

describe('an old reader (hive.txn.use.minhistorywriteid)', () => {
  it('of one table does not keep the files of another (B68)', async () => {
    await start({ conf: { useMinHistoryWriteId: true } });
    await w.createTable('y');
    for (const table of ['t', 'y']) for (const a of [1, 2]) await w.insert([[a, 'x']], { table });
    const reader = await w.open();
    const snapshot = await w.snapshot('t', reader);
    const tables = [{ database: 'default', table: 't', writeId: 3n }];
    expect(await w.txns.addMinHistoryWriteIds({ txnId: reader, tables })).toEqual({ recorded: true });
    for (const table of ['t', 'y']) {
      await w.compact(MAJOR, { table });
      await w.worker();
    }
    expect(await w.cleaner()).toBe(2);
    expect(w.ls('y')).toHaveLength(1);
    expect(w.ls('t')).toHaveLength(3);
    expect(await w.rows({ snapshot })).toEqual(['1|x', '2|x']);
    expect(await w.rows({ table: 'y' })).toEqual(['1|x', '2|x']);
    await w.end(reader);
    expect(await w.cleaner()).toBe(2);
    expect(w.ls('t')).toHaveLength(1);
  });

  it('that has not said what it reads keeps the files of all', async () => {
    await start({ conf: { useMinHistoryWriteId: true } });
    for (const a of [1, 2]) await w.insert([[a, 'x']]);
    const reader = await w.open();
    await w.compact(MAJOR);
    await w.worker();
    expect(await w.cleaner()).toBe(0);
    await w.end(reader);
    expect(await w.cleaner()).toBe(2);
  });
});

it('several Workers on one queue do each request once', async () => {
  await start();
  for (const table of ['u', 'v', 'x']) await w.createTable(table);
  for (const table of ['t', 'u', 'v', 'x']) {
    for (const a of [1, 2]) await w.insert([[a, 'x']], { table });
    await w.compact(MAJOR, { table });
  }
  const workers = [1, 2, 3, 4, 5].map((n) => new Worker(w.services, `here-${n}`));
  const results = await Promise.all(workers.map((worker) => worker.runOnce()));
  expect(results.filter(Boolean)).toHaveLength(4);
  // A request that was done twice would have left two bases.
  for (const table of ['t', 'u', 'v', 'x'])
    expect(w.ls(table).filter((name) => name.startsWith('base_'))).toHaveLength(1);
  expect((await w.states()).filter((state) => state.endsWith('ready for cleaning'))).toHaveLength(4);
});
