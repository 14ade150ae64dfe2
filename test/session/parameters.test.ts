import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOrc } from '@skep/orc';
import { LockType } from '@skep/rpc';
import type { Session } from '@skep/sql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

/** Parameters of a session that a statement can be seen to heed. */
let home: Home;
let session: Session;
const acid = "stored as orc tblproperties ('transactional'='true')";

beforeEach(async () => {
  home = await freshHome();
  session = home.newSession();
});
afterEach(() => home.close());

/** Of a variable, in a statement. */
const reference = (name: string): string => ['$', '{', name, '}'].join('');

const parametersOf = async (name: string) =>
  (await home.services.catalog.getTable({ database: 'default', name })).table?.parameters ?? {};

it('hive.query.exclusive.lock: statements that list a name wait for each other', async () => {
  await run(session, `create table t (a int) ${acid}`, 'set hive.query.exclusive.lock=a, b');
  await run(session, 'start transaction', 'select * from t');
  const { locks } = await home.services.locks.showLocks({});
  const global = locks.filter(({ database }) => database === '__global_locks').map((lock) => [lock.table, lock.type]);
  expect(global.sort()).toEqual([
    ['a', LockType.LOCK_TYPE_EXCLUSIVE],
    ['b', LockType.LOCK_TYPE_EXCLUSIVE],
  ]);
  const other = home.newSession();
  await run(other, 'set hive.query.exclusive.lock=b', 'set hive.lock.numretries=0');
  await expect(run(other, 'select * from t')).rejects.toThrow(/__global_locks/i);
  await run(session, 'commit');
  await run(other, 'select * from t');
});

it('hive.create.as.external.legacy: hive.create.as.acid and .insert.only do nothing', async () => {
  await run(session, 'set hive.create.as.acid=true', 'create table a (a int) stored as orc');
  await run(session, 'set hive.create.as.external.legacy=true', 'create table b (a int) stored as orc');
  await run(session, 'create managed table c (a int) stored as orc');
  expect((await parametersOf('a')).transactional).toBe('true');
  expect((await parametersOf('b')).transactional).toBeUndefined();
  expect((await parametersOf('c')).transactional).toBe('true');
});

it('hive.strict.managed.tables: a managed table must be transactional', async () => {
  await run(session, 'create table before (a int)', 'set hive.strict.managed.tables=true');
  await expect(run(session, 'create table t (a int)')).rejects.toThrow(/default\.t failed strict managed table checks/);
  await expect(run(session, 'create table t like before')).rejects.toThrow(/strict managed table checks/);
  await run(session, `create table t (a int) ${acid}`, 'create external table x (a int)');
  // What is there already cannot be altered into, or as, such a table.
  for (const change of [
    'add columns (b int)',
    'rename to after',
    "set tblproperties ('x'='y')",
    "set serdeproperties ('x'='y')",
    "set location 'file:/tmp/x'",
    'change a c int',
  ]) {
    await expect(run(session, `alter table before ${change}`), change).rejects.toThrow(
      /default\.(before|after) failed strict/,
    );
  }
  await expect(run(session, "alter table x set tblproperties ('EXTERNAL'='FALSE')")).rejects.toThrow(
    /default\.x failed strict managed table checks due to the following reason: Table is marked as a managed table but/,
  );
  expect(await rows(session, 'describe before')).toHaveLength(1);
  await run(session, 'alter table t add columns (b int)', "alter table x set tblproperties ('x'='y')");
  await run(
    session,
    "alter table before set tblproperties ('EXTERNAL'='TRUE')",
    'alter table before add columns (b int)',
  );
  await run(session, 'create temporary table tmp (a int)', 'alter table tmp add columns (b int)');
});

it('hive.mm.allow.originals: a table that becomes insert-only keeps its files where they are, or in a delta', async () => {
  const filesOf = async (name: string, partition = '') => {
    const { table } = await home.services.catalog.getTable({ database: 'default', name });
    return (await home.services.fs.list(`${table?.sd?.location}${partition}`)).map((entry) => entry.name);
  };
  const become = "set tblproperties ('transactional'='true', 'transactional_properties'='insert_only')";
  for (const format of ['orc', 'textfile']) {
    for (const name of ['moved', 'kept']) {
      const t = `${name}_${format}`;
      await run(
        session,
        `set hive.mm.allow.originals=${name === 'kept'}`,
        `create table ${t} (a int) stored as ${format}`,
      );
      await run(
        session,
        `insert into ${t} values (1), (2)`,
        `alter table ${t} ${become}`,
        `insert into ${t} values (3)`,
      );
      expect(await rows(session, `select * from ${t} order by a`)).toEqual(['1', '2', '3']);
      const added = `delta_000000${name === 'moved' ? 2 : 1}_000000${name === 'moved' ? 2 : 1}_0000`;
      expect(await filesOf(t)).toEqual(name === 'moved' ? ['delta_0000001_0000001_0000', added] : ['000000_0', added]);
      await run(session, `alter table ${t} compact 'major'`);
      expect(await home.compactor.runWorkerOnce()).toBe(true);
      expect(await rows(session, `select * from ${t} order by a`)).toEqual(['1', '2', '3']);
    }
  }
  await run(
    session,
    'set hive.mm.allow.originals=false',
    'create table p (a int) partitioned by (k int) stored as orc',
  );
  await run(session, 'insert into p values (1, 1), (2, 2)', `alter table p ${become}`);
  expect(await filesOf('p', '/k=2')).toEqual(['delta_0000001_0000001_0000']);
  expect(await rows(session, 'select * from p order by a')).toEqual(['1\t1', '2\t2']);
  // What fails leaves the files where they were.
  await run(session, 'create table f (a int) stored as orc', 'insert into f values (1)');
  const { fs } = home.services;
  const rename = fs.rename;
  fs.rename = async (from, to) => {
    if (/delta_[^/]*\/[^/]*$/.test(to)) throw new Error('the disk is away');
    await rename(from, to);
  };
  await expect(run(session, `alter table f ${become}`)).rejects.toThrow('the disk is away');
  fs.rename = rename;
  expect(await rows(session, 'select * from f')).toEqual(['1']);
  expect((await parametersOf('f')).transactional).toBeUndefined();
});

it('EXTERNAL=TRUE makes a table external, whose files stay; a transactional one cannot be', async () => {
  const typeOf = async (name: string) =>
    (await home.services.catalog.getTable({ database: 'default', name })).table?.tableType;
  await run(session, 'create table e (a int)', "alter table e set tblproperties ('EXTERNAL'='TRUE')");
  expect(await typeOf('e')).toBe('EXTERNAL_TABLE');
  await run(session, "alter table e unset tblproperties ('EXTERNAL')");
  expect(await typeOf('e')).toBe('MANAGED_TABLE');
  await run(session, "alter table e set tblproperties ('EXTERNAL'='true')", 'insert into e values (1)');
  const location = (await home.services.catalog.getTable({ database: 'default', name: 'e' })).table?.sd?.location ?? '';
  await run(session, "alter table e set tblproperties ('EXTERNAL'='FALSE')");
  expect(await typeOf('e')).toBe('MANAGED_TABLE');
  await run(session, "alter table e set tblproperties ('EXTERNAL'='TRUE')", 'drop table e');
  expect(await home.services.fs.list(location)).toHaveLength(1);
  await run(session, `create table t (a int) ${acid}`);
  await expect(run(session, "alter table t set tblproperties ('EXTERNAL'='TRUE')")).rejects.toThrow(
    /cannot be converted to external table as it is transactional/,
  );
});

it('hive.exec.dynamic.partition=false: partitions must be named', async () => {
  await run(session, `create table t (a int) partitioned by (k int) ${acid}`, 'set hive.exec.dynamic.partition=false');
  await expect(run(session, 'insert into t values (1, 2)')).rejects.toThrow(/Dynamic partition is disabled/);
  await run(session, 'insert into t partition (k=2) values (1)');
});

it('hive.default.fileformat.managed is the format of managed tables', async () => {
  await run(session, 'set hive.default.fileformat.managed=ORC', 'create table m (a int)');
  await run(session, 'create external table x (a int)');
  const formatOf = async (name: string) =>
    (await home.services.catalog.getTable({ database: 'default', name })).table?.sd?.inputFormat;
  expect(await formatOf('m')).toMatch(/OrcInputFormat$/);
  expect(await formatOf('x')).toMatch(/TextInputFormat$/);
});

it('hive.variable.substitute.depth bounds values that refer to values', async () => {
  await run(session, `set hivevar:a=${reference('b')}`, `set hivevar:b=${reference('c')}`, 'set hivevar:c=7');
  expect(await rows(session, `select ${reference('a')}`)).toEqual(['7']);
  await run(session, 'set hive.variable.substitute.depth=1');
  await expect(rows(session, `select ${reference('a')}`)).rejects.toThrow(/substitution depth is greater than 1/);
});

it('hive.transactional.concatenate.noblock: CONCATENATE does not wait', async () => {
  await run(session, `create table t (a int) ${acid}`, 'insert into t values (1)', 'insert into t values (2)');
  // Nobody here carries compactions out: waiting would not end.
  await run(session, 'set hive.transactional.concatenate.noblock=true', 'alter table t concatenate');
  const { compactions } = await home.services.compactions.showCompactions({ limit: 0n });
  expect(compactions.map(({ table }) => table)).toEqual(['t']);
});

it('flags and the site file warn of old names, and of what has no effect', async () => {
  const heard: string[] = [];
  const path = mkdtempSync(join(tmpdir(), 'skep-test-'));
  const property = '<property><name>hive.unlock.numretries</name><value>3</value></property>';
  writeFileSync(join(path, 'hive-site.xml'), `<configuration>${property}</configuration>`);
  const hiveconf = { 'hive.lock.numretires': '3' };
  const other = await freshHome({ path, hiveconf, notice: (message) => heard.push(message) });
  expect(heard).toEqual([
    expect.stringMatching(/^hive.unlock.numretries has no effect in skep: /),
    'hive.lock.numretires is an old name of hive.lock.numretries, which is set',
  ]);
  expect(other.newSession().conf.get('hive.lock.numretries')).toBe('3');
  await other.close();
});

it('what belongs to the metastore says so', async () => {
  const { messages } = await session.execute('set hive.compactor.delta.num.threshold=3');
  expect(messages).toEqual([expect.stringContaining('belongs to the metastore and is 10 there')]);
  expect((await session.execute('set hive.mr.compactor.gather.stats=true')).messages).toEqual([
    'hive.mr.compactor.gather.stats is an old name of hive.compactor.gather.stats, which is set',
    expect.stringContaining('has no effect in skep'),
  ]);
  expect((await session.execute('select * from (select 1 as a) s')).columns?.map(({ name }) => name)).toEqual(['s.a']);
});

it('hive.exec.orc.default.compress: of new ORC files whose table says nothing of it', async () => {
  const says = "stored as orc tblproperties ('transactional'='true', 'orc.compress'='NONE')";
  await run(session, `create table t (a int) ${acid}`, `create table u (a int) ${says}`);
  await run(session, 'insert into t values (1)', 'set hive.exec.orc.default.compress=SNAPPY');
  await run(session, 'insert into t values (2)', 'insert into u values (3)');
  const compressions = async (table: string): Promise<string[]> => {
    const { fs } = home.services;
    const found: string[] = [];
    const folders = await fs.list(`file:${home.warehouse}/${table}`);
    for (const folder of folders.map((entry) => entry.path).sort()) {
      for (const { path, name } of await fs.list(folder)) {
        if (name.startsWith('bucket_')) found.push((await openOrc(await fs.open(path), { path })).tail.compression);
      }
    }
    return found;
  };
  expect(await compressions('t')).toEqual(['zlib', 'snappy']);
  expect(await compressions('u')).toEqual(['none']);
  await run(session, 'set hive.exec.orc.default.compress=brotli');
  await expect(run(session, 'insert into t values (4)')).rejects.toThrow(/brotli/);
});
