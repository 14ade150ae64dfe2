import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAJOR, World } from '../../test/world.js';

/** Several processes on one SQLite file. They run a bundle of the sources, as plain Node cannot run TypeScript. */

const here = dirname(fileURLToPath(import.meta.url));
// Inside the repository, so that the native module is found.
const bundle = join(here, `../../../../node_modules/.cache/skep-compactor/queue-worker-${process.pid}.mjs`);
const folder = mkdtempSync(join(tmpdir(), 'skep-queue-'));

beforeAll(async () => {
  await build({
    entryPoints: [join(here, '../../test/queue-worker.ts')],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['source'],
    external: ['better-sqlite3', 'mysql2', '@grpc/grpc-js'],
  });
});
afterAll(() => {
  rmSync(bundle, { force: true });
  rmSync(folder, { recursive: true });
});

function takeAll(workerId: string): Promise<string[]> {
  const args = [bundle, `sqlite:${folder}/m.db`, workerId];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  return new Promise((resolve) => child.on('close', () => resolve(output.split('\n').filter((line) => line !== ''))));
}

it('gives each request to one of several processes', async () => {
  const world = await World.open({ folder });
  for (let i = 0; i < 150; i++) await world.compact(MAJOR, { table: `t${i}` });
  const taken = await Promise.all([takeAll('here-1'), takeAll('here-2'), takeAll('here-3')]);
  const ids = taken.flat().map(Number);
  expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  expect(await world.count('COMPACTION_QUEUE')).toBe(0);
  expect(await world.count('COMPLETED_COMPACTIONS')).toBe(150);
  await world.close();
});
