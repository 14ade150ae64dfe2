// npm run chaos -- [--seconds 60] [--db sqlite|mariadb] [--clients 8] [--seed N] (odd: a table with partitions)
import { bundleSource } from '../../scripts/bundle-source.mjs';

const { main } = await import(await bundleSource('test/chaos/src/main.ts', 'chaos'));
const bundle = await bundleSource('test/chaos/src/process.ts', 'chaos-process');
process.exitCode = await main(bundle, process.argv.slice(2));
