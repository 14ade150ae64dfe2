import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const claim = '{"BASIC_STATS":"true"}';
const at = { database: 'default', table: 't' };

let home: Home;
beforeEach(async () => {
  home = await freshHome();
});
afterEach(() => home.close());

/** What a Hive on the same metastore leaves when it has gathered statistics. */
async function claimExact(): Promise<void> {
  const { catalog } = home.services;
  const { partitions } = await catalog.getPartitions({ ...at, names: [] });
  await catalog.alterPartitions({
    ...at,
    names: partitions.map(({ values }) => `p=${values[0]}`),
    partitions: partitions.map((p) => ({ ...p, parameters: { ...p.parameters, COLUMN_STATS_ACCURATE: claim } })),
  });
}

async function claims(): Promise<string[]> {
  const { partitions } = await home.services.catalog.getPartitions({ ...at, names: [] });
  return partitions.filter((p) => p.parameters.COLUMN_STATS_ACCURATE === claim).map((p) => p.values[0]);
}

it('a partition that is written no longer calls its statistics exact; others still do', async () => {
  const session = home.newSession();
  await run(session, `create table t (a int) partitioned by (p int) ${acid}`);
  await run(session, 'insert into t values (1, 1), (2, 2), (3, 3)');
  for (const [statement, left] of [
    ['select count(*) from t', ['1', '2', '3']],
    ['insert into t partition (p = 1) values (4)', ['2', '3']],
    ['update t set a = 5 where p = 2', ['1', '3']],
    ['delete from t where a = 3', ['1', '2']],
    ['truncate table t partition (p = 1)', ['2', '3']],
  ] as const) {
    await claimExact();
    await run(session, statement);
    expect([statement, (await claims()).sort()]).toEqual([statement, left]);
  }
});

it('LOAD DATA into a partition too', async () => {
  const session = home.newSession();
  await run(session, 'create table t (a int) partitioned by (p int) stored as textfile');
  await run(session, 'insert into t values (1, 1), (2, 2)');
  const data = join(mkdtempSync(join(tmpdir(), 'skep-distrust-')), 'x');
  writeFileSync(data, '9\n');
  await claimExact();
  await run(session, `load data local inpath '${data}' into table t partition (p = 1)`);
  expect(await claims()).toEqual(['2']);
});
