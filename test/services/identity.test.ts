import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { freePort } from '@skep/metadb/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FlightDescriptor_DescriptorType, FlightServiceService } from '../../packages/flight/src/gen/flight.js';
import {
  hasOpenssl,
  makeAuthority,
  makeCertificate,
  makeExpiredCertificate,
  type Pair,
} from '../../packages/rpc/test/certificates.js';
import { Processes, type Running, until } from './processes.js';

const acid = "stored as orc tblproperties ('transactional'='true')";
const hash = (token: string) => createHash('sha256').update(token).digest('hex');
const folder = mkdtempSync(join(tmpdir(), 'skep-identity-'));
const at = (name: string) => join(folder, name);
/** Whose the tables' folders are. */
const owner = userInfo().username;

let skep: Processes;
beforeAll(async () => {
  skep = await Processes.open({});
}, 60_000);
afterEach(() => skep.endAll());
afterAll(() => {
  skep?.endAll();
  rmSync(folder, { recursive: true, force: true });
});

let stores = 0;
/** A metastore on a database of its own. */
const metastore = (...flags: string[]): Promise<Running> =>
  skep.start(['metastore', '--db', `sqlite:${at(`store${++stores}`)}/m.db`, '--listen', '127.0.0.1:0', ...flags]);
const files = (table: string) => readdirSync(at(`store${stores}/warehouse/${table}`)).sort();

async function sql(address: string, flags: readonly string[], statements: string): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, ...flags, '-e', statements]);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}

/** One line that says why. */
async function refused(...args: string[]): Promise<string> {
  const { code, out, err } = await skep.run(args);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  return err;
}

/** A core-site.xml. */
function proxyRules(rules: Readonly<Record<string, string>>): string {
  const properties = Object.entries(rules).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  const file = at(`core-site-${stores}-${properties.length}.xml`);
  writeFileSync(file, `<configuration>${properties.join('')}</configuration>`);
  return file;
}

const tokens = at('tokens');
const users = ['ann', 'bob', 'worker', 'gateway'];
writeFileSync(tokens, users.map((user) => `${user} ${hash(`secret-of-${user}`)}\n`).join(''));
/** Flags of who comes with a token. */
function byToken(user: string): string[] {
  writeFileSync(at(`${user}.token`), `secret-of-${user}\n`);
  return ['--token-file', at(`${user}.token`), '--user', user];
}

describe('tokens', { timeout: 120_000 }, () => {
  it('say who calls; who has none, a wrong one, or names another, is refused', async () => {
    const { address } = await metastore('--tokens', tokens);
    const create = `create table t (id int) ${acid}; insert into t values (1); select * from t`;
    expect(await sql(address, byToken('ann'), create)).toBe('1\n');
    expect(await refused('--metastore', address, '-e', 'select 1')).toContain('a token is needed');
    writeFileSync(at('wrong.token'), 'guessed\n');
    const wrong = await refused('--metastore', address, '--token-file', at('wrong.token'), '-e', 'select 1');
    expect(wrong).toContain('the token is not known here');
    const [flag, file] = byToken('ann');
    const other = await refused('--metastore', address, flag, file, '--user', 'bob', '-e', 'select * from t');
    expect(other).toContain('User: ann is not allowed to impersonate bob');
    expect(await refused('compactor', '--metastore', address, '--user', 'worker')).toContain('a token is needed');
    const far = await refused('--metastore', 'db.example:9083', flag, file, '-e', 'select 1');
    expect(far).toContain('in plain text: use TLS');
  });
});

describe('acting for another', { timeout: 120_000 }, () => {
  it('goes by the proxy-user rules: users, groups, hosts', async () => {
    const groups = { 'hadoop.user.group.static.mapping.overrides': 'bob=tellers,staff;ann=' };
    const rules = {
      'hadoop.proxyuser.gateway.hosts': '127.0.0.0/8',
      'hadoop.proxyuser.gateway.groups': 'tellers',
      'hadoop.proxyuser.ann.hosts': '10.1.2.3',
      'hadoop.proxyuser.ann.users': '*',
      ...groups,
    };
    const { address } = await metastore('--tokens', tokens, '--config', proxyRules(rules));
    const as = (caller: string, user: string) => [...byToken(caller).slice(0, 2), '--user', user];
    expect(await sql(address, as('gateway', 'bob'), 'start transaction; show transactions; rollback')).toContain('bob');
    const outside = await refused('--metastore', address, ...as('gateway', 'ann'), '-e', 'show transactions');
    expect(outside).toContain('gateway is not allowed to impersonate ann: hadoop.proxyuser.gateway.users and .groups');
    const elsewhere = await refused('--metastore', address, ...as('ann', 'bob'), '-e', 'show transactions');
    expect(elsewhere).toContain('hadoop.proxyuser.ann.hosts does not include 127.0.0.1');
  });

  it('is what a compactor needs for the owner of a table: else the compaction fails and says so', async () => {
    const alone = await metastore('--tokens', tokens);
    await skep.start(['compactor', '--metastore', alone.address, ...byToken('worker')]);
    const make = `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`;
    await sql(alone.address, byToken('ann'), `${make}; alter table t compact 'major'`);
    const state = () => sql(alone.address, byToken('ann'), 'show compactions');
    await until(async () => (await state()).includes('failed'), 'the compaction to fail');
    expect(await state()).toContain(`User: worker is not allowed to impersonate ${owner}`);
    expect(await sql(alone.address, byToken('ann'), 'select count(*) from t; show locks')).not.toContain('ACQUIRED');
    await alone.end();
    const rules = { 'hadoop.proxyuser.worker.hosts': '127.0.0.1', 'hadoop.proxyuser.worker.users': owner };
    const { address } = await metastore('--tokens', tokens, '--config', proxyRules(rules));
    await skep.start(['compactor', '--metastore', address, ...byToken('worker')]);
    await sql(address, byToken('ann'), `${make}; alter table t compact 'major' and wait`);
    await until(() => files('t').length === 1, 'the Cleaner');
  });
});

describe('beyond loopback', { timeout: 60_000 }, () => {
  it.each(['metastore', 'data'])(
    'skep %s listens with TLS and identity, or where the network is trusted',
    async (command) => {
      const where =
        command === 'metastore' ? ['--db', `sqlite:${at(`beyond-${command}`)}/m.db`] : ['--home', at('beyond')];
      const open = [command, ...where, '--listen', '0.0.0.0:0'];
      if (command === 'data') await skep.run(['-e', 'select 1'], { SKEP_HOME: at('beyond') });
      expect(await refused(...open)).toMatch(/it needs TLS .* and a way to know who calls/);
      expect(await refused(...open, '--tokens', tokens)).toContain('it needs TLS');
      const trusting = await skep.start([...open, '--insecure']);
      expect(trusting.address).toMatch(/^0\.0\.0\.0:/);
      await trusting.end();
    },
  );
});

describe.skipIf(!hasOpenssl())('TLS', { timeout: 180_000 }, () => {
  let authority: Pair;
  let server: Pair;
  const pair = (name: string) => makeCertificate(folder, authority, name, `DNS:${name}.example`);
  const serving = ({ certFile, keyFile }: Pair) => ['--tls-cert', certFile, '--tls-key', keyFile];
  const showing = ({ certFile, keyFile }: Pair) => ['--client-cert', certFile, '--client-key', keyFile];
  let trust: string[];
  beforeAll(() => {
    authority = makeAuthority(folder, 'authority');
    server = makeCertificate(folder, authority, 'server', 'DNS:localhost,IP:127.0.0.1');
    trust = ['--tls-ca', authority.certFile];
  });

  it('with tokens serves shells, health and compactors; a listener beyond loopback too', async () => {
    const rules = { 'hadoop.proxyuser.worker.hosts': '*', 'hadoop.proxyuser.worker.users': owner };
    const flags = [...serving(server), '--tokens', tokens, '--config', proxyRules(rules)];
    const running = await metastore(...flags, '--listen', '0.0.0.0:0');
    const address = running.address.replace('0.0.0.0', 'localhost');
    await skep.start(['compactor', '--metastore', address, ...trust, ...byToken('worker')]);
    const make = `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`;
    await sql(address, [...trust, ...byToken('ann')], `${make}; alter table t compact 'major' and wait`);
    await until(() => files('t').length === 1, 'the Cleaner');
    const ip = running.address.replace('0.0.0.0', '127.0.0.1');
    expect(await sql(ip, [...trust, ...byToken('ann')], 'select count(*) from t')).toBe('2\n');
    expect(await skep.run(['health', address, ...trust])).toMatchObject({
      code: 0,
      out: `${address} serves\n`,
      err: '',
    });
    expect((await running.end()).code).toBe(0);
  });

  it('that cannot work is one error', async () => {
    const [{ address }, plain] = await Promise.all([metastore(...serving(server), '--tokens', tokens), metastore()]);
    const stranger = makeAuthority(folder, 'stranger');
    const mixed = { certFile: server.certFile, keyFile: authority.keyFile };
    const shell = (flags: readonly string[], where = address) =>
      refused('--metastore', where, ...byToken('ann'), ...flags, '-e', 'select 1');
    const db = ['metastore', '--db', `sqlite:${at('unused')}/m.db`];
    const cases: [Promise<string>, string | RegExp][] = [
      [
        shell(['--tls-ca', stranger.certFile]),
        `the certificate of ${address} is refused here: unable to verify the first certificate: --tls-ca says whom to trust`,
      ],
      [shell(['--tls']), 'is refused here'],
      [shell([...trust, '--tls-server-name', 'other.example']), /is refused here: .*other\.example/],
      [shell([]), 'it may want TLS'],
      [shell(trust, plain.address), `${plain.address} does not speak TLS`],
      [shell([...trust, '--client-cert', server.certFile]), '--client-cert and --client-key belong together'],
      [shell([...trust, ...showing(mixed)]), `certificate ${server.certFile} and key ${authority.keyFile} are no pair`],
      [refused('health', address, '--tls-ca', at('none.pem')), `cannot read the authorities file ${at('none.pem')}`],
      [refused(...db, '--tls-cert', server.certFile), '--tls-cert and --tls-key belong together'],
      [refused(...db, '--tls-client-ca', authority.certFile), '--tls-client-ca needs --tls-cert'],
      [refused(...db, ...serving(mixed)), 'are no pair'],
    ];
    for (const [message, expected] of cases) expect(await message).toMatch(expected);
  });

  it('of a server whose certificate has expired, or is for another host, is refused', async () => {
    const old = await metastore(...serving(makeExpiredCertificate(folder, authority, 'old', 'IP:127.0.0.1')));
    expect(await refused('--metastore', old.address, ...trust, '-e', 'select 1')).toContain('certificate has expired');
    const other = await metastore(...serving(makeCertificate(folder, authority, 'other', 'DNS:other.example')));
    const mismatch = await refused('--metastore', other.address, ...trust, '-e', 'select 1');
    expect(mismatch).toMatch(/refused here: .*127\.0\.0\.1/);
    expect(await sql(other.address, [...trust, '--tls-server-name', 'other.example'], 'select 1')).toBe('1\n');
  });

  it('of both sides says who calls; without a certificate, or with one it does not take, nobody gets in', async () => {
    const mutual = [...serving(server), '--tls-client-ca', authority.certFile];
    const { address } = await metastore(...mutual);
    const ann = [...trust, ...showing(pair('ann'))];
    await sql(address, [...ann, '--user', 'ann'], `create table t (id int) ${acid}; insert into t values (1)`);
    const bob = await refused('--metastore', address, ...ann, '--user', 'bob', '-e', 'select * from t');
    expect(bob).toContain('User: ann is not allowed to impersonate bob');
    const shell = (...flags: string[]) => refused('--metastore', address, ...trust, ...flags, '-e', 'select 1');
    const not = /refuses the certificate shown|may not take the certificate shown to it/;
    const stranger = makeAuthority(folder, 'stranger2');
    const cases: [Promise<string>, RegExp][] = [
      [shell(), /asks for a certificate of its clients|may want a certificate/],
      [shell(...showing(makeCertificate(folder, stranger, 'ann', 'DNS:forged'))), not],
      [shell(...showing(makeExpiredCertificate(folder, authority, 'ann', 'DNS:old'))), not],
    ];
    for (const [message, expected] of cases) expect(await message).toMatch(expected);
    const byDns = await metastore(...mutual, '--certificate-name', 'DNS');
    const show = 'start transaction; show transactions; rollback';
    expect(await sql(byDns.address, [...ann, '--user', 'ann.example'], show)).toContain('ann.example');
  });

  it('holds services together that are processes of their own, each with its certificate', async () => {
    const names = ['catalog', 'transactions', 'locks', 'compaction'] as const;
    const own = makeCertificate(folder, authority, 'service', 'DNS:localhost,IP:127.0.0.1');
    const rules = { 'hadoop.proxyuser.worker.hosts': '127.0.0.1', 'hadoop.proxyuser.worker.users': owner };
    const config = proxyRules(rules);
    const db = `sqlite:${at(`store${++stores}`)}/m.db`;
    const ports = new Map(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
    const address = (name: (typeof names)[number]) => `127.0.0.1:${ports.get(name)}`;
    const flags = [
      ...serving(own),
      '--tls-client-ca',
      authority.certFile,
      ...trust,
      ...showing(own),
      '--config',
      config,
    ];
    const start = (name: (typeof names)[number]) => {
      const peers = names
        .filter((other) => other !== name)
        .flatMap((other) => ['--peer', `${other}=${address(other)}`]);
      return skep.start(['metastore', '--db', db, '--listen', address(name), '--services', name, ...peers, ...flags]);
    };
    await Promise.all(names.map(start));
    const everywhere = names.map((name) => `${name}=${address(name)}`).join(',');
    const worker = [...trust, ...showing(pair('worker')), '--user', 'worker'];
    await skep.start(['compactor', '--metastore', everywhere, ...worker]);
    const ann = [...trust, ...showing(pair('ann')), '--user', 'ann'];
    await sql(everywhere, ann, `create table t (id int) ${acid}; insert into t values (1); insert into t values (2)`);
    await sql(everywhere, ann, "update t set id = 3 where id = 2; alter table t compact 'major' and wait");
    await until(() => files('t').length === 1, 'the Cleaner');
    expect(await sql(everywhere, ann, 'select * from t order by id')).toBe('1\n3\n');
    expect(await sql(everywhere, ann, 'show locks')).not.toContain('ACQUIRED');
  });

  it('skep data: one certificate for its callers, another for the metastore, where it acts for them', async () => {
    const rules = { 'hadoop.proxyuser.flight.hosts': '127.0.0.1', 'hadoop.proxyuser.flight.users': 'ann' };
    const mutual = [...serving(server), '--tls-client-ca', authority.certFile, '--config', proxyRules(rules)];
    const { address } = await metastore(...mutual);
    const ann = [...trust, ...showing(pair('ann')), '--user', 'ann'];
    await sql(address, ann, `create table t (id int) ${acid}; insert into t values (1)`);
    // Callers know it by a certificate of an authority that the metastore has not heard of.
    const outside = makeAuthority(folder, 'outside');
    const shown = makeCertificate(folder, outside, 'flight-outside', 'DNS:localhost,IP:127.0.0.1');
    const towards = [...trust, ...showing(pair('flight')), '--user', 'flight'];
    const callers = [...serving(shown), '--tokens', tokens];
    const data = await skep.start(['data', '--listen', '127.0.0.1:0', '--metastore', address, ...callers, ...towards]);
    const asked = flightInfo(data.address, outside, 'secret-of-ann');
    await expect(asked).resolves.toBeGreaterThan(0);
    expect(await sql(address, ann, 'show transactions')).toMatch(/\tann\t/);
    const bob = flightInfo(data.address, outside, 'secret-of-bob');
    await expect(bob).rejects.toThrow('User: flight is not allowed to impersonate bob');
    await expect(flightInfo(data.address, outside, 'guessed')).rejects.toThrow('the token is not known here');
    await expect(flightInfo(data.address, authority, 'secret-of-ann')).rejects.toThrow(/certificate/);
    // With the server's certificate alone it has none for the metastore.
    const none = await refused('data', '--listen', '127.0.0.1:0', '--metastore', address, ...callers, ...trust);
    expect(none).toMatch(/asks for a certificate of its clients|may want a certificate/);
  });
});

/** How many endpoints Flight's answer about the table `t` has. */
function flightInfo(address: string, trusted: Pair, token: string): Promise<number> {
  const client = new grpc.Client(address, grpc.credentials.createSsl(readFileSync(trusted.certFile)));
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const { path, requestSerialize, responseDeserialize } = FlightServiceService.getFlightInfo;
  const cmd = Buffer.from(JSON.stringify({ database: 'default', table: 't' }));
  const request = { type: FlightDescriptor_DescriptorType.CMD, cmd, path: [] };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, answer) => {
      client.close();
      if (answer === undefined) reject(error);
      else resolve(answer.endpoint.length);
    });
  });
}
