import { override } from '@skep/core/testing';
import { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { StatementTransaction } from '../../packages/sql/src/session/transaction/statement-transaction.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

let home: Home;
let a: Session;
let b: Session;
beforeEach(async () => {
  home = await freshHome();
  a = home.newSession();
  b = home.newSession();
  await run(a, `create table t (id int, n int) ${acid}`, 'insert into t values (1, 0), (2, 0)');
  await run(a, `create table u (id int, n int) ${acid}`, 'insert into u values (1, 0)');
});
afterEach(async () => {
  await home.close();
});

const txnIdOf = (session: Session): bigint => session.openTransaction?.txnId ?? 0n;
const contents = async (session: Session): Promise<string[]> => await rows(session, 'select * from t order by id');
const lockCount = async (): Promise<number> => (await rows(b, 'show locks')).length - 1;

describe('isolation', () => {
  it('one snapshot, taken by the first statement', async () => {
    await run(a, 'start transaction');
    await run(b, 'insert into t values (3, 0)');
    expect(await rows(a, 'select count(*) from t')).toEqual(['3']);
    await run(b, 'insert into t values (4, 0)', 'update u set n = 5', 'delete from t where id = 1');
    expect(await rows(a, 'select count(*) from t')).toEqual(['3']);
    expect(await rows(a, 'select n from u')).toEqual(['0']);
    await run(a, 'insert into t values (5, 0)');
    expect(await rows(a, 'select id from t order by id')).toEqual(['1', '2', '3', '5']);
    await run(a, 'commit');
    expect(await rows(a, 'select id from t order by id')).toEqual(['2', '3', '4', '5']);
  });

  it('first committer wins: a change that the snapshot does not see is not overwritten, and its transaction is named', async () => {
    await run(a, 'start transaction', 'select * from t', 'insert into u values (2, 0)');
    await run(b, 'update t set n = 7 where id = 1');
    const mine = txnIdOf(a);
    const winner = (await home.services.txns.showTxns({})).highWatermark;
    await expect(run(a, 'update t set n = n + 1 where id = 1')).rejects.toMatchObject({
      hiveCode: 10263,
      kind: 'conflict',
      winnerTxnId: winner,
      message: expect.stringMatching(new RegExp(`txnid:${mine}.*write conflict on default/t.*txnid:${winner}`)),
    });
    await expect(run(a, 'select 1')).rejects.toMatchObject({
      hiveCode: 10263,
      message: expect.stringContaining(`txnid:${winner}`),
    });
    expect(await rows(b, 'select * from u')).toEqual(['1\t0']);
    await expect(run(a, 'commit')).rejects.toMatchObject({ hiveCode: 10263 });
    expect(a.openTransaction).toBeUndefined();
    await run(a, 'start transaction', 'update t set n = n + 1 where id = 1', 'commit');
    expect(await contents(b)).toEqual(['1\t8', '2\t0']);
    expect(await lockCount()).toBe(0);
  });

  it('DELETE and MERGE lose too; INSERTs never do', async () => {
    for (const losing of [
      'delete from t where id = 2',
      'merge into t using (select 2 id) s on t.id = s.id when matched then delete',
    ]) {
      await run(a, 'start transaction', 'select * from t');
      await run(b, 'update t set n = n + 1 where id = 2');
      await expect(run(a, losing)).rejects.toMatchObject({ code: 'TXN_CONFLICT' });
      await run(a, 'rollback');
    }
    await run(a, 'start transaction', 'select * from t');
    await run(b, 'update t set n = 0 where id = 2', 'insert into t values (3, 3)');
    await run(a, 'insert into t values (4, 4)', 'commit');
    expect(await contents(b)).toEqual(['1\t0', '2\t0', '3\t3', '4\t4']);
  });

  it('TRUNCATE, DELETE of all rows and overwrites of others win as well, of partitions too', async () => {
    await run(a, `create table p (id int) partitioned by (k int) ${acid}`, 'insert into p values (1, 1), (2, 2)');
    for (const [winning, losing] of [
      ['truncate table t', 'update t set n = 1'],
      ['delete from t', 'delete from t where id = 1'],
      ['insert overwrite table t values (1, 1)', 'update t set n = 1'],
      ['truncate table p', 'update p set id = 1 where k = 1'],
      ['truncate table p partition (k=1)', 'delete from p where k = 1'],
      ['insert overwrite table p partition (k=2) values (9)', 'update p set id = 1 where k = 2'],
    ]) {
      await run(a, 'start transaction', 'select * from u');
      await run(b, winning);
      await expect(run(a, losing), winning).rejects.toMatchObject({ code: 'TXN_CONFLICT' });
      await run(a, 'rollback', 'insert overwrite table t values (1, 0)', 'insert into p values (1, 1), (2, 2)');
    }
    await run(a, 'start transaction', 'select * from u');
    await run(b, 'truncate table p partition (k=1)');
    await run(a, 'delete from p where k = 2', 'commit');
    expect(await rows(b, 'select * from p')).toEqual([]);
  });

  it('with hive.txn.xlock.write=false the conflict is found at the commit', async () => {
    for (const session of [a, b]) await run(session, 'set hive.txn.xlock.write=false', 'start transaction');
    await run(a, 'update t set n = 1 where id = 1', 'update t set n = n + 1 where id = 1');
    await run(b, 'insert into u values (5, 5)', 'update t set n = 9 where id = 2');
    const winner = txnIdOf(a);
    await run(a, 'commit');
    await expect(run(b, 'commit')).rejects.toMatchObject({ code: 'TXN_CONFLICT', winnerTxnId: winner });
    expect(await contents(b)).toEqual(['1\t2', '2\t0']);
    expect(await rows(b, 'select * from u')).toEqual(['1\t0']);
  });

  it('a first statement that waits for its lock sees what it waited for', async () => {
    await run(a, 'start transaction', 'update t set n = n + 1 where id = 1');
    await run(b, 'start transaction');
    const waiting = run(b, 'update t set n = n + 1 where id = 1');
    await home.services.clock.sleep(150);
    await run(a, 'commit');
    await waiting;
    await run(b, 'commit');
    expect(await contents(a)).toEqual(['1\t2', '2\t0']);
  });
});

describe('locks', () => {
  it('two who want what the other has: the second is rolled back at once, the first goes on', async () => {
    await run(a, 'start transaction', 'update t set n = 1 where id = 1');
    await run(b, 'start transaction', 'update u set n = 1');
    const first = run(a, 'update u set n = 2');
    await home.services.clock.sleep(150);
    await expect(run(b, 'update t set n = 2 where id = 1')).rejects.toMatchObject({
      hiveCode: 10104,
      message: expect.stringMatching(new RegExp(`Deadlock.*txnid:${txnIdOf(a)}`)),
    });
    await first;
    await expect(run(b, 'select 1')).rejects.toMatchObject({ hiveCode: 10263 });
    await run(b, 'rollback');
    await run(a, 'commit');
    expect(await rows(b, 'select n from u')).toEqual(['2']);
    expect(await contents(b)).toEqual(['1\t1', '2\t0']);
  });

  it('a statement that waits for the transaction is no obstacle for it', async () => {
    const insertOnly = "tblproperties ('transactional'='true', 'transactional_properties'='insert_only')";
    await run(a, `create table m (id int, n int) stored as orc ${insertOnly}`);
    await run(a, 'start transaction', 'insert overwrite table m values (1, 1)');
    // Wants both tables, has neither: u must not be denied to the one it waits for.
    const queued = run(b, 'insert overwrite table u select * from m');
    await home.services.clock.sleep(150);
    await run(a, 'insert into u values (3, 3)', 'commit');
    await queued;
    expect(await rows(b, 'select * from u')).toEqual(['1\t1']);
  });
});

describe('a transaction that was aborted from outside', () => {
  it('by ABORT TRANSACTIONS', async () => {
    await run(a, 'start transaction', 'insert into t values (3, 3)');
    const shown = (await rows(b, 'show transactions')).map((row) => row.split('\t').slice(0, 2).join(' '));
    expect(shown).toContain(`${txnIdOf(a)} OPEN`);
    await run(b, `abort transactions ${txnIdOf(a)}`);
    for (const statement of ['select * from t', 'insert into t values (4, 4)', 'commit']) {
      await expect(run(a, statement)).rejects.toMatchObject({
        hiveCode: 10263,
        message: expect.stringContaining('abort by query command'),
      });
    }
    expect(await contents(a)).toEqual(['1\t0', '2\t0']);
    expect(await lockCount()).toBe(0);
  });

  it('right before its COMMIT', async () => {
    await run(a, 'start transaction', 'insert into t values (3, 3)');
    await run(b, `abort transactions ${txnIdOf(a)}`);
    await expect(run(a, 'commit')).rejects.toMatchObject({
      hiveCode: 10263,
      message: expect.stringContaining('abort by query command'),
    });
    await run(a, 'start transaction', 'insert into t values (4, 4)');
    await run(b, `abort transactions ${txnIdOf(a)}`);
    await run(a, 'rollback', 'insert into t values (5, 5)');
    expect(await contents(b)).toEqual(['1\t0', '2\t0', '5\t5']);
  });
});

it('heartbeats keep an idle transaction alive; without them it times out and says so', async () => {
  const timeouts = { hiveconf: { 'hive.txn.timeout': '2s' } };
  const short = await freshHome(timeouts);
  const [idle, other] = [short.newSession(), short.newSession()];
  // Beats go by the metastore's time-out, whatever a session takes it for.
  await run(idle, `create table t (id int) ${acid}`, 'set hive.txn.timeout=7200s');
  await run(idle, 'start transaction', 'insert into t values (1)');
  await short.services.clock.sleep(2600);
  await short.services.txns.runHousekeeping({ abortDeadHolders: false });
  expect(await rows(idle, 'select * from t')).toEqual(['1']);
  await run(idle, 'commit');
  // A process that was stopped for longer.
  const silent = override(short.services.txns, {
    heartbeatTxns: async () => ({ abortedTxnIds: [], noSuchTxnIds: [] }),
  });
  const stopped = new Session({ ...short.services, txns: silent }, short.conf.fork());
  await run(stopped, 'start transaction', 'insert into t values (2)');
  await short.services.clock.sleep(2600);
  await short.services.txns.runHousekeeping({ abortDeadHolders: false });
  await expect(run(stopped, 'commit')).rejects.toMatchObject({ hiveCode: 10263 });
  await run(stopped, 'start transaction', 'insert into t values (3)');
  await short.services.clock.sleep(2600);
  await short.services.txns.runHousekeeping({ abortDeadHolders: false });
  await expect(run(stopped, 'select * from t')).rejects.toMatchObject({
    hiveCode: 10263,
    message: expect.stringContaining('heartbeat time-out'),
  });
  await run(stopped, 'rollback');
  expect(await rows(other, 'select * from t')).toEqual(['1']);
  await short.close();
});

it('statements of one session that are started together run one after the other', async () => {
  await run(a, 'start transaction');
  await Promise.all([
    run(a, 'insert into t values (3, 0)'),
    run(a, 'update t set n = n + 1'),
    run(a, 'update t set n = n + 1'),
    run(a, 'commit'),
  ]);
  expect(await contents(b)).toEqual(['1\t2', '2\t2', '3\t2']);
});

it('there are 4096 statement ids', async () => {
  const transaction = await StatementTransaction.open(home.services, { timeoutMs: 300_000, isExplicit: true });
  for (let id = 0; id <= 4095; id++) expect(transaction.nextStatementId()).toBe(id);
  expect(() => transaction.nextStatementId()).toThrow(expect.objectContaining({ code: 'TOO_MANY_STATEMENTS' }));
  await transaction.abort();
});
