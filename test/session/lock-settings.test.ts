import { LockLevel, LockType } from '@skep/rpc';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

describe('lock settings of a session', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
    await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)', 'create table plain (a int)');
    await run(session, 'set hive.lock.numretries=1');
  });
  afterEach(async () => {
    await home.close();
  });

  /** Another's transaction that holds a lock. */
  const hold = async (type: LockType, table = 't'): Promise<bigint> => {
    const { txns, locks } = home.services;
    const who = { user: 'bob', host: 'web' };
    const { txnIds } = await txns.openTxns({ count: 1, ...who, agentInfo: '', type: 0 });
    await locks.lock({
      ...{ txnId: txnIds[0], ...who, agentInfo: 'query 7', zeroWaitRead: false, exclusiveCtas: false },
      components: [
        {
          ...{ type, level: LockLevel.LOCK_LEVEL_TABLE, database: 'default', table, operation: 6 },
          ...{ isTransactional: true, isDynamicPartitionWrite: false },
        },
      ],
    });
    return txnIds[0];
  };

  it('a read waits for an exclusive lock, and tells who held it, of what query and since when', async () => {
    const txnId = await hold(LockType.LOCK_TYPE_EXCLUSIVE);
    const reading = rows(session, 'select * from t');
    await expect(reading).rejects.toMatchObject({ hiveCode: 10307 });
    await expect(reading).rejects.toThrow(
      new RegExp(
        `timed out after \\d+ms. waits for EXCLUSIVE on default.t held by lockid:\\d+.1 of txnid:${txnId} \\(bob@web, query 7, since \\d{4}-`,
      ),
    );
  });

  it('hive.txn.manager.dump.lock.state.on.acquire.timeout: the error of a wait lists all locks', async () => {
    await hold(LockType.LOCK_TYPE_EXCLUSIVE);
    const other = await hold(LockType.LOCK_TYPE_SHARED_READ, 'plain');
    await expect(rows(session, 'select * from t')).rejects.not.toThrow(/all locks/);
    await run(session, 'set hive.txn.manager.dump.lock.state.on.acquire.timeout=true');
    await expect(rows(session, 'select * from t')).rejects.toThrow(
      new RegExp(`; all locks: .*SHARED_READ ACQUIRED on default\\.plain of txnid:${other} \\(bob@web\\)`),
    );
  });

  it.each(['hive.txn.xlock.iow', 'hive.txn.xlock.write'])('%s=false: it does not wait', async (name) => {
    await hold(LockType.LOCK_TYPE_EXCLUSIVE);
    await run(session, `set ${name}=false`);
    const reading = rows(session, 'select * from t');
    await expect(reading).rejects.toMatchObject({ hiveCode: 10104 });
    await expect(reading).rejects.toThrow(/Unable to acquire read lock due to an existing exclusive lock .*bob@web/);
    // Nothing of it is left.
    expect((await home.services.locks.showLocks({})).locks).toHaveLength(1);
  });

  it('a CREATE TABLE AS SELECT does not wait for another of the same name (B79), but for what it reads', async () => {
    await hold(LockType.LOCK_TYPE_EXCL_WRITE, 'z');
    await expect(run(session, `create table z ${acid} as select * from t`)).rejects.toThrow(
      /Failed to initiate a concurrent CTAS operation with the same table name/,
    );
    await run(session, 'set hive.txn.xlock.ctas=false');
    await expect(run(session, `create table z ${acid} as select * from t`)).rejects.toMatchObject({ hiveCode: 10307 });
    await run(session, 'set hive.txn.xlock.ctas=true');
    await hold(LockType.LOCK_TYPE_EXCLUSIVE);
    await expect(run(session, `create table y ${acid} as select * from t`)).rejects.toMatchObject({ hiveCode: 10307 });
    expect(await rows(session, 'show tables')).toEqual(['plain', 't']);
  });

  it.each([
    ['insert into plain values (1)', 'hive.txn.strict.locking.mode', 'plain', LockType.LOCK_TYPE_SHARED_READ],
    ['select * from t', 'hive.txn.read.locks', 't', LockType.LOCK_TYPE_EXCLUSIVE],
    ['select * from plain', 'hive.txn.nonacid.read.locks', 'plain', LockType.LOCK_TYPE_EXCLUSIVE],
  ])('%s waits unless %s=false', async (statement, name, table, held) => {
    await hold(held, table);
    await expect(run(session, statement)).rejects.toMatchObject({ hiveCode: 10307 });
    await run(session, `set ${name}=false`, statement);
  });

  it.each([
    ['select * from t', 'hive.acid.lockless.reads.enabled', LockType.LOCK_TYPE_EXCLUSIVE],
    ['truncate table t', 'hive.acid.truncate.usebase', LockType.LOCK_TYPE_SHARED_READ],
  ])('%s depends on %s', async (statement, name, held) => {
    await hold(held);
    const stays = run(session, `set ${name}=false`, statement);
    await expect(stays).rejects.toMatchObject({ hiveCode: 10307 });
    await run(session, `set ${name}=true`, statement);
  });

  it('hive.query.exclusive.lock: two statements with one name exclude each other', async () => {
    await run(session, 'set hive.query.exclusive.lock=nightly');
    const other = home.newSession();
    await run(other, 'set hive.query.exclusive.lock=nightly', 'start transaction', 'select * from t');
    await expect(run(session, 'select * from t')).rejects.toMatchObject({ hiveCode: 10307 });
    await run(other, 'commit');
    await run(session, 'select * from t');
  });

  it('a rename takes locks and waiting requests along; SHOW LOCKS has the new name', async () => {
    const other = home.newSession();
    await run(other, 'set hive.txn.read.locks=true', 'start transaction', 'select * from plain');
    await run(session, 'alter table t rename to u');
    expect(await rows(session, 'select * from u')).toEqual(['1']);
    await run(other, 'commit');
    expect((await home.services.locks.showLocks({})).locks).toEqual([]);
  });
});
