// pyarrow.flight against `skep data` on a home of its own: test/interop/flight/check.py. Part of npm run test:interop; alone:
// node scripts/interop-flight.mjs
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleSource, ROOT } from './bundle-source.mjs';

const SOURCES = join(ROOT, 'test/interop/flight');
const PYTHON = join(ROOT, '.cache/venv/bin/python');
const READY = /ready on (\S+):/;

/** Whether all of its checks pass. */
export async function flightAgrees() {
  const dir = mkdtempSync(join(tmpdir(), 'skep-interop-flight-'));
  const start = performance.now();
  const env = { ...process.env, SKEP_HOME: join(dir, 'home'), TZ: 'UTC' };
  let server;
  try {
    const main = pathToFileURL(await bundleSource('apps/cli/src/main.ts', 'interop-flight')).href;
    const skep = join(dir, 'skep.mjs');
    writeFileSync(skep, `import { main } from '${main}';\nprocess.exitCode = await main(process.argv.slice(2));\n`);
    const made = spawnSync(process.execPath, [skep, '-f', join(SOURCES, 'tables.sql')], { env, encoding: 'utf8' });
    if (made.status !== 0) {
      console.error(made.stderr);
      return false;
    }
    server = await startServer(skep, env);
    const check = [join(SOURCES, 'check.py'), server.address];
    const { status, stdout, stderr } = spawnSync(PYTHON, check, { env, encoding: 'utf8', timeout: 300_000 });
    const counts = /^(\d+) passed, (\d+) failed$/m.exec(stdout ?? '');
    const isGood = status === 0 && counts !== null && Number(counts[1]) > 0 && counts[2] === '0';
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`pyarrow.flight and skep data: ${counts?.[0] ?? 'ended without counts'} (${seconds} s)`);
    if (!isGood) console.error(`${stdout}${stderr}`.trimEnd());
    return isGood;
  } finally {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startServer(skep, env) {
  const args = [skep, 'data', '--listen', '127.0.0.1:0', '--log-level', 'error'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = READY.exec(text);
      if (found !== null) resolve(found[1]);
    });
    ended.then(() => reject(new Error('skep data ended before it was ready')));
  });
  return {
    address,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

if (process.argv[1] === join(ROOT, 'scripts/interop-flight.mjs')) {
  process.exitCode = (await flightAgrees()) ? 0 : 1;
}
