import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@skep/metadb/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processIo } from '../../apps/cli/src/io.js';
import { commandLine } from '../../apps/cli/src/main.js';
import { hasMariadb, TestDatabase } from '../../packages/metadb/test/mariadb.js';
import { parseYaml, type Yaml } from './compose-file.js';
import { Processes, until } from './processes.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: Readonly<Record<string, Yaml>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly user?: string;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, Yaml>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}
const compose = parseYaml(read('docker/compose.yaml')) as unknown as Compose;
const { mariadb, metastore, compactor, client } = compose.services;
const dockerfile = read('docker/Dockerfile');

/** What the command line makes of arguments: the command, its options, and what it does not know. */
function parsed(args: readonly string[]) {
  const program = commandLine(processIo(), () => undefined);
  const { operands, unknown } = program.parseOptions([...args]);
  const command = program.commands.find((one) => one.name() === operands[0]) ?? program;
  const rest = command === program ? unknown : command.parseOptions(unknown).unknown;
  return { name: command.name(), options: command.optsWithGlobals<Record<string, string>>(), unknown: rest };
}

describe('docker/compose.yaml', () => {
  it('gives commands and flags that are there', () => {
    const commands = Object.values(compose.services).flatMap(({ command, healthcheck }) => [
      ...(command === undefined ? [] : [command]),
      ...(healthcheck?.test[1] === 'skep' ? [healthcheck.test.slice(2)] : []),
    ]);
    expect(commands.map((command) => command[0])).toEqual(['metastore', 'health', 'compactor']);
    for (const command of commands)
      expect(parsed(command), command.join(' ')).toMatchObject({ name: command[0], unknown: [] });
    expect(() => parseYaml('a: {b: 1}')).toThrow('line 1: {b: 1}: write it plain');
  });

  it('names hosts, ports, users, files and volumes that are each other’s', () => {
    const { options } = parsed(metastore.command ?? []);
    const port = options.listen.split(':')[1];
    const address = `metastore:${port}`;
    expect(parsed(compactor.command ?? []).options.metastore).toBe(address);
    expect(client.environment?.SKEP_METASTORE).toBe(address);
    expect(metastore.healthcheck?.test.at(-1)).toBe(`127.0.0.1:${port}`);
    const figures = parsed(compactor.command ?? []).options.metrics.split(':')[1];
    expect(compactor.healthcheck?.test.at(-1)).toContain(`http://127.0.0.1:${figures}/metrics`);
    expect(/^EXPOSE (.*)$/m.exec(dockerfile)?.[1].split(' ')).toEqual(expect.arrayContaining([port, figures]));
    const db = new URL(options.db);
    expect(Object.keys(compose.services)).toContain(db.hostname);
    expect(mariadb.environment).toMatchObject({ MARIADB_USER: db.username, MARIADB_DATABASE: db.pathname.slice(1) });
    const [secret] = metastore.secrets ?? [];
    expect(options.dbPasswordFile).toBe(`/run/secrets/${secret}`);
    expect(mariadb.environment?.MARIADB_PASSWORD_FILE).toBe(options.dbPasswordFile);
    expect(mariadb.secrets).toEqual([secret]);
    expect(compose.secrets[secret].file).toBe('secrets/db-password');
    expect(read('.gitignore')).toContain('docker/secrets/');
    for (const service of Object.values(compose.services)) {
      for (const volume of service.volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
      for (const name of Object.keys(service.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(name);
    }
    expect(metastore.volumes[0].split(':')[1]).toBe(options.warehouse.replace('file:', ''));
    const { MARIADB_RANDOM_ROOT_PASSWORD: random, ...others } = mariadb.environment ?? {};
    expect(random).toBe('yes');
    expect(Object.keys(others).filter((name) => name.endsWith('PASSWORD'))).toEqual([]);
  });
});

describe('docker/Dockerfile', () => {
  it('copies what is there, and runs as nobody in particular', () => {
    const copied = [...dockerfile.matchAll(/^COPY --from=build \/skep\/(\S+) \/skep\/(\S+)$/gm)];
    expect(copied.length).toBeGreaterThan(3);
    for (const [, from, to] of copied) {
      expect(from).toBe(to);
      if (!/dist$|node_modules/.test(from)) expect(existsSync(join(root, from)), from).toBe(true);
    }
    expect(dockerfile).toContain('ln -s /skep/apps/cli/bin/skep.mjs /usr/local/bin/skep');
    expect(dockerfile).toMatch(/^USER skep$/m);
    expect(dockerfile.match(/^FROM node:(\d+)/gm)?.every((from) => from === 'FROM node:20')).toBe(true);
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    expect(read('.dockerignore')).toMatch(/^\*$/m);
    for (const path of allowed) expect(existsSync(join(root, path.slice(1))), path).toBe(true);
    // What the build reads besides packages and apps.
    for (const file of ['package.json', 'package-lock.json', 'turbo.json', 'tsconfig.base.json']) {
      expect(allowed).toContain(`!${file}`);
    }
  });

  it('and its README are of the same names', () => {
    const text = read('docker/README.md');
    expect(text).toContain('-f docker/Dockerfile');
    for (const [, service] of text.matchAll(/run --rm (\w+)/g))
      expect(Object.keys(compose.services)).toContain(service);
    for (const [path] of text.matchAll(/docker\/(?:compose\.yaml|Dockerfile)|scripts\/[\w-]+\.sh/g)) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
  });
});

describe.skipIf(!hasMariadb)('what the containers run', { timeout: 180_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'skep-docker-'));
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

  it('works as one, with the addresses of this machine', async () => {
    const url = new URL(database.url);
    writeFileSync(join(folder, 'db-password'), `${url.password}\n`);
    const serving = await freePort();
    const here = (text: string) =>
      text
        .replace('skep@mariadb:3306/metastore', `${url.username}@${url.host}${url.pathname}`)
        .replace('/run/secrets', folder)
        .replace('file:/warehouse', `file:${folder}`)
        .replace('0.0.0.0:9083', `127.0.0.1:${serving}`)
        .replace(/(metastore|127\.0\.0\.1):9083/, `127.0.0.1:${serving}`)
        .replace('0.0.0.0:9108', '127.0.0.1:0');
    const [command, ...flags] = (metastore.command ?? []).map(here);
    await skep.start([command, ...flags]);
    const healthy = await skep.run((metastore.healthcheck?.test.slice(2) ?? []).map(here));
    expect(healthy).toMatchObject({ code: 0, err: '' });
    const compactors = await Promise.all([0, 1].map(() => skep.start((compactor.command ?? []).map(here))));
    const env = Object.fromEntries(
      Object.entries(client.environment ?? {}).map(([name, value]) => [name, here(value)]),
    );
    const sql = async (statements: string) => {
      const { code, out, err } = await skep.run(['-e', statements], env);
      expect(code, err).toBe(0);
      return out;
    };
    const acid = "stored as orc tblproperties ('transactional'='true')";
    await sql(`create table t (id int) ${acid}; insert into t values (1), (2); delete from t where id = 1`);
    expect((await compactors[0].end()).code).toBe(0);
    await sql("alter table t compact 'major' and wait");
    await until(() => readdirSync(join(folder, 't')).length === 1, 'the Cleaner');
    expect(await sql('select * from t')).toBe('2\n');
  });
});
