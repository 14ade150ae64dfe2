import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasMariadb, startMariadb, TestDatabase } from '../../packages/metadb/test/mariadb.js';
import { hasOpenssl, makeAuthority, makeCertificate } from '../../packages/rpc/test/certificates.js';
import { Processes, until } from './processes.js';

const folder = mkdtempSync(join(tmpdir(), 'skep-services-'));

describe.skipIf(!hasMariadb)('a metastore on MariaDB', { timeout: 180_000 }, () => {
  let skep: Processes;
  let database: TestDatabase;
  beforeAll(async () => {
    skep = await Processes.open({});
    database = await TestDatabase.create();
  }, 120_000);
  afterAll(async () => {
    skep?.endAll();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('two of them, started at once on an empty database, with figures and the password from the environment', async () => {
    const url = new URL(database.url);
    const env = { SKEP_DB_PASSWORD: url.password };
    url.password = '';
    const args = ['metastore', '--db', url.href, '--listen', '127.0.0.1:0', '--warehouse', folder];
    const [one, two] = await Promise.all([
      skep.start([...args, '--metrics', '127.0.0.1:0'], env),
      skep.start(args, env),
    ]);
    const both = `${two.address},${one.address}`;
    await skep.start(['compactor', '--metastore', both]);
    const run = async (statements: string) => {
      const { code, out, err } = await skep.run(['--metastore', both, '-e', statements]);
      expect(code, err).toBe(0);
      return out;
    };
    const acid = "stored as orc tblproperties ('transactional'='true')";
    await run(`create table t (id int, v string) ${acid}; insert into t values (1, 'a'), (2, 'b')`);
    await run("update t set v = 'c' where id = 2; delete from t where id = 1; alter table t compact 'major' and wait");
    expect(await run('select * from t')).toBe('2\tc\n');
    await until(() => readdirSync(join(folder, 't')).length === 1, 'the Cleaner');
    const metrics = /metrics on (\S+)/.exec(one.text().out)?.[1];
    const text = await (await fetch(`http://${metrics}/metrics`)).text();
    expect(text).toMatch(/^num_open_transactions 0$/m);
    expect(text).toMatch(/^num_locks 0$/m);
    expect(text).toContain('skep_calls_total');
    await one.end('SIGKILL');
    expect(await run("insert into t values (3, 'd'); select count(*) from t")).toBe('2\n');
    expect((await two.end()).code).toBe(0);
  });

  it.skipIf(!hasOpenssl())('reaches the database over TLS, and trusts nobody else', async () => {
    const authority = makeAuthority(folder, 'database-authority');
    const own = makeCertificate(folder, authority, 'database', 'DNS:localhost');
    const stranger = makeAuthority(folder, 'database-stranger');
    const tls = [`--ssl-cert=${own.certFile}`, `--ssl-key=${own.keyFile}`, `--ssl-ca=${authority.certFile}`];
    const server = await startMariadb({ args: tls });
    try {
      const administrator = await mysql.createConnection({ uri: server.url });
      await administrator.query('SET GLOBAL require_secure_transport = ON');
      await administrator.end();
      const db = (host: string, options: string) => `mysql://APP@${host}:${server.port}/tls${options}`;
      const start = (url: string) => ['metastore', '--db', url, '--listen', '127.0.0.1:0', '--warehouse', folder];
      const env = { SKEP_DB_PASSWORD: 'mine' };
      const running = await skep.start(start(db('localhost', `?sslCa=${authority.certFile}`)), env);
      expect(await skep.run(['--metastore', running.address, '-e', 'show databases'])).toMatchObject({
        out: 'default\n',
      });
      await running.end();
      const anyHost = await skep.start(start(db('127.0.0.1', `?sslCa=${authority.certFile}&sslVerify=ca`)), env);
      await anyHost.end();
      for (const [url, message] of [
        [db('localhost', `?sslCa=${stranger.certFile}`), /certificate/],
        [db('localhost', '?ssl=true'), /certificate/],
        [db('localhost', ''), /it wants TLS \(ssl=true, sslCa\)/],
      ] as const) {
        const { code, err } = await skep.run(start(url), env);
        expect({ code, lines: err.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
        expect(err).toMatch(message);
        expect(err).not.toMatch(/mine|bug/i);
      }
    } finally {
      await server.stop();
    }
  });
});
