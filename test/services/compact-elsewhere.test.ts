import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasOpenssl, makeAuthority, makeCertificate } from '../../packages/rpc/test/certificates.js';
import { Processes, type Running, until } from './processes.js';

/** `skep compactor --data`: metastore, data service and compactor as processes, of which the last cannot reach the files. */

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const acid = "stored as orc tblproperties ('transactional'='true')";
let skep: Processes;
let folder: string;

beforeAll(async () => {
  skep = await Processes.open({});
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-elsewhere-'));
});
afterEach(() => {
  skep.endAll();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => skep?.endAll());

const metastore = (...more: string[]): Promise<Running> =>
  skep.start([
    'metastore',
    ...['--db', `sqlite:${folder}/store/metastore.db`, '--listen', '127.0.0.1:0', '--initiator', 'off'],
    ...more,
  ]);

const data = (address: string, listen = '127.0.0.1:0', ...more: string[]): Promise<Running> =>
  skep.start(['data', '--metastore', address, '--listen', listen, ...more]);

/** Node's permissions: it may read the program and nothing else, neither the warehouse nor the metastore's database. */
function withoutFiles(...readable: string[]): Record<string, string> {
  const [major] = process.versions.node.split('.').map(Number);
  const flag = major >= 23 ? '--permission' : '--experimental-permission';
  const reads = [root, ...readable].map((path) => `--allow-fs-read=${path}/*`);
  return { NODE_OPTIONS: [flag, '--allow-addons', ...reads].join(' '), NODE_NO_WARNINGS: '1' };
}

const compactor = (address: string, ...more: string[]): Promise<Running> =>
  skep.start(['compactor', '--metastore', address, ...more], withoutFiles());

async function sql(address: string, statements: string, ...more: string[]): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, ...more, '-e', statements]);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}

const files = (table: string) => readdirSync(join(folder, 'store/warehouse', table)).sort();
const bases = (table: string) => files(table).filter((name) => name.startsWith('base_'));
const requests = async (address: string) =>
  (await sql(address, 'show compactions'))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t')[5]);

/** Enough for a compaction to be met in the middle. */
const many = (count: number) =>
  `select pos, concat('text to fill a file with ', pos) from (select 1) q lateral view posexplode(split(space(${count - 1}), ' ')) e as pos, x`;
async function bigTable(address: string): Promise<void> {
  await sql(address, `create table t (id int, v string) ${acid}; insert into t ${many(800_000)}`);
  await sql(address, 'delete from t where id % 10 = 0');
}
const LEFT = '720000\n';
const begun = () => until(() => bases('t').length === 1, 'a base to appear');

describe('compactions of a compactor that has no files', { timeout: 240_000 }, () => {
  it('are done by the data service: minor and major, partitions, insert-only tables, rebalance', async () => {
    const { address } = await metastore();
    const service = await data(address);
    const worker = await compactor(address, '--data', service.address, '--threads', '3');
    await sql(
      address,
      `create table a (id int, v string) ${acid}; insert into a values (1, 'x'), (2, 'y'); insert into a values (3, 'z');
       delete from a where id = 1; create table p (id int) partitioned by (k int) ${acid};
       insert into p partition (k=1) values (1); insert into p partition (k=1) values (2); insert into p partition (k=2) values (3);
       create table m (id int) stored as orc tblproperties ('transactional'='true', 'transactional_properties'='insert_only');
       insert into m values (1); insert into m values (2)`,
    );
    await sql(
      address,
      "alter table a compact 'minor' and wait; alter table p partition (k=1) compact 'major' and wait; alter table m compact 'major' and wait",
    );
    await until(() => files('p/k=1').length === 1 && files('m').length === 1, 'the Cleaner');
    expect(files('a').some((name) => /^delta_0000001_0000003_v\d+$/.test(name))).toBe(true);
    expect(files('p/k=2')).toEqual([expect.stringMatching(/^delta_/)]);
    await sql(address, "alter table a compact 'major' and wait");
    // As in Hive: there is no such compaction (compact_insert_only in test/golden).
    const refused = await skep.run([...['--metastore', address, '-e', "alter table m compact 'rebalance' and wait"]]);
    expect({ code: refused.code, err: refused.err }).toEqual({
      code: 1,
      err: expect.stringMatching(/REBALANCE compaction is not supported on insert only tables/),
    });
    await until(() => files('a').length === 1, 'the Cleaner');
    const rows = await sql(
      address,
      'select * from a order by id; select * from p order by id; select * from m order by id',
    );
    expect(rows).toBe('2\ty\n3\tz\n1\t1\n2\t1\n3\t2\n1\n2\n');
    expect((await requests(address)).sort()).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect((await worker.end()).code).toBe(0);
    expect((await service.end()).code).toBe(0);
  });

  it('are not done without one: it really has no files', async () => {
    const { address } = await metastore();
    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    const worker = await compactor(address);
    await sql(address, "alter table t compact 'major'");
    await until(() => /cannot stat .*warehouse\/t/.test(worker.text().err), 'it to try');
    expect(bases('t')).toEqual([]);
  });

  it('wait while the data service is away, and are done when it comes', async () => {
    const { address } = await metastore();
    const first = await data(address);
    const at = first.address;
    await first.end();
    const worker = await compactor(address, '--data', at);
    expect(worker.text().err).toContain(`the data service at ${at} does not answer`);
    await sql(address, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await sql(address, "alter table t compact 'major'");
    await until(() => worker.text().err.includes('compaction given up: it waits again'), 'a log line');
    expect(['initiated', 'working']).toContain((await requests(address))[0]);
    await data(address, at);
    await until(async () => (await requests(address))[0] === 'succeeded', 'the compaction');
    expect(await sql(address, 'select count(*) from t')).toBe('2\n');
  });
});

describe('in the middle of a compaction', { timeout: 240_000 }, () => {
  it('the data service is killed with -9: another goes on, nothing is seen, all is cleaned', async () => {
    const { address } = await metastore();
    const [first, second] = await Promise.all([data(address), data(address)]);
    await bigTable(address);
    const worker = await compactor(address, '--data', `${first.address},${second.address}`);
    await sql(address, "alter table t compact 'major'");
    await begun();
    const [half] = bases('t');
    await first.end('SIGKILL');
    await until(() => worker.text().err.includes('compaction given up: it waits again'), 'the Worker to notice');
    expect(await sql(address, 'select count(*) from t')).toBe(LEFT);
    await until(async () => (await requests(address))[0] === 'succeeded', 'the compaction');
    await until(() => files('t').length === 1, 'the Cleaner');
    expect(bases('t')).not.toEqual([half]);
    expect(await requests(address)).toEqual(['succeeded']);
    expect(await sql(address, 'select count(*) from t')).toBe(LEFT);
    expect(second.text().err).toContain('compaction: files are done');
  });

  it('the compactor is asked to end, or killed with -9: the data service stops and leaves nothing', async () => {
    const { address } = await metastore('--cleaner', 'off');
    const service = await data(address);
    await bigTable(address);
    const stopped = () => service.text().err.split('compaction: stopped, its files go').length - 1;
    for (const [i, how] of (['SIGTERM', 'SIGKILL'] as const).entries()) {
      const worker = await compactor(address, '--data', service.address);
      if (i === 0) await sql(address, "alter table t compact 'major'");
      await begun();
      await worker.end(how);
      await until(() => bases('t').length === 0, `the half base to go after ${how}`);
      expect(stopped()).toBe(i + 1);
    }
    expect(await sql(address, 'select count(*) from t')).toBe(LEFT);
    await compactor(address, '--data', service.address);
    await until(async () => (await requests(address))[0] === 'ready for cleaning', 'another compactor');
    expect(bases('t')).toHaveLength(1);
    expect(await sql(address, 'select count(*) from t')).toBe(LEFT);
  });
});

describe.skipIf(!hasOpenssl())('with TLS and tokens', { timeout: 240_000 }, () => {
  const hash = (token: string) => createHash('sha256').update(token).digest('hex');
  const owner = userInfo().username;

  it('compacts for whom the proxy-user rules of both services allow', async () => {
    const keys = join(folder, 'keys');
    mkdirSync(keys);
    const authority = makeAuthority(keys, 'authority');
    const server = makeCertificate(keys, authority, 'server', 'IP:127.0.0.1');
    const names = ['comp', 'other', 'files', owner];
    const tokens = join(keys, 'tokens');
    writeFileSync(tokens, names.map((name) => `${name} ${hash(`secret-of-${name}`)}\n`).join(''));
    for (const name of names) writeFileSync(join(keys, `token-${name}`), `secret-of-${name}\n`);
    const may = (...callers: string[]) =>
      callers.flatMap((caller) => [
        ...['--hiveconf', `hadoop.proxyuser.${caller}.hosts=*`],
        ...['--hiveconf', `hadoop.proxyuser.${caller}.users=*`],
      ]);
    const serving = ['--tls-cert', server.certFile, '--tls-key', server.keyFile, '--tokens', tokens];
    const as = (name: string) => [
      '--tls-ca',
      authority.certFile,
      '--token-file',
      join(keys, `token-${name}`),
      '--user',
      name,
    ];
    const { address } = await metastore(...serving, ...may('comp', 'other'));
    // For users the data service acts for none: `files` needs no rule of its own.
    const service = await data(address, '127.0.0.1:0', ...serving, ...as('files'), ...may('comp'));
    await sql(
      address,
      `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`,
      ...as(owner),
    );
    const compacts = (name: string) =>
      skep.start(['compactor', '--metastore', address, '--data', service.address, ...as(name)], withoutFiles(keys));
    const refused = await compacts('other');
    const asked = ['--metastore', address, ...as(owner), '-e', "alter table t compact 'major' and wait"];
    const failed = await skep.run(asked);
    expect(failed.err).toContain(`failed: User: other is not allowed to impersonate ${owner}`);
    expect(bases('t')).toEqual([]);
    await refused.end();
    await compacts('comp');
    await sql(address, "alter table t compact 'major' and wait", ...as(owner));
    await until(() => files('t').length === 1, 'the Cleaner');
    expect(bases('t')).toHaveLength(1);
    // Without a token nobody may, and it is said at the start.
    const nobody = await skep.run([
      'compactor',
      '--metastore',
      address,
      '--data',
      service.address,
      '--tls-ca',
      authority.certFile,
    ]);
    expect(nobody).toMatchObject({ code: 1 });
    expect(nobody.err).toContain('a token is needed');
  });
});

describe('what cannot work', { timeout: 120_000 }, () => {
  it('is one clear error: a metastore for a data service, no address', async () => {
    const { address } = await metastore();
    const other = await skep.run(['compactor', '--metastore', address, '--data', address]);
    expect(other).toMatchObject({ code: 1 });
    expect(other.err).toContain(`${address} is no data service that compactions can use`);
    const nonsense = await skep.run(['compactor', '--metastore', address, '--data', 'nonsense']);
    expect(nonsense).toMatchObject({ code: 1 });
    expect(nonsense.err).toContain("'nonsense' is no address");
  });
});
