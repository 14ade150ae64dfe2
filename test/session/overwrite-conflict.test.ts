import { expect, it } from 'vitest';
import { freshHome, rows, run } from './harness.js';

const table = "create table t (a int) partitioned by (p string) stored as orc tblproperties ('transactional'='true')";

it('an INSERT is not hidden by an overwrite that committed after its transaction got its write id (test/sim, seed 138)', async () => {
  const home = await freshHome();
  try {
    const [one, two] = [home.newSession(), home.newSession()];
    await run(one, table, "alter table t add partition (p='b')");
    await run(one, 'start transaction', "insert into t partition (p='a') values (1)");
    await run(two, "insert overwrite table t partition (p='b') values (2)");
    await expect(run(one, "insert into t partition (p='b') values (3)")).rejects.toThrow(
      /write conflict on default\/t\/p=b/,
    );
    await run(one, 'rollback');
    await run(one, 'start transaction', "insert into t partition (p='b') values (3)", 'commit');
    expect(await rows(two, 'select a from t order by a')).toEqual(['2', '3']);
  } finally {
    await home.close();
  }
});
