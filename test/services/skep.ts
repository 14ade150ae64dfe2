// The command line from its sources, for tests that start processes: node skep.mjs ARGUMENT…
import { main } from '../../apps/cli/src/main.js';

process.exitCode = await main(process.argv.slice(2));
