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
  return existsSync(dir) ? readdirSync(dir).filter((name) => !/^[._]/.test(name)).sort() : [];
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
