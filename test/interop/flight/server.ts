// Arrow Flight over a new home with the recorded tables of Hive in it, and emp of docs/flight.md. `node server.mjs WORK CASES`: prints its address and the
// tables as one line of JSON, and ends when its input does.
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import { serveData } from '@skep/data';
import { createLogger } from '@skep/telemetry/log';
import { ORACLE_SETTINGS, openHome } from '../../golden/src/home-port.js';
import { makeGoldenTables } from './golden-tables.js';

const [work, cases] = process.argv.slice(2);
const log = createLogger({ level: 'warn', now: () => systemClock.now() });
const home = await openHome({ path: join(work, 'home'), hiveconf: { ...ORACLE_SETTINGS } });
const tables = await makeGoldenTables(home, cases);
const session = home.newSession();
await session.execute(
  "CREATE TABLE emp (id int, name string, salary int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
);
await session.close();
const { address, close } = await serveData({ services: home.services, conf: home.conf, serve: {}, log });
process.stdout.write(`${JSON.stringify({ address, tables })}\n`);
process.stdin.resume();
process.stdin.once('end', async () => {
  await close();
  await home.close();
});
