import { Configuration } from '@skep/config';
import { expect, it } from 'vitest';
import { compactorConf, serverParameters, takeServerParameters, txnConf, workerPools } from './service-conf.js';

it("a client takes the metastore's values, and says which of its own have no effect", () => {
  const server = new Configuration();
  server.set('hive.txn.timeout', '77s');
  server.set('hive.compactor.run.as.user', 'hive');
  const client = new Configuration();
  client.set('hive.txn.timeout', '5s');
  const notes = takeServerParameters(client, { ...serverParameters(server), 'hive.of.a.later.version': '1' });
  expect(notes).toEqual(['hive.txn.timeout belongs to the metastore: it is 77s there, not 5s']);
  expect(txnConf(client).txnTimeoutMs).toBe(77_000);
  expect(compactorConf(client).runAsUser).toBe('hive');
  expect(client.isSet('hive.of.a.later.version')).toBe(false);
});

it('pools are named by their threads', () => {
  const conf = new Configuration();
  conf.set('hive.compactor.worker.big.threads', '3');
  expect(workerPools(conf)).toEqual({ big: 3 });
});
