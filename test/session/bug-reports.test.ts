import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const manyRows = (count: number) => `(select 1) q lateral view posexplode(split(space(${count - 1}), ' ')) e as pos, x`;

/** Situations that hurt users of other systems (shared/reference/bug-reports.md), through statements. Other ids: beside the code. */
describe('bug reports', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
  });
  afterEach(async () => {
    await home.close();
  });
  const table = async (columns = 'a int, b int') => await run(session, `create table t (${columns}) ${acid}`);
  const all = async (of: Session = session) => await rows(of, 'select * from t order by a, b');
  const folders = (path = 't') => readdirSync(join(home.warehouse, path)).sort();
  const compact = async (kind: string) => {
    await run(session, `alter table t compact '${kind}'`);
    expect(await home.compactor.runWorkerOnce()).toBe(true);
  };

  describe('reading', () => {
    it('B01 a second UPDATE reads what the first one wrote', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)', 'insert into t values (2, 2)');
      const ids =
        'select row__id.writeid, row__id.rowid, count(*) from t group by row__id.writeid, row__id.rowid order by 2';
      for (const [value, writeId] of [
        [8, 3],
        [9, 4],
      ]) {
        await run(session, `update t set b = ${value}`);
        expect(await rows(session, ids)).toEqual([`${writeId}\t0\t1`, `${writeId}\t1\t1`]);
      }
      expect(await all()).toEqual(['1\t9', '2\t9']);
    });

    it('B02 delete events are found whatever their file is called', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)', 'insert into t values (2, 2)', 'delete from t where a = 1');
      expect(folders()).toContain('delete_delta_0000003_0000003_0000');
      expect(await all()).toEqual(['2\t2']);
    });

    it('B04 one of many rows is deleted', async () => {
      await table();
      await run(session, `insert into t select pos, 0 from ${manyRows(5000)}`, 'delete from t where a = 4321');
      expect(await rows(session, 'select count(*), count(distinct row__id), count(distinct a) from t')).toEqual([
        '4999\t4999\t4999',
      ]);
    });

    it('B05 DELETE stays in its partition', async () => {
      await run(session, `create table t (a int) partitioned by (b int) ${acid}`);
      await run(session, 'insert into t values (3, 1), (13, 2), (23, 3)');
      const { counts } = await session.execute('delete from t where b = 2 and a % 10 = 3');
      expect(counts?.deleted).toBe(1n);
      expect(await all()).toEqual(['3\t1', '23\t3']);
      await run(session, 'update t set a = a + 1 where b = 3');
      expect(await all()).toEqual(['3\t1', '24\t3']);
    });

    it('B07 a base can be changed', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)', 'insert into t values (2, 2)');
      await compact('major');
      await home.compactor.runCleanerOnce();
      expect(folders()).toEqual([expect.stringMatching(/^base_0000002_v\d{7}$/)]);
      await run(session, 'update t set b = 0', 'delete from t where a = 2');
      expect(await all()).toEqual(['1\t0']);
    });

    it('B08 a stray copy of a delta inside the delta is no data', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)');
      const delta = join(home.warehouse, 't/delta_0000001_0000001_0000');
      const stray = join(delta, 'delta_0000001_0000001_0000');
      mkdirSync(stray);
      for (const name of readdirSync(delta).filter((file) => file.startsWith('bucket_')))
        cpSync(join(delta, name), join(stray, name));
      expect(await all()).toEqual(['1\t1']);
    });

    it('B16 INSERT OVERWRITE of an insert-only table replaces its rows', async () => {
      await run(
        session,
        "create table t (a int, b int) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only')",
        'insert into t values (1, 1), (2, 2)',
        'insert overwrite table t select 3, 3',
      );
      expect(await all()).toEqual(['3\t3']);
    });

    it('B17 columns may have the names of the ACID fields', async () => {
      const columns = 'rowid int, bucket int, operation string, originaltransaction bigint, `row` string';
      await run(session, `create table t (${columns}) ${acid}`, "insert into t values (7, 8, 'x', 9, 'y')");
      expect(
        await rows(session, 'select rowid, bucket, operation, originaltransaction, `row` from t where rowid = 7'),
      ).toEqual(['7\t8\tx\t9\ty']);
      await run(session, "update t set bucket = 5 where operation = 'x' and `row` = 'y'");
      expect(await rows(session, 'select rowid, bucket from t where bucket = 5')).toEqual(['7\t5']);
    });

    it('B20 a table of original files is emptied by DELETE', async () => {
      await run(session, "create table t (a int, b int) stored as orc tblproperties ('transactional'='false')");
      await run(
        session,
        `insert into t select pos, 1 from ${manyRows(3000)}`,
        `insert into t select pos, 2 from ${manyRows(2000)}`,
      );
      await run(session, "alter table t set tblproperties ('transactional'='true')");
      expect(await rows(session, 'select count(distinct row__id) from t')).toEqual(['5000']);
      const { counts } = await session.execute('delete from t where a >= 0');
      expect(counts?.deleted).toBe(5000n);
      expect(await all()).toEqual([]);
    });

    it('B26 rows that were inserted again can be deleted again', async () => {
      await table();
      const insert = `insert into t select pos, 0 from ${manyRows(20_000)}`;
      for (let round = 0; round < 2; round++) {
        await run(session, insert);
        const { counts } = await session.execute('delete from t where a >= 0');
        expect(counts?.deleted).toBe(20_000n);
        expect(await rows(session, 'select count(*) from t')).toEqual(['0']);
      }
    });
  });

  describe('transactions and locks', () => {
    it('B32 two MERGEs that insert the same new key: two rows by snapshot isolation, one with hive.txn.xlock.mergeinsert', async () => {
      for (const exclusive of [false, true]) {
        await table();
        const statement =
          'merge into t using (select 1 k) s on t.a = s.k when not matched then insert values (s.k, 0) when matched then update set b = t.b + 1';
        const sessions = [home.newSession(), home.newSession()];
        for (const one of sessions) await run(one, `set hive.txn.xlock.mergeinsert=${exclusive}`);
        const outcomes = await Promise.allSettled(sessions.map((one) => rows(one, statement)));
        const won = outcomes.filter(({ status }) => status === 'fulfilled').length;
        const found = await all();
        if (exclusive) expect(found).toHaveLength(1);
        else expect(found.length).toBeLessThanOrEqual(won);
        await run(session, 'drop table t');
      }
    });

    it('B34 a statement that waited for its locks sees what was committed meanwhile, all of it', async () => {
      await run(session, `create table t (a int) partitioned by (b int) ${acid}`, `create table s (k int) ${acid}`);
      await run(session, 'insert into s values (1), (2)', 'insert into t values (0, 1), (0, 2)');
      const [first, second] = [home.newSession(), home.newSession()];
      const overwriting = rows(first, 'insert overwrite table t select 10, k from s');
      const merging = rows(second, 'merge into t using s on t.b = s.k when matched then update set a = t.a + 1');
      await Promise.all([overwriting, merging]);
      expect([
        ['10\t1', '10\t2'],
        ['11\t1', '11\t2'],
      ]).toContainEqual(await all());
    });

    it('B41 a failed INSERT OVERWRITE leaves the table', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)');
      await expect(
        rows(session, `insert overwrite table t select pos, assert_true(pos < 4000) from ${manyRows(5000)}`),
      ).rejects.toThrow();
      expect(await all()).toEqual(['1\t1']);
      await run(session, 'insert overwrite table t select 2, 2');
      expect(await all()).toEqual(['2\t2']);
    });

    it('B31 MERGE and UPDATE of the same row: the second to commit is told, each row has one version', async () => {
      await run(session, `create table t (a int) partitioned by (b int) ${acid}`, 'insert into t values (1, 1)');
      const [first, second] = [home.newSession(), home.newSession()];
      for (const one of [first, second]) await run(one, 'set hive.txn.xlock.write=false');
      const outcomes = await Promise.allSettled([
        rows(
          first,
          'merge into t using (select 1 k union all select 2) s on t.a = s.k when matched then update set a = 1 when not matched then insert values (s.k, 1)',
        ),
        rows(second, 'update t set a = 1 where b = 1'),
      ]);
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(lost).toHaveLength(1);
      expect(lost[0].reason).toMatchObject({ kind: 'conflict' });
      expect((await all()).filter((row) => row === '1\t1')).toHaveLength(1);
    });

    it('B43 a transaction that was aborted while its statement ran fails at its commit and leaves nothing', async () => {
      await table();
      const abortOpen = async () => {
        for (let i = 0; i < 200; i++) {
          const open = (await rows(session, 'show transactions')).find((row) => row.split('\t')[1] === 'OPEN');
          if (open !== undefined) return await run(session, `abort transactions ${open.split('\t')[0]}`);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      for (const statement of ['insert into t', `create table z ${acid} as`]) {
        const writing = rows(home.newSession(), `${statement} select pos a, 1 b from ${manyRows(300_000)}`);
        const failing = expect(writing).rejects.toMatchObject({ code: 'TXN_ABORTED' });
        await abortOpen();
        await failing;
      }
      expect(await all()).toEqual([]);
      expect(await rows(session, 'show tables')).toEqual(['t']);
      await run(session, `create table z ${acid} as select 1 a`);
      expect(await rows(session, 'select * from z')).toEqual(['1']);
    });

    it('B77 a long INSERT OVERWRITE lets other tables be made', async () => {
      await table();
      const long = session.execute(`insert overwrite table t select pos, 1 from ${manyRows(300_000)}`);
      let done = false;
      void long.then(() => {
        done = true;
      });
      await run(home.newSession(), `create table z (a int) ${acid}`, 'drop table z');
      expect(done).toBe(false);
      await long;
    });

    it('B80 TRUNCATE leaves the rows of a reader that has begun', async () => {
      await table();
      await run(session, `insert into t select pos, 1 from ${manyRows(50_000)}`);
      const reader = await home.newSession().execute('select a from t');
      const batches = reader.batches?.[Symbol.asyncIterator]();
      const first = await batches?.next();
      await run(session, 'set hive.txn.read.locks=false');
      const truncating = run(home.newSession(), 'truncate table t');
      let read = first?.done === false ? first.value.length : 0;
      for (let next = await batches?.next(); next?.done === false; next = await batches?.next())
        read += next.value.length;
      await truncating;
      expect(read).toBe(50_000);
      expect(await rows(session, 'select count(*) from t')).toEqual(['0']);
      expect(folders()).toContain('base_0000002');
    });

    it('B145 parallel inserts into one new partition keep the rows of both', async () => {
      await run(session, `create table t (a int) partitioned by (b int) ${acid}`);
      await Promise.all([1, 2, 3].map((a) => run(home.newSession(), `insert into t values (${a}, 7)`)));
      expect(await all()).toEqual(['1\t7', '2\t7', '3\t7']);
      expect(await rows(session, 'show partitions t')).toEqual(['b=7']);
    });

    it('B58 a table that is renamed while its compaction is queued keeps its rows, write ids and request', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)', 'insert into t values (2, 2)', "alter table t compact 'major'");
      await run(session, 'alter table t rename to u', 'insert into u values (3, 3)');
      expect(await rows(session, 'select a, row__id.writeid from u order by a')).toEqual(['1\t1', '2\t2', '3\t4']);
      expect(await home.compactor.runWorkerOnce()).toBe(true);
      await home.compactor.runCleanerOnce();
      expect(await rows(session, 'select a from u order by a')).toEqual(['1', '2', '3']);
      expect(folders('u')).toEqual([expect.stringMatching(/^base_/)]);
      expect(folders('.').filter((name) => name === 't')).toEqual([]);
    });

    it('B71 a dropped table leaves no folder, and its name starts anew', async () => {
      await run(session, 'create database d', 'use d');
      await table();
      await run(session, 'insert into t values (1, 1)', 'drop table t');
      expect(readdirSync(join(home.warehouse, 'd.db'))).toEqual([]);
      await table();
      expect(await all()).toEqual([]);
      await run(session, 'insert into t values (2, 2)');
      expect(await rows(session, 'select row__id.writeid from t')).toEqual(['1']);
      await run(session, 'use default', 'drop database d cascade');
      expect(existsSync(join(home.warehouse, 'd.db'))).toBe(false);
    });
  });

  describe('DML', () => {
    const merge = 'merge into t using s on t.a = s.a';

    it('B82 NULL keys do not match with =', async () => {
      await table();
      await run(session, 'insert into t values (null, 1), (2, 2)', `create table s (a int, b int) ${acid}`);
      await run(session, 'insert into s values (null, 10), (2, 20), (3, 30)');
      const statement = `${merge} when matched then update set b = s.b when not matched then insert values (s.a, s.b)`;
      await run(session, statement);
      expect(await all()).toEqual(['2\t20', '3\t30', 'NULL\t1', 'NULL\t10']);
      await run(session, statement);
      expect(await all()).toEqual(['2\t20', '3\t30', 'NULL\t1', 'NULL\t10', 'NULL\t10']);
    });

    it('B85 equal ROW__IDs in two partitions are two rows', async () => {
      await run(session, `create table t (a int, b int) partitioned by (p int) ${acid}`);
      await run(session, 'insert into t values (1, 1, 1), (1, 2, 2)', `create table s (a int, p int, b int) ${acid}`);
      await run(session, 'insert into s values (1, 1, 7), (1, 2, 8)');
      await run(session, `${merge} and t.p = s.p when matched then update set b = s.b`);
      expect(await all()).toEqual(['1\t7\t1', '1\t8\t2']);
    });

    it('MERGE does not mistake its source for its target', async () => {
      await table();
      await run(
        session,
        'insert into t values (2, 0), (1, 0)',
        'create database d',
        `create table d.t (a int) ${acid}`,
      );
      await run(session, 'insert into d.t values (1), (2)');
      await expect(
        rows(session, 'merge into t using d.t on default.t.a = d.t.a when matched then update set b = 1'),
      ).rejects.toMatchObject({ hiveCode: 10008 });
      await expect(
        rows(session, 'merge into t x using (select 1 k) X on x.a = X.k when matched then delete'),
      ).rejects.toMatchObject({ hiveCode: 10008 });
      await run(session, 'merge into t using d.t s on t.a = s.a when matched and t.a = 1 then update set b = 1');
      await run(session, 'merge into d.t using t s on t.a = s.a and s.b = 1 when matched then delete');
      expect(await all()).toEqual(['1\t1', '2\t0']);
      expect(await rows(session, 'select * from d.t')).toEqual(['2']);
    });

    it('B86 the first clause that holds takes the row', async () => {
      await table();
      await run(session, 'insert into t values (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)');
      await run(
        session,
        'merge into t using t s on t.a = s.a when matched and t.a > 3 then update set b = 9 when matched and t.a = 5 then delete',
      );
      expect(await all()).toEqual(['1\t0', '2\t0', '3\t0', '4\t9', '5\t9', '6\t9']);
    });

    it('B88 partition columns are not assigned', async () => {
      await run(session, `create table t (a int) partitioned by (b int) ${acid}`, 'insert into t values (1, 1)');
      for (const statement of [
        'update t set b = 2 where b = 1',
        'merge into t using (select 1 a) s on t.a = s.a when matched then update set b = 2',
      ])
        await expect(rows(session, statement)).rejects.toMatchObject({ hiveCode: 10292 });
      expect(await all()).toEqual(['1\t1']);
    });

    it('B89 UPDATE changes the named column of the named row only', async () => {
      await run(
        session,
        `create table t (a int, b string, c double, d array<int>, e decimal(5,2), f timestamp) ${acid}`,
      );
      await run(
        session,
        "insert into t select 1, 'a', 1.5, array(1), 1.1, '2020-01-01 00:00:00' union all select 2, 'b', 2.5, array(2), 2.2, '2021-01-01 00:00:00' union all select 3, null, null, null, null, null",
      );
      const { counts } = await session.execute('update t set d = d where a = 2');
      expect(counts?.updated).toBe(1n);
      await run(session, 'update t set c = null where a = 2');
      expect(await rows(session, 'select *, row__id.writeid from t order by a')).toEqual([
        '1\ta\t1.5\t[1]\t1.10\t2020-01-01 00:00:00\t1',
        '2\tb\tNULL\t[2]\t2.20\t2021-01-01 00:00:00\t3',
        '3\tNULL\tNULL\tNULL\tNULL\tNULL\t1',
      ]);
    });

    it('B91 NOT IN a list with NULL is never true', async () => {
      await table();
      await run(session, 'insert into t values (1, 1), (2, 2)', `create table s (x int) ${acid}`);
      await run(session, 'insert into s values (1), (null)', 'delete from t where a not in (select x from s)');
      expect(await all()).toEqual(['1\t1', '2\t2']);
      expect(await rows(session, 'select * from t where a not in (select x from s)')).toEqual([]);
    });

    it('B92 DEFAULT in MERGE', async () => {
      await table('a int, b int default 5, c int');
      await run(
        session,
        'insert into t values (1, 1, 1)',
        `create table s (a int) ${acid}`,
        'insert into s values (1), (2)',
      );
      await run(
        session,
        `${merge} when matched then update set b = default, c = default when not matched then insert values (s.a, default, default)`,
      );
      expect(await all()).toEqual(['1\t5\tNULL', '2\t5\tNULL']);
    });

    it('B94 values with commas and a reserved word as a column', async () => {
      await table('a int, `order` string');
      await run(session, `create table s (a int, b string) ${acid}`, "insert into s values (1, 'q')");
      await run(session, `${merge} when not matched then insert (a, \`order\`) values (s.a, concat(s.b, ',x'))`);
      expect(await rows(session, 'select * from t')).toEqual(['1\tq,x']);
    });

    it('B95 a column list in MERGE INSERT', async () => {
      await table();
      await run(session, `create table s (a int, b int) ${acid}`, 'insert into s values (1, 2)');
      await run(session, `${merge} when not matched then insert (b, a) values (s.b, s.a)`);
      expect(await all()).toEqual(['1\t2']);
      await run(session, 'insert into s values (3, 4)', `${merge} when not matched then insert (a) values (s.a)`);
      expect(await all()).toEqual(['1\t2', '3\tNULL']);
    });
  });

  describe('definitions and values', () => {
    it('B97 LOAD DATA', async () => {
      await run(session, "create table plain (a int, b int) stored as orc tblproperties ('transactional'='false')");
      await run(session, 'insert into plain values (1, 1), (2, 2), (3, 3)');
      const path = join(home.warehouse, 'plain');
      for (const properties of [
        "'transactional'='true'",
        "'transactional'='true', 'transactional_properties'='insert_only'",
      ]) {
        const copy = join(home.path, 'copy');
        cpSync(path, copy, { recursive: true });
        await run(session, `create table t (a int, b int) stored as orc tblproperties (${properties})`);
        await run(session, `load data local inpath '${copy}' into table t`);
        expect(await all()).toEqual(['1\t1', '2\t2', '3\t3']);
        expect(folders()).toEqual(['delta_0000001_0000001_0000']);
        if (!properties.includes('insert_only')) {
          expect(await rows(session, 'select row__id.bucketid, row__id.rowid from t order by a')).toEqual([
            '536870912\t0',
            '536870912\t1',
            '536870912\t2',
          ]);
          await run(session, 'delete from t where a = 2');
          expect(await all()).toEqual(['1\t1', '3\t3']);
        }
        await run(session, 'drop table t');
      }
    });

    it('B98 a table without bucketing_version has its rows where the old hash says', async () => {
      await run(
        session,
        "create table t (a int, b int) clustered by (a) into 4 buckets stored as orc tblproperties ('transactional'='true')",
      );
      const { table: made } = await home.services.catalog.getTable({ database: 'default', name: 't' });
      if (made === undefined) throw new RangeError('t was not made');
      const { bucketing_version: _, ...parameters } = made.parameters;
      await home.services.catalog.alterTable({ database: 'default', name: 't', table: { ...made, parameters } });
      await run(session, `insert into t select pos, 1 from ${manyRows(100)}`);
      expect(await rows(session, 'select * from t where a = 5')).toEqual(['5\t1']);
      // The old hash of an int is the int itself.
      expect(
        await rows(session, 'select count(*) from t where (row__id.bucketid - 536870912) div 65536 % 4096 <> a % 4'),
      ).toEqual(['0']);
    });

    it('B100 special characters in partition values', async () => {
      const values = ['2020-01-01 10:20:30', 'a/b', 'a=b', '50%', "it's", 'q?', 'a+b', 'ü'];
      await run(session, `create table t (a int) partitioned by (b string) ${acid}`);
      const literals = values.map((value, i) => `(${i}, '${value.replaceAll("'", "\\'")}')`);
      await run(session, `insert into t values ${literals.join(', ')}`);
      expect((await rows(session, 'select distinct b from t')).sort()).toEqual([...values].sort());
      expect(folders()).toEqual(
        ['b=2020-01-01 10%3A20%3A30', 'b=50%25', 'b=a%2Fb', 'b=a%3Db', 'b=a+b', 'b=it%27s', 'b=q%3F', 'b=ü'].sort(),
      );
      for (const value of values) {
        const literal = `'${value.replaceAll("'", "\\'")}'`;
        await run(session, `update t set a = a + 100 where b = ${literal}`);
        expect(await rows(session, `select count(*) from t where b = ${literal} and a >= 100`)).toEqual(['1']);
        await run(session, `alter table t drop partition (b=${literal})`);
      }
      expect(await all()).toEqual([]);
      expect(folders()).toEqual([]);
    });

    it('B106 a renamed column keeps its values', async () => {
      await table();
      await run(session, 'insert into t values (41, 7)', 'alter table t change a x int');
      expect(await rows(session, 'select x from t where x = 41')).toEqual(['41']);
      await run(session, 'update t set x = 42');
      expect(await rows(session, 'select x, b from t')).toEqual(['42\t7']);
    });

    it('B107 an added column is NULL in old rows, also for filters and after compaction', async () => {
      await table();
      await run(
        session,
        'insert into t values (1, 1)',
        'alter table t add columns (c int)',
        'insert into t values (2, 2, 5)',
      );
      expect(await rows(session, 'select * from t where c is null')).toEqual(['1\t1\tNULL']);
      expect(await rows(session, 'select * from t where c = 5')).toEqual(['2\t2\t5']);
      await run(session, 'update t set c = 7 where c is null');
      expect(await all()).toEqual(['1\t1\t7', '2\t2\t5']);
      await compact('major');
      expect(await all()).toEqual(['1\t1\t7', '2\t2\t5']);
    });

    it('B109 narrowing and dropping are refused, widening works', async () => {
      await table();
      await run(session, 'insert into t values (1, 1)');
      for (const statement of ['alter table t change a a tinyint', 'alter table t drop column b'])
        await expect(rows(session, statement)).rejects.toThrow();
      await run(session, 'alter table t change a a bigint', 'insert into t values (9007199254740993, 2)');
      expect(await all()).toEqual(['1\t1', '9007199254740993\t2']);
    });

    it('B121 lengths are counted in characters', async () => {
      await run(session, `create table t (v varchar(5), c char(5), e varchar(2)) ${acid}`);
      await run(session, "insert into t values ('héllo wörld', '日本', '😀😀😀')");
      expect(await rows(session, 'select * from t')).toEqual(['héllo\t日本   \t😀😀']);
    });

    it('B127 tinyint keeps its sign', async () => {
      await run(session, `create table t (a tinyint, b int) ${acid}`);
      await run(session, 'insert into t values (-128, 0), (-1, 0), (0, 0), (127, 0), (null, 0)');
      await run(session, `insert into t select -5, 1 from ${manyRows(100)}`);
      expect(await rows(session, 'select a, count(*) from t group by a order by a')).toEqual([
        '-128\t1',
        '-5\t100',
        '-1\t1',
        '0\t1',
        '127\t1',
        'NULL\t1',
      ]);
    });

    it('B143 ACID is on without any setting, and the settings of old guides are taken', async () => {
      await run(
        session,
        'set hive.support.concurrency=true',
        'set hive.enforce.bucketing=true',
        'set hive.exec.dynamic.partition.mode=nonstrict',
        'set hive.txn.manager=org.apache.hadoop.hive.ql.lockmgr.DbTxnManager',
        'set hive.compactor.initiator.on=true',
        'set hive.compactor.worker.threads=1',
      );
      await table();
      await run(session, 'insert into t values (1, 1)', 'update t set b = 2');
      expect(await all()).toEqual(['1\t2']);
    });
  });
});
