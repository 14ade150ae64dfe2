import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { homeLogger, serviceLogWriter } from './log-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skep-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a home logs lines of JSON to a file that stays small, without those for debugging', () => {
  const path = join(folder, 'skep.log');
  const log = homeLogger(path);
  log.debug({}, 'unheard');
  log.warn({ txnId: 7n }, 'a\nb');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ level: 'warn', txnId: '7', message: 'a\nb' });
  for (let i = 0; i < 30; i++) log.info({ text: 'x'.repeat(100_000) }, 'long');
  expect(existsSync(`${path}.1`)).toBe(true);
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(3 << 20);
});

it('a home that cannot be written has no log, and works', () => {
  homeLogger(join(folder, 'nosuch', 'skep.log')).warn({}, 'lost');
});

it('a service says at its start that its log cannot be written', () => {
  const stderr = { write: () => true };
  expect(() => serviceLogWriter(join(folder, 'nosuch', 'log'), stderr)).toThrow(/--log-file: cannot write .*ENOENT/);
  serviceLogWriter(join(folder, 'log'), stderr)('line\n');
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('line\n');
});
