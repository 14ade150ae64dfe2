import type { ManualClock } from '@skep/core';
import { hasMariadb } from '@skep/metadb/testing';
import { type Compaction, CompactionState, CompactionType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAJOR, MINOR, onMariadb, World } from '../../test/world.js';
import { formatProperties, parseProperties } from './compaction-row.js';
import { idsToPurge } from './history.js';

const { COMPACTION_STATE_SUCCEEDED: SUCCEEDED, COMPACTION_STATE_FAILED: FAILED } = CompactionState;
const { COMPACTION_STATE_INITIATED: INITIATED, COMPACTION_STATE_REFUSED: REFUSED } = CompactionState;

const DATABASES: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ['SQLite', async () => undefined],
  ...(hasMariadb ? [['MariaDB', onMariadb] as const] : []),
];

let w: World;
afterEach(() => w.close());

const take = async (workerId = 'here-1', poolName = '') =>
  (await w.compactions.findNextCompact({ workerId, workerVersion: 'v', poolName })).job;
const ended = (id: bigint, state: CompactionState, errorMessage = '') =>
  w.compactions.finishCompaction({ id, state, errorMessage });
const only = async (): Promise<Compaction> => (await w.show())[0];

const CASES = DATABASES.flatMap(([on, urlOf]) =>
  (['in process', 'over gRPC'] as const).map((how) => ({ on, urlOf, how })),
);

describe.each(CASES)('the compaction queue $how on $on', ({ urlOf, how }) => {
  beforeEach(async () => {
    const url = await urlOf();
    w = await World.open({ ...(url === undefined ? {} : { url }), overGrpc: how === 'over gRPC' });
  });

  describe('a cleanup', () => {
    const at = { database: 'default', table: 't' };
    const rest = { runAs: 'u', highestWriteId: 4n, purge: true, droppedId: 7n, spare: false };
    const submit = (txnId: bigint, location = 'file:/w/t.v0000001', partition?: string) =>
      w.compactions.submitForCleanup({ ...at, ...rest, location, txnId, partition });
    const readyBelow = async (minOpenTxnId: bigint) =>
      await w.compactions.findReadyToClean({ minOpenTxnId, retentionMs: 0n });

    it('that is there in case only is cleaned as others are, and seen by who asks for it', async () => {
      const location = 'file:/w/p/k=2';
      const { id } = await w.compactions.submitForCleanup({
        ...{ ...at, ...rest, location, txnId: 5n, partition: 'k=2' },
        spare: true,
      });
      expect(await w.show()).toEqual([]);
      expect((await w.compactions.showCompactions({ id, limit: 1n })).compactions).toHaveLength(1);
      await w.compactions.settleCleanups({ txnId: 5n, nextTxnId: 8n, commitTimeMs: 3n });
      const { compactions } = await readyBelow(9n);
      expect(compactions.map((job) => [job.id, job.properties.location])).toEqual([[id, location]]);
      await ended(id, REFUSED, 'it is in use');
      expect((await w.compactions.showCompactions({ id, limit: 1n })).compactions).toEqual([]);
    });

    it('is ready when its transaction has ended, and all that began before', async () => {
      const { id } = await submit(5n);
      expect(await only()).toMatchObject({
        id,
        state: CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
        type: MAJOR,
        txnId: 5n,
        highestWriteId: 4n,
        properties: { location: 'file:/w/t.v0000001', ifPurge: 'true', 'skep.dropped.id': '7' },
      });
      expect((await readyBelow(1_000_000n)).compactions).toEqual([]);
      expect((await readyBelow(1n)).unsettled.map((job) => job.id)).toEqual([id]);
      const settled = { txnId: 5n, nextTxnId: 8n, commitTimeMs: 3n };
      expect(await w.compactions.settleCleanups(settled)).toEqual({ settled: 1n });
      // The call's answer got lost: nothing changes.
      expect(await w.compactions.settleCleanups({ ...settled, nextTxnId: 99n })).toEqual({ settled: 0n });
      expect(await readyBelow(8n)).toEqual({ compactions: [], unsettled: [] });
      expect((await readyBelow(9n)).compactions).toMatchObject([{ id, nextTxnId: 8n, commitTimeMs: 3n }]);
    });

    it('is no second one when the call is repeated, but one a folder', async () => {
      const { id } = await submit(5n, 'file:/w/t/k=1', 'k=1');
      expect((await submit(5n, 'file:/w/t/k=1', 'k=1')).id).toBe(id);
      expect((await submit(5n, 'file:/w/t/k=2', 'k=2')).id).not.toBe(id);
      await w.compactions.settleCleanups({ txnId: 5n, nextTxnId: 8n, commitTimeMs: 3n });
      await submit(9n, 'file:/w/t/k=1', 'k=1');
      await w.compactions.settleCleanups({ txnId: 9n, nextTxnId: 9n, commitTimeMs: 4n });
      // Both of k=1, though they are of one partition name and write id.
      expect((await readyBelow(10n)).compactions.map((job) => job.partition)).toEqual(['k=1', 'k=2']);
    });

    it('outlives its table, follows a renamed one, and keeps the name that it was given by a rename', async () => {
      await submit(5n);
      await w.compact(MAJOR);
      await w.compactions.forgetCompactions({ ...at, partitions: [] });
      expect((await w.show()).map((row) => row.txnId)).toEqual([5n]);
      const rename = { fromDatabase: 'default', toDatabase: 'default', fromTable: 't', toTable: 'u' };
      await w.compactions.renameCompactions(rename);
      expect(await only()).toMatchObject({ table: 'u' });
      await submit(6n, 'file:/w/t/k=1', 'k=1');
      const partition = { ...rename, toTable: 't', fromPartition: 'k=1', toPartition: 'k=2' };
      await w.compactions.renameCompactions({ ...partition, keepTxnId: 6n });
      expect((await w.show()).map((row) => row.partition)).toEqual([undefined, 'k=1']);
      await w.compactions.renameCompactions(partition);
      expect((await w.show()).map((row) => row.partition)).toEqual([undefined, 'k=2']);
    });
  });

  describe('a request', () => {
    it('is refused in Hive’s words while another waits or works', async () => {
      expect(await w.compact(MAJOR)).toEqual({ id: 1n, state: INITIATED, accepted: true, errorMessage: '' });
      expect(await w.compact(MINOR)).toEqual({
        id: -1n,
        state: REFUSED,
        accepted: false,
        errorMessage: "Compaction is already scheduled with state='initiated' and id=1",
      });
      await take();
      expect((await w.compact(MAJOR)).errorMessage).toMatch("state='working' and id=1");
      // Other resources, and the partitions of the same table, are others.
      expect((await w.compact(MAJOR, { table: 'u' })).id).toBe(2n);
      expect((await w.compact(MAJOR, { partition: 'p=1' })).id).toBe(3n);
      expect((await w.compact(MAJOR, { partition: 'p=1' })).id).toBe(-1n);
      expect((await w.compact(MAJOR, { partition: 'P=1' })).id).toBe(4n);
    });

    it('is refused while one that reached as far waits for the Cleaner', async () => {
      await w.createTable();
      await w.insert([[1, 'a']]);
      await w.compact(MINOR);
      await take();
      await w.compactions.updateCompactorState({ id: 1n, txnId: 9n, highestWriteId: 1n });
      await w.compactions.markCompacted({ id: 1n, nextTxnId: 9n, commitTimeMs: 5n });
      expect(await w.compact(MAJOR)).toMatchObject({
        id: -1n,
        errorMessage: "Compaction is already scheduled with state='ready for cleaning' and id=1",
      });
      await w.insert([[2, 'b']]);
      expect((await w.compact(MAJOR)).id).toBe(2n);
    });

    it('of one table asked for twice at once is queued once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => w.compact(MAJOR)));
      expect(answers.filter((answer) => answer.accepted)).toHaveLength(1);
      expect(await w.count('COMPACTION_QUEUE')).toBe(1);
    });

    it('names its table in lower case, its partition as it is (B59)', async () => {
      await w.compact(MAJOR, { table: 'T', partition: 'city=Paris' });
      expect(await only()).toMatchObject({ table: 't', partition: 'city=Paris' });
    });

    it('without a table is none', async () => {
      await expect(w.compact(MAJOR, { table: '' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    });
  });

  describe('Workers', () => {
    it('take the oldest request, each once', async () => {
      for (const table of ['a', 'b', 'c', 'd', 'e']) await w.compact(MAJOR, { table });
      const taken = await Promise.all(Array.from({ length: 8 }, (_, i) => take(`here-${i}`)));
      // Who comes first is not told where they ask at the same time.
      const ids = taken.map((job) => Number(job?.id ?? Number.POSITIVE_INFINITY)).sort((a, b) => a - b);
      expect(ids.slice(0, 6)).toEqual([1, 2, 3, 4, 5, Number.POSITIVE_INFINITY]);
      const second = taken.find((job) => job?.id === 2n);
      expect(second).toMatchObject({ state: CompactionState.COMPACTION_STATE_WORKING });
      expect(second?.startMs).toBe(BigInt(w.clock.now()));
    });

    it('of two connections never take the same', async () => {
      for (let i = 0; i < 40; i++) await w.compact(MAJOR, { table: `t${i}` });
      const other = await World.open({ folder: w.folder });
      const all = async (world: World, workerId: string) => {
        const ids: bigint[] = [];
        for (;;) {
          const { job } = await world.compactions.findNextCompact({ workerId, workerVersion: '', poolName: '' });
          if (job === undefined) return ids;
          ids.push(job.id);
        }
      };
      const ids = (await Promise.all([all(w, 'here-1'), all(other, 'here-2'), all(w, 'here-3')])).flat();
      expect(new Set(ids).size).toBe(40);
      expect(ids).toHaveLength(40);
      await other.close();
    });

    it('of a pool take its requests only, until these have waited too long', async () => {
      await w.compact(MAJOR, { table: 'a', pool: 'big' });
      await w.compact(MAJOR, { table: 'b' });
      expect(await take('here-1', 'small')).toBeUndefined();
      expect((await take())?.id).toBe(2n);
      expect(await take()).toBeUndefined();
      await w.compact(MAJOR, { table: 'c', pool: 'big' });
      expect((await take('here-2', 'big'))?.id).toBe(1n);
      w.advance(12 * 3_600_000 + 1);
      expect((await take())?.id).toBe(3n);
    });

    it('may name the default pool as it is shown', async () => {
      await w.compact(MAJOR, { pool: 'default' });
      await w.compact(MAJOR, { table: 'b' });
      expect((await only()).poolName).toBe('');
      expect((await w.compactions.waitForCompact({ poolName: 'default', waitMs: 10_000n })).found).toBe(true);
      expect((await take())?.id).toBe(1n);
      expect((await take('here-2', 'default'))?.id).toBe(2n);
    });

    it('that give a request up let it wait as before', async () => {
      await w.compact(MAJOR);
      const before = await only();
      await take();
      await w.compactions.updateCompactorState({ id: 1n, txnId: 9n, highestWriteId: 3n });
      await ended(1n, INITIATED);
      expect(await only()).toEqual(before);
      await expect(ended(1n, INITIATED)).rejects.toThrow(/1 is working/);
      await expect(w.compactions.markCompacted({ id: 1n })).rejects.toThrow(/1 is working/);
      await expect(ended(7n, SUCCEEDED)).rejects.toMatchObject({ code: 'NO_SUCH_COMPACTION', compactionId: 7n });
    });

    it('that are gone lose their requests', async () => {
      const workers = ['web-1', 'web-2', 'web-1-3', 'other-1'];
      for (const workerId of workers) {
        await w.compact(MAJOR, { table: workerId });
        await take(workerId);
      }
      const revoke = async (host: string, aliveWorkerIds: string[], olderThanMs = 0n) =>
        (await w.compactions.revokeWorkers({ host, aliveWorkerIds, olderThanMs })).ids;
      expect(await revoke('', [], 1000n)).toEqual([]);
      // The host `web-1` has a Worker of its own.
      expect(await revoke('web', ['web-2'])).toEqual([1n]);
      expect(await revoke('web', ['web-2'])).toEqual([]);
      w.advance(1001);
      expect(await take('web-4')).toMatchObject({ id: 1n });
      expect(await revoke('', ['other-1'], 1000n)).toEqual([2n, 3n]);
      expect((await w.show()).filter((c) => c.state === INITIATED).map((c) => [c.id, c.startMs, c.workerId])).toEqual([
        [2n, 0n, ''],
        [3n, 0n, ''],
      ]);
    });
  });

  describe('ready for cleaning', () => {
    const ready = async (highestWriteId: bigint, nextTxnId: bigint, partition?: string) => {
      const { id } = await w.compact(MAJOR, { partition });
      await take();
      await w.compactions.updateCompactorState({ id, txnId: nextTxnId, highestWriteId });
      await w.compactions.markCompacted({ id, nextTxnId, commitTimeMs: BigInt(w.clock.now()) });
      return id;
    };
    const find = async (minOpenTxnId: bigint, retentionMs = 0n) =>
      (await w.compactions.findReadyToClean({ minOpenTxnId, retentionMs })).compactions.map((c) => c.id);

    it('is what no open transaction is older than, of each resource the lowest first', async () => {
      await ready(5n, 10n);
      await ready(7n, 12n);
      await ready(6n, 11n, 'p=1');
      expect(await find(10n)).toEqual([]);
      expect(await find(11n)).toEqual([1n]);
      expect(await find(12n)).toEqual([1n, 3n]);
      await ended(1n, SUCCEEDED);
      expect(await find(13n)).toEqual([3n, 2n]);
    });

    it('waits for its delay, and after a failure for its retention', async () => {
      await ready(5n, 10n);
      expect(await find(11n, 1000n)).toEqual([]);
      w.advance(1001);
      expect(await find(11n, 1000n)).toEqual([1n]);
      await w.compactions.setCleanerRetry({ id: 1n, retryRetentionMs: 5000n, errorMessage: 'disk' });
      expect(await find(11n)).toEqual([]);
      w.advance(4000);
      expect(await find(11n)).toEqual([1n]);
      expect(await only()).toMatchObject({ errorMessage: 'disk', retryRetentionMs: 5000n });
    });
  });

  describe('SHOW COMPACTIONS', () => {
    it('is ordered as Hive does (golden compact_many)', async () => {
      // 1 succeeded, 2 refused, 3 ready for cleaning, 4 working, 5 and 6 waiting.
      for (const table of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await w.compact(MAJOR, { table });
        w.advance(10);
      }
      await take();
      await w.compactions.markCompacted({ id: 1n, nextTxnId: 3n, commitTimeMs: BigInt(w.clock.now()) });
      w.advance(10);
      await ended(1n, SUCCEEDED);
      w.advance(10);
      await take();
      w.advance(10);
      await ended(2n, REFUSED, 'no');
      await take();
      w.advance(10);
      await w.compactions.markCompacted({ id: 3n, nextTxnId: 4n, commitTimeMs: BigInt(w.clock.now()) });
      w.advance(10);
      await take();
      expect(await w.states()).toEqual([
        '4 working',
        '5 initiated',
        '6 initiated',
        '3 ready for cleaning',
        '2 refused',
        '1 succeeded',
      ]);
    });

    it('shows the Worker of what works, failed or was refused, not of what is ready or succeeded', async () => {
      for (const table of ['a', 'b', 'c']) await w.compact(MAJOR, { table });
      for (const id of [1n, 2n, 3n]) {
        await take();
        await w.compactions.updateCompactorState({ id, txnId: 14n + id, highestWriteId: 3n });
      }
      w.advance(7);
      await w.compactions.markCompacted({ id: 1n, nextTxnId: 15n, commitTimeMs: 20n });
      await ended(2n, REFUSED, 'no');
      const of = async (id: bigint) => (await w.compactions.showCompactions({ id, limit: 0n })).compactions[0];
      expect(await of(1n)).toMatchObject({ workerId: '', txnId: 15n, nextTxnId: 15n, commitTimeMs: 20n, endMs: 0n });
      const refused = await of(2n);
      expect(refused).toMatchObject({ workerId: 'here-1', txnId: 16n, errorMessage: 'no' });
      expect([refused.nextTxnId, refused.commitTimeMs]).toEqual([undefined, undefined]);
      expect(refused.endMs - refused.startMs).toBe(7n);
      expect(await of(3n)).toMatchObject({ workerId: 'here-1', workerVersion: 'v', txnId: 17n });
      await ended(1n, SUCCEEDED);
      const succeeded = await of(1n);
      expect(succeeded).toMatchObject({ workerId: '', initiatorId: 'here-manual', txnId: 15n, nextTxnId: 15n });
      expect(succeeded.endMs).toBe(BigInt(w.clock.now()));
    });

    it('filters by equality', async () => {
      await w.compact(MAJOR, { table: 'a' });
      await w.compact(MINOR, { table: 'b', partition: 'p=1', pool: 'big' });
      await w.compact(MINOR, { table: 'b', partition: 'p=2' });
      await take();
      await ended(1n, FAILED);
      const ids = async (filter: Omit<Parameters<typeof w.compactions.showCompactions>[0], 'limit'>) =>
        (await w.compactions.showCompactions({ ...filter, limit: 0n })).compactions.map((c) => c.id);
      expect(await ids({ id: 2n })).toEqual([2n]);
      expect(await ids({ database: 'default' })).toEqual([2n, 3n, 1n]);
      expect(await ids({ database: 'other' })).toEqual([]);
      expect(await ids({ database: 'DEFAULT', table: 'B' })).toEqual([2n, 3n]);
      expect(await ids({ partition: 'p=2' })).toEqual([3n]);
      expect(await ids({ poolName: 'big' })).toEqual([2n]);
      expect(await ids({ poolName: 'Default' })).toEqual([3n, 1n]);
      expect(await ids({ type: MAJOR })).toEqual([1n]);
      expect(await ids({ state: FAILED })).toEqual([1n]);
      expect(await ids({ type: MAJOR, state: INITIATED })).toEqual([]);
      expect((await w.compactions.showCompactions({ limit: 2n })).compactions).toHaveLength(2);
    });
  });

  describe('a retry of aborted writes', () => {
    const resource = { database: 'Default', table: 'T', partition: 'k=A' };
    const fail = (retryRetentionMs: bigint, errorMessage: string, more: { partition?: string | undefined } = {}) =>
      w.compactions.setCleanerRetry({ id: 0n, retryRetentionMs, errorMessage, ...resource, ...more });

    it('is one for a table or partition, which nobody takes for a compaction', async () => {
      await fail(300n, 'first');
      await fail(300n, 'of the table', { partition: undefined });
      await fail(600n, 'second');
      const shown = await w.compactions.showCompactions({
        type: CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP,
        limit: 0n,
      });
      const seen = shown.compactions.map((c) => [c.table, c.partition, c.retryRetentionMs, c.errorMessage, c.state]);
      const READY = CompactionState.COMPACTION_STATE_READY_FOR_CLEANING;
      expect(seen).toHaveLength(2);
      expect(seen).toContainEqual(['t', 'k=A', 600n, 'second', READY]);
      expect(seen).toContainEqual(['t', undefined, 300n, 'of the table', READY]);
      expect((await w.compactions.findReadyToClean({ minOpenTxnId: 99n, retentionMs: 0n })).compactions).toEqual([]);
      expect(await take()).toBeUndefined();
      expect((await w.compact(MAJOR, { partition: 'k=A' })).accepted).toBe(true);
    });

    it('goes with what was cleaned, without a history, unless it fails for good', async () => {
      await fail(300n, 'a');
      await fail(300n, 'b', { partition: 'k=B' });
      const [a, b] = (await w.show()).sort((x, y) => Number(x.id - y.id)).map(({ id }) => id);
      await ended(a, SUCCEEDED);
      await ended(b, FAILED, 'at last');
      expect((await w.show()).map(({ id, errorMessage }) => [id, errorMessage])).toEqual([[b, 'at last']]);
      await fail(300n, 'again', { partition: undefined });
      await expect(w.compactions.setCleanerRetry({ id: 99n, retryRetentionMs: 1n, errorMessage: '' })).rejects.toThrow(
        /99/,
      );
      await expect(w.compactions.setCleanerRetry({ id: 0n, retryRetentionMs: 1n, errorMessage: '' })).rejects.toThrow(
        /needs a database and a table/,
      );
    });
  });

  describe('ABORT COMPACTIONS', () => {
    it('ends what waits and nothing else', async () => {
      await w.compact(MAJOR, { table: 'a' });
      await w.compact(MAJOR, { table: 'b' });
      await take();
      const { results } = await w.compactions.abortCompactions({ ids: [1n, 2n, 9n] });
      expect(results).toEqual([
        { id: 1n, success: false, message: 'Error while aborting compaction as compaction is in state-working' },
        { id: 2n, success: true, message: 'Successfully aborted compaction' },
        { id: 9n, success: false, message: 'No Such Compaction Id Available' },
      ]);
      expect(await w.states()).toEqual(['1 working', '2 aborted']);
      expect((await w.compact(MAJOR, { table: 'b' })).accepted).toBe(true);
    });
  });

  describe('properties', () => {
    it.each([
      [{}, null],
      [{ a: 'b' }, '1:1:a1:b'],
      [
        { 'tblprops.orc.compress.size': '8192', 'compactor.x': 'é:3' },
        '2:26:tblprops.orc.compress.size4:819211:compactor.x3:é:3',
      ],
      [{ a: '' }, '1:1:a0:'],
    ])('%j has Hive’s form %s', (properties, text) => {
      expect(formatProperties(properties as Record<string, string>)).toBe(text);
      expect(parseProperties(text)).toEqual(properties);
    });

    it('come back from the queue and the history', async () => {
      const properties = { 'tblprops.orc.compress': 'NONE', k: 'v'.repeat(500) };
      const request = { database: 'default', table: 't', type: CompactionType.COMPACTION_TYPE_REBALANCE, properties };
      const more = { runAs: 'me', initiatorId: 'h-1', initiatorVersion: '4', poolName: 'p', orderBy: 'a desc' };
      await w.compactions.compact({ ...request, ...more, numberOfBuckets: 4 });
      expect(await only()).toMatchObject({ ...request, ...more, numberOfBuckets: 4 });
      const queued = await only();
      await take('here-1', 'p');
      await ended(1n, FAILED, 'why');
      const found = await only();
      expect(found).toMatchObject({ ...request, ...more, numberOfBuckets: 4, state: FAILED, errorMessage: 'why' });
      expect(found.enqueueTimeMs).toBe(queued.enqueueTimeMs);
    });
  });

  describe('history', () => {
    /** Newest first; a letter is a state, in upper case of a minor compaction. */
    const rows = (text: string, endMs = 0n) =>
      [...text].map((letter, i) => ({
        CC_ID: BigInt(text.length - i),
        CC_DATABASE: 'd',
        CC_TABLE: 't',
        CC_PARTITION: null,
        CC_STATE: letter.toLowerCase(),
        CC_TYPE: letter === letter.toLowerCase() ? 'a' : 'i',
        CC_START: endMs,
        CC_END: endMs,
      }));
    const retention = { succeeded: 3, failed: 3, refused: 3, didNotInitiate: 2, timeoutMs: 1000 };

    it.each([
      ['ssss', 0n, [1]],
      ['fffff', 0n, [2, 1]],
      ['aaa', 0n, [1]],
      ['ccccc', 0n, [2, 1]],
      ['sfscasfs', 0n, [1]],
      ['xxxxx', 5000n, []],
      // Old failures go once a newer major, or for a minor one a newer minor, succeeded.
      ['sf', 1000n, []],
      ['sf', 1001n, [1]],
      ['fs', 1001n, []],
      ['Sf', 1001n, []],
      ['SF', 1001n, [1]],
      ['sF', 1001n, [1]],
    ])('%s at %s ms loses %s', (text, nowMs, expected) => {
      expect(idsToPurge(rows(text), retention, nowMs).map(Number)).toEqual(expected);
    });

    it('keeps of each resource the newest', async () => {
      for (let i = 0; i < 5; i++) {
        for (const partition of ['p=1', 'p=2']) {
          const { id } = await w.compact(MAJOR, { partition });
          await take();
          await ended(id, SUCCEEDED);
        }
        w.advance(10);
      }
      expect(await w.compactions.purgeHistory({})).toEqual({ purged: 4n });
      expect((await w.show()).map((c) => Number(c.id)).sort((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
    });

    it('records what was never queued', async () => {
      const record = {
        ...(await import('@skep/rpc')).Compaction.fromPartial({ database: 'd', table: 't', type: MAJOR }),
      };
      const state = CompactionState.COMPACTION_STATE_DID_NOT_INITIATE;
      await w.compactions.finishCompaction({ id: 0n, state, errorMessage: 'because', record });
      const now = BigInt((w.clock as ManualClock).now());
      expect(await only()).toMatchObject({ id: 1n, state, errorMessage: 'because', enqueueTimeMs: now, endMs: now });
    });
  });

  describe('names', () => {
    beforeEach(async () => {
      await w.compact(MAJOR, { table: 'a' });
      await w.compact(MAJOR, { table: 'b', partition: 'p=1' });
      await w.compact(MAJOR, { table: 'b', partition: 'p=2' });
      await take();
      await ended(1n, FAILED);
    });
    const names = async () => (await w.show()).map((c) => `${c.database}.${c.table}/${c.partition ?? ''}`).sort();

    it('that are dropped take their requests and history along', async () => {
      await w.compactions.forgetCompactions({ database: 'default', table: 'b', partitions: ['p=1'] });
      expect(await names()).toEqual(['default.a/', 'default.b/p=2']);
      await w.compactions.forgetCompactions({ database: 'default', table: 'A', partitions: [] });
      expect(await names()).toEqual(['default.b/p=2']);
      await w.compactions.forgetCompactions({ database: 'default', partitions: [] });
      expect(await names()).toEqual([]);
    });

    it('that change are followed (B58)', async () => {
      const from = { fromDatabase: 'default', toDatabase: 'default' };
      await w.compactions.renameCompactions({ ...from, fromTable: 'a', toTable: 'C' });
      await w.compactions.renameCompactions({
        ...from,
        fromTable: 'b',
        toTable: 'b',
        fromPartition: 'p=1',
        toPartition: 'p=3',
      });
      expect(await names()).toEqual(['default.b/p=2', 'default.b/p=3', 'default.c/']);
      await w.compactions.renameCompactions({ ...from, toDatabase: 'd2', fromTable: '', toTable: '' });
      expect(await names()).toEqual(['d2.b/p=2', 'd2.b/p=3', 'd2.c/']);
    });
  });
});
