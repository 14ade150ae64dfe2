import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@skep/metadb/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasMariadb, TestDatabase } from '../../packages/metadb/test/mariadb.js';
import { hasOpenssl } from '../../packages/rpc/test/certificates.js';
import { Processes } from './processes.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const text = readFileSync(join(root, 'docs/deployment.md'), 'utf8');
const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block.trim().split('\n'));
const blockWith = (part: string): readonly string[] => {
  const found = blocks.filter((lines) => lines.some((line) => line.includes(part)));
  expect(found, part).toHaveLength(1);
  return found[0];
};

let folder: string;
let skep: Processes;
beforeAll(async () => {
  skep = await Processes.open({});
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-deployment-'));
});
afterEach(() => {
  skep.endAll();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => skep?.endAll());

/** Words of a command line with double quotes around some. */
const words = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]);

/** Runs a block in a folder of its own, and on ports that are free; `more` replaces what is elsewhere. */
async function run(
  lines: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<(port: number) => string> {
  const used = new Set(
    [...lines.join(' ').matchAll(/(?:127\.0\.0\.1|0\.0\.0\.0|localhost):(90\d\d)/g)].map(([, port]) => port),
  );
  const ports = new Map(await Promise.all([...used].map(async (port) => [port, await freePort()] as const)));
  const here = (line: string) =>
    Object.entries(more)
      .reduce((now, [there, mine]) => now.replaceAll(there, mine), line)
      .replace(/:(90\d\d)\b/g, (whole, port) => (ports.has(port) ? `:${ports.get(port)}` : whole));
  const starting: Promise<unknown>[] = [];
  for (const line of lines.map(here)) {
    const [program, ...args] = words(line);
    if (program !== 'skep') {
      execFileSync('bash', ['-euc', line], { cwd: folder, stdio: 'pipe' });
    } else if (args[0] === 'metastore') {
      const started = skep.start(args, {}, folder);
      // Those that need each other are ready when all are there.
      if (line.includes('--peer')) starting.push(started);
      else await started;
    } else {
      await Promise.all(starting);
      if (['compactor', 'data'].includes(args[0])) {
        await skep.start(args, {}, folder);
        continue;
      }
      const { code, err } = await skep.run(args, {}, folder);
      expect(code, `${line}: ${err}`).toBe(0);
    }
  }
  return (port) => `:${ports.get(String(port))}`;
}

async function sql(address: string, statement: string, ...flags: string[]): Promise<string> {
  const { code, out, err } = await skep.run(['--metastore', address, ...flags, '-e', statement], {}, folder);
  expect(code, err).toBe(0);
  return out;
}

describe('docs/deployment.md works as written', { timeout: 180_000 }, () => {
  it('all blocks are known here', () => {
    expect(blocks).toHaveLength(4);
    expect(text.match(/<!-- tested/g)).toHaveLength(4);
  });

  it('its start', async () => {
    const at = await run(blockWith('sqlite:store'));
    expect(await sql(`127.0.0.1${at(9083)}`, 'select count(*) from emp')).toBe('2\n');
  });

  it('each service in a process of its own', async () => {
    const at = await run(blockWith('--services locks'));
    const services = ['catalog', 'transactions', 'locks', 'compaction'];
    const everywhere = services.map((name, i) => `${name}=127.0.0.1${at(9091 + i)}`).join(',');
    expect(await sql(everywhere, "show databases like 'sales'")).toBe('sales\n');
  });

  it.skipIf(!hasOpenssl())('certificates and tokens', async () => {
    const at = await run(blockWith('openssl'));
    const ann = ['--tls-ca', 'ca.pem', '--token-file', 'ann.token', '--user', 'ann'];
    expect(await sql(`localhost${at(9083)}`, 'select count(*) from t', ...ann)).toBe('2\n');
    expect(await sql(`localhost${at(9083)}`, 'show compactions', ...ann)).toMatch(/ready for cleaning|succeeded/);
    const nobody = await skep.run(
      ['--metastore', `localhost${at(9083)}`, '--tls-ca', 'ca.pem', '-e', 'select 1'],
      {},
      folder,
    );
    expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('a token is needed') });
  });

  it.skipIf(!hasMariadb)('several metastores on MariaDB', async () => {
    const database = await TestDatabase.create();
    try {
      const url = new URL(database.url);
      writeFileSync(join(folder, 'db-password'), `${url.password}\n`);
      const at = await run(blockWith('db-password'), {
        'skep@127.0.0.1:3306/metastore': `${url.username}@${url.host}${url.pathname}`,
        'file:/warehouse': `file:${folder}/warehouse`,
      });
      expect(await sql(`127.0.0.1${at(9084)}`, "show databases like 'sales'")).toBe('sales\n');
    } finally {
      skep.endAll();
      await database.drop();
    }
  });
});
