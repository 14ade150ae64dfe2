import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

describe('EXPLAIN', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
    await run(session, `create table t (a int) partitioned by (p int) ${acid}`, 'insert into t values (1, 1), (2, 2)');
    await run(session, 'delete from t where a = 2');
  });
  afterEach(async () => {
    await home.close();
  });

  it.each([
    ['select * from t where p = 1 and a = 1', 'Fetch Operator'],
    ['insert into t select * from t where p = 1 and a = 1', 'Insert into default.t'],
    ['update t set a = 5 where p = 1 and a = 1', 'Update of default.t'],
    ['delete from t where p = 1 and a = 1', 'Delete of default.t'],
  ])('%s: partitions, files and search arguments', async (statement, target) => {
    const plan = (await rows(session, `explain ${statement}`)).join('\n');
    expect(plan).toContain(target);
    expect(plan).toMatch(/partitions: 1 of 2 \(p=1\)/);
    expect(plan).toMatch(/filterExpr: .*\(a = 1\)/);
    expect(plan).toMatch(/files: 1, delete files: 0\n.*p=1\/delta_0000001_0000001_0000\/bucket_00000_0/);
    expect(await rows(session, 'select * from t')).toEqual(['1\t1']);
  });

  it('of a MERGE shows source and target, delete files too', async () => {
    const statement = 'merge into t using (select 2 k) s on t.a = s.k when matched then delete';
    const plan = (await rows(session, `explain ${statement}`)).join('\n');
    expect(plan).toContain('Merge of default.t');
    expect(plan).toMatch(/partitions: 2 of 2/);
    expect(plan).toMatch(/delete files: 1/);
  });

  it('fails as the statement would', async () => {
    await expect(rows(session, 'explain update t set p = 2')).rejects.toMatchObject({ hiveCode: 10292 });
    await expect(rows(session, 'explain select nosuch from t')).rejects.toMatchObject({ hiveCode: 10004 });
  });

  const explained = async (statement: string) => (await rows(session, statement)).join('\n');

  it('says how many rows the search argument skips, and ANALYZE how many it did', async () => {
    await run(
      session,
      `create table big (n int) stored as orc tblproperties ('transactional'='true', 'orc.row.index.stride'='1000')`,
      "insert into big select n from (select posexplode(split(space(9999), ' ')) as (n, s)) numbers",
      'delete from big where n between 4000 and 4099',
    );
    const plan = await explained('explain select * from big where n = 4500');
    expect(plan).toMatch(/filterExpr: \(n = 4500\)/);
    expect(plan).toContain('rows: 1000 of 10000 to read, 9000 skipped by search argument');
    expect(plan).toContain('files: 1, delete files: 1');
    const actual = await explained('explain analyze select * from big where n between 4050 and 4150');
    expect(actual).toContain('rows: 1000 of 10000 read, 9000 skipped, 100 deleted or not visible');
    expect(actual).toMatch(/read: 1 files, \d+ bytes, 1 delete files with 100 delete events/);
    expect(actual).toContain('rows: 51 answered');
    // A statement that writes is not carried out.
    expect(await explained('explain analyze delete from big where n = 5')).toContain('rows: 1 answered');
    expect(await rows(session, 'select count(*) from big where n = 5')).toEqual(['1']);
  });

  it('says how many delete files are not there for a split that nothing is left of', async () => {
    const plan = await explained('explain analyze select * from t where a = 77');
    expect(plan).toContain('partitions: 2 of 2');
    expect(plan).toContain('0 delete files with 0 delete events');
  });

  it('FORMATTED is JSON with the same facts', async () => {
    const json = JSON.parse(await explained('explain formatted select a from t where p = 2'));
    const [scan] = json['STAGE PLANS']['Stage-0']['Fetch Operator']['Processor Tree:'];
    expect(scan.TableScan).toMatchObject({
      table: 'default.t',
      partitions: '1 of 2 (p=2)',
      columns: 'a, p',
      files: '1, delete files: 1',
    });
    expect(scan.TableScan.paths).toHaveLength(1);
    expect(JSON.parse(await explained('explain formatted show tables'))).toHaveProperty('STAGE PLANS');
  });

  it('EXTENDED lists the delete files too', async () => {
    expect(await explained('explain extended select a from t')).toMatch(/delete paths:\n.*p=2\/delete_delta_/);
  });

  it('INSERT names its target, each leg of a multi-table INSERT its own', async () => {
    await run(session, `create table u (a int) ${acid}`);
    expect(await explained('explain insert into t partition (p=1) select a from t')).toContain(
      'Insert into default.t, partition p=1',
    );
    expect(await explained('explain insert overwrite table t partition (p) select a, p from t')).toContain(
      'Insert overwrite of default.t, partitions by the rows',
    );
    const both = await explained(
      'explain from t insert into u select a where p = 1 insert into t partition (p=1) select a where p = 2',
    );
    expect(both).toContain('Insert into default.u');
    expect(both).toMatch(/partitions: 1 of 2 \(p=1\)[\s\S]*Insert into default.t, partition p=1[\s\S]*1 of 2 \(p=2\)/);
    expect(await explained('explain delete from u')).toContain('all rows: an empty base');
  });

  it('LOCKS names what would be locked', async () => {
    expect(await rows(session, 'explain locks select * from t where p = 1')).toEqual([
      'LOCK INFORMATION:',
      'default.t.p=1 -> SHARED_READ',
    ]);
    expect(await rows(session, 'explain locks update t set a = 3 where p = 1')).toEqual([
      'LOCK INFORMATION:',
      'default.t.p=1 -> EXCL_WRITE',
    ]);
    expect(await rows(session, 'explain locks insert into t partition (p=1) values (3)')).toEqual([
      'LOCK INFORMATION:',
      'default.t.p=1 -> SHARED_READ',
    ]);
    // Nothing was locked, and nothing is.
    expect((await rows(session, 'show locks')).filter((line) => line.includes('default'))).toEqual([]);
  });

  it('DEPENDENCY and AUTHORIZATION name tables and partitions', async () => {
    expect(JSON.parse(await explained('explain dependency select * from t where p = 1'))).toEqual({
      input_tables: [{ tablename: 'default@t', tabletype: 'MANAGED_TABLE' }],
      input_partitions: [{ partitionName: 'default@t@p=1' }],
    });
    expect(await explained('explain authorization insert into t partition (p=1) select a from t where p = 2')).toMatch(
      /^INPUTS: \n {2}default@t\n {2}default@t@p=2\nOUTPUTS: \n {2}default@t@p=1\nCURRENT_USER: \n {2}.+\nOPERATION: \n {2}QUERY$/,
    );
  });

  it.each(['cbo', 'ast', 'vectorization', 'logical', 'reoptimization'])('%s is refused by its name', async (mode) => {
    await expect(rows(session, `explain ${mode} select * from t`)).rejects.toThrow(`EXPLAIN ${mode.toUpperCase()}`);
  });

  it('DML can be explained in a transaction over several statements', async () => {
    await run(session, 'start transaction', 'insert into t partition (p=1) values (9)');
    expect(await explained('explain select * from t where p = 1')).toContain('files: 2, delete files: 0');
    await run(session, 'rollback');
  });
});
