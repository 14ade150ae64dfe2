// npm run test:interop [-- --keep --tables=NAME,…]: skep's files in the hands of Hive 4.0.1 and pyarrow, and Hive's in skep's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { bundleSource, ROOT } from './bundle-source.mjs';
import { clientsAgree } from './interop-clients.mjs';
import { flightAgrees } from './interop-flight.mjs';
import { flightClientsAgree } from './interop-flight-clients.mjs';

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
  tables: process.argv
    .find((arg) => arg.startsWith('--tables='))
    ?.slice('--tables='.length)
    .split(','),
});
if (!process.argv.some((arg) => arg.startsWith('--tables=')) && !(await readersAgree())) process.exitCode = 1;
if (!process.argv.some((arg) => arg.startsWith('--tables=')) && !(await clientsAgree())) process.exitCode = 1;
if (!process.argv.some((arg) => arg.startsWith('--tables=')) && !(await flightAgrees())) process.exitCode = 1;
if (!process.argv.some((arg) => arg.startsWith('--tables=')) && !(await flightClientsAgree())) process.exitCode = 1;
if (!process.argv.some((arg) => arg.startsWith('--tables='))) {
  const { sharedMetastore } = await import(
    await bundleSource('test/interop/src/shared-metastore.ts', 'interop-shared')
  );
  if (!(await sharedMetastore(join(ROOT, 'test/interop/oracle')))) process.exitCode = 1;
}
console.log(
  `interop: ${process.exitCode === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(0)} s`,
);

/**
 * Files of every type, codec and option of our writer: pyarrow, pyorc and Java's ORC read the same rows, pyorc also where it jumps,
 * Java also by search arguments.
 */
async function readersAgree() {
  const dir = mkdtempSync(join(tmpdir(), 'skep-interop-orc-'));
  try {
    const makeFiles = await bundleSource('test/interop/orc/make-files.mjs', 'interop-make-files');
    const made = spawnSync(process.execPath, [makeFiles, dir], { stdio: 'inherit' });
    if (made.status !== 0) return false;
    console.log('pyarrow and pyorc read files of every type and codec:');
    const python = join(ROOT, '.cache/venv/bin/python');
    const checked = spawnSync(python, [join(ROOT, 'test/interop/orc/check-files.py'), dir], { stdio: 'inherit' });
    const java = javaReads(dir);
    return (await readsOthers(dir, python)) && java && checked.status === 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Files that pyorc and pyarrow write, with each of their options and of random schemas. */
async function readsOthers(dir, python) {
  const folder = join(dir, 'others');
  console.log('We read files of pyorc and pyarrow:');
  const wrote = spawnSync(python, [join(ROOT, 'test/interop/orc/write-files.py'), folder], { stdio: 'inherit' });
  if (wrote.status !== 0) return false;
  const readFiles = await bundleSource('test/interop/orc/read-files.mjs', 'interop-read-files');
  return spawnSync(process.execPath, [readFiles, folder], { stdio: 'inherit' }).status === 0;
}

/** Java's ORC of Hive's jars, which the oracle has fetched, on the same files and on more of types that only it reads. */
function javaReads(dir) {
  const cache =
    process.env.ORACLE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hive-oracle');
  const jars = join(cache, 'lib/*');
  const classes = join(dir, 'classes');
  const run = (program, args) => spawnSync(program, args, { stdio: 'inherit' }).status === 0;
  console.log("Java's ORC reads files of every type and codec:");
  if (!run('javac', ['-nowarn', '-cp', jars, '-d', classes, join(ROOT, 'test/interop/orc/java/OrcRows.java')]))
    return false;
  const settings = [
    '-Duser.timezone=UTC',
    '-Dhive.log.file=/dev/null',
    `-Dlog4j2.configurationFile=${join(ROOT, 'test/interop/oracle/log4j2.properties')}`,
  ];
  return [dir, join(dir, 'java')].every((folder) => {
    const out = join(folder, 'rows');
    if (!run('java', [...settings, '-cp', `${classes}${delimiter}${jars}`, 'OrcRows', folder, out])) return false;
    return run(process.execPath, [join(ROOT, 'test/interop/orc/check-java.mjs'), folder, out]);
  });
}
