import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TxnType } from '@skep/rpc';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

/** What people of Hive try beside the usual; the recorded cases user_*.sql hold what Hive answers. */
describe('statements beside the usual', () => {
  let home: Home;
  beforeAll(async () => {
    home = await freshHome();
  });
  afterAll(async () => {
    await home.close();
  });

  it('INSERT OVERWRITE DIRECTORY replaces what is in the folder', async () => {
    const session = home.newSession();
    const folder = join(mkdtempSync(join(tmpdir(), 'skep-test-')), 'out');
    await run(session, `create table src ${acid} as select 1 a, 'x' b union all select 2, null`);
    await run(session, `insert overwrite directory '${folder}' select * from src`);
    await run(
      session,
      `insert overwrite local directory '${folder}' row format delimited fields terminated by ',' null defined as '-' select * from src where a > 1`,
    );
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
    expect(names.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['2,-\n']);
    await session.close();
  });

  it('a multi-insert whose second leg fails leaves the first target as it was', async () => {
    const session = home.newSession();
    await run(session, 'create table one (a int) stored as textfile', `create table two (a int not null) ${acid}`);
    await run(session, 'create table from_here (a int) stored as textfile', 'insert into from_here values (1), (null)');
    await expect(run(session, 'from from_here insert into one select a insert into two select a')).rejects.toThrow(
      /NOT NULL/,
    );
    expect(await rows(session, 'select * from one')).toEqual([]);
    const left = readdirSync(join(home.warehouse.replace(/^file:/, ''), 'one'));
    expect(left).toEqual([]);
    await session.close();
  });

  it('temporary tables are of one session, hide others, and go with it', async () => {
    const [session, other] = [home.newSession(), home.newSession()];
    await run(session, `create table mine (a int) ${acid}`, 'insert into mine values (1)');
    await run(session, `create temporary table mine (a int, b int) ${acid}`, 'insert into mine values (7, 8)');
    await run(
      session,
      'update mine set b = 9 where a = 7',
      'create temporary table parts (a int) partitioned by (p int)',
    );
    await run(session, 'insert into parts partition (p) values (1, 2), (3, 4)');
    expect(await rows(session, 'select * from mine')).toEqual(['7\t9']);
    expect(await rows(session, 'show partitions parts')).toEqual(['p=2', 'p=4']);
    expect(await rows(other, 'select * from mine')).toEqual(['1']);
    await expect(rows(other, 'select * from parts')).rejects.toThrow(/not found/);
    await run(session, 'drop table mine');
    expect(await rows(session, 'select * from mine')).toEqual(['1']);
    await run(session, 'insert into mine values (2)');
    expect(await rows(other, 'select * from mine order by a')).toEqual(['1', '2']);
    const [described] = (await rows(session, 'describe formatted parts')).filter((row) => row.startsWith('Location:'));
    const folder = described
      .split('\t')[1]
      .trim()
      .replace(/^file:/, '');
    expect(existsSync(folder)).toBe(true);
    await session.close();
    expect(existsSync(folder)).toBe(false);
    await other.close();
  });

  it('a partitioned materialized view is computed again by REBUILD only', async () => {
    const session = home.newSession();
    await run(session, `create table base (k string, p int) ${acid}`, "insert into base values ('a', 1), ('b', 2)");
    await run(
      session,
      "create materialized view mv partitioned on (p) tblproperties ('transactional'='true') as select p, count(*) c from base group by p",
    );
    await run(session, "insert into base values ('c', 1)");
    expect(await rows(session, 'select c, p from mv order by p')).toEqual(['1\t1', '1\t2']);
    await run(session, 'alter materialized view mv rebuild');
    expect(await rows(session, 'select c, p from mv order by p')).toEqual(['2\t1', '1\t2']);
    await expect(run(session, 'insert into mv values (1, 1)')).rejects.toMatchObject({ hiveCode: 10090 });
    await expect(run(session, 'drop table mv')).rejects.toMatchObject({ hiveCode: 10174 });
    await run(session, 'drop materialized view mv');
    expect(await rows(session, 'show materialized views')).toEqual([]);
    await session.close();
  });

  it('one transaction at a time, of a type of its own, rebuilds a materialized view', async () => {
    const session = home.newSession();
    await run(session, `create table src1 (a int) ${acid}`, 'insert into src1 values (1)');
    await run(session, "create materialized view mv1 tblproperties ('transactional'='true') as select a from src1");
    const { txns, identity } = home.services;
    const { txnIds } = await txns.openTxns({ count: 1, ...identity, type: TxnType.TXN_TYPE_MATER_VIEW_REBUILD });
    const lock = { database: 'default', table: 'mv1', txnId: txnIds[0] };
    expect((await txns.lockMaterializationRebuild(lock)).acquired).toBe(true);
    await run(session, 'insert into src1 values (2)');
    await expect(run(session, 'alter materialized view mv1 rebuild')).rejects.toMatchObject({
      hiveCode: 40000,
      message: `Another process is rebuilding the materialized view default.mv1: txnid:${txnIds[0]}`,
    });
    expect(await rows(session, 'select * from mv1')).toEqual(['1']);
    // Its locks are told without the rebuild's.
    expect(await rows(session, 'explain locks alter materialized view mv1 rebuild')).not.toEqual([]);
    await txns.abortTxns({ txnIds, reasonCode: 50005 });
    await run(session, 'alter materialized view mv1 rebuild');
    expect(await rows(session, 'select * from mv1 order by a')).toEqual(['1', '2']);
    const db = new Database(join(home.path, 'metastore.db'), { readonly: true });
    const types = db
      .prepare('SELECT TXN_TYPE AS type FROM TXNS WHERE TXN_ID > ? AND TXN_TYPE <> 0')
      .all(Number(txnIds[0]));
    expect(types).toContainEqual({ type: 4 });
    expect(db.prepare('SELECT COUNT(*) AS n FROM MATERIALIZATION_REBUILD_LOCKS').get()).toEqual({ n: 0 });
    db.close();
    await session.close();
  });

  it('EXCHANGE PARTITION moves the files', async () => {
    const session = home.newSession();
    for (const name of ['x1', 'x2'])
      await run(session, `create table ${name} (a int) partitioned by (p int) stored as orc`);
    await run(session, 'insert into x1 partition (p) values (1, 1), (2, 2)');
    await run(session, 'alter table x2 exchange partition (p=1) with table x1');
    expect(await rows(session, 'select a from x2')).toEqual(['1']);
    expect(await rows(session, 'show partitions x1')).toEqual(['p=2']);
    await expect(run(session, 'alter table x2 exchange partition (p=1) with table x1')).rejects.toMatchObject({
      hiveCode: 10006,
    });
    await session.close();
  });

  it('CASCADE gives partitions the columns of the table', async () => {
    const session = home.newSession();
    await run(session, `create table casc (a int) partitioned by (p int) ${acid}`, 'insert into casc values (1, 1)');
    await run(session, 'alter table casc add columns (b int)');
    const names = async () =>
      (await rows(session, 'describe casc partition (p=1)')).slice(0, 3).map((row) => row.split('\t')[0].trim());
    expect(await names()).toEqual(['a', 'p', '']);
    await run(session, 'alter table casc add columns (c int) cascade');
    expect(await names()).toEqual(['a', 'b', 'c']);
    await session.close();
  });

  it('names with blanks and signs', async () => {
    const session = home.newSession();
    await run(session, `create table \`a/b c\` (id int) ${acid}`, 'insert into `a/b c` values (1)');
    await run(session, 'update `a/b c` set id = 2 where id = 1', 'alter table `a/b c` rename to `d-e`');
    expect(await rows(session, 'select * from `d-e`')).toEqual(['2']);
    expect(readdirSync(home.warehouse.replace(/^file:/, ''))).toContain('d-45-e');
    await run(session, 'drop table `d-e`');
    await session.close();
  });
});
