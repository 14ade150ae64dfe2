import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Session } from '@skep/sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

let home: Home;
let session: Session;

beforeAll(async () => {
  home = await freshHome();
  session = home.newSession();
}, 60_000);
afterAll(async () => {
  await home.close();
});

const plain = "tblproperties ('transactional'='false')";
const insertOnly = "tblproperties ('transactional'='true','transactional_properties'='insert_only')";

/** Where the warehouse keeps a table, and all that is in there, hidden things too. */
const folderOf = (table: string): string => join(home.path, 'warehouse', table);
function filesOf(table: string, dir = folderOf(table)): string[] {
  return readdirSync(dir)
    .sort()
    .flatMap((name) => {
      const path = join(dir, name);
      return statSync(path).isDirectory() ? filesOf(table, path) : [path.slice(folderOf(table).length + 1)];
    });
}

describe.each(['textfile', 'parquet', 'orc'])('plain %s tables', (format) => {
  const name = `plain_${format}`;

  it('names files 000000_0 and _copy_N', async () => {
    await run(session, `create table ${name} (a int, b string) stored as ${format} ${plain}`);
    await run(session, `insert into ${name} values (1,'a'),(2,null)`, `insert into ${name} values (3,'c')`);
    await run(session, `insert into ${name} values (4,'d')`);
    expect(filesOf(name)).toEqual(['000000_0', '000000_0_copy_1', '000000_0_copy_2']);
    expect(await rows(session, `select * from ${name} order by a`)).toEqual(['1\ta', '2\tNULL', '3\tc', '4\td']);
    expect(await rows(session, `select b from ${name} where a > 2 order by b`)).toEqual(['c', 'd']);
    expect(await rows(session, `select count(*) from ${name}`)).toEqual(['4']);
  });

  it('leaves the table as it was when a statement fails', async () => {
    const failing = `insert overwrite table ${name} select a, assert_true(a < 3) from ${name}`;
    await expect(run(session, failing)).rejects.toThrow();
    await expect(run(session, `insert into ${name} select a, assert_true(a < 3) from ${name}`)).rejects.toThrow();
    expect(filesOf(name)).toEqual(['000000_0', '000000_0_copy_1', '000000_0_copy_2']);
  });

  it('replaces the files with INSERT OVERWRITE, also by rows of its own', async () => {
    await run(session, `insert overwrite table ${name} select a, b from ${name} where a > 1`);
    expect(filesOf(name)).toEqual(['000000_0']);
    expect(await rows(session, `select * from ${name} order by a`)).toEqual(['2\tNULL', '3\tc', '4\td']);
    await run(session, `insert overwrite table ${name} select a, b from ${name} where a > 10`);
    expect(await rows(session, `select * from ${name}`)).toEqual([]);
  });

  it('writes a file for each bucket', async () => {
    const table = `buckets_${format}`;
    await run(session, `create table ${table} (a int) clustered by (a) into 3 buckets stored as ${format} ${plain}`);
    await run(session, `insert into ${table} values (1)`, `insert into ${table} values (2),(3),(4),(5)`);
    const names = ['000000_0', '000000_0_copy_1', '000001_0', '000001_0_copy_1', '000002_0', '000002_0_copy_1'];
    expect(filesOf(table)).toEqual(names);
    expect(await rows(session, `select a from ${table} order by a`)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('partitions, dynamic and static', async () => {
    const table = `parts_${format}`;
    await run(session, `create table ${table} (a int) partitioned by (p string) stored as ${format} ${plain}`);
    await run(session, 'set hive.exec.dynamic.partition.mode=nonstrict');
    await run(session, `insert into ${table} partition (p) values (1,'x'),(2,'y'),(3,'x')`);
    await run(session, `insert into ${table} partition (p='x') values (4)`);
    expect(filesOf(table)).toEqual(['p=x/000000_0', 'p=x/000000_0_copy_1', 'p=y/000000_0']);
    await run(session, `insert overwrite table ${table} partition (p) values (9,'x')`);
    expect(await rows(session, `select * from ${table} order by a`)).toEqual(['2\ty', '9\tx']);
    expect(await rows(session, `select a from ${table} where p = 'y'`)).toEqual(['2']);
  });
});

describe.each(['textfile', 'parquet', 'orc'])('insert-only %s tables', (format) => {
  const name = `mm_${format}`;

  it('writes deltas and bases without a version file', async () => {
    await run(session, `create table ${name} (a int, b string) stored as ${format} ${insertOnly}`);
    await run(session, `insert into ${name} values (1,'a'),(2,null)`, `insert into ${name} values (3,'c')`);
    await run(session, `insert overwrite table ${name} select a, b from ${name} where a > 1`);
    await run(session, `insert into ${name} values (4,'d')`);
    expect(filesOf(name)).toEqual([
      'base_0000003/000000_0',
      'delta_0000001_0000001_0000/000000_0',
      'delta_0000002_0000002_0000/000000_0',
      'delta_0000004_0000004_0000/000000_0',
    ]);
    expect(await rows(session, `select * from ${name} order by a`)).toEqual(['2\tNULL', '3\tc', '4\td']);
  });

  it('shows nothing of a statement that failed', async () => {
    await expect(run(session, `insert into ${name} select a, assert_true(a < 3) from ${name}`)).rejects.toThrow();
    expect(await rows(session, `select count(*) from ${name}`)).toEqual(['3']);
  });
});

describe('LOAD DATA', () => {
  it('copies text files by their names, _copy_N before the ending', async () => {
    const input = join(home.path, 'input');
    mkdirSync(input);
    writeFileSync(join(input, 'kv.txt'), '1,a\n2,b\n');
    writeFileSync(join(input, 'more.gz'), gzipSync('3,c\n'));
    const definition = `(a int, b string) row format delimited fields terminated by ',' stored as textfile`;
    await run(session, `create table loaded ${definition} ${plain}`);
    await run(session, `load data local inpath '${input}' into table loaded`);
    await run(session, `load data local inpath '${input}/kv.txt' into table loaded`);
    expect(filesOf('loaded')).toEqual(['kv.txt', 'kv_copy_1.txt', 'more.gz']);
    expect(await rows(session, 'select a from loaded order by a')).toEqual(['1', '1', '2', '2', '3']);

    await run(session, `create table loaded_mm ${definition} ${insertOnly}`);
    await run(session, `load data local inpath '${input}' into table loaded_mm`);
    await run(session, `load data local inpath '${input}/kv.txt' overwrite into table loaded_mm`);
    expect(filesOf('loaded_mm')).toEqual([
      'base_0000002/kv.txt',
      'delta_0000001_0000001_0000/kv.txt',
      'delta_0000001_0000001_0000/more.gz',
    ]);
    expect(await rows(session, 'select * from loaded_mm order by a')).toEqual(['1\ta', '2\tb']);

    await run(session, `load data inpath '${input}/kv.txt' overwrite into table loaded`);
    expect(filesOf('loaded')).toEqual(['kv.txt']);
    expect(readdirSync(input)).toEqual(['more.gz']);
  });

  it('refuses files of another format', async () => {
    await run(session, `create table wrong (a int) stored as parquet ${plain}`);
    const path = join(home.path, 'text-file');
    writeFileSync(path, '1\n');
    await expect(run(session, `load data local inpath '${path}' into table wrong`)).rejects.toThrow(/does not match/);
    expect(filesOf('wrong')).toEqual([]);
  });
});

it('reads originals in subfolders and leaves hidden files out', async () => {
  await run(session, `create table nested (a int) stored as textfile ${plain}`);
  mkdirSync(join(folderOf('nested'), 'union', 'deep'), { recursive: true });
  writeFileSync(join(folderOf('nested'), 'union', 'deep', 'f'), '1\n');
  writeFileSync(join(folderOf('nested'), '_SUCCESS'), '2\n');
  writeFileSync(join(folderOf('nested'), '.tmp'), '3\n');
  expect(await rows(session, 'select a from nested')).toEqual(['1']);
});

it('writes text as Hive does', async () => {
  await run(
    session,
    `create table typed (k int, b boolean, d double, c decimal(10,3), dt date, t timestamp, h char(5), bi binary, a array<int>, m map<string,int>, st struct<x:int,y:array<string>>) stored as textfile ${plain}`,
    `insert into typed select 1, true, 2.0, 1.5, date '2024-02-29', timestamp '2024-02-29 12:34:56.5', 'h', cast('bin' as binary), array(1,2), map('k',1), named_struct('x', 1, 'y', array('p','q'))`,
  );
  expect(readFileSync(join(folderOf('typed'), '000000_0'), 'latin1')).toBe(
    '1\x01true\x012.0\x011.500\x012024-02-29\x012024-02-29 12:34:56.5\x01h    \x01Ymlu\x011\x022\x01k\x031\x011\x02p\x03q\n',
  );
  expect(await rows(session, 'select * from typed')).toEqual([
    '1\ttrue\t2.0\t1.500\t2024-02-29\t2024-02-29 12:34:56.5\th    \tbin\t[1,2]\t{"k":1}\t{"x":1,"y":["p","q"]}',
  ]);
});
