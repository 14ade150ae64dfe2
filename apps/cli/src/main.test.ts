import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { allParameters } from '@skep/config';
import { SkepError } from '@skep/core';
import { parseType, type StructVector, vectorOf } from '@skep/orc';
import type { StatementResult } from '@skep/sql';
import { describe, expect, it } from 'vitest';
import type { CliHome, HomeOptions } from './cli-home.js';
import type { CliIo } from './io.js';
import { main } from './main.js';
import { version } from './version.js';

/** A session that answers each statement with its own text, and fails or waits on request. */
function fakeIo(settings: Readonly<Record<string, string>> = {}) {
  const seen: string[] = [];
  const opened: HomeOptions[] = [];
  const out = new PassThrough();
  const err = new PassThrough();
  const texts = { out: '', err: '' };
  out.on('data', (chunk) => {
    texts.out += chunk;
  });
  err.on('data', (chunk) => {
    texts.err += chunk;
  });
  let interrupt = () => {};
  const home: CliHome = {
    newSession: () => ({
      currentDatabase: 'default',
      conf: { get: (name: string) => settings[name] },
      close: async () => {},
      async execute(text: string, signal?: AbortSignal): Promise<StatementResult> {
        seen.push(text);
        if (text === 'fail')
          throw new SkepError('X', 'invalid', 'no such\nthing', { hiveCode: 10001, sqlState: '42S02' });
        if (text === 'wait') {
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        }
        if (!text.startsWith('select')) return { messages: text === 'note' ? ['noted'] : [] };
        const batch = vectorOf(parseType('struct<_c0:string>'), [[text]]) as StructVector;
        return { columns: [{ name: '_c0', type: 'string' }], batches: once(batch), messages: [] };
      },
    }),
    close: async () => {},
  };
  const io: CliIo = {
    stdin: Object.assign(new PassThrough(), { isTTY: true }),
    stdout: out,
    stderr: err,
    env: {},
    openHome: async (options) => {
      opened.push(options);
      return home;
    },
    onInterrupt(callback) {
      interrupt = callback;
      return () => {};
    },
  };
  return { io, seen, opened, texts, interrupt: () => interrupt() };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

describe('skep', () => {
  it('runs -e and -f in order and ends with 0', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'skep-cli-')), 'a.sql');
    writeFileSync(file, "-- a comment; here\nset x = y; -- why\nselect 'a;b'\n");
    const { io, seen, texts } = fakeIo();
    expect(await main(['-e', 'select 1; note;', '-f', file], io)).toBe(0);
    expect(seen).toEqual(['select 1', 'note', 'set x = y', "select 'a;b'"]);
    expect(texts.out).toBe("select 1\nselect 'a;b'\n");
    expect(texts.err).toBe('noted\n');
  });

  it.each([
    ['true', ['select 1', 'fail', 'select 2']],
    ['false', ['select 1', 'fail']],
  ])('goes on after an error with hive.cli.errors.ignore=%s', async (value, statements) => {
    const { io, seen } = fakeIo({ 'hive.cli.errors.ignore': value });
    expect(await main(['-e', 'select 1; fail; select 2'], io)).toBe(1);
    expect(seen).toEqual(statements);
  });

  it('stops at the first error, or goes on with --force, and ends with 1', async () => {
    const first = fakeIo();
    expect(await main(['-e', 'select 1; fail; select 2'], first.io)).toBe(1);
    expect(first.texts.out).toBe('select 1\n');
    expect(first.texts.err).toBe('FAILED: [Error 10001]: no such thing (state 42S02)\n');
    const second = fakeIo();
    expect(await main(['--force', '-e', 'select 1; fail; select 2'], second.io)).toBe(1);
    expect(second.texts.out).toBe('select 1\nselect 2\n');
  });

  it('names file and line of a failed statement', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'skep-cli-')), 'b.sql');
    writeFileSync(file, 'select 1;\n\nfail;\n');
    const { io, texts } = fakeIo();
    expect(await main(['-f', file], io)).toBe(1);
    expect(texts.err).toContain(`(${file}:3)`);
  });

  it.each([
    [
      ['--services', 'locks', '--workers', '2', '--cleaner', 'on'],
      /--cleaner, --workers: for the process that serves compaction/,
    ],
    [['--certificate-name', 'DNS'], /--certificate-name is of the certificates that --tls-client-ca asks for/],
    [['--warehouse', 'hdfs://nn/warehouse'], /warehouse hdfs:\/\/nn\/warehouse: only local folders are supported/],
    [['--hiveconf', 'hive.txn.timeout=0'], /hive\.txn\.timeout expects TIME type value .* of more than 0/],
    [['--config', '/no/such/hive-site.xml'], /--config: cannot read \/no\/such\/hive-site\.xml/],
  ])('metastore %j is refused before anything begins', async (flags, expected) => {
    const fake = fakeIo();
    const db = `sqlite:${mkdtempSync(join(tmpdir(), 'skep-test-'))}/m.db`;
    expect(await main(['metastore', '--db', db, '--listen', '127.0.0.1:0', ...flags], fake.io)).toBe(1);
    expect(fake.texts.err).toMatch(expected);
  });

  it('hands on database, parameters, variables and the warehouse', async () => {
    const { io, seen, opened } = fakeIo();
    const args = ['--hiveconf', 'a.b=c=d', '--hivevar', 'x=1', '-d', 'y=2', '--warehouse', '/w', '--database', 'db'];
    expect(await main([...args, '-e', 'select 1'], io)).toBe(0);
    expect(opened[0]).toMatchObject({
      hiveconf: { 'a.b': 'c=d' },
      hivevar: { x: '1', y: '2' },
      warehouse: '/w',
    });
    expect(seen).toEqual(['use `db`', 'select 1']);
  });

  it('quits, sources files and runs shell commands', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'skep-cli-')), 'c.sql');
    writeFileSync(file, 'select 2;');
    const { io, seen } = fakeIo();
    expect(await main(['-e', `source ${file}; select 3;\nquit;\nselect 4`], io)).toBe(0);
    expect(seen).toEqual(['select 2', 'select 3']);
    expect(await main(['-e', '!exit 3'], fakeIo().io)).toBe(1);
  });

  it('aborts the running statement at Ctrl-C', async () => {
    const { io, interrupt, texts, seen } = fakeIo();
    const ended = main(['-e', 'wait; select 1'], io);
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    interrupt();
    expect(await ended).toBe(1);
    expect(texts.err).toContain('interrupted');
    expect(seen).toEqual(['wait']);
  });

  it('has --version and --help, and says what is wrong with its arguments', async () => {
    const { io, texts } = fakeIo();
    expect(await main(['--version'], io)).toBe(0);
    expect(texts.out).toBe(`${version}\n`);
    expect(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version).toBe(version);
    const help = fakeIo();
    expect(await main(['--help'], help.io)).toBe(0);
    expect(help.texts.out).toContain('Examples:');
    const wrong = fakeIo();
    expect(await main(['--format', 'xml'], wrong.io)).toBe(1);
    expect(wrong.texts.err).toContain('xml');
    const conf = fakeIo();
    expect(await main(['--hiveconf', 'x', '-e', 'select 1'], conf.io)).toBe(1);
    expect(conf.texts.err).toContain('NAME=VALUE');
    const piped = fakeIo();
    const stdin = new PassThrough();
    const read = main([], { ...piped.io, stdin });
    // Its writer takes its time, and cuts where it likes.
    const script = Buffer.from("select 'ä'; note");
    for (const part of [script.subarray(0, 9), script.subarray(9)]) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      stdin.write(part);
    }
    stdin.end();
    expect(await read).toBe(0);
    expect(piped.seen).toEqual(["select 'ä'", 'note']);
    const missing = fakeIo();
    expect(await main(['-f', '/nowhere.sql'], missing.io)).toBe(1);
    expect(missing.texts.err).toMatch(/^skep: cannot read \/nowhere.sql/);
  });
});

describe('the shell', () => {
  it('takes statements over several lines', async () => {
    const { io, seen, texts } = fakeIo();
    const home = mkdtempSync(join(tmpdir(), 'skep-cli-'));
    const ended = main([], { ...io, env: { SKEP_HOME: home } });
    io.stdin.push('select 1,\n  2; note;\nfail;\nselect 3;\nquit\n');
    expect(await ended).toBe(0);
    expect(seen).toEqual(['select 1,\n  2', 'note', 'fail', 'select 3']);
    expect(texts.err).toContain('FAILED: [Error 10001]');
    expect(texts.err).toContain('Fetched: 1 row(s)');
    expect(readFileSync(join(home, 'history'), 'utf8')).toBe('select 1, 2; note\nfail\nselect 3\nquit\n');
  });

  it('ends with its input', async () => {
    const { io } = fakeIo();
    const ended = main([], { ...io, env: { SKEP_HOME: mkdtempSync(join(tmpdir(), 'skep-cli-')) } });
    io.stdin.push(null);
    expect(await ended).toBe(0);
  });
});

describe('skep config', () => {
  it('tells what a parameter means', async () => {
    const { io, texts } = fakeIo();
    expect(await main(['config', 'hive.txn.timeout'], io)).toBe(0);
    expect(texts.out).toMatch(/^hive.txn.timeout\n/);
    const list = fakeIo();
    expect(await main(['config', '--list'], list.io)).toBe(0);
    const lines = list.texts.out.trimEnd().split('\n');
    for (const { name, default: value } of allParameters()) {
      expect(
        lines.some((line) => line.startsWith(`${name}=${value}\t`)),
        name,
      ).toBe(true);
    }
    const misspelt = fakeIo();
    expect(await main(['config', 'hive.txn.timeot'], misspelt.io)).toBe(1);
    expect(misspelt.texts.err).toContain("no parameter 'hive.txn.timeot'; perhaps hive.txn.timeout");
    const pool = fakeIo();
    expect(await main(['config', 'hive.compactor.worker.big.threads'], pool.io)).toBe(0);
    expect(pool.texts.out).toContain('Workers of the pool big');
    const old = fakeIo();
    expect(await main(['config', 'hive.compactor.history.retention.attempted'], old.io)).toBe(0);
    expect(old.texts.out.split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining([
        'hive.compactor.history.retention.did.not.initiate',
        'hive.compactor.history.retention.attempted is an old name',
        'type: int',
        'default: 2',
        expect.stringMatching(/^other names: metastore\.compactor\.history\.retention\.did\.not\.initiate, /),
        'here: as in Hive',
        expect.stringMatching(/^read when the metastore/),
      ]),
    );
    const none = fakeIo();
    expect(await main(['config', 'nosuch.parameter'], none.io)).toBe(1);
    expect(none.texts.err).toContain("no parameter 'nosuch.parameter'");
  });
});
