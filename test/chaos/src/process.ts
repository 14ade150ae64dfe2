// One process of a chaos run: node process.mjs client|reader METASTORE SEED partitioned|plain|SUM, or else the command line of skep.
import { main } from '../../../apps/cli/src/main.js';
import { moveMoney } from './client.js';
import { watchSum } from './reader.js';

const [role, metastore, seed, last] = process.argv.slice(2);
if (role === 'client') await moveMoney(metastore, Number(seed), last === 'partitioned');
else if (role === 'reader') await watchSum(metastore, Number(seed), last);
else process.exitCode = await main(process.argv.slice(2));
