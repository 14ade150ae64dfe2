// npm run test:interop [-- --keep]: skep's files in the hands of Hive 4.0.1 and pyarrow, and Hive's in skep's.
import { spawnSync } from 'node:child_process';
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
console.log(
  `interop: ${process.exitCode === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(0)} s`,
);
