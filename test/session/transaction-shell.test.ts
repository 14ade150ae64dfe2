import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openHome } from '../../apps/cli/src/home.js';
import { main } from '../../apps/cli/src/main.js';

const acid = "stored as orc tblproperties ('transactional'='true')";

/** The command line on a home of its own. */
function cli(path: string) {
  const texts = { out: '', err: '' };
  const sink = (name: 'out' | 'err') => {
    const stream = new PassThrough();
    stream.on('data', (chunk) => {
      texts[name] += chunk;
    });
    return stream;
  };
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const io = {
    stdin,
    stdout: sink('out'),
    stderr: sink('err'),
    env: { SKEP_HOME: path },
    openHome,
    onInterrupt: () => () => {},
  };
  /** Lines typed into the shell, each when the one before has been answered. */
  const type = async (lines: readonly string[]) => {
    for (const [i, line] of lines.entries()) {
      stdin.write(`${line}\n`);
      while ((texts.err.match(/Time taken/g) ?? []).length <= i) await new Promise((next) => setTimeout(next, 10));
    }
    stdin.end();
  };
  return { texts, type, run: async (...argv: string[]) => await main(argv, io) };
}

const freshPath = (): string => mkdtempSync(join(tmpdir(), 'skep-test-'));
const count = async (path: string): Promise<string> => {
  const { texts, run } = cli(path);
  await run('-e', 'select count(*) from t');
  return texts.out.trim();
};

describe('a transaction on the command line', { timeout: 60_000 }, () => {
  it('that a script leaves open is rolled back, with a message and exit code 1', async () => {
    const path = freshPath();
    const { texts, run } = cli(path);
    expect(await run('-e', `create table t (a int) ${acid}; begin; insert into t values (1)`)).toBe(1);
    expect(texts.err).toMatch(/Transaction txnid:\d+ was not committed: it is rolled back\n$/);
    expect(await count(path)).toBe('0');
  });

  it('ends with the first error of a script; with --force it goes on without the failed statement', async () => {
    const path = freshPath();
    const script = `create table if not exists t (a int) ${acid}; begin; insert into t values (1); insert into t values (1, 2); commit`;
    expect(await cli(path).run('-e', script)).toBe(1);
    expect(await count(path)).toBe('0');
    const forced = cli(path);
    expect(await forced.run('--force', '-e', script)).toBe(1);
    expect(forced.texts.err).toMatch(/Transaction txnid:\d+ is still open: only this statement was undone/);
    expect(await count(path)).toBe('1');
  });

  it('is marked in the prompt, and rolled back at the end of the shell', async () => {
    const path = freshPath();
    const { texts, type, run } = cli(path);
    const shell = run();
    await type([
      `create table t (a int) ${acid};`,
      'begin;',
      'insert into t values (1);',
      'commit;',
      'begin;',
      'insert into t values (2);',
    ]);
    expect(await shell).toBe(0);
    expect(texts.out).toContain('skep (default)*> ');
    expect(texts.err).toMatch(/was not committed: it is rolled back/);
    expect(await count(path)).toBe('1');
  });
});
