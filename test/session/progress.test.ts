import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const ROWS = 600_000;

describe('progress of a statement', () => {
  let home: Home;
  beforeAll(async () => {
    home = await freshHome();
    const session = home.newSession();
    await run(session, "create table t (n bigint) stored as orc tblproperties ('transactional'='true')");
    for (let i = 0; i < 2; i++) {
      await run(
        session,
        `insert into t select n * 7919 % 10007 from (select posexplode(split(space(${ROWS / 2 - 1}), ' ')) as (n, s)) numbers`,
      );
    }
  }, 60_000);
  afterAll(async () => {
    await home.close();
  });

  it('can be looked at while it runs, and begins anew with the next one', async () => {
    const session = home.newSession();
    const seen: { rows: number; files: number; ofFiles: number }[] = [];
    const timer = setInterval(() => seen.push(session.progress), 1);
    expect(await rows(session, 'select count(*) from t where n > -20000')).toEqual([String(ROWS)]);
    clearInterval(timer);
    expect(session.progress).toEqual({ rows: ROWS, files: 2, ofFiles: 2 });
    const between = seen.filter((figures) => figures.rows > 0 && figures.rows < ROWS);
    expect(between.length).toBeGreaterThan(0);
    expect(between[0]).toMatchObject({ ofFiles: 2 });
    await rows(session, 'select 1');
    expect(session.progress).toEqual({ rows: 0, files: 0, ofFiles: 0 });
  });
});
