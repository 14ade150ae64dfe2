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
    ['insert into t select * from t where p = 1 and a = 1', 'Fetch Operator'],
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
});
