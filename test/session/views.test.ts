import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

/** What Hive 4.0.1 answered to the same statements. */
describe('views', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
    await run(session, `create table t (a int, b string) ${acid}`, "insert into t values (1, 'x')");
  });
  afterEach(async () => {
    await home.close();
  });
  const names = async (table: string) =>
    (await rows(session, `describe ${table}`)).map((row) => row.split('\t')[0].trim());

  it('name their columns without the table they come from, so that other views can read them', async () => {
    await run(session, 'create view v as select * from t', 'create view v2 as select a + 1 a, b from v');
    expect(await names('v')).toEqual(['a', 'b']);
    expect(await rows(session, 'select v2.a, b from v2')).toEqual(['2\tx']);
  });

  it('have the columns of the day they were made', async () => {
    await run(
      session,
      'create view v as select * from t',
      'create view vx (x, y) as select *, 1 from (select a from t) q',
    );
    await run(session, 'create view u as select * from t union all select 2, null');
    await run(session, 'alter table t add columns (c int)', "insert into t values (3, 'z', 4)");
    expect(await rows(session, 'select * from v order by a')).toEqual(['1\tx', '3\tz']);
    expect(await rows(session, 'select x, y from vx order by x')).toEqual(['1\t1', '3\t1']);
    expect(await rows(session, 'show create table v')).toEqual([
      'CREATE VIEW `v` AS SELECT `a` AS `a`, `b` AS `b` FROM (select * from t) `v`',
    ]);
  });

  it('are read where they were made, from any database', async () => {
    await run(
      session,
      'create view v as select * from t',
      'create database d',
      'use d',
      'create view w as select * from default.v',
    );
    expect(await rows(session, 'select * from w')).toEqual(['1\tx']);
    await run(session, 'use default');
    expect(await rows(session, 'select b from d.w')).toEqual(['x']);
    await run(session, 'alter view d.w as select a from t');
    await run(session, 'use d');
    expect(await rows(session, 'select * from w')).toEqual(['1']);
  });

  it('do not read themselves, also not through others', async () => {
    await run(session, 'create view v as select * from t', 'create view v2 as select * from v');
    for (const statement of [
      'create or replace view v as select * from v',
      'create or replace view v as select a, b from v2',
      'alter view v as select a, b from (select * from v2) q',
    ])
      await expect(rows(session, statement)).rejects.toThrow(/Recursive view default\.v detected/);
    expect(await rows(session, 'select * from v2')).toEqual(['1\tx']);
  });

  it.each([
    ['alter table v set tblproperties ("x"="y")', 10131],
    ['alter table v add columns (q int)', 10131],
    ['alter table v rename to w', 10131],
    ['alter view t set tblproperties ("x"="y")', 10132],
    ['analyze table v compute statistics', 10091],
    ['insert into v values (1)', 10090],
    ['create view d as select * from t t1 join t t2 on t1.a = t2.a', 10036],
    ['create or replace view t as select 1 c', 10218],
    ['create view d (x) as select a, b from t', undefined],
    ['alter view v rename to t', undefined],
  ])('%s is refused', async (statement, hiveCode) => {
    await run(session, 'create view v as select * from t');
    await expect(rows(session, statement)).rejects.toMatchObject(
      hiveCode === undefined ? { kind: 'invalid' } : { hiveCode },
    );
    expect(await rows(session, 'show tables')).toEqual(['t', 'v']);
    expect(await rows(session, 'select * from v')).toEqual(['1\tx']);
  });

  it('CREATE TABLE LIKE a view takes its columns', async () => {
    await run(session, 'create view v as select * from t', 'create table l like v', `create table o like v ${acid}`);
    expect(await names('l')).toEqual(['a', 'b']);
    const definition = await rows(session, 'show create table l');
    expect(definition.join('\n')).toMatch(/LazySimpleSerDe.*TextInputFormat/s);
    expect(definition.join('\n')).not.toMatch(/skep\.view/);
    await run(session, 'insert into o select * from v', "update o set b = 'y'");
    expect(await rows(session, 'select * from o')).toEqual(['1\ty']);
  });
});

describe('CREATE TABLE AS SELECT', () => {
  it('keeps column names with a dot', async () => {
    const home = await freshHome();
    const session = home.newSession();
    await run(session, `create table t ${acid} as select 1 as \`c.d\`, 2 as \`a b\``);
    await run(session, `create table u ${acid} as select t.*, 3 from t`, 'create view v as select * from t');
    for (const made of ['u', 'v'])
      expect(await rows(session, `select \`c.d\`, \`a b\` from ${made}`)).toEqual(['1\t2']);
    await home.close();
  });
});
