import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Processes } from './processes.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = mkdtempSync(join(tmpdir(), 'skep-deployment-'));
let skep: Processes;
beforeAll(async () => {
  skep = await Processes.open({});
}, 60_000);
afterAll(() => {
  skep?.endAll();
  rmSync(folder, { recursive: true, force: true });
});

/** Words of a command line with double quotes around some. */
const words = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]);

it('docs/deployment.md: what it starts with works as written', { timeout: 180_000 }, async () => {
  const text = readFileSync(join(root, 'docs/deployment.md'), 'utf8');
  const lines = (/```sh\n(.*?)```/s.exec(text)?.[1] ?? '').trim().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  let address = '';
  for (const line of lines) {
    // In a folder of its own, and on a port that is free.
    const args = words(line.replace('sqlite:store', `sqlite:${folder}`)).slice(1);
    const here = args.map((arg) => arg.replace('127.0.0.1:9083', address || '127.0.0.1:0'));
    if (['metastore', 'compactor'].includes(args[0])) {
      const running = await skep.start(here);
      if (args[0] === 'metastore') address = running.address;
      continue;
    }
    const { code, err } = await skep.run(here);
    expect(code, `${line}: ${err}`).toBe(0);
  }
  const { out } = await skep.run(['--metastore', address, '-e', 'select count(*) from emp']);
  expect(out).toBe('2\n');
});
