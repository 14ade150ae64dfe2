import { ManualClock } from '@skep/core';
import { override } from '@skep/core/testing';
import { LockManager, releaseStatements } from '@skep/lock-manager';
import { type Database, openDatabase } from '@skep/metadb';
import { hasMariadb } from '@skep/metadb/testing';
import { DataOperation, type LockComponent, LockState, LockType, type TransactionService } from '@skep/rpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, component, count, lockRequest, MIGRATIONS, onMariadb, open, writeIdOf } from '../test/services.js';
import { TxnManager } from './index.js';

const UPDATE: Partial<LockComponent> = {
  operation: DataOperation.DATA_OPERATION_UPDATE,
  isTransactional: true,
};
const EXCL_WRITE = component(LockType.LOCK_TYPE_EXCL_WRITE, UPDATE);

/** Counts the database transactions that write. */
function counting(db: Database): { readonly db: Database; readonly written: () => number } {
  let written = 0;
  const transaction: Database['transaction'] = (fn, options) => {
    written++;
    return db.transaction(fn, options);
  };
  const run: Database['run'] = (statements, options) => {
    written++;
    return db.run(statements, options);
  };
  return { db: override(db, { transaction, run }), written: () => written };
}

const DATABASES: readonly (readonly [string, () => Promise<string>])[] = [
  ['SQLite', async () => 'sqlite::memory:'],
  ...(hasMariadb ? [['MariaDB', onMariadb] as const] : []),
];

describe.each(DATABASES)('both managers on %s', (_name, url) => {
  let db: Database;
  beforeEach(async () => {
    db = await openDatabase({ url: await url(), clock: new ManualClock(), migrations: MIGRATIONS });
  });
  afterEach(() => db.close());

  it('in one process lock and record in one database transaction, commit and release in one', async () => {
    const { db: counted, written } = counting(db);
    const txns: TxnManager = new TxnManager({ db: counted, locks: () => locks, releasing: releaseStatements });
    const locks: LockManager = new LockManager({ db: counted, txns: () => txns, localTxns: txns });
    const txnId = await open(txns);
    await writeIdOf(txns, txnId);
    let before = written();
    expect((await locks.lock(lockRequest(txnId, [EXCL_WRITE]))).state).toBe(LockState.LOCK_STATE_ACQUIRED);
    expect(written() - before).toBe(1);
    const recorded = await db.read((tx) => tx.all('SELECT TC_TXNID AS T, TC_WRITEID AS W FROM TXN_COMPONENTS'));
    expect(recorded).toEqual([{ T: txnId, W: 1n }]);
    before = written();
    await commit(txns, txnId);
    expect(written() - before).toBe(1);
    expect(await count(db, 'HIVE_LOCKS')).toBe(0);
  });

  it('in one process enter nothing of a transaction that is not open, but of the others in the batch', async () => {
    const txns: TxnManager = new TxnManager({ db, locks: () => locks, releasing: releaseStatements });
    const locks: LockManager = new LockManager({ db, txns: () => txns, localTxns: txns });
    const [aborted, alive] = [await open(txns), await open(txns)];
    await txns.abortTxns({ txnIds: [aborted], reasonCode: 0 });
    const shared = component(LockType.LOCK_TYPE_SHARED_WRITE);
    const ends = await Promise.allSettled([
      locks.lock(lockRequest(aborted, [EXCL_WRITE])),
      locks.lock(lockRequest(alive, [EXCL_WRITE])),
      locks.lock(lockRequest(99n, [EXCL_WRITE])),
      locks.lock(lockRequest(0n, [shared])),
    ]);
    expect(ends.map((end) => (end.status === 'rejected' ? end.reason.code : end.value.state))).toEqual([
      'TXN_ABORTED',
      LockState.LOCK_STATE_ACQUIRED,
      'NO_SUCH_TXN',
      LockState.LOCK_STATE_WAITING,
    ]);
    const ids = await db.read((tx) => tx.column<bigint>('SELECT HL_LOCK_EXT_ID FROM HIVE_LOCKS ORDER BY 1'));
    expect(ids).toEqual([1n, 2n]);
    expect(await count(db, 'TXN_COMPONENTS')).toBe(1);
    // One that is forgotten is told so, and why.
    await txns.runHousekeeping({ abortDeadHolders: false });
    await open(txns);
    await txns.runHousekeeping({ abortDeadHolders: false });
    expect((await txns.getTxnStates({ txnIds: [aborted] })).states).toEqual([2]);
    await expect(locks.lock(lockRequest(aborted, [EXCL_WRITE]))).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('apart record under the lock: a drop in between, also of a Hive, takes no record along', async () => {
    let seen: unknown[] = [];
    const managers: { txns: TransactionService } = { txns: new TxnManager({ db, locks: () => locks }) };
    const { txns } = managers;
    const asked = override(txns, {
      addWriteComponents: async (request) => {
        // Whoever drops the table and had the lock before is done by now.
        seen = (await locks.showLocks({})).locks.map(({ txnId, state }) => [txnId, state]);
        await txns.forgetResource({ database: 'd', table: 't', partitions: [], keepWriteIds: true });
        return await txns.addWriteComponents(request);
      },
    });
    const locks: LockManager = new LockManager({ db, txns: () => asked });
    const txnId = await open(txns);
    expect((await locks.lock(lockRequest(txnId, [EXCL_WRITE]))).state).toBe(LockState.LOCK_STATE_ACQUIRED);
    expect(seen).toEqual([[txnId, LockState.LOCK_STATE_ACQUIRED]]);
    expect(await count(db, 'TXN_COMPONENTS')).toBe(1);
    // What cannot be recorded leaves no lock.
    await txns.abortTxns({ txnIds: [txnId], reasonCode: 0 });
    await expect(locks.lock(lockRequest(txnId, [EXCL_WRITE]))).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    expect(await count(db, 'HIVE_LOCKS')).toBe(0);
  });

  it('keep what waits for a drop recorded, not what the one that drops, or nobody any more, has', async () => {
    const txns: TxnManager = new TxnManager({ db, locks: () => locks, releasing: releaseStatements });
    const locks: LockManager = new LockManager({ db, txns: () => txns, localTxns: txns });
    const [dropper, aborted, waiting] = [await open(txns), await open(txns), await open(txns)];
    for (const partition of [undefined, 'p=1']) {
      const resource = { database: 'd', table: 't', partition };
      const components = [{ resource, operation: DataOperation.DATA_OPERATION_DELETE, isDynamicPartitionWrite: false }];
      for (const txnId of [dropper, aborted]) await txns.addWriteComponents({ txnId, components });
    }
    await txns.abortTxns({ txnIds: [aborted], reasonCode: 0 });
    await locks.lock(lockRequest(dropper, [component(LockType.LOCK_TYPE_EXCLUSIVE)]));
    const ofPartition = component(LockType.LOCK_TYPE_EXCL_WRITE, { ...UPDATE, partition: 'p=1' });
    const asked = await locks.lock(lockRequest(waiting, [EXCL_WRITE, ofPartition]));
    expect(asked.state).toBe(LockState.LOCK_STATE_WAITING);
    const left = () =>
      db.read((tx) => tx.all('SELECT TC_TXNID AS T, TC_PARTITION AS P FROM TXN_COMPONENTS ORDER BY 1, 2'));
    const at = { database: 'd', table: 't', keepWriteIds: false, txnId: dropper };
    await txns.forgetResource({ ...at, partitions: ['p=1'] });
    expect(await left()).toEqual([
      { T: dropper, P: null },
      { T: aborted, P: null },
      { T: waiting, P: null },
      { T: waiting, P: 'p=1' },
    ]);
    await txns.forgetResource({ ...at, partitions: [] });
    expect(await left()).toEqual([
      { T: waiting, P: null },
      { T: waiting, P: 'p=1' },
    ]);
    await commit(txns, dropper);
    expect((await locks.checkLock({ lockId: asked.lockId })).state).toBe(LockState.LOCK_STATE_ACQUIRED);
    // Without a transaction, as before: nothing stays.
    await txns.forgetResource({ ...at, partitions: [], txnId: undefined });
    expect(await left()).toEqual([]);
  });
});
