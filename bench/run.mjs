// npm run bench -- dml|merge-on-read|orc|metastore|compaction|flight|rpc [options]
import { basename } from 'node:path';
import { bundleSource } from '../scripts/bundle-source.mjs';

const [name, ...args] = process.argv.slice(2);
const known = ['dml', 'merge-on-read', 'orc', 'metastore', 'compaction', 'flight', 'rpc'];
if (!known.includes(name)) {
  console.error(`npm run bench -- ${known.join('|')} [options]`);
  process.exit(1);
}
const { main } = await import(await bundleSource(`bench/src/${name}.ts`, `bench-${name}`));
// The command line from its sources, for benchmarks of processes.
process.exitCode = await main(args, {
  skep: () => bundleSource('test/services/skep.ts', 'bench-skep'),
  bundle: (entry) => bundleSource(entry, `bench-${basename(entry, '.ts')}`),
});
