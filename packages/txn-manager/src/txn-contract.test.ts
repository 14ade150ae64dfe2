import { LONG_MAX } from '@skep/core';
import {
  DataOperation,
  HousekeepingTask,
  InvalidRequestError,
  NoSuchTxnError,
  TooManyOpenTxnsError,
  TxnAbortedError,
  TxnConflictError,
  TxnState,
  TxnType,
} from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BINDINGS, commit, count, open, type Services, writeIdOf, writes } from '../test/services.js';

const { DATA_OPERATION_INSERT: INSERT, DATA_OPERATION_UPDATE: UPDATE, DATA_OPERATION_DELETE: DELETE } = DataOperation;

for (const [name, start] of BINDINGS) {
  describe(`TransactionService ${name}`, () => {
    let s: Services;
    beforeEach(async () => {
      s = await start({ conf: { maxOpenTxns: 20, maxOpenBatch: 5 } });
    });
    afterEach(() => s.close());

    /** Where ids do not appear in order, young ones are not taken for granted (hive.txn.opentxn.timeout). */
    const settle = () => s.clock.advance(1001);
    const snapshot = async (txnId?: bigint) => (await s.txns.getValidTxns({ txnId })).validTxns;
    const writeIds = async (fields: { validTxns?: string; ownTxnId?: bigint } = {}) => {
      return (await s.txns.getValidWriteIds({ tables: ['d.t'], ...fields })).validWriteIds[0];
    };

    describe('opening', () => {
      it('gives ascending ids from 1, in batches cut to the limit', async () => {
        const first = await s.txns.openTxns({ count: 3, user: 'u', host: 'h', agentInfo: 'a', type: 0 });
        expect(first.txnIds).toEqual([1n, 2n, 3n]);
        const cut = await s.txns.openTxns({ count: 100, user: 'u', host: 'h', agentInfo: 'a', type: 0 });
        expect(cut.txnIds).toEqual([4n, 5n, 6n, 7n, 8n]);
      });

      it('refuses none at all', async () => {
        await expect(open(s.txns, { count: 0 })).rejects.toThrow(InvalidRequestError);
      });

      it('refuses at the limit, until a tenth is free again', async () => {
        for (let i = 0; i < 4; i++) await open(s.txns, { count: 5 });
        await expect(open(s.txns)).rejects.toThrow(TooManyOpenTxnsError);
        await s.txns.abortTxns({ txnIds: [1n, 2n], reasonCode: 50005 });
        await expect(open(s.txns)).rejects.toMatchObject({ code: 'TOO_MANY_OPEN_TXNS', kind: 'unavailable' });
        await s.txns.abortTxns({ txnIds: [3n], reasonCode: 50005 });
        expect(await open(s.txns)).toBe(21n);
      });

      it('records what a snapshot of it may need', async () => {
        await open(s.txns);
        await open(s.txns);
        await commit(s.txns, 1n);
        settle();
        await open(s.txns);
        const rows = await s.db.read((tx) => tx.all('SELECT * FROM MIN_HISTORY_LEVEL ORDER BY MHL_TXNID'));
        expect(rows).toEqual([
          { MHL_TXNID: 2n, MHL_MIN_OPEN_TXNID: 1n },
          { MHL_TXNID: 3n, MHL_MIN_OPEN_TXNID: 2n },
        ]);
      });
    });

    describe('snapshots of transactions', () => {
      it('is empty at first', async () => {
        expect(await snapshot()).toBe(`0:${LONG_MAX}::`);
      });

      it('names open and aborted ones, runs of five as ranges', async () => {
        await open(s.txns, { count: 5 });
        await open(s.txns, { count: 3 });
        await s.txns.abortTxns({ txnIds: [7n], reasonCode: 50005 });
        await commit(s.txns, 8n);
        expect(await snapshot()).toBe('8:1:1-6:7');
      });

      it('ends at the reader, without itself', async () => {
        await open(s.txns, { count: 4 });
        await s.txns.abortTxns({ txnIds: [1n], reasonCode: 50005 });
        await commit(s.txns, 4n);
        expect(await snapshot(3n)).toBe('3:2:2:1');
        expect(await snapshot(1n)).toBe(`1:${LONG_MAX}::`);
      });

      it('leaves out READ_ONLY ones', async () => {
        await open(s.txns, { type: TxnType.TXN_TYPE_READ_ONLY });
        await open(s.txns);
        expect(await snapshot()).toBe('2:2:2:');
      });
    });

    describe('write ids', () => {
      it('are allocated once per transaction and table, contiguous, from 1', async () => {
        await open(s.txns, { count: 3 });
        const answer = await s.txns.allocateTableWriteIds({
          txnIds: [3n, 1n, 2n],
          database: 'D',
          table: 'T',
          reallocate: false,
        });
        expect(answer.txnToWriteIds).toEqual([
          { txnId: 1n, writeId: 1n },
          { txnId: 2n, writeId: 2n },
          { txnId: 3n, writeId: 3n },
        ]);
        expect(await writeIdOf(s.txns, 2n)).toBe(2n);
        expect(await writeIdOf(s.txns, 2n, 'other')).toBe(1n);
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(4n);
      });

      it('are given anew when a statement is planned again', async () => {
        const txn = await open(s.txns);
        await writeIdOf(s.txns, txn);
        await writes(s.txns, txn);
        expect(await writeIdOf(s.txns, txn, 't', true)).toBe(2n);
        const rows = await s.db.read((tx) => tx.all('SELECT TC_WRITEID FROM TXN_COMPONENTS'));
        expect(rows).toEqual([{ TC_WRITEID: 2n }]);
      });

      it('are refused to transactions that are not open or read only, to all of a batch', async () => {
        const [reader, dead] = [await open(s.txns, { type: TxnType.TXN_TYPE_READ_ONLY }), await open(s.txns)];
        const good = await open(s.txns);
        await s.txns.abortTxns({ txnIds: [dead], reasonCode: 50005 });
        const ask = (txnIds: bigint[]) =>
          s.txns.allocateTableWriteIds({ txnIds, database: 'd', table: 't', reallocate: false });
        await expect(ask([good, reader])).rejects.toThrow(InvalidRequestError);
        await expect(ask([good, dead])).rejects.toMatchObject({ code: 'TXN_ABORTED', txnId: dead });
        await expect(ask([good, 99n])).rejects.toThrow(NoSuchTxnError);
        expect(await writeIdOf(s.txns, good)).toBe(1n);
      });

      it('start above a seed and never go back', async () => {
        await s.txns.seedWriteId({ database: 'd', table: 't', seedWriteId: 10_000_000n });
        expect(await writeIds()).toBe(`d.t:10000000:${LONG_MAX}::`);
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(10_000_001n);
        await s.txns.seedWriteId({ database: 'd', table: 't', seedWriteId: 5n });
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(10_000_002n);
      });
    });

    describe('snapshots of write ids', () => {
      it('knows nothing of an unknown table', async () => {
        expect(await writeIds()).toBe(`d.t:0:${LONG_MAX}::`);
      });

      it('ends at the lowest invalid id when no valid one is known', async () => {
        await open(s.txns, { count: 2 });
        await writeIdOf(s.txns, 1n);
        await writeIdOf(s.txns, 2n);
        expect(await writeIds()).toBe('d.t:1:1:1:');
        await s.txns.abortTxns({ txnIds: [1n], reasonCode: 50005 });
        // As Hive 4.0.1: the aborted one stands alone, the smallest open one is still named.
        expect(await writeIds()).toBe('d.t:1:2::1');
      });

      it('names open and aborted ids below the high watermark', async () => {
        await open(s.txns, { count: 4 });
        for (const txn of [1n, 2n, 3n, 4n]) await writeIdOf(s.txns, txn);
        await commit(s.txns, 1n);
        await s.txns.abortTxns({ txnIds: [2n], reasonCode: 50005 });
        await commit(s.txns, 4n);
        expect(await writeIds()).toBe('d.t:4:3:3:2');
      });

      it('is judged by the snapshot of transactions it is given, not by what is committed since', async () => {
        await open(s.txns, { count: 2 });
        await writeIdOf(s.txns, 1n);
        await commit(s.txns, 1n);
        await writeIdOf(s.txns, 2n);
        const reader = await open(s.txns);
        const { validTxns } = await s.txns.getValidTxns({ txnId: reader });
        await commit(s.txns, 2n);
        expect(await writeIds({ validTxns })).toBe('d.t:2:2:2:');
        expect(await writeIds()).toBe(`d.t:2:${LONG_MAX}::`);
      });

      it('lets a transaction see what it wrote itself', async () => {
        const other = await open(s.txns);
        await writeIdOf(s.txns, other);
        await commit(s.txns, other);
        const own = await open(s.txns);
        const { validTxns } = await s.txns.getValidTxns({ txnId: own });
        await writeIdOf(s.txns, own);
        expect(await writeIds({ validTxns, ownTxnId: own })).toBe(`d.t:2:${LONG_MAX}::`);
        expect(await writeIds({ ownTxnId: own })).toBe(`d.t:2:${LONG_MAX}::`);
        expect(await writeIds()).toBe('d.t:2:2:2:');
      });
    });

    describe('commit', () => {
      it('moves components to the completed ones, with Y where anything was updated or deleted', async () => {
        const txn = await open(s.txns);
        await writeIdOf(s.txns, txn);
        await writes(s.txns, txn, INSERT, 'p=1');
        await writes(s.txns, txn, INSERT, 'p=1');
        await writes(s.txns, txn, DELETE, 'p=2');
        expect(await commit(s.txns, txn)).toEqual({ commitId: 1n, commitTimeMs: BigInt(s.clock.now()) });
        const rows = await s.db.read((tx) =>
          tx.all('SELECT CTC_PARTITION, CTC_WRITEID, CTC_UPDATE_DELETE FROM COMPLETED_TXN_COMPONENTS ORDER BY 1'),
        );
        expect(rows).toEqual([
          { CTC_PARTITION: 'p=1', CTC_WRITEID: 1n, CTC_UPDATE_DELETE: 'Y' },
          { CTC_PARTITION: 'p=2', CTC_WRITEID: 1n, CTC_UPDATE_DELETE: 'Y' },
        ]);
        expect(await count(s.db, 'TXN_COMPONENTS')).toBe(0);
        expect(await count(s.db, 'MIN_HISTORY_LEVEL')).toBe(0);
        expect(await count(s.db, 'WRITE_SET')).toBe(1);
      });

      it('is the same when repeated, an error for others', async () => {
        const [txn, dead] = [await open(s.txns), await open(s.txns)];
        await commit(s.txns, txn);
        await commit(s.txns, txn);
        await s.txns.abortTxns({ txnIds: [dead], reasonCode: 50005 });
        await expect(commit(s.txns, dead)).rejects.toThrow(TxnAbortedError);
        await expect(commit(s.txns, 99n)).rejects.toMatchObject({ code: 'NO_SUCH_TXN', txnId: 99n, hiveCode: 10262 });
      });

      it('lets the first committer win and names it', async () => {
        await open(s.txns, { count: 3 });
        await writes(s.txns, 1n, UPDATE, 'p=1');
        await writes(s.txns, 2n, DELETE, 'p=1');
        await commit(s.txns, 2n);
        const lost = commit(s.txns, 1n);
        await expect(lost).rejects.toThrow(TxnConflictError);
        await expect(lost).rejects.toMatchObject({
          code: 'TXN_CONFLICT',
          kind: 'conflict',
          txnId: 1n,
          winnerTxnId: 2n,
          message: 'Aborting [txnid:1,3] due to a write conflict on d/t/p=1 committed by [txnid:2,3] u/d',
        });
        expect((await s.txns.getTxnStates({ txnIds: [1n, 2n, 3n, 9n] })).states).toEqual([
          TxnState.TXN_STATE_ABORTED,
          TxnState.TXN_STATE_COMMITTED,
          TxnState.TXN_STATE_OPEN,
          TxnState.TXN_STATE_UNSPECIFIED,
        ]);
        const shown = await s.txns.showTxns({});
        expect(shown.txns[0].metaInfo).toMatch(
          /^write conflicts at [-0-9T:]+Z: txnid:2 committed a write of d\.t\/p=1$/,
        );
        // What it wrote is still to be cleaned.
        expect(await count(s.db, 'TXN_COMPONENTS')).toBe(1);
      });

      it('has no conflict with inserts, other partitions, earlier commits, or under exclusive write locks', async () => {
        await open(s.txns, { count: 5 });
        await writes(s.txns, 1n, UPDATE, 'p=1');
        await writes(s.txns, 2n, INSERT, 'p=1');
        await writes(s.txns, 3n, UPDATE, 'p=2');
        await writes(s.txns, 4n, UPDATE);
        await writes(s.txns, 5n, UPDATE, 'p=1');
        for (const txn of [1n, 2n, 3n, 4n]) await commit(s.txns, txn);
        await commit(s.txns, 5n, true);
        const later = await open(s.txns);
        await writes(s.txns, later, UPDATE, 'p=1');
        await commit(s.txns, later);
      });

      it('does not check by default, as in Hive', async () => {
        await open(s.txns, { count: 2 });
        await writes(s.txns, 1n);
        await writes(s.txns, 2n);
        await commit(s.txns, 1n);
        await s.txns.commitTxn({ txnId: 2n });
      });

      it('tells a later statement who committed in between', async () => {
        await open(s.txns, { count: 2 });
        await writes(s.txns, 1n, UPDATE, 'p=1');
        expect(await s.txns.getLatestConflictingCommit({ txnId: 2n, overwritten: [] })).toEqual({});
        await commit(s.txns, 1n);
        await writes(s.txns, 2n, UPDATE, 'p=2');
        expect((await s.txns.getLatestConflictingCommit({ txnId: 2n, overwritten: [] })).txnId).toBeUndefined();
        await writes(s.txns, 2n, UPDATE);
        expect((await s.txns.getLatestConflictingCommit({ txnId: 2n, overwritten: [] })).txnId).toBe(1n);
      });

      it('does not count what the snapshot sees, and of what is overwritten counts inserts too', async () => {
        await open(s.txns, { count: 3 });
        await writes(s.txns, 1n, UPDATE, 'p=1');
        await writes(s.txns, 2n, INSERT, 'p=2');
        await writes(s.txns, 3n, UPDATE, 'p=1');
        const { validTxns: before } = await s.txns.getValidTxns({ txnId: 3n });
        await commit(s.txns, 1n);
        await commit(s.txns, 2n);
        const { validTxns: after } = await s.txns.getValidTxns({ txnId: 3n });
        const overwritten = [{ database: 'd', table: 't', partition: 'p=2' }];
        const ask = async (validTxns: string, resources: typeof overwritten = []) =>
          await s.txns.getLatestConflictingCommit({ txnId: 3n, validTxns, overwritten: resources });
        expect(await ask(before)).toMatchObject({
          txnId: 1n,
          resource: { database: 'd', table: 't', partition: 'p=1' },
        });
        expect(await ask(before, overwritten)).toMatchObject({ txnId: 2n, resource: { partition: 'p=2' } });
        expect((await ask(after, overwritten)).txnId).toBeUndefined();
        await s.txns.commitTxn({ txnId: 3n, exclWriteEnabled: false, validTxns: after });
      });

      it('of a compaction keeps nothing and answers the highest transaction', async () => {
        const txn = await open(s.txns, { type: TxnType.TXN_TYPE_COMPACTION });
        await s.txns.addWriteComponents({
          txnId: txn,
          components: [
            {
              resource: { database: 'd', table: 't' },
              operation: DataOperation.DATA_OPERATION_COMPACT,
              isDynamicPartitionWrite: false,
              writeId: 7n,
            },
          ],
        });
        const [row] = await s.db.read((tx) => tx.all('SELECT TC_OPERATION_TYPE, TC_WRITEID FROM TXN_COMPONENTS'));
        expect(row).toEqual({ TC_OPERATION_TYPE: 'c', TC_WRITEID: 7n });
        await open(s.txns);
        expect((await commit(s.txns, txn)).commitId).toBe(2n);
        for (const table of ['TXN_COMPONENTS', 'COMPLETED_TXN_COMPONENTS', 'WRITE_SET']) {
          expect(await count(s.db, table)).toBe(0);
        }
      });
    });

    describe('dynamic partitions', () => {
      it('are one component of the table until they are known', async () => {
        const txn = await open(s.txns);
        const writeId = await writeIdOf(s.txns, txn);
        const resource = { database: 'd', table: 't' };
        await s.txns.addWriteComponents({
          txnId: txn,
          components: [
            { resource: { ...resource, partition: 'p=1' }, operation: INSERT, isDynamicPartitionWrite: true },
            { resource: { ...resource, partition: 'p=2' }, operation: DELETE, isDynamicPartitionWrite: true },
          ],
        });
        const rows = () =>
          s.db.read((tx) =>
            tx.all('SELECT TC_PARTITION AS P, TC_OPERATION_TYPE AS OP, TC_WRITEID AS W FROM TXN_COMPONENTS ORDER BY 1'),
          );
        expect(await rows()).toEqual([{ P: null, OP: 'u', W: writeId }]);
        await s.txns.addDynamicPartitions({
          txnId: txn,
          writeId,
          database: 'd',
          table: 't',
          partitions: ['p=1', 'p=3'],
          operation: INSERT,
        });
        expect(await rows()).toEqual([
          { P: 'p=1', OP: 'i', W: writeId },
          { P: 'p=3', OP: 'i', W: writeId },
        ]);
      });
    });

    describe('abort and heartbeat', () => {
      it('skips what is not open and keeps components', async () => {
        await open(s.txns, { count: 3 });
        await writes(s.txns, 1n);
        await commit(s.txns, 2n);
        const answer = await s.txns.abortTxns({ txnIds: [1n, 2n, 9n], reasonCode: 50001 });
        expect(answer).toEqual({ abortedTxnIds: [1n], skippedTxnIds: [2n, 9n] });
        expect((await s.txns.abortTxns({ txnIds: [1n], reasonCode: 50001 })).skippedTxnIds).toEqual([1n]);
        expect(await count(s.db, 'TXN_COMPONENTS')).toBe(1);
        const shown = await s.txns.showTxns({});
        expect(shown.txns.map((txn) => [txn.txnId, txn.state, txn.metaInfo])).toEqual([
          [1n, TxnState.TXN_STATE_ABORTED, 'abort by query command'],
          [3n, TxnState.TXN_STATE_OPEN, ''],
        ]);
      });

      it('shows aborted ones that wrote nothing soon no more, but still tells of them', async () => {
        // 1 has a write id, 2 was about to write, 3 read. The highest id is always kept.
        await open(s.txns, { count: 4 });
        await writeIdOf(s.txns, 1n);
        await writes(s.txns, 1n);
        await writes(s.txns, 2n);
        await s.txns.abortTxns({ txnIds: [1n, 2n, 3n], reasonCode: 50005, abortedBy: 'Lock timed out' });
        s.clock.advance(1001);
        await s.txns.runHousekeeping({ abortDeadHolders: false, task: HousekeepingTask.HOUSEKEEPING_TASK_FORGET_TXNS });
        expect((await s.txns.showTxns({})).txns.map((txn) => txn.txnId)).toEqual([1n, 4n]);
        expect(await count(s.db, 'TXN_COMPONENTS')).toBe(1);
        for (const txnId of [2n, 3n]) {
          const [known] = (await s.txns.showTxns({ txnId })).txns;
          expect(known).toMatchObject({ txnId, state: TxnState.TXN_STATE_ABORTED });
          expect(known.metaInfo).toMatch(/^rollback at .*Z: Lock timed out$/);
          await expect(commit(s.txns, txnId)).rejects.toThrow(/already aborted \(rollback at .*Lock timed out/);
          await expect(writes(s.txns, txnId)).rejects.toThrow(TxnAbortedError);
        }
        expect((await s.txns.getTxnStates({ txnIds: [3n, 9n] })).states).toEqual([
          TxnState.TXN_STATE_ABORTED,
          TxnState.TXN_STATE_UNSPECIFIED,
        ]);
        expect(await s.txns.heartbeatTxns({ txnIds: [2n, 9n] })).toEqual({ abortedTxnIds: [2n], noSuchTxnIds: [9n] });
        expect(await s.txns.abortTxns({ txnIds: [2n], reasonCode: 50001 })).toMatchObject({ skippedTxnIds: [2n] });
        s.clock.advance(8 * 24 * 3_600_000);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        await expect(commit(s.txns, 3n)).rejects.toThrow(NoSuchTxnError);
        expect((await s.txns.showTxns({ txnId: 3n })).txns).toEqual([]);
      });

      it('tells which ids live no more', async () => {
        await open(s.txns, { count: 3 });
        await commit(s.txns, 2n);
        await s.txns.abortTxns({ txnIds: [3n], reasonCode: 50005 });
        expect(await s.txns.heartbeatTxns({ txnIds: [1n, 2n, 3n, 9n] })).toEqual({
          abortedTxnIds: [3n],
          noSuchTxnIds: [2n, 9n],
        });
      });

      it('aborts at the time-out only those without a heartbeat', async () => {
        await open(s.txns, { count: 2 });
        s.clock.advance(200_000);
        await s.txns.heartbeatTxns({ txnIds: [2n] });
        s.clock.advance(100_001);
        expect(await s.txns.runHousekeeping({ abortDeadHolders: false })).toEqual({
          timedOutTxnIds: [1n],
          deadHolderTxnIds: [],
        });
        await expect(commit(s.txns, 1n)).rejects.toThrow(TxnAbortedError);
        await commit(s.txns, 2n);
      });
    });

    describe('drop and rename', () => {
      it('a dropped table starts anew', async () => {
        const txn = await open(s.txns);
        await writeIdOf(s.txns, txn);
        await writes(s.txns, txn);
        await commit(s.txns, txn);
        await s.txns.forgetResource({ database: 'd', table: 't', partitions: [], keepWriteIds: false });
        expect(await writeIds()).toBe(`d.t:0:${LONG_MAX}::`);
        expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(0);
      });

      it('a table whose files stay for a while leaves its write ids to the next of its name', async () => {
        const txn = await open(s.txns);
        await writeIdOf(s.txns, txn);
        await writes(s.txns, txn);
        await commit(s.txns, txn);
        await s.txns.forgetResource({ database: 'd', table: 't', partitions: [], keepWriteIds: true });
        expect(await writeIds()).toBe(`d.t:1:${LONG_MAX}::`);
        expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(0);
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(2n);
      });

      it('a table takes the name of one whose files stay, and keeps its own write ids', async () => {
        for (const table of ['t', 'u', 'u']) {
          const txn = await open(s.txns);
          await writeIdOf(s.txns, txn, table);
          await commit(s.txns, txn);
        }
        await s.txns.forgetResource({ database: 'd', table: 't', partitions: [], keepWriteIds: true });
        const rename = { from: { database: 'd', table: 'u' }, to: { database: 'd', table: 't' } };
        // The second call is a repeated one, whose first answer was lost.
        for (let call = 0; call < 2; call++) await s.txns.renameResource(rename);
        expect(await writeIds()).toBe(`d.t:2:${LONG_MAX}::`);
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(3n);
      });

      it('a dropped partition takes nothing else along', async () => {
        const txn = await open(s.txns);
        await writeIdOf(s.txns, txn);
        await writes(s.txns, txn, INSERT, 'p=1');
        await writes(s.txns, txn, INSERT, 'p=2');
        await commit(s.txns, txn);
        await s.txns.forgetResource({ database: 'd', table: 't', partitions: ['p=1'], keepWriteIds: false });
        expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(1);
        expect(await writeIds()).toBe(`d.t:1:${LONG_MAX}::`);
      });

      it('a renamed table goes on (B58)', async () => {
        for (let i = 0; i < 2; i++) {
          const txn = await open(s.txns);
          await writeIdOf(s.txns, txn);
          await writes(s.txns, txn);
          await commit(s.txns, txn);
        }
        await s.txns.renameResource({
          from: { database: 'd', table: 't' },
          to: { database: 'd', table: 'U' },
        });
        expect(await writeIdOf(s.txns, await open(s.txns), 'u')).toBe(3n);
        const candidates = await s.txns.findCompactionCandidates({
          abortedThreshold: 1000,
          abortedTimeThresholdMs: -1n,
          sinceMs: 0n,
        });
        expect(candidates.candidates.map((c) => c.resource)).toEqual([{ database: 'd', table: 'u' }]);
      });
    });

    describe('for the compactor', () => {
      const candidates = (abortedThreshold: number, abortedTimeThresholdMs: bigint, sinceMs = 0n) =>
        s.txns.findCompactionCandidates({ abortedThreshold, abortedTimeThresholdMs, sinceMs });

      it('finds what was written lately and where aborts pile up', async () => {
        const written = await open(s.txns);
        await writes(s.txns, written, INSERT, 'p=1');
        await commit(s.txns, written);
        const [a, b, still] = [await open(s.txns), await open(s.txns), await open(s.txns)];
        for (const txn of [a, b, still]) {
          await writeIdOf(s.txns, txn, 'u');
          await writes(s.txns, txn, UPDATE, undefined, 'u');
        }
        await s.txns.abortTxns({ txnIds: [a, b], reasonCode: 50005 });
        expect((await candidates(2, -1n)).candidates.map((c) => c.resource?.partition)).toEqual(['p=1']);
        const later = BigInt(s.clock.now() + 60_000);
        const [piled] = (await candidates(1, -1n, later)).candidates;
        expect(piled).toEqual({
          resource: { database: 'd', table: 'u' },
          tooManyAborts: true,
          hasOldAbort: false,
          minOpenWriteTxnId: still,
          highestAbortedWriteId: 2n,
        });
        s.clock.advance(1001);
        const [old] = (await candidates(5, 1000n, later)).candidates;
        expect(old).toMatchObject({ tooManyAborts: false, hasOldAbort: true });
      });

      it('keeps the watermark where an open snapshot needs it', async () => {
        expect(await s.txns.getCleanerWatermark({})).toEqual({ minOpenTxnId: 1n, validTxns: `0:${LONG_MAX}::` });
        const compaction = await open(s.txns, { type: TxnType.TXN_TYPE_COMPACTION });
        const reader = await open(s.txns);
        await commit(s.txns, compaction);
        // The reader began while the compaction was open: it reads the old files.
        expect((await s.txns.getCleanerWatermark({})).minOpenTxnId).toBe(compaction);
        await commit(s.txns, reader);
        settle();
        expect(await s.txns.getCleanerWatermark({})).toEqual({ minOpenTxnId: 3n, validTxns: `2:${LONG_MAX}::` });
      });

      it('forgets what was cleaned and nothing else (B70)', async () => {
        await open(s.txns, { count: 4 });
        for (const txn of [1n, 2n, 3n, 4n]) {
          await writeIdOf(s.txns, txn);
          await writes(s.txns, txn, INSERT);
        }
        await commit(s.txns, 1n);
        await commit(s.txns, 2n);
        await s.txns.abortTxns({ txnIds: [3n, 4n], reasonCode: 50005 });
        const resource = { database: 'd', table: 't' };
        await s.txns.markCleaned({ resource, highestWriteId: 1n, abortedWriteIds: [4n], allAbortedBelow: false });
        expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(1);
        const rows = await s.db.read((tx) => tx.all('SELECT TC_WRITEID AS W FROM TXN_COMPONENTS'));
        expect(rows).toEqual([{ W: 3n }]);
        await s.txns.markCleaned({ resource, highestWriteId: 3n, abortedWriteIds: [], allAbortedBelow: true });
        expect(await count(s.db, 'TXN_COMPONENTS')).toBe(0);
      });
    });

    describe('garbage', () => {
      it('keeps the record of an abort until its files are gone (rule 6), and the last id', async () => {
        await open(s.txns, { count: 4 });
        for (const txn of [1n, 2n, 3n]) {
          await writeIdOf(s.txns, txn);
          await writes(s.txns, txn, INSERT);
        }
        await commit(s.txns, 1n);
        await s.txns.abortTxns({ txnIds: [2n], reasonCode: 50005 });
        await commit(s.txns, 3n);
        await commit(s.txns, 4n);
        s.clock.advance(120_001);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect(await writeIds()).toBe(`d.t:3:${LONG_MAX}::2`);
        const ids = () => s.db.read((tx) => tx.all<{ ID: bigint }>('SELECT TXN_ID AS ID FROM TXNS WHERE TXN_ID > 0'));
        expect((await ids()).map((row) => row.ID)).toEqual([2n, 4n]);
        await s.txns.markCleaned({
          resource: { database: 'd', table: 't' },
          highestWriteId: 0n,
          abortedWriteIds: [2n],
          allAbortedBelow: false,
        });
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect((await ids()).map((row) => row.ID)).toEqual([2n, 4n]);
        s.clock.advance(600_001);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect((await ids()).map((row) => row.ID)).toEqual([4n]);
        expect(await count(s.db, 'TXN_TO_WRITE_ID')).toBe(0);
        expect(await writeIds()).toBe(`d.t:3:${LONG_MAX}::`);
        expect(await open(s.txns)).toBe(5n);
      });

      it('keeps the mapping an open reader still needs (B35)', async () => {
        const writer = await open(s.txns);
        await writeIdOf(s.txns, writer);
        const reader = await open(s.txns);
        const { validTxns } = await s.txns.getValidTxns({ txnId: reader });
        const before = await writeIds({ validTxns });
        await commit(s.txns, writer);
        await open(s.txns);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect(await writeIds({ validTxns })).toBe(before);
      });

      it('keeps a write set while somebody open began before its commit', async () => {
        await open(s.txns, { count: 2 });
        await writes(s.txns, 1n);
        await writes(s.txns, 2n);
        await commit(s.txns, 1n);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        await expect(commit(s.txns, 2n)).rejects.toThrow(TxnConflictError);
        await open(s.txns);
        settle();
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect(await count(s.db, 'WRITE_SET')).toBe(0);
      });

      it('keeps of completed components the highest and the highest update', async () => {
        const history = [UPDATE, INSERT, UPDATE, INSERT, INSERT];
        for (const operation of history) {
          const txn = await open(s.txns);
          await writeIdOf(s.txns, txn);
          await writes(s.txns, txn, operation);
          await commit(s.txns, txn);
        }
        settle();
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        const rows = await s.db.read((tx) =>
          tx.all('SELECT CTC_WRITEID AS W, CTC_UPDATE_DELETE AS U FROM COMPLETED_TXN_COMPONENTS ORDER BY 1'),
        );
        expect(rows).toEqual([
          { W: 3n, U: 'Y' },
          { W: 5n, U: 'N' },
        ]);
      });
    });
  });
}
