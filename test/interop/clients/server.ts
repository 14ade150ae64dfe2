// The services on a new SQLite database, served twice: in plain text to whoever asks, and over mutual TLS to those with a
// token. `node server.mjs FOLDER`: FOLDER holds ca.pem, server.pem, server.key and tokens; prints both addresses as one line of
// JSON, and ends when its input does.
import { join } from 'node:path';
import { Catalog, catalogMigrations } from '@skep/catalog';
import { CompactionQueue, compactorMigrations } from '@skep/compactor';
import { systemClock } from '@skep/core';
import { LockManager, lockMigrations } from '@skep/lock-manager';
import { openDatabase } from '@skep/metadb';
import {
  bindService,
  CatalogServiceService,
  CompactionServiceService,
  LockServiceService,
  serve,
  TransactionServiceService,
} from '@skep/rpc';
import { TxnManager, txnMigrations } from '@skep/txn-manager';

const folder = process.argv[2];
const file = (name: string) => join(folder, name);
const clock = systemClock;
const migrations = [
  ...txnMigrations,
  ...lockMigrations,
  ...catalogMigrations(`file:${file('warehouse')}`),
  ...compactorMigrations,
];
const db = await openDatabase({ url: `sqlite:${file('metastore.db')}`, clock, migrations });
const txns: TxnManager = new TxnManager({ db, clock, locks: () => locks });
const locks: LockManager = new LockManager({ db, clock, txns: () => txns });
const compactions = new CompactionQueue({
  db,
  clock,
  poolTimeoutMs: 43_200_000,
  retention: { succeeded: 3, failed: 3, refused: 3, didNotInitiate: 2, timeoutMs: 604_800_000 },
  txns: () => txns,
});
const bindings = [
  bindService(TransactionServiceService, txns),
  bindService(LockServiceService, locks),
  bindService(CatalogServiceService, new Catalog(db)),
  bindService(CompactionServiceService, compactions),
];
const plain = await serve(bindings);
const secure = await serve(bindings, {
  tls: { certFile: file('server.pem'), keyFile: file('server.key'), clientCaFile: file('ca.pem') },
  identity: { tokensFile: file('tokens') },
});
process.stdout.write(`${JSON.stringify({ plain: plain.address, secure: secure.address })}\n`);
process.stdin.resume();
process.stdin.once('end', async () => {
  await Promise.all([plain.close(500), secure.close(500)]);
  await db.close();
});
