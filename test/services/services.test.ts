import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@skep/metadb/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Processes, type Running, until } from './processes.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
let skep: Processes;
let folder: string;
let db: string;

beforeAll(async () => {
  skep = await Processes.open({});
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-services-'));
  db = `sqlite:${folder}/metastore.db`;
});
afterEach(() => {
  skep.endAll();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => skep?.endAll());

const metastore = (...more: string[]): Promise<Running> =>
  skep.start(['metastore', '--db', db, '--listen', '127.0.0.1:0', ...more]);

/** Statements on a metastore: what they print. */
async function sql(address: string, statements: string, ...more: string[]): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, ...more, '-e', statements]);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}

const files = (table: string) => readdirSync(join(folder, 'warehouse', table)).sort();

describe('a metastore in a process of its own', { timeout: 180_000 }, () => {
  it('serves sessions and compactors; embedded shells work on the same database', async () => {
    const server = await metastore();
    await skep.start(['compactor', '--metastore', server.address]);
    const { address } = server;
    await sql(address, `create table t (id int, v string) ${acid}; insert into t values (1, 'a'), (2, 'b')`);
    await sql(address, "update t set v = 'c' where id = 2; alter table t compact 'major' and wait");
    expect(await sql(address, 'select * from t order by id')).toBe('1\ta\n2\tc\n');
    expect(await sql(address, 'show compactions')).toContain('\tMAJOR\t');
    expect(await sql(address, 'show locks')).toMatch(/^Lock ID/);
    await until(() => files('t').length === 1, 'the Cleaner');
    expect(files('t')[0]).toMatch(/^base_0000002_v\d+$/);
    const embedded = await skep.run(['-e', 'insert into t values (3, "x"); select count(*) from t'], {
      SKEP_HOME: folder,
    });
    expect(embedded.out).toBe('3\n');
    const byEnvironment = await skep.run(['-e', 'select count(*) from t'], { SKEP_METASTORE: address });
    expect(byEnvironment.out).toBe('3\n');
    expect(await skep.run(['health', address])).toMatchObject({ code: 0, out: `${address} serves\n` });
    expect(await skep.run(['health', address, '--service', 'locks'])).toMatchObject({ code: 0 });
    expect((await server.end()).code).toBe(0);
    expect((await skep.run(['health', address])).code).toBe(1);
  });

  it('takes what belongs to it from itself, and says so', async () => {
    const server = await metastore('--hiveconf', 'hive.txn.timeout=77s');
    const { out, err } = await skep.run(
      ['--metastore', server.address, '--hiveconf', 'hive.txn.timeout=5s', '-e', 'set hive.txn.timeout'],
      { HOME: folder },
    );
    expect(out + err).toContain('hive.txn.timeout=77s');
    expect(err).toContain('hive.txn.timeout belongs to the metastore: it is 77s there, not 5s');
  });

  it('may be started again under sessions and compactors: they come back to it', async () => {
    const first = await metastore();
    const { address } = first;
    const compactor = await skep.start(['compactor', '--metastore', address]);
    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await first.end('SIGKILL');
    const asking = sql(address, 'select count(*) from t');
    const second = await skep.start(['metastore', '--db', db, '--listen', address]);
    expect(await asking).toBe('2\n');
    await sql(address, "alter table t compact 'major' and wait");
    expect(compactor.child.exitCode).toBeNull();
    expect((await compactor.end()).code).toBe(0);
    await second.end();
  });

  it('is found under the next address where the first is gone', async () => {
    const one = await metastore();
    const two = await metastore();
    const both = `${one.address},${two.address}`;
    await sql(both, `create table t (id int) ${acid}; insert into t values (1)`);
    await one.end('SIGKILL');
    expect(await sql(both, 'insert into t values (2); select count(*) from t')).toBe('2\n');
  });
});

describe('each service in its own process', { timeout: 180_000 }, () => {
  it('works as all in one: DDL, DML, locks, compaction, transactions', async () => {
    // Each must know the others before they are there: their ports are taken beforehand.
    const names = ['catalog', 'transactions', 'locks', 'compaction'] as const;
    const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
    const at = (name: string) => `127.0.0.1:${ports[name]}`;
    const started = names.map((name) => {
      const peers = names.filter((other) => other !== name).flatMap((other) => ['--peer', `${other}=${at(other)}`]);
      return skep.start(['metastore', '--db', db, '--listen', at(name), '--services', name, ...peers]);
    });
    const servers = await Promise.all(started);
    const everywhere = names.map((name) => `${name}=${at(name)}`).join(',');
    await skep.start(['compactor', '--metastore', everywhere]);
    await sql(everywhere, `create table p (id int, v string) partitioned by (k int) ${acid}`);
    await sql(everywhere, "insert into p partition (k) values (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)");
    await sql(everywhere, "update p set v = 'z' where id = 2; delete from p where id = 1");
    expect(await sql(everywhere, 'select id, v, k from p order by id')).toBe('2\tz\t1\n3\tc\t2\n');
    await sql(everywhere, "alter table p partition (k=1) compact 'major' and wait");
    await until(() => files('p/k=1').length === 1, 'the Cleaner');
    expect(await sql(everywhere, 'select id, v, k from p order by id')).toBe('2\tz\t1\n3\tc\t2\n');
    expect(await sql(everywhere, 'show locks')).not.toContain('ACQUIRED');
    await sql(everywhere, 'drop table p');
    expect(await sql(everywhere, 'show tables')).toBe('');
    const half = await skep.run(['--metastore', `locks=${at('locks')}`, '-e', 'select 1']);
    expect(half).toMatchObject({ code: 1 });
    expect(half.err).toContain('no address for catalog, transactions, compaction');
    for (const server of servers) expect((await server.end()).code).toBe(0);
  });
});

describe('compactors', { timeout: 240_000 }, () => {
  it('that are started before the metastore wait for it', async () => {
    const port = await freePort();
    const early = skep.start(['compactor', '--metastore', `127.0.0.1:${port}`]);
    const data = skep.start(['data', '--metastore', `127.0.0.1:${port}`, '--listen', '127.0.0.1:0']);
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    await skep.start(['metastore', '--db', db, '--listen', `127.0.0.1:${port}`]);
    for (const { text } of await Promise.all([early, data])) {
      expect(text().err).toContain('the metastore does not answer yet');
    }
  });

  it('of several, each job is done by one', async () => {
    const { address } = await metastore();
    const tables = Array.from({ length: 8 }, (_, i) => `t${i}`);
    await sql(
      address,
      tables
        .map((t) => `create table ${t} (id int) ${acid}; insert into ${t} values (1); insert into ${t} values (2)`)
        .join(';'),
    );
    const start = () => skep.start(['compactor', '--metastore', address, '--threads', '2']);
    const compactors = await Promise.all([start(), start(), start()]);
    await sql(address, tables.map((t) => `alter table ${t} compact 'major'`).join(';'));
    await until(async () => !/initiated|working|ready/.test(await sql(address, 'show compactions')), 'all to be done');
    const lines = (await sql(address, 'show compactions')).trimEnd().split('\n').slice(1);
    expect(lines.map((line) => line.split('\t')[5])).toEqual(tables.map(() => 'succeeded'));
    for (const t of tables) expect(files(t), t).toHaveLength(1);
    for (const compactor of compactors) expect((await compactor.end()).code).toBe(0);
  });

  it('killed with -9 in the middle: another does the job', async () => {
    const { address } = await metastore();
    const many =
      "select pos, concat('text to fill a file with ', pos) from (select 1) q lateral view posexplode(split(space(999999), ' ')) e as pos, x";
    await sql(
      address,
      `create table t (id int, v string) ${acid}; insert into t ${many}; delete from t where id % 10 = 0`,
    );
    const victim = await skep.start(['compactor', '--metastore', address]);
    await sql(address, "alter table t compact 'major'");
    await until(() => files('t').some((name) => name.startsWith('base_')), 'a base to appear');
    await victim.end('SIGKILL');
    await skep.start(['compactor', '--metastore', address]);
    await until(async () => (await sql(address, 'show compactions')).includes('succeeded'), 'the second to do it');
    expect(await sql(address, 'select count(*) from t')).toBe('900000\n');
    await until(() => files('t').length === 1, 'the Cleaner');
  });

  it('asked to end in the middle: done, or as if it had not begun, and another does it', async () => {
    const { address } = await metastore('--housekeeping', 'off');
    const many = 'select pos from (select 1) q lateral view posexplode(split(space(1999999), " ")) e as pos, x';
    await sql(address, `create table t (id int) ${acid}; insert into t ${many}; delete from t where id % 10 = 0`);
    const compactor = await skep.start(['compactor', '--metastore', address]);
    await sql(address, "alter table t compact 'major'");
    await until(() => files('t').some((name) => name.startsWith('base_')), 'a base to appear');
    expect((await compactor.end()).code).toBe(0);
    const state = (await sql(address, 'show compactions')).split('\n')[1].split('\t')[5];
    expect(['initiated', 'ready for cleaning', 'succeeded']).toContain(state);
    if (state === 'initiated') expect(files('t').filter((name) => name.startsWith('base_'))).toEqual([]);
    await skep.start(['compactor', '--metastore', address]);
    await until(() => files('t').length === 1, 'the compaction to be done and cleaned');
    expect(await sql(address, 'select count(*) from t')).toBe('1800000\n');
  });

  it('carry out the requests of their pool', async () => {
    const { address } = await metastore();
    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await skep.start(['compactor', '--metastore', address, '--pool', 'big']);
    await sql(address, "alter table t compact 'major' and wait pool 'big'");
    expect(await sql(address, 'show compactions')).toContain('\tbig\t');
  });
});

describe('several metastores on one database', { timeout: 120_000 }, () => {
  it('started at once on an empty one: one of them cleans; another takes over where it is gone', async () => {
    const [one, two] = await Promise.all([metastore(), metastore()]);
    await skep.start(['compactor', '--metastore', `${one.address},${two.address}`]);
    await sql(one.address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await sql(one.address, "alter table t compact 'major' and wait");
    await until(() => files('t').length === 1, 'the Cleaner');
    await one.end('SIGKILL');
    await sql(two.address, "insert into t values (3); alter table t compact 'major' and wait");
    await until(() => files('t').length === 1, 'the Cleaner of the other');
    expect(await sql(two.address, 'select count(*) from t')).toBe('3\n');
  });
});

describe('what cannot work', { timeout: 60_000 }, () => {
  const fails = async (...args: string[]): Promise<string> => {
    const { code, err } = await skep.run(args);
    expect(code).toBe(1);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    return err;
  };

  it('is one clear error: a port that is taken, a database that is not there, flags', async () => {
    const { address } = await metastore();
    expect(await fails('metastore', '--db', db, '--listen', address)).toContain(`cannot listen on ${address}`);
    const mysql = 'mysql://skep:secret@127.0.0.1:1/metastore';
    const unreachable = await fails('metastore', '--db', mysql, '--warehouse', folder);
    expect(unreachable).toMatch(/127\.0\.0\.1:1.*ECONNREFUSED/);
    expect(unreachable).not.toContain('secret');
    expect(await fails('metastore', '--db', 'oracle:x')).toContain('not of the form sqlite:PATH');
    expect(await fails('metastore', '--db', db, '--services', 'lock')).toContain("no service 'lock'");
    expect(await fails('metastore', '--db', db, '--services', 'locks')).toContain('--peer transactions=HOST:PORT');
    expect(await fails('metastore', '--db', db, '--peer', 'locks')).toContain("'locks' is no address");
    expect(await fails('metastore', '--db', db, '--workers', 'many')).toContain('--workers takes a whole number');
    expect(await fails('metastore', '--db', db, '--tls-cert', 'x')).toContain(
      '--tls-cert and --tls-key belong together',
    );
    expect(await fails('metastore', '--db', `${db}2`, '--listen', '0.0.0.0:0')).toMatch(/insecure/);
    expect(await fails('compactor')).toContain('--metastore HOST:PORT');
    expect(await fails('--metastore', '127.0.0.1:1', '-e', 'select 1')).toContain('is `skep metastore` running there?');
    expect(await fails('--metastore', 'nonsense', '-e', 'select 1')).toContain("'nonsense' is no address");
  });

  it('is said of a home below /proc, and of a warehouse that comes too late', async () => {
    expect((await skep.run(['-e', 'select 1'], { SKEP_HOME: '/proc/skep' })).err).toContain('cannot be made');
    const home = { SKEP_HOME: join(folder, 'home') };
    await skep.run(['-e', 'create database a'], home);
    const late = await skep.run(['--warehouse', join(folder, 'w'), '-e', 'create database b'], home);
    expect(late).toMatchObject({ code: 0 });
    expect(late.err).toContain(`default keeps its tables in file:${folder}/home/warehouse`);
    expect(existsSync(join(folder, 'w/b.db'))).toBe(true);
    expect(existsSync(join(folder, 'home/warehouse/a.db'))).toBe(true);
    expect(readFileSync(join(folder, 'home/metastore.db')).length).toBeGreaterThan(0);
  });
});
