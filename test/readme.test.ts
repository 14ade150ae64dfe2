import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const skep = `"${process.execPath}" "${join(root, 'apps/cli/bin/skep.mjs')}"`;

/** The commands of a console block, each with what it prints. */
function session(block: string): { command: string; output: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command, ...output] = part.split('\n');
      return { command, output: output.join('\n').trimEnd() };
    });
}

it("README's first session runs as printed", { timeout: 120_000 }, () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const block = /```console\n(.*?)```/s.exec(text)?.[1] ?? '';
  const steps = session(block);
  expect(steps.length).toBeGreaterThan(8);
  const cwd = mkdtempSync(join(tmpdir(), 'skep-readme-'));
  const env = { ...process.env, SKEP_HOME: undefined };
  for (const { command, output } of steps) {
    const printed = execFileSync('bash', ['-c', command.replace(/^npx skep/, skep)], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(printed.trimEnd(), command).toBe(output);
  }
});
