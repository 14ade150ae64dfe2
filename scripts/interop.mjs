// npm run test:interop [-- --keep]: skep's files in the hands of Hive 4.0.1 and pyarrow, and Hive's in skep's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSource, ROOT } from './bundle-source.mjs';

const start = performance.now();
const setup = spawnSync(join(ROOT, 'scripts/setup-interop.sh'), { stdio: 'inherit' });
if (setup.status !== 0) {
  console.error('interop: what it needs is not there, nothing was tested');
  process.exit(1);
}
process.env.TZ = 'UTC';
const { main } = await import(await bundleSource('test/interop/src/main.ts', 'interop'));
process.exitCode = await main({
  oracle: join(ROOT, 'test/interop/oracle'),
  python: join(ROOT, '.cache/venv/bin/python'),
  readOrc: join(ROOT, 'test/interop/read_orc.py'),
  keep: process.argv.includes('--keep'),
});
if (!(await readersAgree())) process.exitCode = 1;
console.log(
  `interop: ${process.exitCode === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(0)} s`,
);

/** Files of every type, codec and option of our writer: pyarrow and pyorc read the same rows, pyorc also where it jumps. */
async function readersAgree() {
  const dir = mkdtempSync(join(tmpdir(), 'skep-interop-orc-'));
  try {
    const makeFiles = await bundleSource('test/interop/orc/make-files.mjs', 'interop-make-files');
    const made = spawnSync(process.execPath, [makeFiles, dir], { stdio: 'inherit' });
    if (made.status !== 0) return false;
    console.log('pyarrow and pyorc read files of every type and codec:');
    const python = join(ROOT, '.cache/venv/bin/python');
    return spawnSync(python, [join(ROOT, 'test/interop/orc/check-files.py'), dir], { stdio: 'inherit' }).status === 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
