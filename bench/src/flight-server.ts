// A Flight service on a new home for `npm run bench -- flight`: `node flight-server.mjs HOME`. A line of JSON asks for a statement, the
// answer has the service's address; a line without one asks it to end.
import { createInterface } from 'node:readline';
import { systemClock } from '@skep/core';
import { serveData } from '@skep/data';
import { createLogger } from '@skep/telemetry/log';
import { openHome } from '../../apps/cli/src/home.js';

const home = await openHome({ path: process.argv[2], hiveconf: { 'hive.compactor.initiator.on': 'false' } });
const session = home.newSession();
const log = createLogger({ level: 'warn', now: () => systemClock.now() });
const { address, close } = await serveData({ services: home.services, conf: home.conf, serve: {}, log });
const answer = (fields: object) => void process.stdout.write(`${JSON.stringify(fields)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { statement } = JSON.parse(line) as { readonly statement?: string };
  if (statement === undefined) break;
  const { batches } = await session.execute(statement);
  if (batches !== undefined) for await (const _ of batches);
  answer({ address });
}
await session.close();
await close();
await home.close();
answer({});
process.exit();
