import { BugError, type Clock, ManualClock } from '@skep/core';
import { LockManager, lockMigrations, releaseStatements } from '@skep/lock-manager';
import { type Database, openDatabase } from '@skep/metadb';
import { hasMariadb, TestDatabase } from '@skep/metadb/testing';
import {
  bindService,
  connect,
  DataOperation,
  type LockComponent,
  LockLevel,
  type LockRequest,
  type LockService,
  LockServiceService,
  type LockType,
  serve,
  type TransactionService,
  TransactionServiceService,
} from '@skep/rpc';
import { type TxnConf, TxnManager, txnMigrations } from '../src/index.js';

export interface Services {
  readonly db: Database;
  readonly clock: ManualClock;
  readonly txns: TransactionService;
  readonly locks: LockService;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly url?: string;
  readonly conf?: Partial<TxnConf>;
  readonly isAlive?: (agentInfo: string) => boolean;
  readonly clock?: Clock;
}

export const MIGRATIONS = [...txnMigrations, ...lockMigrations];

interface Seen {
  readonly txns: TransactionService;
  readonly locks: LockService;
}

/** Both services on one database; `seen` is how they see each other, by default as parts of one process. */
async function start(options: ServiceOptions, seen?: () => Seen): Promise<Services> {
  const clock = options.clock ?? new ManualClock();
  const db = await openDatabase({ url: options.url ?? 'sqlite::memory:', clock, migrations: MIGRATIONS });
  const { conf, isAlive } = options;
  const other = seen ?? ((): Seen => ({ txns, locks }));
  const releasing = seen === undefined ? releaseStatements : undefined;
  const txns = new TxnManager({ db, clock, conf, isAlive, releasing, host: 'here', locks: () => other().locks });
  const localTxns = seen === undefined ? txns : undefined;
  const locks = new LockManager({ db, clock, conf, localTxns, txns: () => other().txns });
  return { db, clock: clock as ManualClock, txns, locks, close: () => db.close() };
}

export function inProcess(options: ServiceOptions = {}): Promise<Services> {
  return start(options);
}

/** The same, behind gRPC on localhost: the two services call each other by gRPC too. */
export async function overGrpc(options: ServiceOptions = {}): Promise<Services> {
  let seen: Seen | undefined;
  const inner = await start(options, () => {
    if (seen === undefined) throw new BugError('called before it is connected');
    return seen;
  });
  const server = await serve([
    bindService(TransactionServiceService, inner.txns),
    bindService(LockServiceService, inner.locks),
  ]);
  const txns = connect(TransactionServiceService, server.address);
  const locks = connect(LockServiceService, server.address);
  seen = { txns: txns.service, locks: locks.service };
  return {
    ...inner,
    ...seen,
    async close() {
      txns.close();
      locks.close();
      await server.close(500);
      await inner.close();
    },
  };
}

let mariadb: Promise<TestDatabase> | undefined;

/** On the MariaDB of the test run, in the same state as a new SQLite database. One at a time in a test file. */
export async function onMariadb(): Promise<string> {
  mariadb ??= TestDatabase.create(MIGRATIONS);
  const database = await mariadb;
  await database.reset();
  return database.url;
}

type Start = (options?: ServiceOptions) => Promise<Services>;

const onSqlite: readonly (readonly [string, Start])[] = [
  ['in process on SQLite', inProcess],
  ['over gRPC on SQLite', overGrpc],
];

/** Every contract holds for all of them. The run says so where MariaDB is missing. */
export const BINDINGS: readonly (readonly [string, Start])[] = hasMariadb
  ? [
      ...onSqlite,
      ['in process on MariaDB', async (options) => inProcess({ ...options, url: await onMariadb() })],
      ['over gRPC on MariaDB', async (options) => overGrpc({ ...options, url: await onMariadb() })],
    ]
  : onSqlite;

export async function open(
  txns: TransactionService,
  fields: Partial<Parameters<TransactionService['openTxns']>[0]> = {},
) {
  const { txnIds } = await txns.openTxns({ count: 1, user: 'u', host: 'here', agentInfo: '', type: 0, ...fields });
  return txnIds[0];
}

export async function writeIdOf(txns: TransactionService, txnId: bigint, table = 't', reallocate = false) {
  const answer = await txns.allocateTableWriteIds({ txnIds: [txnId], database: 'd', table, reallocate });
  return answer.txnToWriteIds[0].writeId;
}

/** A component on d.t, or on a partition of it. */
export function component(type: LockType, fields: Partial<LockComponent> = {}): LockComponent {
  return {
    type,
    level: LockLevel.LOCK_LEVEL_UNSPECIFIED,
    database: 'd',
    table: 't',
    operation: DataOperation.DATA_OPERATION_NO_TXN,
    isTransactional: false,
    isDynamicPartitionWrite: false,
    ...fields,
  };
}

export function lockRequest(
  txnId: bigint,
  components: LockComponent[],
  fields: Partial<LockRequest> = {},
): LockRequest {
  return {
    txnId,
    components,
    user: 'u',
    host: 'here',
    agentInfo: 'query',
    zeroWaitRead: false,
    exclusiveCtas: false,
    ...fields,
  };
}

/** Records that a transaction updates (or else inserts into, deletes from) d.t, as a lock request would. */
export async function writes(
  txns: TransactionService,
  txnId: bigint,
  operation = DataOperation.DATA_OPERATION_UPDATE,
  partition?: string,
  table = 't',
) {
  await txns.addWriteComponents({
    txnId,
    components: [{ resource: { database: 'd', table, partition }, operation, isDynamicPartitionWrite: false }],
  });
}

export function commit(txns: TransactionService, txnId: bigint, exclWriteEnabled = false) {
  return txns.commitTxn({ txnId, exclWriteEnabled });
}

/** How many rows a table has. */
export async function count(db: Database, table: string): Promise<number> {
  const row = await db.read((tx) => tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N FROM ${table}`));
  return Number(row?.N ?? -1n);
}
