import { type Clock, systemClock } from '@skep/core';
import { Batcher, type Database, type Step } from '@skep/metadb';
import {
  type AddWriteComponentsRequest,
  type CheckLockRequest,
  currentCall,
  type HeartbeatLockRequest,
  type HeartbeatLockResponse,
  type LockRequest,
  type LockResponse,
  type LockService,
  LockState,
  LockType,
  NoSuchLockError,
  NoSuchTxnError,
  type ReleaseTxnLocksRequest,
  type ReleaseTxnLocksResponse,
  type RemoveExpiredLocksRequest,
  type RemoveExpiredLocksResponse,
  type RenameLocksRequest,
  type RenameLocksResponse,
  type ShowLocksRequest,
  type ShowLocksResponse,
  type TransactionService,
  TxnAbortedError,
  TxnOpenError,
  TxnState,
  type UnlockRequest,
  type UnlockResponse,
} from '@skep/rpc';
import { DEFAULT_LOCK_CONF, type LockConf } from './conf.js';
import { validateLockRequest, writeComponents } from './lock-request.js';
import { describeLock, type LockRow, toBlockingLock } from './lock-row.js';
import * as table from './lock-table.js';
import { renameStatement } from './rename-locks.js';
import { selectLocks } from './show-locks.js';
import type { Verdict } from './verdict.js';

/** The transaction manager of this process, where it keeps its tables in the same database. */
export interface LocalTxns {
  /** Records what will be written, as part of a database transaction; tells of each request whether its transaction is open. */
  recordingStep(requests: readonly AddWriteComponentsRequest[]): Step<undefined>;
  /** What the work answers; of a transaction that is not known any more what became of it, as far as that is. */
  known<T>(work: Promise<T>): Promise<T>;
}

export interface LockManagerOptions {
  readonly db: Database;
  /** A getter, because the two services hold each other. */
  readonly txns: () => TransactionService;
  /** Absent: it is elsewhere. */
  readonly localTxns?: LocalTxns | undefined;
  readonly clock?: Clock;
  readonly conf?: Partial<LockConf>;
}

/**
 * Locks mean nothing after a power cut, when all who held them are gone: they need no fsync. (A crash of processes loses
 * nothing.)
 */
const VOLATILE = { durable: false } as const;

/** The order in a batch with requests of the transaction manager: after write ids, as their rows, too, are held until the commit. */
const RANKS = { enter: 3, release: 6 } as const;

/** LockService over HIVE_LOCKS: Hive 4's compatibility, all components or none, first come first served. */
export class LockManager implements LockService {
  private readonly db: Database;
  private readonly txns: () => TransactionService;
  private readonly localTxns: LocalTxns | undefined;
  private readonly clock: Clock;
  private readonly conf: LockConf;
  /** What comes together is done together, see Batcher. */
  private readonly entering: Batcher<LockRequest, table.Entry>;
  private readonly releasing: Batcher<readonly bigint[], undefined>;

  constructor(options: LockManagerOptions) {
    const { db, localTxns } = options;
    this.db = db;
    this.localTxns = localTxns;
    this.entering = new Batcher(
      db,
      async (tx, requests) => table.enteringStep(tx, requests, await tx.now(), recordsOf(localTxns, requests)),
      {
        rank: RANKS.enter,
        subjectsOf: ({ txnId }) => (txnId === 0n ? [] : [txnId]),
        isDurable: (requests) => localTxns !== undefined && requests.some((one) => writeComponents(one).length > 0),
      },
    );
    this.releasing = new Batcher(
      db,
      (_tx, requests) => ({
        decide: () => ({
          removals: table.releaseStatements(requests.flat()),
          outcomes: () => requests.map(() => ({ value: undefined })),
        }),
      }),
      { rank: RANKS.release, subjectsOf: (txnIds) => txnIds, isDurable: () => false },
    );
    this.txns = options.txns;
    this.clock = options.clock ?? systemClock;
    this.conf = { ...DEFAULT_LOCK_CONF, ...options.conf };
  }

  async lock(request: LockRequest): Promise<LockResponse> {
    validateLockRequest(request);
    const { rows, verdict } = await this.enter(request);
    const lockId = rows[0].extId;
    const settled = await this.clearAndRetry(lockId, verdict);
    if (settled.blocked === undefined) return acquired(lockId);
    const refusal = deadlockOf(settled) ?? refusalOf(request, settled.blocked);
    if (refusal === undefined) return waiting(lockId, settled.blocked.by);
    await this.withdraw(lockId);
    return {
      lockId,
      state: LockState.LOCK_STATE_NOT_ACQUIRED,
      errorMessage: refusal,
      blockedBy: toBlockingLock(settled.blocked.by),
    };
  }

  private async enter(request: LockRequest): Promise<table.Entry> {
    const { txnId } = request;
    const call = currentCall();
    if (txnId === 0n) return await this.entering.submit(request, call);
    if (this.localTxns !== undefined) return await this.localTxns.known(this.entering.submit(request, call));
    const entry = await this.entering.submit(request, call);
    try {
      // Afterwards: whoever drops a table forgets what was recorded of it before its lock ends, and cannot once we have one.
      // Nobody hears of the locks before this is done; one that outlives its transaction in between blocks nobody, see clearDead.
      await this.txns().addWriteComponents({ txnId, components: writeComponents(request) });
    } catch (error) {
      // Should that fail too, the locks go with their transaction: what failed first is what the caller hears.
      await Promise.allSettled([this.withdraw(entry.rows[0].extId)]);
      throw error;
    }
    return entry;
  }

  private async withdraw(lockId: bigint): Promise<void> {
    await this.db.run([table.deleteRequest(lockId)], VOLATILE);
  }

  async checkLock({ lockId }: CheckLockRequest): Promise<LockResponse> {
    const rows = await this.db.read((tx) => table.rowsOf(tx, lockId));
    if (rows.length === 0) throw new NoSuchLockError(lockId);
    await this.keepAlive(rows[0]);
    if (rows[0].acquired) return acquired(lockId);
    // A poll that finds the same in the way as before writes nothing more.
    const seen = await this.db.read((tx) => table.judgeRows(tx, rows));
    const isNews = seen.blocked === undefined || seen.blocked.request.blockedByExtId !== seen.blocked.by.extId;
    const settled = await this.clearAndRetry(lockId, isNews ? await this.retry(lockId) : seen);
    return settled.blocked === undefined ? acquired(lockId) : waiting(lockId, settled.blocked.by);
  }

  async unlock({ lockId }: UnlockRequest): Promise<UnlockResponse> {
    const [row] = await this.db.read((tx) => table.rowsOf(tx, lockId));
    if (row === undefined) return {};
    if (row.txnId !== 0n && row.acquired) {
      const { states } = await this.txns().getTxnStates({ txnIds: [row.txnId] });
      if (states[0] === TxnState.TXN_STATE_OPEN) throw new TxnOpenError(lockId, row.txnId);
    }
    await this.withdraw(lockId);
    return {};
  }

  async heartbeatLock({ lockId }: HeartbeatLockRequest): Promise<HeartbeatLockResponse> {
    if (lockId === 0n) return {};
    const { changes } = await this.db.transaction(async (tx) => {
      return tx.run('UPDATE HIVE_LOCKS SET HL_LAST_HEARTBEAT = ? WHERE HL_LOCK_EXT_ID = ?', [await tx.now(), lockId]);
    }, VOLATILE);
    if (changes === 0) throw new NoSuchLockError(lockId);
    return {};
  }

  async releaseTxnLocks({ txnIds }: ReleaseTxnLocksRequest): Promise<ReleaseTxnLocksResponse> {
    // 0 stands for no transaction: its locks are not anybody's to release.
    const ids = txnIds.filter((id) => id > 0n);
    if (ids.length > 0) await this.releasing.submit(ids);
    return {};
  }

  async showLocks(request: ShowLocksRequest): Promise<ShowLocksResponse> {
    return { locks: await this.db.read((tx) => selectLocks(tx, request)) };
  }

  async removeExpiredLocks(_request: RemoveExpiredLocksRequest): Promise<RemoveExpiredLocksResponse> {
    const removed = await this.db.transaction(async (tx) => {
      return table.deleteExpired(tx, (await tx.now()) - BigInt(this.conf.txnTimeoutMs));
    }, VOLATILE);
    const owned = await this.db.read((tx) => {
      return tx.all<{ HL_TXNID: bigint; HL_LOCK_EXT_ID: bigint }>(
        'SELECT DISTINCT HL_TXNID, HL_LOCK_EXT_ID FROM HIVE_LOCKS WHERE HL_TXNID <> 0',
      );
    });
    const ended = new Set(await this.endedAmong(owned.map((row) => row.HL_TXNID)));
    if (ended.size > 0) await this.releaseTxnLocks({ txnIds: [...ended] });
    const orphans = owned.filter((row) => ended.has(row.HL_TXNID)).map((row) => row.HL_LOCK_EXT_ID);
    return { removedLockIds: [...removed, ...orphans].sort((a, b) => (a < b ? -1 : 1)) };
  }

  async renameLocks(request: RenameLocksRequest): Promise<RenameLocksResponse> {
    const statement = renameStatement(request);
    return { renamed: BigInt(await this.db.transaction(async (tx) => (await tx.run(...statement)).changes, VOLATILE)) };
  }

  /** Heartbeat of a polled request. A request of a transaction that has ended goes with it. */
  private async keepAlive(row: LockRow): Promise<void> {
    if (row.txnId === 0n) {
      await this.heartbeatLock({ lockId: row.extId });
      return;
    }
    const answer = await this.txns().heartbeatTxns({ txnIds: [row.txnId] });
    const isAborted = answer.abortedTxnIds.includes(row.txnId);
    if (!isAborted && !answer.noSuchTxnIds.includes(row.txnId)) return;
    await this.releaseTxnLocks({ txnIds: [row.txnId] });
    throw isAborted ? new TxnAbortedError(row.txnId) : new NoSuchTxnError(row.txnId);
  }

  /** Grants the request if nobody is in the way any more. */
  private retry(lockId: bigint): Promise<Verdict> {
    return this.db.transaction(async (tx) => {
      await table.holdSequence(tx);
      const rows = await table.rowsOf(tx, lockId);
      if (rows.length === 0) throw new NoSuchLockError(lockId);
      const verdict = await table.judgeRows(tx, rows);
      if (verdict.blocked === undefined) {
        if (!(await table.grant(tx, lockId, await tx.now()))) throw new NoSuchLockError(lockId);
      } else if (verdict.blocked.request.blockedByExtId !== verdict.blocked.by.extId) {
        await table.nameBlocker(tx, verdict.blocked.request, verdict.blocked.by);
      }
      return verdict;
    }, VOLATILE);
  }

  /** Removes blockers that are dead and tries again; the verdict that stands. */
  private async clearAndRetry(lockId: bigint, verdict: Verdict): Promise<Verdict> {
    if (verdict.blockers.length === 0) return verdict;
    return (await this.clearDead(verdict.blockers)) ? this.retry(lockId) : verdict;
  }

  /**
   * A lock lives no longer than its transaction (design rule 3): rows of transactions that have ended, and locks without
   * one that nobody keeps alive, are removed when they are in somebody's way.
   */
  private async clearDead(blockers: readonly LockRow[]): Promise<boolean> {
    const ended = await this.endedAmong(blockers.map((row) => row.txnId));
    const before = BigInt(this.clock.now() - this.conf.txnTimeoutMs);
    const expired = blockers.filter((row) => row.txnId === 0n && row.lastHeartbeatMs < before).map((row) => row.extId);
    if (ended.length === 0 && expired.length === 0) return false;
    await this.db.transaction(async (tx) => {
      await tx.runAll(table.releaseStatements(ended));
      // A heartbeat may have come meanwhile: the statement looks again.
      await table.deleteExpired(tx, before, expired);
    }, VOLATILE);
    return true;
  }

  private async endedAmong(txnIds: readonly bigint[]): Promise<bigint[]> {
    const ids = [...new Set(txnIds)].filter((id) => id !== 0n);
    if (ids.length === 0) return [];
    const { states } = await this.txns().getTxnStates({ txnIds: ids });
    return ids.filter((_, i) => states[i] !== TxnState.TXN_STATE_OPEN);
  }
}

/** What is recorded of requests in the database transaction that enters them. */
function recordsOf(txns: LocalTxns | undefined, requests: readonly LockRequest[]): table.Records | undefined {
  const of = requests.filter(({ txnId }) => txnId !== 0n);
  if (txns === undefined || of.length === 0) return undefined;
  const writes = of.map((request) => ({ txnId: request.txnId, components: writeComponents(request) }));
  return { of, step: txns.recordingStep(writes) };
}

function acquired(lockId: bigint): LockResponse {
  return { lockId, state: LockState.LOCK_STATE_ACQUIRED, errorMessage: '' };
}

function waiting(lockId: bigint, by: LockRow): LockResponse {
  return {
    lockId,
    state: LockState.LOCK_STATE_WAITING,
    errorMessage: `waits for ${describeLock(by)}`,
    blockedBy: toBlockingLock(by),
  };
}

/** The request that closes a circle is refused; every circle has one, because a request waits for earlier ones only. */
function deadlockOf({ deadlock }: Verdict): string | undefined {
  return deadlock && `Deadlock: this transaction would wait for ${describeLock(deadlock)}, which waits for this one`;
}

/** Why a blocked request is refused instead of left waiting; undefined: it may wait. */
function refusalOf(request: LockRequest, blocked: NonNullable<Verdict['blocked']>): string | undefined {
  if (request.txnId === 0n) return undefined;
  // What it reads is waited for; Hive refuses then too.
  if (request.exclusiveCtas && blocked.request.type !== LockType.LOCK_TYPE_SHARED_READ) {
    return `Failed to initiate a concurrent CTAS operation with the same table name, lockInfo : ${describeLock(blocked.by)}`;
  }
  if (request.zeroWaitRead && blocked.request.type === LockType.LOCK_TYPE_SHARED_READ) {
    return `Unable to acquire read lock due to an existing exclusive lock {${describeLock(blocked.by)}}`;
  }
  return undefined;
}
