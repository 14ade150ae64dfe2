import { hostname } from 'node:os';
import { systemClock, ValidTxnList } from '@skep/core';
import {
  type Connection,
  connect,
  DataOperation,
  LockLevel,
  LockServiceService,
  LockState,
  LockType,
  TransactionServiceService,
} from '@skep/rpc';

/** What one run of clients found. Times of whole transactions and of their lock calls, in milliseconds, ascending. */
export interface Load {
  readonly transactionsPerSecond: number;
  readonly transactionMs: readonly number[];
  readonly lockMs: readonly number[];
  /** Processor time of the clients, for one transaction. */
  readonly cpuMs: number;
  readonly failures: number;
  /** Of the first that failed. */
  readonly failure?: string;
}

const POLL_MS = 5;
const IDENTITY = { user: 'bench', host: hostname(), agentInfo: 'bench' };

/** One client, with a connection and a table of its own, as Hive's MetastoreBench has. */
class Client {
  private readonly connections: Connection<unknown>[] = [];
  private readonly txns;
  private readonly locks;

  constructor(
    address: string,
    private readonly table: string,
    index: number,
  ) {
    // Channels of equal options share one connection: these differ in how long a ping may take.
    const options = { user: IDENTITY.user, keepalive: { timeoutMs: 10_000 + index } };
    const txns = connect(TransactionServiceService, address, options);
    const locks = connect(LockServiceService, address, options);
    this.connections.push(txns, locks);
    this.txns = txns.service;
    this.locks = locks.service;
  }

  /** Open, allocate a write id, lock, commit; answers how long the call for the lock took. */
  async transaction(): Promise<number> {
    const { txnIds } = await this.txns.openTxns({ ...IDENTITY, count: 1, type: 0 });
    const [txnId] = txnIds;
    await this.txns.allocateTableWriteIds({ txnIds, database: 'default', table: this.table, reallocate: false });
    const start = performance.now();
    let { lockId, state } = await this.locks.lock({
      ...IDENTITY,
      txnId,
      zeroWaitRead: false,
      exclusiveCtas: false,
      components: [
        {
          type: LockType.LOCK_TYPE_EXCL_WRITE,
          level: LockLevel.LOCK_LEVEL_TABLE,
          database: 'default',
          table: this.table,
          operation: DataOperation.DATA_OPERATION_UPDATE,
          isTransactional: true,
          isDynamicPartitionWrite: false,
        },
      ],
    });
    const lockMs = performance.now() - start;
    while (state === LockState.LOCK_STATE_WAITING) {
      await systemClock.sleep(POLL_MS);
      ({ lockId, state } = await this.locks.checkLock({ lockId }));
    }
    if (state !== LockState.LOCK_STATE_ACQUIRED) throw new TypeError(`lock ${lockId} was not acquired`);
    await this.txns.commitTxn({ txnId });
    return lockMs;
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }
}

/** So many clients, transaction after transaction, for so long, after one transaction each to warm up. */
export async function drive(address: string, clients: number, seconds: number): Promise<Load> {
  const all = Array.from({ length: clients }, (_, i) => new Client(address, `bench_${i}`, i));
  const transactionMs: number[] = [];
  const lockMs: number[] = [];
  const failures: string[] = [];
  try {
    await Promise.all(all.map((client) => client.transaction()));
    const start = performance.now();
    const cpuBefore = process.cpuUsage();
    const end = start + seconds * 1000;
    const work = async (client: Client): Promise<void> => {
      while (performance.now() < end) {
        const began = performance.now();
        try {
          lockMs.push(await client.transaction());
          transactionMs.push(performance.now() - began);
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    await Promise.all(all.map(work));
    const tookSeconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const ascending = (a: number, b: number): number => a - b;
    return {
      cpuMs: (user + system) / 1000 / transactionMs.length,
      transactionsPerSecond: transactionMs.length / tookSeconds,
      transactionMs: transactionMs.sort(ascending),
      lockMs: lockMs.sort(ascending),
      failures: failures.length,
      ...(failures.length === 0 ? {} : { failure: failures[0] }),
    };
  } finally {
    for (const client of all) client.close();
  }
}

export interface SnapshotTimes {
  readonly open: number;
  /** GetValidTxns and GetValidWriteIds of one table, each; ascending. */
  readonly validTxnsMs: readonly number[];
  readonly validWriteIdsMs: readonly number[];
}

const BATCH = 1000;

/** Opens so many transactions and takes snapshots while they are open; aborts them at the end. */
export async function snapshots(address: string, open: number, rounds = 20): Promise<SnapshotTimes> {
  const { service: txns, close } = connect(TransactionServiceService, address, { user: IDENTITY.user });
  try {
    const txnIds: bigint[] = [];
    while (txnIds.length < open) {
      const count = Math.min(BATCH, open - txnIds.length);
      txnIds.push(...(await txns.openTxns({ ...IDENTITY, count, type: 0 })).txnIds);
    }
    const validTxnsMs: number[] = [];
    const validWriteIdsMs: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const start = performance.now();
      const { validTxns } = await txns.getValidTxns({});
      const between = performance.now();
      await txns.getValidWriteIds({ tables: ['default.bench_0'] });
      validTxnsMs.push(between - start);
      validWriteIdsMs.push(performance.now() - between);
      const listed = ValidTxnList.parse(validTxns).openTxns.length;
      if (listed < open) throw new TypeError(`the snapshot lists ${listed} of ${open} open transactions`);
    }
    for (let at = 0; at < txnIds.length; at += BATCH) {
      await txns.abortTxns({ txnIds: txnIds.slice(at, at + BATCH), reasonCode: 0 });
    }
    const ascending = (a: number, b: number): number => a - b;
    return { open, validTxnsMs: validTxnsMs.sort(ascending), validWriteIdsMs: validWriteIdsMs.sort(ascending) };
  } finally {
    close();
  }
}
