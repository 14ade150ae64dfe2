import { InvalidRequestError, LockState, LockType, TxnAbortedError, TxnState, TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BINDINGS,
  commit,
  component,
  count,
  lockRequest,
  open,
  type Services,
  writeIdOf,
  writes,
} from '../test/services.js';

const REPL = TxnType.TXN_TYPE_REPL_CREATED;

for (const [name, start] of BINDINGS) {
  describe(`TransactionService ${name}`, () => {
    let s: Services;
    beforeEach(async () => {
      s = await start({ conf: { maxOpenBatch: 5, useMinHistoryWriteId: true } });
    });
    afterEach(() => s.close());

    describe('reasons of aborts', () => {
      it('name who aborted and when, in the list and in the error', async () => {
        const txnId = await open(s.txns);
        await s.txns.abortTxns({ txnIds: [txnId], reasonCode: 50001, abortedBy: 'alice@web' });
        const why = /^abort by query command at \d{4}-\d\d-\d\dT[\d:]+Z: alice@web$/;
        expect((await s.txns.showTxns({})).txns[0].metaInfo).toMatch(why);
        const lost = commit(s.txns, txnId);
        await expect(lost).rejects.toThrow(TxnAbortedError);
        await expect(lost).rejects.toThrow(/already aborted \(abort by query command at .*: alice@web\)$/);
      });

      it('name whose sign of life was missed, and for how long', async () => {
        await open(s.txns, { agentInfo: 'client 7', host: 'web' });
        s.clock.advance(301_000);
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect((await s.txns.showTxns({})).txns[0].metaInfo).toMatch(
          /^heartbeat time-out at .*Z: no sign of life for 301 s of client 7 on web$/,
        );
      });
    });

    describe('the history that readers need (MIN_HISTORY_WRITE_ID)', () => {
      const watermark = (table: string) => s.txns.getCleanerWatermark({ resource: { database: 'd', table } });
      const reads = (txnId: bigint, table: string) =>
        s.txns.addMinHistoryWriteIds({ txnId, tables: [{ database: 'd', table, writeId: 1n }] });

      it('of one table is held by those who named it, and by those who named none (B68)', async () => {
        const reader = await open(s.txns, { user: 'alice' });
        expect(await reads(reader, 'x')).toEqual({ recorded: true });
        const later = await open(s.txns);
        await reads(later, 'y');
        await commit(s.txns, later);
        s.clock.advance(1001);
        expect(await watermark('x')).toMatchObject({ minOpenTxnId: reader, heldBy: { txnId: reader, user: 'alice' } });
        const y = await watermark('y');
        expect(y).toMatchObject({ minOpenTxnId: later + 1n });
        expect(y.heldBy).toBeUndefined();
        // It is open all the same.
        expect(y.validTxns).toBe(`${later}:9223372036854775807:${reader}:`);
        expect((await s.txns.getCleanerWatermark({})).minOpenTxnId).toBe(reader);
        const unknown = await open(s.txns);
        s.clock.advance(1001);
        expect(await watermark('y')).toMatchObject({ heldBy: { txnId: unknown } });
      });

      it('goes with the transaction, and follows a renamed table', async () => {
        const txnId = await open(s.txns);
        await reads(txnId, 'x');
        await reads(txnId, 'x');
        expect(await count(s.db, 'MIN_HISTORY_WRITE_ID')).toBe(1);
        await s.txns.renameResource({ from: { database: 'd', table: 'x' }, to: { database: 'd', table: 'z' } });
        expect((await watermark('z')).heldBy?.txnId).toBe(txnId);
        await s.txns.abortTxns({ txnIds: [txnId], reasonCode: 50005 });
        expect(await count(s.db, 'MIN_HISTORY_WRITE_ID')).toBe(0);
        await expect(reads(txnId, 'x')).rejects.toThrow(TxnAbortedError);
      });

      it('is not recorded where the setting is off', async () => {
        await s.close();
        s = await start({});
        const txnId = await open(s.txns);
        expect(await reads(txnId, 'x')).toEqual({ recorded: false });
        expect((await watermark('y')).heldBy?.txnId).toBe(txnId);
      });
    });

    describe('a seed of transaction ids', () => {
      it('lets them go on above it, and snapshots are whole at once', async () => {
        await commit(s.txns, await open(s.txns));
        await s.txns.seedTxnId({ seedTxnId: 1_000_000_000n });
        expect((await s.txns.getValidTxns({})).validTxns).toBe('1000000000:9223372036854775807::');
        expect(await open(s.txns)).toBe(1_000_000_001n);
      });

      it('changes nothing where ids are above it', async () => {
        await open(s.txns, { count: 3 });
        await s.txns.seedTxnId({ seedTxnId: 2n });
        expect(await open(s.txns)).toBe(4n);
        await expect(s.txns.seedTxnId({ seedTxnId: 0n })).rejects.toThrow(InvalidRequestError);
      });
    });

    describe('replicated transactions', () => {
      const replay = (sourceTxnIds: bigint[]) =>
        s.txns.openTxns({
          ...{ count: 0, user: 'u', host: 'here', agentInfo: '', type: REPL },
          replicated: { policy: 'sales.*', sourceTxnIds },
        });

      it('are opened once each', async () => {
        await open(s.txns);
        expect((await replay([70n, 80n])).txnIds).toEqual([2n, 3n]);
        expect((await replay([80n, 90n, 70n])).txnIds).toEqual([3n, 4n, 2n]);
        await expect(replay([])).rejects.toThrow(InvalidRequestError);
        await expect(replay([1n, 2n, 3n, 4n, 5n, 6n])).rejects.toThrow(/allows 5/);
      });

      it("are committed and aborted by the source's ids, repeated calls too", async () => {
        await replay([70n, 80n]);
        await writes(s.txns, 1n);
        await s.txns.commitTxn({ txnId: 70n, replPolicy: 'sales.*' });
        await s.txns.commitTxn({ txnId: 70n, replPolicy: 'sales.*' });
        const answer = await s.txns.abortTxns({ txnIds: [80n, 99n], reasonCode: 51000, replPolicy: 'sales.*' });
        expect(answer).toEqual({ abortedTxnIds: [80n], skippedTxnIds: [99n] });
        expect((await s.txns.getTxnStates({ txnIds: [1n, 2n] })).states).toEqual([
          TxnState.TXN_STATE_COMMITTED,
          TxnState.TXN_STATE_ABORTED,
        ]);
        expect(await count(s.db, 'REPL_TXN_MAP')).toBe(0);
        // What was judged at the source is not judged again.
        expect(await count(s.db, 'WRITE_SET')).toBe(0);
      });

      const writeIds = (source: { txnId: bigint; writeId: bigint }[], more: object = {}) =>
        s.txns.allocateTableWriteIds({
          ...{ txnIds: [], database: 'd', table: 't', reallocate: false },
          replicated: { policy: 'sales.*', source },
          ...more,
        });

      it('have the write ids that they had at the source, and are found by the compactor', async () => {
        await replay([70n, 80n]);
        const source = [
          { txnId: 80n, writeId: 9n },
          { txnId: 70n, writeId: 5n },
        ];
        const given = [
          { txnId: 1n, writeId: 5n },
          { txnId: 2n, writeId: 9n },
        ];
        for (let call = 0; call < 2; call++) expect((await writeIds(source)).txnToWriteIds).toEqual(given);
        // Ids of the table go on above them.
        expect(await writeIdOf(s.txns, await open(s.txns))).toBe(10n);
        const resource = { database: 'D', table: 't', partition: 'p=1' };
        const commit70 = {
          txnId: 70n,
          replPolicy: 'sales.*',
          replicatedWrites: { writes: [{ resource, writeId: 5n }] },
        };
        for (let call = 0; call < 2; call++) await s.txns.commitTxn(commit70);
        expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(1);
        expect(await count(s.db, 'WRITE_SET')).toBe(0);
        const candidates = await s.txns.findCompactionCandidates({
          ...{ abortedThreshold: 1000, abortedTimeThresholdMs: -1n, sinceMs: 0n },
        });
        expect(candidates.candidates.map((c) => c.resource)).toEqual([{ ...resource, database: 'd' }]);
        const { validWriteIds } = await s.txns.getValidWriteIds({ tables: ['d.t'] });
        expect(validWriteIds).toEqual(['d.t:10:9:9,10:']);
        // One of them was replayed before: then all of this was.
        expect((await writeIds(source)).txnToWriteIds).toEqual([]);
      });

      it('are refused what cannot be theirs', async () => {
        await replay([70n, 80n]);
        const other = await open(s.txns);
        expect(await writeIdOf(s.txns, other)).toBe(1n);
        await expect(writeIds([{ txnId: 70n, writeId: 1n }])).rejects.toThrow(
          `write id 1 of d.t cannot be txnid:1's: write id 1 is of txnid:${other}`,
        );
        await writeIds([{ txnId: 70n, writeId: 4n }]);
        await expect(writeIds([{ txnId: 70n, writeId: 5n }])).rejects.toThrow('write id 4 is of txnid:1');
        await expect(writeIds([{ txnId: 80n, writeId: 0n }])).rejects.toThrow('it is no write id');
        await expect(writeIds([])).rejects.toThrow(InvalidRequestError);
        await expect(writeIds([{ txnId: 70n, writeId: 4n }], { txnIds: [other] })).rejects.toThrow(InvalidRequestError);
        await expect(writeIds([{ txnId: 70n, writeId: 4n }], { reallocate: true })).rejects.toThrow(
          InvalidRequestError,
        );
        const writes = [{ resource: { database: 'd', table: 't' }, writeId: 1n }];
        await expect(s.txns.commitTxn({ txnId: other, replicatedWrites: { writes } })).rejects.toThrow(
          /need the policy/,
        );
        const nowhere = { txnId: 70n, replPolicy: 'sales.*', replicatedWrites: { writes: [{ writeId: 1n }] } };
        await expect(s.txns.commitTxn(nowhere)).rejects.toThrow(/needs a database, a table and a write id/);
        // A write id that is refused takes none, and a commit that is refused ends nothing.
        expect((await s.txns.getTxnStates({ txnIds: [1n, 2n] })).states).toEqual([
          TxnState.TXN_STATE_OPEN,
          TxnState.TXN_STATE_OPEN,
        ]);
      });

      it('live longer without a heartbeat', async () => {
        await replay([70n]);
        await open(s.txns);
        s.clock.advance(301_000);
        expect((await s.txns.runHousekeeping({ abortDeadHolders: false })).timedOutTxnIds).toEqual([2n]);
        s.clock.advance(11 * 86_400_000);
        expect((await s.txns.runHousekeeping({ abortDeadHolders: false })).timedOutTxnIds).toEqual([1n]);
      });
    });

    describe('the rebuild of a materialized view', () => {
      const ask = (txnId: bigint, table = 'mv') => s.txns.lockMaterializationRebuild({ database: 'd', table, txnId });

      it('is one at a time, and ends with its transaction', async () => {
        await open(s.txns, { count: 3 });
        expect(await ask(1n)).toEqual({ acquired: true, heldByTxnId: 1n });
        expect(await ask(1n)).toEqual({ acquired: true, heldByTxnId: 1n });
        expect(await ask(2n)).toEqual({ acquired: false, heldByTxnId: 1n });
        expect((await ask(3n, 'other')).acquired).toBe(true);
        await commit(s.txns, 1n);
        expect((await ask(2n)).acquired).toBe(true);
        await expect(ask(1n)).rejects.toThrow(/already committed/);
      });

      it('is free again without heartbeats', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n);
        const beat = () => s.txns.heartbeatMaterializationRebuild({ database: 'd', table: 'mv', txnId: 1n });
        s.clock.advance(200_000);
        await s.txns.heartbeatTxns({ txnIds: [1n, 2n] });
        expect(await beat()).toEqual({ alive: true });
        s.clock.advance(200_000);
        await s.txns.heartbeatTxns({ txnIds: [1n, 2n] });
        await s.txns.runHousekeeping({ abortDeadHolders: false });
        expect(await count(s.db, 'MATERIALIZATION_REBUILD_LOCKS')).toBe(1);
        s.clock.advance(200_000);
        await s.txns.heartbeatTxns({ txnIds: [1n, 2n] });
        expect((await ask(2n)).acquired).toBe(true);
        expect(await beat()).toEqual({ alive: false });
      });
    });

    it('locks follow a renamed table, those that wait too', async () => {
      await open(s.txns, { count: 3 });
      const on = (txnId: bigint, type: LockType, partition?: string) =>
        s.locks.lock(lockRequest(txnId, [component(type, partition === undefined ? {} : { partition })]));
      await on(1n, LockType.LOCK_TYPE_EXCLUSIVE);
      const waiting = await on(2n, LockType.LOCK_TYPE_SHARED_READ, 'p=A');
      const rename = { fromDatabase: 'd', fromTable: 't', toDatabase: 'e', toTable: 'U' };
      expect(await s.locks.renameLocks(rename)).toEqual({ renamed: 2n });
      const shown = (await s.locks.showLocks({ database: 'e' })).locks;
      expect(shown.map(({ table, partition }) => [table, partition])).toEqual([
        ['u', undefined],
        ['u', 'p=A'],
      ]);
      const late = await s.locks.lock(
        lockRequest(3n, [component(LockType.LOCK_TYPE_SHARED_READ, { database: 'e', table: 'u' })]),
      );
      expect(late.state).toBe(LockState.LOCK_STATE_WAITING);
      const parts = { ...rename, fromDatabase: 'e', fromTable: 'u', fromPartition: 'p=A', toPartition: 'p=B' };
      expect(await s.locks.renameLocks(parts)).toEqual({ renamed: 1n });
      await expect(s.locks.renameLocks({ ...rename, toTable: undefined })).rejects.toThrow(/what kind/);
      await commit(s.txns, 1n);
      expect((await s.locks.checkLock({ lockId: waiting.lockId })).state).toBe(LockState.LOCK_STATE_ACQUIRED);
    });
  });
}
