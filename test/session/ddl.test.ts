import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

/** What Hive 4.0.1 answered to the same statements, unless a comment says otherwise. */
describe('definitions', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
  });
  afterEach(async () => {
    await home.close();
  });
  const fails = async (statement: string, error: object) =>
    await expect(rows(session, statement)).rejects.toMatchObject(error);

  describe('CREATE TABLE AS SELECT', () => {
    it('refuses a column without a type', async () => {
      await fails(`create table c ${acid} as select null x, 1 y`, { hiveCode: 10305 });
      expect(await rows(session, 'show tables')).toEqual([]);
    });

    it('makes the partitions of a partitioned table', async () => {
      await run(
        session,
        `create table c partitioned by (w) ${acid} as select 1 y, 'x' w union all select 2, 'y' union all select 3, null`,
      );
      expect(await rows(session, 'show partitions c')).toEqual(['w=__HIVE_DEFAULT_PARTITION__', 'w=x', 'w=y']);
      expect(await rows(session, 'select y, w from c order by y')).toEqual([
        '1\tx',
        '2\ty',
        '3\t__HIVE_DEFAULT_PARTITION__',
      ]);
    });

    it('that fails leaves neither table nor files', async () => {
      await run(session, `create table s (a int, b string) ${acid}`, "insert into s values (1, 'x'), (2, 'y')");
      await fails(`create table c ${acid} as select a, assert_true(a < 2) from s`, {});
      expect(await rows(session, 'show tables')).toEqual(['s']);
      expect(existsSync(join(home.warehouse, 'c'))).toBe(false);
    });

    it('of one name at the same time: one makes the table, the other is told (B79)', async () => {
      const other = home.newSession();
      for (const exclusive of [true, false]) {
        await run(session, `set hive.txn.xlock.ctas=${exclusive}`);
        await run(other, `set hive.txn.xlock.ctas=${exclusive}`);
        const outcomes = await Promise.allSettled([
          rows(session, `create table z ${acid} as select 1 a`),
          rows(other, `create table z ${acid} as select 2 a`),
        ]);
        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const lost = outcomes.find((outcome) => outcome.status === 'rejected');
        // Hive's own words where the lock decides (DbTxnManager), else the catalog's.
        expect(String(lost?.reason)).toMatch(
          exclusive ? /concurrent CTAS operation with the same table name.*default\.z/ : /already exists/,
        );
        expect(await rows(session, 'select * from z')).toEqual([outcomes[0].status === 'fulfilled' ? '1' : '2']);
        await run(session, 'drop table z');
      }
    });
  });

  it('refuses types that a table cannot have', async () => {
    for (const type of [
      'varchar(70000)',
      'varchar(0)',
      'char(256)',
      'decimal(50,2)',
      'decimal(5,7)',
      'array<char(300)>',
    ])
      await expect(rows(session, `create table t (a ${type})`)).rejects.toThrow(/range|scale/);
    await run(session, `create table t (a int) ${acid}`);
    await expect(rows(session, 'alter table t add columns (b decimal(39))')).rejects.toThrow(/range/);
    expect(await rows(session, 'describe t')).toHaveLength(1);
  });

  it('keeps the default database', async () => {
    await expect(rows(session, 'drop database default cascade')).rejects.toThrow(/Can not drop default database/);
    expect(await rows(session, 'show databases')).toEqual(['default']);
  });

  it('a new name without a database is one of the current database', async () => {
    await run(session, 'create database d', `create table d.t (a int) ${acid}`, 'insert into d.t values (1)');
    await run(session, 'alter table d.t rename to u');
    expect(await rows(session, 'show tables')).toEqual(['u']);
    expect(await rows(session, 'show tables in d')).toEqual([]);
    await run(session, 'insert into u values (2)');
    expect(await rows(session, 'select a, row__id.writeid from u order by a')).toEqual(['1\t1', '2\t3']);
    expect(readdirSync(home.warehouse).sort()).toEqual(['d.db', 'u']);
    await fails('alter table u rename to nosuch.v', { hiveCode: 10072 });
    await run(session, 'create view v as select 1 c');
    await fails('alter table v rename to w', { hiveCode: 10131 });
  });

  describe('ALTER TABLE of an ACID table', () => {
    beforeEach(async () => {
      await run(session, `create table t (a int default 5, b string) ${acid}`, "insert into t (b) values ('x')");
    });

    it.each([
      ["set tblproperties ('EXTERNAL'='TRUE')", /cannot be converted to external table/],
      ["set serde 'org.apache.hadoop.hive.serde2.OpenCSVSerde'", /Changing SerDe/],
      ['set fileformat textfile', /must be stored using|Changing file format/],
      ["set tblproperties ('transactional_properties'='insert_only')", /cannot be altered/],
      ["unset tblproperties ('transactional')", /cannot be unset/],
      ["set tblproperties ('transactional'='false', 'transactional_properties'='default')", /cannot be unset/],
      ['replace columns (a int)', /cannot drop columns/],
    ])('%s is refused', async (change, message) => {
      await expect(rows(session, `alter table t ${change}`)).rejects.toThrow(message);
      await run(session, "update t set b = 'y'");
      expect(await rows(session, 'select * from t')).toEqual(['5\ty']);
    });

    it('unset of what is the default, set of the same SerDe', async () => {
      await run(session, "alter table t unset tblproperties ('transactional_properties')");
      await run(session, "alter table t set serde 'org.apache.hadoop.hive.ql.io.orc.OrcSerde'", "update t set b = 'y'");
      expect(await rows(session, 'select * from t')).toEqual(['5\ty']);
    });

    it('CHANGE takes a new DEFAULT; a renamed column keeps its constraints', async () => {
      await run(session, 'alter table t change a a int default 7', "insert into t (b) values ('y')");
      // Hive 4.0.1 forgets the DEFAULT of a renamed column.
      await run(session, 'alter table t change a c int', "insert into t (b) values ('z')");
      expect(await rows(session, 'select * from t order by b')).toEqual(['5\tx', '7\ty', '7\tz']);
      await run(
        session,
        `create table k (a int check (a > 0), b int check (a < b)) ${acid}`,
        'alter table k change a x int',
      );
      await run(session, 'insert into k values (1, 2)');
      await expect(rows(session, 'insert into k values (0, 2)')).rejects.toThrow(/CHECK constraint/);
      await expect(rows(session, 'insert into k values (3, 2)')).rejects.toThrow(/CHECK constraint/);
    });

    it('an insert-only ORC table becomes full ACID', async () => {
      await run(
        session,
        "create table i (a int) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only')",
        'insert into i values (1), (2)',
        "alter table i set tblproperties ('transactional_properties'='default')",
        'update i set a = 3 where a = 1',
      );
      expect(await rows(session, 'select * from i order by a')).toEqual(['2', '3']);
    });
  });

  it('MERGE into an insert-only table may insert', async () => {
    await run(
      session,
      "create table i (a int, b string) partitioned by (p int) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only')",
      "insert into i values (1, 'x', 1)",
    );
    const source = '(select 1 k union all select 2) s on t.a = s.k';
    await run(session, `merge into i t using ${source} when not matched then insert values (s.k, 'm', 2)`);
    expect(await rows(session, 'select * from i order by a')).toEqual(['1\tx\t1', '2\tm\t2']);
    for (const clause of ['when matched then delete', "when matched then update set b = 'q'"])
      await fails(`merge into i t using ${source} ${clause}`, { hiveCode: 10414 });
  });

  it('a session without ACID gets no ACID table', async () => {
    await run(
      session,
      `create table t (a int) ${acid}`,
      'create table plain (a int) stored as orc',
      'insert into t values (1)',
    );
    for (const setting of [
      'hive.txn.manager=org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager',
      'hive.support.concurrency=false',
    ]) {
      const other = home.newSession();
      await run(other, `set ${setting}`);
      for (const statement of ['select * from t', 'insert into t values (2)', 'insert into plain select * from t'])
        await expect(rows(other, statement)).rejects.toMatchObject({ hiveCode: 10265 });
      await expect(rows(other, 'update t set a = 2')).rejects.toMatchObject({
        hiveCode: setting.includes('Dummy') ? 10294 : 10265,
      });
      await run(other, 'insert into plain values (1)');
      expect(await rows(other, 'select count(*) > 0 from plain')).toEqual(['true']);
    }
    expect(await rows(session, 'select * from t')).toEqual(['1']);
  });

  it('SET shows the environment', async () => {
    const other = await freshHome({ env: { DAY: 'monday' } });
    expect(await rows(other.newSession(), 'set env:DAY')).toEqual(['env:DAY=monday']);
    expect(await rows(other.newSession(), 'set env:NOSUCH')).toEqual(['env:NOSUCH is undefined']);
    await expect(rows(other.newSession(), 'set env:DAY=x')).rejects.toThrow(/can not be set/);
    await other.close();
  });

  describe('partitions', () => {
    it('have their values in the form of their types (B104)', async () => {
      await run(
        session,
        `create table p (a int) partitioned by (i int, d date, c decimal(10,2), h char(4)) ${acid}`,
        "insert into p partition (i='07', d='2020-01-01', c='1.50', h='ab') values (1)",
        "insert into p partition (i=8, d='2020-1-1', c=1.5, h='ab ') values (2)",
        "insert into p values (3, 9, '2020-01-02', 2.5, 'cd'), (4, 9, '2020-01-02', 10, 'cd')",
      );
      expect(await rows(session, 'show partitions p')).toEqual([
        'i=7/d=2020-01-01/c=1.5/h=ab  ',
        'i=8/d=2020-01-01/c=1.5/h=ab  ',
        'i=9/d=2020-01-02/c=10/h=cd  ',
        'i=9/d=2020-01-02/c=2.5/h=cd  ',
      ]);
      expect(await rows(session, 'select * from p where c = 1.5 order by a')).toEqual([
        '1\t7\t2020-01-01\t1.50\tab  ',
        '2\t8\t2020-01-01\t1.50\tab  ',
      ]);
      for (const spec of ["i='abc', d='2020-01-01', c=1, h='x'", "i=1, d='2020-13-01', c=1, h='x'"])
        await fails(`insert into p partition (${spec}) values (4)`, { hiveCode: 10248 });
      await run(session, 'update p set a = a + 10', 'delete from p where i = 8');
      expect(await rows(session, 'select a from p order by a')).toEqual(['11', '13', '14']);
    });

    it('timestamps, doubles, booleans and varchar as Hive writes them', async () => {
      await run(
        session,
        `create table p (a int) partitioned by (ts timestamp, d double, bo boolean, v varchar(3)) ${acid}`,
        "insert into p partition (ts='2020-01-01', d='1.00', bo='TRUE', v='abcdef') values (5)",
        "insert into p values (1, '2020-01-01 00:00:00', 1, true, 'abcdef'), (2, '2020-01-01 10:20:30.5', 0.1, false, 'x')",
      );
      expect(await rows(session, 'show partitions p')).toEqual([
        'ts=2020-01-01 00%3A00%3A00/d=1.0/bo=true/v=abc',
        'ts=2020-01-01 10%3A20%3A30.5/d=0.1/bo=false/v=x',
      ]);
    });

    it('stored under another text are found, changed and added to (B104)', async () => {
      await run(
        session,
        `create table p (a int) partitioned by (hr int) ${acid}`,
        'insert into p values (1, 6), (2, 6)',
      );
      const { partitions } = await home.services.catalog.getPartitions({ database: 'default', table: 'p', names: [] });
      await home.services.catalog.alterPartitions({
        database: 'default',
        table: 'p',
        names: ['hr=6'],
        partitions: [{ ...partitions[0], values: ['06'] }],
      });
      expect(await rows(session, 'show partitions p')).toEqual(['hr=06']);
      expect(await rows(session, 'select * from p where hr = 6 order by a')).toEqual(['1\t6', '2\t6']);
      await run(session, 'delete from p where a = 1', 'update p set a = 3 where hr = 6');
      await run(session, 'insert into p partition (hr=6) values (4)', 'insert into p values (5, 6)');
      expect(await rows(session, 'select * from p order by a')).toEqual(['3\t6', '4\t6', '5\t6']);
      expect(await rows(session, 'show partitions p')).toEqual(['hr=06']);
      await run(session, "alter table p partition (hr=6) compact 'major'");
      expect(await home.compactor.runWorkerOnce()).toBe(true);
      expect(await rows(session, 'select * from p order by a')).toEqual(['3\t6', '4\t6', '5\t6']);
      await run(session, 'alter table p drop partition (hr=6)');
      expect(await rows(session, 'select * from p')).toEqual([]);
    });

    it("dropping '' keeps the rows of NULL (B103)", async () => {
      await run(session, `create table p (a int) partitioned by (p string) ${acid}`);
      await run(session, "insert into p values (1, 'x'), (2, null), (3, '')");
      await run(session, "alter table p drop partition (p='')", "alter table p drop partition (p='nosuch')");
      expect(await rows(session, 'select a from p order by a')).toEqual(['1', '2', '3']);
      await fails("alter table p add partition (p='')", {
        message: expect.stringContaining('does not exist or is empty'),
      });
      await fails("alter table p partition (p='x') rename to partition (p='')", {});
      await run(session, 'set hive.exec.drop.ignorenonexistent=false');
      await fails("alter table p drop partition (p='nosuch')", { hiveCode: 10006 });
      await run(session, "alter table p drop partition (p='__HIVE_DEFAULT_PARTITION__')");
      expect(await rows(session, 'select a from p order by a')).toEqual(['1']);
    });

    it('that a failed INSERT would have made leave no folder', async () => {
      await run(
        session,
        `create table p (a int) partitioned by (k int, l string) ${acid}`,
        "insert into p values (1, 1, 'x')",
      );
      const source = "(select 1) q lateral view posexplode(split(space(5000), ' ')) e as pos, x";
      await expect(
        rows(session, `insert into p select pos, pos % 7, assert_true(pos < 5000) from ${source}`),
      ).rejects.toThrow();
      expect(readdirSync(join(home.warehouse, 'p'))).toEqual(['k=1']);
      expect(readdirSync(join(home.warehouse, 'p/k=1'))).toEqual(['l=x']);
      expect(await rows(session, 'msck repair table p')).toEqual([]);
    });

    it('SHOW PARTITIONS with WHERE, ORDER BY and LIMIT', async () => {
      await run(session, `create table p (a int) partitioned by (p int, q date) ${acid}`);
      await run(session, "insert into p values (1, 7, '2020-01-01'), (2, 10, '2020-01-01'), (3, 9, null)");
      expect(await rows(session, 'show partitions p where p > 7')).toEqual([
        'p=10/q=2020-01-01',
        'p=9/q=__HIVE_DEFAULT_PARTITION__',
      ]);
      expect(await rows(session, "show partitions p where q = '2020-01-01' order by p desc")).toEqual([
        'p=10/q=2020-01-01',
        'p=7/q=2020-01-01',
      ]);
      expect(await rows(session, 'show partitions p order by p desc limit 1')).toEqual(['p=10/q=2020-01-01']);
      expect(await rows(session, 'show partitions p limit 2')).toHaveLength(2);
      expect(await rows(session, 'show partitions p partition (p=9) order by q')).toHaveLength(1);
      await fails('show partitions p where nosuch = 1', { hiveCode: 10004 });
    });
  });

  describe('INSERT with a column list', () => {
    beforeEach(async () => {
      await run(session, `create table p (a int, b int) partitioned by (p string) ${acid}`);
    });

    it('leaves dynamic partition columns that are not listed to the default partition', async () => {
      await run(
        session,
        'insert into p (a) values (1)',
        "insert into p (a, p) values (3, 'y')",
        "insert into p (p, b) values ('z', 4)",
        'insert into p partition (p) (b, a) values (5, 6)',
        "insert into p partition (p='s') (b) values (7)",
      );
      expect(await rows(session, 'select * from p order by a, b')).toEqual([
        '1\tNULL\t__HIVE_DEFAULT_PARTITION__',
        '3\tNULL\ty',
        '6\t5\t__HIVE_DEFAULT_PARTITION__',
        'NULL\t4\tz',
        'NULL\t7\ts',
      ]);
    });

    it('wants as many values as it lists, each column once', async () => {
      await fails("insert into p (a) select 2, 'x'", { hiveCode: 10044 });
      await fails("insert into p partition (p) (b, a) values (5, 6, 'w')", { hiveCode: 10044 });
      await expect(rows(session, 'insert into p (a, A) values (1, 2)')).rejects.toThrow(/Duplicate column name/);
      expect(await rows(session, 'select * from p')).toEqual([]);
    });
  });
});
