// npm run fuzz:orc [-- FILES [SEED]]: reads damaged ORC files, 100,000 when not said, for a nightly job. The first seed is the day's when not
// said, so that each night tries others; a failure names its file and seed, which go into OLD_SEEDS of the test with the fix.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const DAY_MS = 86_400_000;
/** In one process: what it holds in the end is looked at too. */
const PART = 25_000;

const [files = 100_000, seed = (Math.floor(Date.now() / DAY_MS) % 20_000) * 200_000] = process.argv
  .slice(2)
  .map(Number);
if (!Number.isInteger(files) || files < 1 || !Number.isInteger(seed) || seed < 0) {
  console.error('fuzz:orc: FILES and SEED are whole numbers');
  process.exit(1);
}
console.log(`fuzz:orc: ${files} damaged files, seeds ${seed} to ${seed + files - 1}`);
for (let done = 0; done < files; done += PART) {
  const env = {
    ...process.env,
    SKEP_FUZZ_FILES: String(Math.min(PART, files - done)),
    SKEP_FUZZ_SEED: String(seed + done),
  };
  const args = ['vitest', 'run', join('packages', 'orc', 'src', 'reader', 'fuzz.test.ts')];
  const { status } = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
