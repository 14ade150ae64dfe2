import type { Session } from '@skep/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

/** hive.txn.manager=DummyTxnManager or hive.support.concurrency=false: no statement reads or writes an ACID table. */
describe.each([
  'set hive.txn.manager=org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager',
  'set hive.support.concurrency=false',
])('%s', (setting) => {
  let home: Home;
  let session: Session;
  beforeAll(async () => {
    home = await freshHome();
    session = home.newSession();
    await run(
      session,
      `create table t (a int) ${acid}`,
      `create table p (a int) partitioned by (k int) ${acid}`,
      "create table io (a int) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only')",
      'create table plain (a int) stored as orc',
      'create view v as select * from t',
      'insert into t values (1)',
      'insert into p values (1, 1)',
      'insert into io values (1)',
      'insert into plain values (1)',
      setting,
    );
  });
  afterAll(async () => {
    await home.close();
  });

  it.each([
    'select * from t',
    'select * from v',
    'select * from io',
    'select * from plain join t on plain.a = t.a',
    'select (select max(a) from t) from plain',
    'with c as (select * from t) select * from c',
    'insert into t values (2)',
    'insert into io values (2)',
    'insert into plain select * from t',
    'insert into p partition (k=1) values (2)',
    'insert into p partition (k) values (2, 3)',
    'insert overwrite table t values (2)',
    'insert overwrite table io values (2)',
    'from plain insert into t select a insert into plain select a',
    'create table c as select * from t',
    'explain analyze select * from t',
  ])('refuses: %s', async (statement) => {
    await expect(rows(session, statement)).rejects.toMatchObject({ hiveCode: 10265 });
  });

  it.each([
    'update t set a = 2',
    'delete from t where a = 1',
    'delete from t',
    'merge into t using plain s on t.a = s.a when matched then delete',
  ])('refuses with an error of Hive’s: %s', async (statement) => {
    const error = await rows(session, statement).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect([10265, 10294]).toContain((error as { hiveCode?: number } | undefined)?.hiveCode);
  });

  it('and nothing has changed; plain tables work', async () => {
    expect(await rows(session, 'select * from plain')).toEqual(['1']);
    await run(session, 'insert into plain values (2)');
    expect(await rows(session, 'select count(*) from plain')).toEqual(['2']);
    const other = home.newSession();
    expect(await rows(other, 'select * from t')).toEqual(['1']);
    expect(await rows(other, 'select * from p')).toEqual(['1\t1']);
    expect(await rows(other, 'select * from io')).toEqual(['1']);
  });
});
