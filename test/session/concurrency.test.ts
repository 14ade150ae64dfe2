import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

describe('sessions side by side', () => {
  let home: Home;
  beforeEach(async () => {
    home = await freshHome();
  });
  afterEach(async () => {
    await home.close();
  });

  it('no update is lost: writers wait for each other and work on the last result', async () => {
    const setup = home.newSession();
    await run(setup, `create table t (id int, n int) ${acid}`, 'insert into t values (1, 0), (2, 0)');
    const sessions = Array.from({ length: 6 }, () => home.newSession());
    await Promise.all(sessions.map((session) => run(session, 'update t set n = n + 1 where id = 1')));
    expect(await rows(setup, 'select id, n from t order by id')).toEqual(['1\t6', '2\t0']);
    expect(await rows(setup, 'show locks')).toHaveLength(1);
  });

  it('with hive.txn.xlock.write=false the loser is aborted and told which transaction won (B29)', async () => {
    const setup = home.newSession();
    await run(setup, `create table t (id int, n int) ${acid}`, 'insert into t values (1, 10)');
    const [a, b] = [home.newSession(), home.newSession()];
    await run(a, 'set hive.txn.xlock.write=false');
    await run(b, 'set hive.txn.xlock.write=false');
    const outcomes = await Promise.allSettled([
      run(a, 'update t set n = n + 1 where id = 1'),
      run(b, 'update t set n = n + 1 where id = 1'),
    ]);
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(lost).toHaveLength(1);
    expect(String(lost[0].reason)).toMatch(/txnid:\d+.*committed/s);
    expect(lost[0].reason).toMatchObject({ kind: 'conflict' });
    expect(await rows(setup, 'select n from t')).toEqual(['11']);
  });

  it('a reader sees one row at all times while it is updated (B40)', async () => {
    const [writer, reader] = [home.newSession(), home.newSession()];
    await run(writer, `create table t (id int, n int) ${acid}`, 'insert into t values (1, 0)');
    let done = false;
    const writing = (async () => {
      for (let i = 0; i < 8; i++) await run(writer, `update t set n = ${i} where id = 1`);
      done = true;
    })();
    const counts = new Set<string>();
    while (!done) for (const count of await rows(reader, 'select count(*) from t')) counts.add(count);
    await writing;
    expect([...counts]).toEqual(['1']);
  });

  it('inserts do not wait for each other', async () => {
    const setup = home.newSession();
    await run(setup, `create table t (id int) ${acid}`);
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => await run(home.newSession(), `insert into t values (${i})`)),
    );
    expect(await rows(setup, 'select count(*), count(distinct id), count(distinct row__id) from t')).toEqual([
      '5\t5\t5',
    ]);
  });

  it('a statement that is given up leaves nothing behind', async () => {
    const session = home.newSession();
    await run(session, `create table t (id int) ${acid}`, 'insert into t values (1)');
    const controller = new AbortController();
    const holder = home.newSession();
    const select = await holder.execute('select * from t');
    const dropping = session.execute('drop table t', controller.signal);
    setTimeout(() => controller.abort(new Error('interrupted')), 150);
    await expect(dropping).rejects.toThrow('interrupted');
    for await (const _ of select.batches ?? []);
    expect(await rows(session, 'show locks')).toHaveLength(1);
    expect(await rows(session, 'select * from t')).toEqual(['1']);
  });
});
