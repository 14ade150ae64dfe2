import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeFolder } from './make-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'skep-folder-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('makes a folder with those above it, and says where it began', () => {
  expect(makeFolder(join(folder, 'a', 'b', 'c'))).toBe(join(folder, 'a'));
  expect(existsSync(join(folder, 'a/b/c'))).toBe(true);
  expect(makeFolder(join(folder, 'a'))).toBeUndefined();
});

it('fails where no folder can be made: below /proc, below a file', () => {
  expect(() => makeFolder('/proc/skep/home')).toThrow(/ENOENT|EACCES|EPERM/);
  makeFolder(folder);
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file', 'x'))).toThrow(/ENOTDIR/);
});
