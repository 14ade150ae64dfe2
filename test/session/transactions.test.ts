import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const insertOnly = (format: string) =>
  `stored as ${format} tblproperties ('transactional'='true', 'transactional_properties'='insert_only')`;

let home: Home;
let session: Session;
let other: Session;
beforeEach(async () => {
  home = await freshHome();
  session = home.newSession();
  other = home.newSession();
});
afterEach(async () => {
  await home.close();
});

const folders = (...path: string[]): string[] => {
  const dir = join(home.warehouse, ...path);
  return existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => !/^[._]/.test(name))
        .sort()
    : [];
};
const lockCount = async (): Promise<number> => (await rows(other, 'show locks')).length - 1;

describe('a transaction of several statements', () => {
  it('inserts, updates and deletes rows of its own and of others; nobody else sees it before the commit', async () => {
    await run(session, `create table t (id int, v string) ${acid}`, "insert into t values (1, 'a'), (2, 'b')");
    await run(
      session,
      'start transaction',
      "insert into t values (3, 'c'), (4, 'd')",
      "update t set v = concat(v, '1') where id in (1, 3)",
      "update t set v = concat(v, '2') where id in (1, 3)",
      'delete from t where id = 4',
      "insert into t values (5, 'e')",
      "update t set v = 'x' where id = 5",
      'delete from t where id = 5',
    );
    expect(await rows(session, 'select * from t order by id')).toEqual(['1\ta12', '2\tb', '3\tc12']);
    expect(await rows(other, 'select * from t order by id')).toEqual(['1\ta', '2\tb']);
    await run(session, 'commit');
    expect(await rows(other, 'select * from t order by id')).toEqual(['1\ta12', '2\tb', '3\tc12']);
    expect(await rows(other, 'select count(distinct row__id) from t')).toEqual(['3']);
    expect(folders('t')).toEqual([
      'delete_delta_0000002_0000002_0001',
      'delete_delta_0000002_0000002_0003',
      'delete_delta_0000002_0000002_0005',
      'delete_delta_0000002_0000002_0007',
      'delete_delta_0000002_0000002_0009',
      'delta_0000001_0000001_0000',
      'delta_0000002_0000002_0000',
      'delta_0000002_0000002_0002',
      'delta_0000002_0000002_0004',
      'delta_0000002_0000002_0006',
      'delta_0000002_0000002_0008',
    ]);
    expect(await lockCount()).toBe(0);
  });

  it('ROLLBACK leaves nothing: no rows, files, partitions, locks (B38)', async () => {
    await run(
      session,
      `create table t (id int) ${acid}`,
      `create table p (id int) partitioned by (k string, l int) ${acid}`,
      'insert into t values (1)',
      "insert into p partition (k='old', l=1) values (1)",
      'begin',
      'insert into t values (2)',
      "insert into p select 2, 'new', 2",
      "insert into p partition (k='new', l=2) values (3)",
      "insert into p select 2, 'old', 2",
      'delete from t where id = 1',
    );
    expect(await rows(session, 'select count(*) from p')).toEqual(['4']);
    await run(session, 'rollback work');
    for (const each of [session, other]) {
      expect(await rows(each, 'select * from t')).toEqual(['1']);
      expect(await rows(each, 'select * from p')).toEqual(['1\told\t1']);
      expect(await rows(each, 'show partitions p')).toEqual(['k=old/l=1']);
    }
    expect(folders('t')).toEqual(['delta_0000001_0000001_0000']);
    expect(folders('p')).toEqual(['k=old']);
    expect(await lockCount()).toBe(0);
    // Nor is the Cleaner to look for what was written into the partition that is gone (sim: it would for ever).
    const aborted = { abortedThreshold: 0, abortedTimeThresholdMs: -1n, sinceMs: 0n };
    const { candidates } = await home.services.txns.findCompactionCandidates(aborted);
    expect(candidates.filter((c) => c.tooManyAborts).map((c) => c.resource?.table)).toEqual(['t']);
  });

  it('several tables, MERGE onto own rows, multi-insert, LOAD DATA, all at once', async () => {
    await run(
      session,
      `create table a (id int, v int) ${acid}`,
      `create table b (id int, v int) clustered by (id) into 2 buckets ${acid}`,
      `create table c (id int, v int) ${insertOnly('orc')}`,
      `create table src (id int, v int) stored as orc`,
      'insert into src values (1, 10), (2, 20), (3, 30)',
      'insert into a values (1, 1)',
      'start transaction read write, isolation level snapshot',
      'from src insert into a select id, v where id > 1 insert into b select id, v insert into c select id, v',
      'merge into a using (select 2 id, 200 v union all select 9, 900) s on a.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v)',
      'merge into b using (select 1 id) s on b.id = s.id when matched then delete',
      'insert into c select id, v from c where id = 3',
    );
    const expected = {
      a: ['1\t1', '2\t200', '3\t30', '9\t900'],
      b: ['2\t20', '3\t30'],
      c: ['1\t10', '2\t20', '3\t30', '3\t30'],
    };
    const read = async (by: Session) => ({
      a: await rows(by, 'select * from a order by id, v'),
      b: await rows(by, 'select * from b order by id, v'),
      c: await rows(by, 'select * from c order by id, v'),
    });
    expect(await read(session)).toEqual(expected);
    expect(await read(other)).toEqual({ a: ['1\t1'], b: [], c: [] });
    await run(session, 'commit work');
    expect(await read(other)).toEqual(expected);
  });
});

describe('a statement that fails inside', () => {
  beforeEach(async () => {
    await run(session, `create table t (id int, v string) ${acid}`, "insert into t values (1, 'a')");
    await run(session, 'create table s (id int, v string) stored as orc', "insert into s values (1, 'x'), (1, 'y')");
  });

  it('is undone as a whole, and the transaction goes on', async () => {
    await run(session, 'start transaction', "insert into t values (2, 'b')");
    const before = folders('t');
    for (const failing of [
      'insert into t values (1)',
      'select * from nowhere',
      'merge into t using s on t.id = s.id when matched then update set v = s.v when not matched then insert values (s.id, s.v)',
      "from s insert into t select id, v insert into t select id, v where raise_error('no') is null",
    ]) {
      await expect(run(session, failing), failing).rejects.toThrow();
      expect(folders('t'), failing).toEqual(before);
    }
    await run(session, "update t set v = 'B' where id = 2", 'commit');
    expect(await rows(other, 'select * from t order by id')).toEqual(['1\ta', '2\tB']);
  });

  it('is undone where it is given up', async () => {
    await run(session, 'start transaction', "insert into t values (2, 'b')");
    const controller = new AbortController();
    const holder = home.newSession();
    await run(holder, `create table w (id int) ${acid}`, 'start transaction', 'insert overwrite table w values (1)');
    const waiting = session.execute('update w set id = 2', controller.signal);
    setTimeout(() => controller.abort(new Error('interrupted')), 100);
    await expect(waiting).rejects.toThrow('interrupted');
    await run(holder, 'commit');
    await run(session, "insert into t values (3, 'c')", 'commit');
    expect(await rows(other, 'select id from t order by id')).toEqual(['1', '2', '3']);
    expect(await lockCount()).toBe(0);
  });

  it('is refused: DDL, a second start, plain tables, writes of READ ONLY; the transaction goes on', async () => {
    await run(session, 'start transaction', "insert into t values (2, 'b')");
    for (const ddl of [
      'create table z (a int)',
      `create table z ${acid} as select 1 a`,
      'drop table t',
      'truncate table t',
      "alter table t compact 'major'",
      'alter table t add columns (z int)',
      'create view w as select 1',
      'create database d',
      'msck repair table t',
      'analyze table t compute statistics',
      'start transaction',
    ]) {
      await expect(run(session, ddl), ddl).rejects.toMatchObject({
        hiveCode: 20007,
        message: expect.stringMatching(/is not allowed in a transaction \(txnid:\d+\)/),
      });
    }
    for (const plain of [
      "insert into s values (3, 'z')",
      'insert overwrite table s select * from t',
      'delete from s',
    ]) {
      await expect(run(session, plain), plain).rejects.toMatchObject({
        hiveCode: 20007,
        message: expect.stringContaining('default.s'),
      });
    }
    expect(await rows(session, 'select count(*) from s')).toEqual(['2']);
    await run(session, 'commit', 'start transaction read only');
    expect(await rows(session, 'select count(*) from t')).toEqual(['2']);
    for (const write of ["insert into t values (3, 'c')", 'delete from t']) {
      await expect(run(session, write), write).rejects.toMatchObject({ hiveCode: 20007, sqlState: '25006' });
    }
    await run(session, 'commit');
    for (const end of ['commit', 'rollback'])
      await expect(run(session, end)).rejects.toMatchObject({ hiveCode: 20008 });
  });
});

describe('SET AUTOCOMMIT', () => {
  it('FALSE: queries and writes begin a transaction, COMMIT ends it; definitions commit by themselves', async () => {
    await run(session, 'set autocommit false', `create table t (id int) ${acid}`);
    expect(session.openTransaction).toBeUndefined();
    await run(session, 'insert into t values (1)');
    expect(session.openTransaction).toBeDefined();
    await expect(run(session, 'drop table t')).rejects.toMatchObject({ hiveCode: 20007 });
    await run(session, 'rollback', 'insert into t values (2)', 'commit', 'insert into t values (3)');
    expect(await rows(other, 'select * from t')).toEqual(['2']);
    await run(session, 'set autocommit true');
    expect(session.openTransaction).toBeUndefined();
    expect(await rows(other, 'select * from t order by id')).toEqual(['2', '3']);
    await run(session, 'insert into t values (4)');
    expect(await rows(other, 'select count(*) from t')).toEqual(['3']);
  });
});

describe('overwriting inside', () => {
  it('a full ACID table, and changing it again: deletes and deltas, no base', async () => {
    await run(
      session,
      `create table t (id int, v string) partitioned by (p int) ${acid}`,
      "insert into t values (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
      'start transaction',
      "insert into t values (4, 'd', 1)",
      'insert overwrite table t partition (p) select id * 10, v, p from t where p < 3',
      "insert into t partition (p=1) values (5, 'e')",
      "update t set v = 'z' where id in (10, 5)",
      'insert overwrite table t partition (p=2) select id, v from t where id = 99',
      'delete from t where p = 3',
    );
    await run(other, "insert into t values (6, 'unseen', 3)");
    const expected = ['5\tz\t1', '10\tz\t1', '40\td\t1'];
    expect(await rows(session, 'select * from t order by id')).toEqual(expected);
    await run(session, 'commit');
    expect(await rows(other, 'select * from t order by id')).toEqual(['5\tz\t1', '6\tunseen\t3', ...expected.slice(1)]);
    expect(folders('t', 'p=1').filter((name) => name.startsWith('base'))).toEqual([]);
  });

  it('DELETE without WHERE is undone by ROLLBACK and seen by what follows', async () => {
    await run(session, `create table t (id int) ${acid}`, 'insert into t values (1), (2)', 'begin', 'delete from t');
    expect(await rows(session, 'select count(*) from t')).toEqual(['0']);
    await run(session, 'insert into t values (3)', 'rollback');
    expect(await rows(session, 'select * from t order by id')).toEqual(['1', '2']);
    await run(session, 'begin');
    const { counts } = await session.execute('delete from t');
    expect(counts?.deleted).toBe(2n);
    await run(session, 'commit');
    expect(await rows(other, 'select * from t')).toEqual([]);
  });

  describe.each(['orc', 'textfile', 'parquet'])('insert-only %s', (format) => {
    it('a base, to which later statements add', async () => {
      await run(
        session,
        `create table m (id int) ${insertOnly(format)}`,
        'insert into m values (1)',
        'start transaction',
        'insert into m values (2)',
        'insert overwrite table m values (3), (4)',
        'insert into m select id + 2 from m',
      );
      expect(await rows(session, 'select * from m order by id')).toEqual(['3', '4', '5', '6']);
      await expect(run(session, 'insert into m select id from m where raise_error(id) is null')).rejects.toThrow();
      await expect(
        run(session, 'insert overwrite table m select id from m where raise_error(id) is null'),
      ).rejects.toThrow();
      expect(await rows(session, 'select * from m order by id')).toEqual(['3', '4', '5', '6']);
      await run(session, 'insert overwrite table m select id * 10 from m', 'insert into m values (7)');
      expect(await rows(session, 'select * from m order by id')).toEqual(['7', '30', '40', '50', '60']);
      await run(session, 'commit');
      expect(await rows(other, 'select * from m order by id')).toEqual(['7', '30', '40', '50', '60']);
      await run(other, 'start transaction', 'delete from m', 'rollback');
      expect(await rows(session, 'select count(*) from m')).toEqual(['5']);
    });

    it('rows that the snapshot does not see are not hidden by the base', async () => {
      await run(session, `create table m (id int) ${insertOnly(format)}`, 'insert into m values (1)');
      await run(session, 'start transaction', 'select * from m');
      await run(other, 'insert into m values (2)');
      await expect(run(session, 'insert overwrite table m select id * 10 from m')).rejects.toMatchObject({
        code: 'TXN_CONFLICT',
        message: expect.stringMatching(/default\/m committed by \[txnid:\d+\]/),
      });
      await run(session, 'rollback');
      expect(await rows(session, 'select * from m order by id')).toEqual(['1', '2']);
    });
  });
});

describe('LOAD DATA inside', () => {
  it('keeps the files where they were until the commit', async () => {
    await run(
      session,
      'create table src (id int) stored as orc',
      'insert into src values (1), (2)',
      `create table t (id int) ${acid}`,
      'insert into t values (9)',
    );
    const source = join(home.warehouse, 'src');
    const load = `load data inpath '${source}'`;
    await run(session, 'begin', `${load} into table t`, 'delete from t where id = 1');
    expect(await rows(session, 'select * from t order by id')).toEqual(['2', '9']);
    await run(session, 'rollback');
    expect(readdirSync(source)).toEqual(['000000_0']);
    await run(session, 'begin', `${load} overwrite into table t`, 'update t set id = 3 where id = 2', 'commit');
    expect(await rows(other, 'select * from t order by id')).toEqual(['1', '3']);
    expect(readdirSync(source)).toEqual([]);
  });
});

describe('compaction', () => {
  const statements = [
    'start transaction',
    "insert into t values (2, 'b'), (3, 'c'), (4, 'd')",
    "update t set v = 'x' where id in (1, 2)",
    'delete from t where id = 3',
    "update t set v = 'y' where id = 2",
  ];
  const expected = ['1\tx', '2\ty', '4\td'];

  it.each(['minor', 'major'])('%s of what several statements wrote', async (type) => {
    await run(
      session,
      `create table t (id int, v string) ${acid}`,
      "insert into t values (1, 'a')",
      ...statements,
      'commit',
    );
    const before = await rows(session, 'select row__id, * from t order by id');
    await run(session, `alter table t compact '${type}'`);
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    expect(folders('t').every((name) => /_v\d+$/.test(name))).toBe(true);
    expect(await rows(session, 'select row__id, * from t order by id')).toEqual(before);
    await run(session, "update t set v = 'z' where id = 4", 'delete from t where id = 1');
    expect(await rows(session, 'select * from t order by id')).toEqual(['2\ty', '4\tz']);
  });

  it('minor of a single transaction: rows that it deleted itself do not come back', async () => {
    await run(session, `create table t (id int, v string) ${acid}`, ...statements, 'commit');
    await run(session, "alter table t compact 'minor'");
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    expect(folders('t')).toHaveLength(1);
    expect(await rows(session, 'select * from t order by id')).toEqual(expected.slice(1));
  });

  it('while it is open: its snapshot keeps its files, its own writes come after', async () => {
    await run(session, `create table t (id int, v string) ${acid}`, "insert into t values (1, 'a')");
    await run(session, ...statements);
    await run(other, "insert into t values (8, 'other')", "alter table t compact 'major'");
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    expect(await rows(session, 'select * from t order by id')).toEqual(expected);
    await run(session, 'delete from t where id = 4', 'commit');
    expect(await rows(other, 'select * from t order by id')).toEqual([...expected.slice(0, 2), '8\tother']);
    await run(other, "alter table t compact 'major'");
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    expect(await rows(session, 'select * from t order by id')).toEqual([...expected.slice(0, 2), '8\tother']);
  });
});

it('a query whose rows are read later has the rows of its time, and ends with the transaction', async () => {
  await run(session, `create table t (id int) ${acid}`, 'insert into t values (1)', 'start transaction');
  const early = await session.execute('select * from t');
  const late = await session.execute('select * from t');
  await run(session, 'insert into t values (2)', 'delete from t where id = 1');
  let count = 0;
  for await (const batch of early.batches ?? []) count += batch.length;
  expect(count).toBe(1);
  await run(session, 'rollback');
  await expect(
    (async () => {
      for await (const _ of late.batches ?? []);
    })(),
  ).rejects.toThrow(/ended before all rows/);
});
