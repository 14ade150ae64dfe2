import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

describe('bad input: a clear error, the table as before', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
    await run(session, `create table t (id int, name string) ${acid}`, "insert into t values (1, 'a'), (2, 'b')");
  });
  afterEach(async () => {
    await home.close();
  });
  const unchanged = async () => {
    expect(await rows(session, 'select * from t order by id')).toEqual(['1\ta', '2\tb']);
    expect(await rows(session, 'show locks')).toHaveLength(1);
  };

  it.each([
    ['select * from nosuch', 10001],
    ['insert into nosuch values (1)', 10001],
    ["update nosuch set a = 'x'", 10001],
    ['select nosuch from t', 10004],
    ['update t set nosuch = 1', 10408],
    ['insert into t values (1)', 10044],
    ['insert into t values (1, 2, 3)', 10044],
    ["alter table t compact 'medium'", 10282],
    [
      'merge into t using t s on t.id = s.id when matched then update set name = s.name when matched then delete',
      10404,
    ],
  ])('%s', async (statement, hiveCode) => {
    await expect(session.execute(statement)).rejects.toMatchObject({
      hiveCode,
      sqlState: expect.stringMatching(/^42/),
    });
    await unchanged();
  });

  it('a syntax error has its position', async () => {
    await expect(session.execute('select * from t where')).rejects.toMatchObject({ line: 1, charPositionInLine: 21 });
    await unchanged();
  });

  it('UPDATE, DELETE and MERGE on a table that is not transactional', async () => {
    await run(session, 'create table plain (a int) stored as orc');
    await expect(session.execute('update plain set a = 1')).rejects.toMatchObject({ hiveCode: 10297 });
    await expect(session.execute('delete from plain where a = 1')).rejects.toMatchObject({ hiveCode: 10297 });
  });

  it('a MERGE whose source matches a row twice changes nothing (B83)', async () => {
    const statement =
      'merge into t using (select 1 id union all select 1 id) s on t.id = s.id when matched then update set name = null';
    await expect(session.execute(statement)).rejects.toThrow(/Cardinality Violation/);
    await unchanged();
  });

  it('a broken bucket file is named, with the place', async () => {
    const folder = join(home.warehouse, 't', 'delta_0000001_0000001_0000');
    const file = join(folder, readdirSync(folder).find((name) => name.startsWith('bucket_')) ?? '');
    truncateSync(file, statSync(file).size - 7);
    await expect(rows(session, 'select * from t')).rejects.toThrow(file);
    writeFileSync(file, 'not an ORC file at all');
    await expect(rows(session, 'select * from t')).rejects.toMatchObject({ message: expect.stringContaining(file) });
    expect(await rows(session, 'show locks')).toHaveLength(1);
  });

  it('NOT NULL and CHECK are enforced', async () => {
    await run(session, `create table c (id int not null enable, n int check (n > 0) enable) ${acid}`);
    await run(session, 'insert into c values (1, 1)');
    await expect(session.execute('insert into c values (null, 1)')).rejects.toThrow(/NOT NULL constraint/);
    await expect(session.execute('update c set n = -1')).rejects.toThrow(/CHECK constraint/);
    expect(await rows(session, 'select * from c')).toEqual(['1\t1']);
  });
});
