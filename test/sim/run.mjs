// npm run sim -- [--seed N | --seeds COUNT [--from N]] [--trace]
import { bundleSource } from '../../scripts/bundle-source.mjs';

const { main } = await import(await bundleSource('test/sim/src/main.ts', 'sim'));
process.exitCode = await main(process.argv.slice(2));
