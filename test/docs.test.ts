import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('the generated pages are what the program has', () => {
  const cwd = dirname(dirname(fileURLToPath(import.meta.url)));
  expect(execFileSync(process.execPath, ['scripts/generate-docs.mjs', '--check'], { cwd, encoding: 'utf8' })).toBe('');
});
