import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Home, openHome } from '../../apps/cli/src/home.js';
import { freshHome, rows, run } from './harness.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const manyRows =
  "select pos, concat('some text to fill a file with ', pos) from (select 1) q lateral view posexplode(split(space(1999999), ' ')) e as pos, x";

let victim: string;
beforeAll(async () => {
  const { bundleSource } = await import('../../scripts/bundle-source.mjs');
  victim = await bundleSource('test/session/victim.ts', 'victim');
});

/** Starts a process on the home and waits for what `until` sees. */
async function start(
  path: string,
  statements: readonly string[],
  until: (output: string) => boolean,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [victim, path, ...statements], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
      if (until(output)) resolve();
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.removeAllListeners('exit');
  const gone = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** Waits for a folder whose name begins so: the write is under way. */
async function appears(folder: string, prefix: string): Promise<void> {
  for (let i = 0; i < 4000; i++) {
    if (existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(prefix))) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no ${prefix}… appeared in ${folder}`);
}

describe('kill -9', { timeout: 180_000 }, () => {
  it('in the middle of an INSERT: the table as before, the next start works at once', async () => {
    const first = await freshHome();
    const { path, warehouse } = first;
    await run(first.newSession(), `create table t (id int, name string) ${acid}`, "insert into t values (1, 'a')");
    await first.close();
    const child = await start(path, [`insert into t ${manyRows}`], (output) => output.includes('start'));
    await appears(join(warehouse, 't'), 'delta_0000002');
    await kill(child);
    const home: Home = await openHome({ path, env: {} });
    const session = home.newSession();
    expect(await rows(session, 'select * from t')).toEqual(['1\ta']);
    await run(session, "update t set name = 'b'", 'insert overwrite table t select id + 1, name from t');
    expect(await rows(session, 'select * from t')).toEqual(['2\tb']);
    expect(await rows(session, 'show locks')).toHaveLength(1);
    expect((await rows(session, 'show transactions')).slice(1).map((row) => row.split('\t')[1])).toEqual(['ABORTED']);
    await home.close();
  });

  it('in the middle of a compaction: nothing is lost, and the compaction is done by the next start', async () => {
    const first = await freshHome();
    const { path, warehouse } = first;
    const setup = first.newSession();
    await run(
      setup,
      `create table t (id int, name string) ${acid}`,
      `insert into t ${manyRows}`,
      'delete from t where id % 10 = 0',
    );
    const [before] = await rows(setup, 'select count(*), sum(id) from t');
    await first.close();
    const child = await start(path, ["alter table t compact 'major' and wait"], (output) => output.includes('start'));
    await appears(join(warehouse, 't'), 'base_');
    await kill(child);
    const home = await openHome({ path, env: {} });
    const session = home.newSession();
    expect(await rows(session, 'select count(*), sum(id) from t')).toEqual([before]);
    expect((await rows(session, 'show compactions'))[1].split('\t')[5]).toBe('initiated');
    expect(await home.compactor.runWorkerOnce()).toBe(true);
    await home.compactor.runCleanerOnce();
    expect(await rows(session, 'select count(*), sum(id) from t')).toEqual([before]);
    const folders = readdirSync(join(warehouse, 't'));
    expect(folders.filter((name) => !/^base_\d+_v\d+$/.test(name))).toEqual([]);
    await home.close();
  });

  it('with a transaction of several statements open: nothing of it is seen, its locks are free at once', async () => {
    const home = await freshHome();
    const session = home.newSession();
    await run(
      session,
      `create table t (id int) ${acid}`,
      `create table p (id int) partitioned by (k int) ${acid}`,
      'insert into t values (1), (2)',
    );
    const statements = [
      'start transaction',
      'insert into t values (3)',
      'delete from t where id = 1',
      'insert into p select id, id from t',
      'update t set id = id * 10',
      `select count(*) from (${manyRows}) a join (${manyRows}) b on a.pos % 1000 = b.pos % 1000`,
    ];
    const child = await start(home.path, statements, (output) => output.includes('done update'));
    expect((await rows(session, 'show transactions')).slice(1).map((row) => row.split('\t')[1])).toContain('OPEN');
    expect(await rows(session, 'select * from t order by id')).toEqual(['1', '2']);
    await kill(child);
    await run(
      session,
      'start transaction',
      'update t set id = id + 5',
      'insert overwrite table p select 1, 1',
      'commit',
    );
    expect(await rows(session, 'select * from t order by id')).toEqual(['6', '7']);
    expect(await rows(session, 'select * from p')).toEqual(['1\t1']);
    expect(await rows(session, 'show locks')).toHaveLength(1);
    await home.close();
  });

  it('of a process that holds a lock: others go on at once', async () => {
    const home = await freshHome();
    const session = home.newSession();
    await run(session, `create table t (id int) ${acid}`, 'insert into t values (1)');
    const child = await start(home.path, [`insert overwrite table t select pos from (${manyRows}) x`], (output) =>
      output.includes('start'),
    );
    await appears(join(home.warehouse, 't'), 'base_');
    await kill(child);
    expect(await rows(session, 'select * from t')).toEqual(['1']);
    await home.close();
  });
});
