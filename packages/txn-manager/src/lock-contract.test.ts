import {
  DataOperation,
  InvalidRequestError,
  type LockComponent,
  LockLevel,
  LockState,
  LockType,
  NoSuchLockError,
  NoSuchTxnError,
  TxnAbortedError,
  TxnOpenError,
} from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BINDINGS, commit, component, count, lockRequest, open, type Services, writeIdOf } from '../test/services.js';

const READ = LockType.LOCK_TYPE_SHARED_READ;
const SHARED_WRITE = LockType.LOCK_TYPE_SHARED_WRITE;
const EXCL_WRITE = LockType.LOCK_TYPE_EXCL_WRITE;
const EXCLUSIVE = LockType.LOCK_TYPE_EXCLUSIVE;
const { LOCK_STATE_ACQUIRED: ACQUIRED, LOCK_STATE_WAITING: WAITING } = LockState;

for (const [name, start] of BINDINGS) {
  describe(`LockService ${name}`, () => {
    let s: Services;
    let dead: Set<string>;
    beforeEach(async () => {
      dead = new Set();
      s = await start({ isAlive: (agentInfo) => !dead.has(agentInfo) });
    });
    afterEach(() => s.close());

    const ask = (txnId: bigint, type: LockType, fields: Partial<LockComponent> = {}) =>
      s.locks.lock(lockRequest(txnId, [component(type, fields)]));
    const stateOf = async (lockId: bigint) => (await s.locks.checkLock({ lockId })).state;

    it('grants in the order of requests', async () => {
      await open(s.txns, { count: 4 });
      const first = await ask(1n, EXCLUSIVE);
      const second = await ask(2n, SHARED_WRITE);
      const third = await ask(3n, EXCL_WRITE);
      const fourth = await ask(4n, READ);
      expect([first, second, third, fourth].map((answer) => answer.state)).toEqual([
        ACQUIRED,
        WAITING,
        WAITING,
        WAITING,
      ]);
      expect(second.blockedBy).toMatchObject({ lockId: first.lockId, txnId: 1n, type: EXCLUSIVE, state: ACQUIRED });
      expect(second.errorMessage).toContain('EXCLUSIVE on d.t held by lockid:1.1 of txnid:1 (u@here, query, since 20');
      await commit(s.txns, 1n);
      // The third does not overtake the second, which nobody has polled yet.
      expect(await stateOf(third.lockId)).toBe(WAITING);
      expect(await stateOf(fourth.lockId)).toBe(ACQUIRED);
      expect(await stateOf(second.lockId)).toBe(ACQUIRED);
      await commit(s.txns, 2n);
      expect(await stateOf(third.lockId)).toBe(ACQUIRED);
    });

    it('gives all components or none', async () => {
      await open(s.txns, { count: 3 });
      await ask(1n, EXCLUSIVE, { table: 'a' });
      const both = await s.locks.lock(
        lockRequest(2n, [component(READ, { table: 'b' }), component(READ, { table: 'a' })]),
      );
      expect(both.state).toBe(WAITING);
      const shown = await s.locks.showLocks({ txnId: 2n });
      expect(shown.locks.map((lock) => [lock.internalId, lock.state, lock.blockedByLockId])).toEqual([
        [1n, WAITING, undefined],
        [2n, WAITING, 1n],
      ]);
      // What waits blocks too.
      expect((await ask(3n, EXCLUSIVE, { table: 'b' })).state).toBe(WAITING);
      await commit(s.txns, 1n);
      expect(await stateOf(both.lockId)).toBe(ACQUIRED);
      const after = await s.locks.showLocks({ txnId: 2n });
      expect(after.locks.every((lock) => lock.blockedByLockId === undefined && lock.acquiredAtMs)).toBe(true);
    });

    it('does not let one transaction block itself', async () => {
      const txn = await open(s.txns);
      expect((await ask(txn, EXCLUSIVE)).state).toBe(ACQUIRED);
      expect((await ask(txn, EXCLUSIVE)).state).toBe(ACQUIRED);
    });

    it('refuses the request that closes a circle of waiters', async () => {
      await open(s.txns, { count: 2 });
      await ask(1n, EXCL_WRITE, { table: 'a' });
      await ask(2n, EXCL_WRITE, { table: 'b' });
      const first = await ask(1n, EXCL_WRITE, { table: 'b' });
      const second = await ask(2n, EXCL_WRITE, { table: 'a' });
      expect(second.state).toBe(LockState.LOCK_STATE_NOT_ACQUIRED);
      expect(second.errorMessage).toMatch(/^Deadlock: .*EXCL_WRITE on d\.a held by lockid:1\.1 of txnid:1/);
      expect(await stateOf(first.lockId)).toBe(WAITING);
      await s.txns.abortTxns({ txnIds: [2n], reasonCode: 50005 });
      expect(await stateOf(first.lockId)).toBe(ACQUIRED);
    });

    it('a holder of locks passes over requests that wait for it', async () => {
      await open(s.txns, { count: 2 });
      await ask(1n, EXCLUSIVE, { table: 'a' });
      const both = await s.locks.lock(
        lockRequest(2n, [component(READ, { table: 'a' }), component(EXCLUSIVE, { table: 'b' })]),
      );
      expect(both.state).toBe(WAITING);
      expect((await ask(1n, READ, { table: 'b' })).state).toBe(ACQUIRED);
      expect(await stateOf(both.lockId)).toBe(WAITING);
      await commit(s.txns, 1n);
      expect(await stateOf(both.lockId)).toBe(ACQUIRED);
    });

    it('releases with commit and with abort', async () => {
      await open(s.txns, { count: 2 });
      await ask(1n, EXCLUSIVE);
      const second = await ask(2n, EXCLUSIVE);
      await s.txns.abortTxns({ txnIds: [1n], reasonCode: 50005 });
      expect(await stateOf(second.lockId)).toBe(ACQUIRED);
      await commit(s.txns, 2n);
      expect(await count(s.db, 'HIVE_LOCKS')).toBe(0);
    });

    it('records what a transaction will write, with its write id', async () => {
      const txn = await open(s.txns);
      await writeIdOf(s.txns, txn);
      const operation = DataOperation.DATA_OPERATION_UPDATE;
      await s.locks.lock(
        lockRequest(txn, [
          component(EXCL_WRITE, { operation, isTransactional: true }),
          component(READ, { table: 'x', operation: DataOperation.DATA_OPERATION_SELECT, isTransactional: true }),
          component(EXCLUSIVE, { table: 'plain', operation: DataOperation.DATA_OPERATION_INSERT }),
        ]),
      );
      const rows = await s.db.read((tx) =>
        tx.all('SELECT TC_TABLE, TC_OPERATION_TYPE, TC_WRITEID FROM TXN_COMPONENTS'),
      );
      expect(rows).toEqual([{ TC_TABLE: 't', TC_OPERATION_TYPE: 'u', TC_WRITEID: 1n }]);
    });

    it('refuses transactions that are not open, and leaves no rows', async () => {
      const txn = await open(s.txns);
      await s.txns.abortTxns({ txnIds: [txn], reasonCode: 50005 });
      await expect(ask(txn, READ)).rejects.toThrow(TxnAbortedError);
      await expect(ask(99n, READ)).rejects.toThrow(NoSuchTxnError);
      expect(await count(s.db, 'HIVE_LOCKS')).toBe(0);
    });

    it('refuses requests that make no sense', async () => {
      const invalid = [
        lockRequest(0n, []),
        lockRequest(0n, [component(LockType.LOCK_TYPE_UNSPECIFIED)]),
        lockRequest(0n, [component(READ, { database: '' })]),
        lockRequest(0n, [component(READ, { table: undefined, partition: 'p=1' })]),
        lockRequest(0n, [component(READ, { level: LockLevel.LOCK_LEVEL_DB })]),
        lockRequest(0n, [component(READ, { isTransactional: true, operation: DataOperation.DATA_OPERATION_INSERT })]),
      ];
      for (const request of invalid) await expect(s.locks.lock(request)).rejects.toThrow(InvalidRequestError);
    });

    describe('unlock', () => {
      it('gives up a waiting request, ignores unknown ones', async () => {
        await open(s.txns, { count: 3 });
        await ask(1n, EXCLUSIVE);
        const second = await ask(2n, EXCLUSIVE);
        await s.locks.unlock({ lockId: second.lockId });
        await s.locks.unlock({ lockId: 99n });
        await expect(s.locks.checkLock({ lockId: second.lockId })).rejects.toThrow(NoSuchLockError);
      });

      it('does not release an acquired lock of an open transaction', async () => {
        const txn = await open(s.txns);
        const { lockId } = await ask(txn, READ);
        await expect(s.locks.unlock({ lockId })).rejects.toThrow(TxnOpenError);
        await expect(s.locks.unlock({ lockId })).rejects.toMatchObject({ code: 'TXN_OPEN', lockId, txnId: txn });
      });

      it('releases a lock without transaction', async () => {
        const { lockId } = await ask(0n, EXCLUSIVE);
        expect((await ask(0n, READ)).state).toBe(WAITING);
        await s.locks.unlock({ lockId });
        expect((await ask(0n, READ)).state).toBe(ACQUIRED);
      });
    });

    describe('refuses instead of waiting', () => {
      it('a read that asked for it', async () => {
        await open(s.txns, { count: 2 });
        const { lockId } = await ask(1n, EXCLUSIVE);
        const answer = await s.locks.lock(lockRequest(2n, [component(READ)], { zeroWaitRead: true }));
        expect(answer.state).toBe(LockState.LOCK_STATE_NOT_ACQUIRED);
        expect(answer.errorMessage).toContain('Unable to acquire read lock due to an existing exclusive lock {');
        expect(answer.blockedBy?.lockId).toBe(lockId);
        expect(await count(s.db, 'HIVE_LOCKS')).toBe(1);
        const writer = await s.locks.lock(lockRequest(2n, [component(EXCL_WRITE)], { zeroWaitRead: true }));
        expect(writer.state).toBe(WAITING);
      });

      it('a concurrent CREATE TABLE AS SELECT of one name (B79)', async () => {
        await open(s.txns, { count: 2 });
        const ctas = (txnId: bigint) =>
          s.locks.lock(lockRequest(txnId, [component(EXCL_WRITE)], { exclusiveCtas: true }));
        expect((await ctas(1n)).state).toBe(ACQUIRED);
        const lost = await ctas(2n);
        expect(lost.state).toBe(LockState.LOCK_STATE_NOT_ACQUIRED);
        expect(lost.errorMessage).toContain('Failed to initiate a concurrent CTAS operation with the same table name');
        expect(await count(s.db, 'HIVE_LOCKS')).toBe(1);
      });
    });

    describe('a lock lives no longer than its transaction', () => {
      it('even if nobody released it', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n, EXCLUSIVE);
        const second = await ask(2n, EXCLUSIVE);
        // As if the process had died between the commit and the release.
        await s.db.transaction((tx) => tx.run("UPDATE TXNS SET TXN_STATE = 'c' WHERE TXN_ID = 1"));
        expect(await stateOf(second.lockId)).toBe(ACQUIRED);
        expect(await count(s.db, 'HIVE_LOCKS')).toBe(1);
      });

      it('at the next request as well as at the next poll', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n, EXCLUSIVE);
        await s.db.transaction((tx) => tx.run("UPDATE TXNS SET TXN_STATE = 'a' WHERE TXN_ID = 1"));
        expect((await ask(2n, EXCLUSIVE)).state).toBe(ACQUIRED);
      });

      it('nor than its holder, if that is a process of this host (B73)', async () => {
        const [own, far] = [
          await open(s.txns, { agentInfo: 'skep:7:1' }),
          await open(s.txns, { host: 'far', agentInfo: 'skep:7:1' }),
        ];
        const waiter = await open(s.txns);
        await ask(own, EXCLUSIVE);
        await ask(far, EXCLUSIVE, { table: 'u' });
        const one = await ask(waiter, READ);
        const two = await ask(waiter, READ, { table: 'u' });
        expect([one.state, two.state]).toEqual([WAITING, WAITING]);
        dead.add('skep:7:1');
        expect([await stateOf(one.lockId), await stateOf(two.lockId)]).toEqual([ACQUIRED, WAITING]);
        await expect(commit(s.txns, own)).rejects.toThrow(TxnAbortedError);
      });

      it('nor than the time-out', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n, EXCLUSIVE);
        s.clock.advance(200_000);
        await s.txns.heartbeatTxns({ txnIds: [2n] });
        const second = await ask(2n, EXCLUSIVE);
        expect(second.state).toBe(WAITING);
        s.clock.advance(100_001);
        expect(await stateOf(second.lockId)).toBe(ACQUIRED);
      });

      it('and a poll of a request whose transaction ended is told so', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n, EXCLUSIVE);
        const { lockId } = await ask(2n, EXCLUSIVE);
        await s.db.transaction((tx) => tx.run("UPDATE TXNS SET TXN_STATE = 'a' WHERE TXN_ID = 2"));
        await expect(s.locks.checkLock({ lockId })).rejects.toThrow(TxnAbortedError);
        expect(await count(s.db, 'HIVE_LOCKS')).toBe(1);
      });

      it('a poll keeps the transaction alive', async () => {
        await open(s.txns, { count: 2 });
        await ask(1n, EXCLUSIVE);
        const { lockId } = await ask(2n, EXCLUSIVE);
        s.clock.advance(299_000);
        await s.txns.heartbeatTxns({ txnIds: [1n] });
        await s.locks.checkLock({ lockId });
        s.clock.advance(2_000);
        expect((await s.txns.runHousekeeping({ abortDeadHolders: false })).timedOutTxnIds).toEqual([]);
      });
    });

    describe('a lock without a transaction', () => {
      it('lives by its heartbeat', async () => {
        const { lockId } = await ask(0n, EXCLUSIVE);
        s.clock.advance(299_000);
        await s.locks.heartbeatLock({ lockId });
        s.clock.advance(299_000);
        expect((await ask(0n, READ)).state).toBe(WAITING);
        s.clock.advance(2_000);
        expect((await ask(0n, READ, { partition: 'p=1' })).state).toBe(ACQUIRED);
        await expect(s.locks.heartbeatLock({ lockId })).rejects.toThrow(NoSuchLockError);
        await s.locks.heartbeatLock({ lockId: 0n });
      });

      it('is removed when it has expired, with the locks of ended transactions', async () => {
        const txn = await open(s.txns);
        const expired = await ask(0n, READ);
        const ended = await ask(txn, READ);
        s.clock.advance(300_001);
        const live = await ask(await open(s.txns), READ);
        expect((await s.locks.removeExpiredLocks({})).removedLockIds).toEqual([expired.lockId, ended.lockId]);
        expect((await s.locks.showLocks({})).locks.map((lock) => lock.lockId)).toEqual([live.lockId]);
      });
    });

    it('shows acquired ones first, then by type, then by id, and filters', async () => {
      await open(s.txns, { count: 5 });
      await ask(1n, SHARED_WRITE);
      await ask(2n, READ, { partition: 'p=1' });
      await ask(3n, EXCLUSIVE);
      await ask(4n, EXCL_WRITE, { table: 'U' });
      await ask(5n, READ, { database: 'e', table: undefined });
      const txnsOf = async (fields: Parameters<typeof s.locks.showLocks>[0]) =>
        (await s.locks.showLocks(fields)).locks.map((lock) => lock.txnId);
      expect(await txnsOf({})).toEqual([2n, 5n, 1n, 4n, 3n]);
      expect(await txnsOf({ database: 'D', table: 't' })).toEqual([2n, 1n, 3n]);
      expect(await txnsOf({ database: 'd', table: 't', partition: 'p=1' })).toEqual([2n]);
      expect(await txnsOf({ database: 'e' })).toEqual([5n]);
      const [lock] = (await s.locks.showLocks({ txnId: 3n })).locks;
      expect(lock).toEqual({
        lockId: 3n,
        internalId: 1n,
        database: 'd',
        table: 't',
        state: WAITING,
        type: EXCLUSIVE,
        txnId: 3n,
        lastHeartbeatMs: 0n,
        user: 'u',
        host: 'here',
        agentInfo: 'query',
        blockedByLockId: 1n,
        blockedByInternalId: 1n,
      });
    });
  });
}
