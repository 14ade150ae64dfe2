import { cpSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const recorded = new URL('../golden/recorded/trino-476/', import.meta.url).pathname;
const acid = "stored as orc tblproperties ('transactional'='true')";

/** What Trino read, in its order of columns, as Hive's text. */
function trinoRows(name: string): string[] {
  const { rows: read } = JSON.parse(readFileSync(`${recorded}${name}.json`, 'utf8')) as { rows: (string | null)[][] };
  return read.map((row) => row.map((value) => value ?? 'NULL').join('\t')).sort();
}

describe('MSCK REPAIR takes in files of other engines', () => {
  let home: Home;
  let session: Session;
  beforeEach(async () => {
    home = await freshHome();
    session = home.newSession();
  });
  afterEach(async () => {
    await home.close();
  });
  const sorted = async (statement = 'select * from t') => (await rows(session, statement)).sort();
  const copyInto = (from: string) => cpSync(from, join(home.warehouse, 't'), { recursive: true });

  it.each([
    ['dml', 't', 'id int, name string, n bigint', '', 'n'],
    ['ctas', 'ct', 'nationkey bigint, name varchar(25), regionkey bigint, comment varchar(152)', '', 'regionkey'],
    ['bucketed', 'b', 'id int, s string', 'clustered by (id) into 3 buckets', 's'],
    ['partitioned', 'p', 'id int, v string', 'partitioned by (ds string)', 'id'],
  ])('%s: read as Trino read it, then changed and compacted', async (name, folder, columns, clause, changed) => {
    await run(session, `create table t (${columns.replace('comment', '`comment`')}) ${clause} ${acid}`);
    copyInto(`${recorded}${name}/${folder}`);
    await run(session, 'msck repair table t');
    const isPartitioned = clause.startsWith('part');
    const expected = trinoRows(name)
      .map((row) => (isPartitioned ? row.replace(/\tNULL$/, '\t__HIVE_DEFAULT_PARTITION__') : row))
      .sort();
    expect(await sorted()).toEqual(expected);
    await run(session, `update t set ${changed} = '9999'`);
    const after = await sorted();
    expect(after).toHaveLength(expected.length);
    expect(await rows(session, `select count(*) from t where cast(${changed} as string) = '9999'`)).toEqual([
      String(expected.length),
    ]);
    const partitions = isPartitioned ? await rows(session, 'show partitions t') : [];
    const specs = isPartitioned
      ? partitions.map((partition) => `partition (ds='${partition.slice(3).replace('%3A', ':')}')`)
      : [''];
    for (const spec of specs) await run(session, `alter table t ${spec} compact 'major'`);
    while (await home.compactor.runWorkerOnce());
    await home.compactor.runCleanerOnce();
    expect(await sorted()).toEqual(after);
    const states = (await rows(session, 'show compactions')).slice(1).map((row) => row.split('\t')[5]);
    expect(new Set(states)).toEqual(new Set(['succeeded']));
  });

  it('new write ids are above those that were there', async () => {
    await run(session, `create table t (id int, name string, n bigint) ${acid}`);
    copyInto(`${recorded}dml/t`);
    await run(session, 'msck repair table t', "insert into t values (77, 'x', 7)");
    const last = Math.max(...readdirSync(`${recorded}dml/t`).map((name) => Number(/_(\d+)_\d+$/.exec(name)?.[1] ?? 0)));
    expect(await rows(session, 'select row__id.writeid from t where id = 77')).toEqual([String(last + 1)]);
  });

  it('files compacted by a transaction that is yet to come here are seen: transaction ids go on above it', async () => {
    await run(session, `create table t (a int) ${acid}`, `create table u (a int) ${acid}`);
    await run(session, 'insert into u values (1)', 'insert into u values (2)', "alter table u compact 'major'");
    await home.compactor.runWorkerOnce();
    const folder = (table: string) => join(home.warehouse, table);
    const base = readdirSync(folder('u')).find((name) => name.startsWith('base_')) ?? '';
    cpSync(join(folder('u'), base), join(folder('t'), 'base_0000005_v5000000000'), { recursive: true });
    expect(await sorted()).toEqual([]);
    await run(session, 'msck repair table t');
    expect(await sorted()).toEqual(['1', '2']);
    await run(session, 'insert into t values (3)');
    expect(await sorted()).toEqual(['1', '2', '3']);
    expect((await home.services.txns.showTxns({})).highWatermark).toBeGreaterThan(5_000_000_000n);
    expect(readdirSync(folder('t'))).toContain('delta_0000006_0000006_0000');
    await run(session, 'delete from t where a = 1', "alter table t compact 'major'");
    await home.compactor.runWorkerOnce();
    await home.compactor.runCleanerOnce();
    expect(await sorted()).toEqual(['2', '3']);
  });

  it('folders keep their spelling: HR=06, a+b, a%2Fb, the default partition (B101, B104)', async () => {
    await run(session, `create table t (a int) partitioned by (hr int, p string) ${acid}`);
    await run(session, "insert into t values (1, 6, 'a+b'), (2, 6, 'a/b'), (3, 7, null), (4, null, 'x')");
    const before = await sorted();
    const folder = join(home.warehouse, 't');
    renameSync(join(folder, 'hr=6'), join(folder, 'HR=06'));
    await run(session, 'alter table t set location "/tmp/nosuch"');
    const copy = join(home.path, 'copy');
    renameSync(folder, copy);
    await run(session, 'drop table t', `create table t (a int) partitioned by (hr int, p string) ${acid}`);
    copyInto(copy);
    const lines = await rows(session, 'msck repair table t');
    expect(lines.filter((line) => line.startsWith('Repair: Added'))).toHaveLength(4);
    expect(await rows(session, 'show partitions t')).toEqual([
      'hr=06/p=a%2Fb',
      'hr=06/p=a+b',
      'hr=7/p=__HIVE_DEFAULT_PARTITION__',
      'hr=__HIVE_DEFAULT_PARTITION__/p=x',
    ]);
    expect(await sorted()).toEqual(before);
    await run(session, 'update t set a = a + 10 where hr = 6', 'delete from t where hr is null');
    expect(await sorted()).toEqual(['11\t6\ta+b', '12\t6\ta/b', '3\t7\t__HIVE_DEFAULT_PARTITION__']);
    expect(readdirSync(join(home.warehouse, 't')).sort()).toEqual(['HR=06', 'hr=7', 'hr=__HIVE_DEFAULT_PARTITION__']);
    expect(await rows(session, 'msck repair table t')).toEqual([]);
  });
});
