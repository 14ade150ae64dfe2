import { LockState, LockType, TxnType } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BINDINGS, component, count, lockRequest, open, type Services, writeIdOf, writes } from '../test/services.js';

const MANY = 12;
const codeOf = (end: PromiseSettledResult<unknown>) => (end.status === 'rejected' ? end.reason.code : 'OK');

for (const [name, start] of BINDINGS) {
  describe(`calls that come together, ${name}`, () => {
    let s: Services;
    beforeEach(async () => {
      s = await start({ conf: { maxOpenTxns: 1000 } });
    });
    afterEach(() => s.close());

    const openMany = () => Promise.all(Array.from({ length: MANY }, () => open(s.txns)));
    const abort = (txnId: bigint) => s.txns.abortTxns({ txnIds: [txnId], reasonCode: 50005 });

    it('open a transaction each, with what its snapshot may need and its own user', async () => {
      const users = Array.from({ length: MANY }, (_, i) => `user${i}`);
      const ids = await Promise.all(users.map((user) => open(s.txns, { user })));
      expect(new Set(ids)).toEqual(new Set(users.map((_, i) => BigInt(i + 1))));
      const { txns } = await s.txns.showTxns({});
      expect(txns.map(({ txnId, user }) => user === users[ids.indexOf(txnId)])).toEqual(users.map(() => true));
      const levels = await s.db.read((tx) => tx.all('SELECT * FROM MIN_HISTORY_LEVEL ORDER BY MHL_TXNID'));
      expect(levels).toEqual(users.map((_, i) => ({ MHL_TXNID: BigInt(i + 1), MHL_MIN_OPEN_TXNID: 1n })));
    });

    it('get write ids without a gap, whatever becomes of others', async () => {
      const ids = await openMany();
      const reader = await open(s.txns, { type: TxnType.TXN_TYPE_READ_ONLY });
      await abort(ids[3]);
      const asked = [...ids, reader, 999n, ids[0]];
      const ends = await Promise.allSettled([
        ...asked.map((txnId) => writeIdOf(s.txns, txnId)),
        ...ids.map((txnId, i) => writeIdOf(s.txns, txnId, `u${i % 2}`)),
      ]);
      const codes = ids.map((_, i) => (i === 3 ? 'TXN_ABORTED' : 'OK'));
      expect(ends.map(codeOf)).toEqual([...codes, 'INVALID_REQUEST', 'NO_SUCH_TXN', 'OK', ...codes]);
      const values = ends.map((end) => (end.status === 'fulfilled' ? Number(end.value) : 0));
      const given = (among: number[]) => among.filter((id) => id > 0).sort((a, b) => a - b);
      expect(given(values.slice(0, MANY))).toEqual(Array.from({ length: MANY - 1 }, (_, i) => i + 1));
      // One that has one keeps it.
      expect(values[MANY + 2]).toBe(values[0]);
      const others = values.slice(MANY + 3);
      expect(given(others.filter((_, i) => i % 2 === 0))).toEqual([1, 2, 3, 4, 5, 6]);
      expect(given(others.filter((_, i) => i % 2 === 1))).toEqual([1, 2, 3, 4, 5]);
      expect(await writeIdOf(s.txns, await open(s.txns))).toBe(BigInt(MANY));
    });

    it('give the write id to components that were recorded before', async () => {
      const ids = await openMany();
      await Promise.all(ids.map((txnId) => writes(s.txns, txnId)));
      await Promise.all(ids.map((txnId) => writes(s.txns, txnId)));
      const given = await Promise.all(ids.map((txnId) => writeIdOf(s.txns, txnId)));
      const rows = await s.db.read((tx) =>
        tx.all<{ T: bigint; W: bigint }>('SELECT TC_TXNID AS T, TC_WRITEID AS W FROM TXN_COMPONENTS ORDER BY 1'),
      );
      expect(rows).toEqual(ids.map((txnId, i) => ({ T: txnId, W: given[i] })).sort((a, b) => Number(a.T - b.T)));
    });

    it('commit, each with its own outcome, and release what was locked', async () => {
      const ids = await openMany();
      for (const txnId of ids) await writeIdOf(s.txns, txnId);
      const lock = (txnId: bigint) => s.locks.lock(lockRequest(txnId, [component(LockType.LOCK_TYPE_SHARED_WRITE)]));
      await Promise.all(ids.map((txnId) => writes(s.txns, txnId)));
      await Promise.all(ids.map(lock));
      await abort(ids[5]);
      const asked = [...ids, ids[0], 999n];
      const ends = await Promise.allSettled(asked.map((txnId) => s.txns.commitTxn({ txnId })));
      expect(ends.map(codeOf)).toEqual([...ids.map((_, i) => (i === 5 ? 'TXN_ABORTED' : 'OK')), 'OK', 'NO_SUCH_TXN']);
      expect((await s.locks.showLocks({})).locks).toEqual([]);
      expect(await count(s.db, 'COMPLETED_TXN_COMPONENTS')).toBe(MANY - 1);
      expect(await count(s.db, 'WRITE_SET')).toBe(MANY - 1);
      expect(await count(s.db, 'TXN_COMPONENTS')).toBe(1);
      expect(await count(s.db, 'MIN_HISTORY_LEVEL')).toBe(0);
    });

    it('lock in order, one at a time, and leave nothing of transactions that have ended', async () => {
      const ids = await openMany();
      await abort(ids[2]);
      const ends = await Promise.allSettled(
        ids.map((txnId) => s.locks.lock(lockRequest(txnId, [component(LockType.LOCK_TYPE_EXCLUSIVE)]))),
      );
      expect(ends.map(codeOf)).toEqual(ids.map((_, i) => (i === 2 ? 'TXN_ABORTED' : 'OK')));
      let waiting = ends.flatMap((end, i) => (end.status === 'fulfilled' ? [{ ...end.value, txnId: ids[i] }] : []));
      expect((await s.locks.showLocks({})).locks.length).toBe(MANY - 1);
      // Whoever comes after the one that failed may have to ask again.
      for (; waiting.length > 0; waiting = waiting.slice(1)) {
        waiting.sort((a, b) => Number(a.lockId - b.lockId));
        const states = await Promise.all(waiting.map(({ lockId }) => s.locks.checkLock({ lockId })));
        expect(states.map(({ state }) => state === LockState.LOCK_STATE_ACQUIRED)).toEqual(
          waiting.map((_, i) => i === 0),
        );
        await s.txns.commitTxn({ txnId: waiting[0].txnId });
      }
      expect(await count(s.db, 'HIVE_LOCKS')).toBe(0);
    });
  });
}
