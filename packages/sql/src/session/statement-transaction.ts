import { type Clock, SkepError } from '@skep/core';
import { type LockComponent, LockState, TxnType } from '@skep/rpc';
import type { Services } from './services.js';

/** How long a lock may be waited for, Hive's `hive.lock.numretries` and `hive.lock.sleep.between.retries`. */
export interface LockWait {
  readonly retries: number;
  readonly maxSleepMs: number;
}

/** A lock was not to be had: Hive's 10307 (waited too long) or 10104 (refused at once). */
export class LockNotAcquiredError extends SkepError {}

const firstSleepMs = 50;
const minimumSleepCapMs = 15_000;
const rollbackReason = 50005;

/**
 * The implicit transaction of one statement: locks, then the snapshot, then write ids (in this order, so that what
 * others committed before the locks were granted is both seen and older than our own write ids), heartbeats all along.
 */
export class StatementTransaction {
  private readonly writeIds = new Map<string, bigint>();
  private readonly validWriteIds = new Map<string, string>();
  private nextStatement = 0;
  private heartbeat: AbortController | undefined;
  private ended = false;
  private readonly undo: (() => Promise<void>)[] = [];
  /** Hive's ValidReadTxnList as text, once the snapshot is taken. */
  validTxns = '';

  private constructor(
    private readonly services: Services,
    readonly txnId: bigint,
    private readonly heartbeatMs: number,
  ) {}

  static async open(services: Services, options: { timeoutMs: number; type?: TxnType }): Promise<StatementTransaction> {
    const { txnIds } = await services.txns.openTxns({
      count: 1,
      ...services.identity,
      type: options.type ?? TxnType.TXN_TYPE_UNSPECIFIED,
    });
    const transaction = new StatementTransaction(services, txnIds[0], Math.max(1000, options.timeoutMs / 2));
    transaction.startHeartbeat();
    return transaction;
  }

  /**
   * Asks for the locks and waits for them in Hive's sequence (DbLockManager.lock: 50 ms doubled before each sleep).
   * Answers whether it had to wait: what was planned before may be out of date then.
   */
  async lock(components: LockComponent[], wait: LockWait, queryId: string, signal?: AbortSignal): Promise<boolean> {
    if (components.length === 0) return false;
    const { user, host } = this.services.identity;
    let answer = await this.services.locks.lock({
      components,
      txnId: this.txnId,
      user,
      host,
      agentInfo: queryId,
      zeroWaitRead: false,
      exclusiveCtas: false,
    });
    if (answer.state === LockState.LOCK_STATE_ACQUIRED) return false;
    const startedMs = this.services.clock.now();
    let sleepMs = firstSleepMs;
    const capMs = Math.max(minimumSleepCapMs, wait.maxSleepMs);
    try {
      for (let retry = 0; answer.state === LockState.LOCK_STATE_WAITING && retry < wait.retries; retry++) {
        sleepMs = Math.min(sleepMs * 2, capMs);
        await this.services.clock.sleep(sleepMs, signal);
        answer = await this.services.locks.checkLock({ lockId: answer.lockId });
      }
    } catch (error) {
      await this.services.locks.unlock({ lockId: answer.lockId });
      throw error;
    }
    if (answer.state === LockState.LOCK_STATE_ACQUIRED) return true;
    await this.services.locks.unlock({ lockId: answer.lockId });
    const waitedMs = this.services.clock.now() - startedMs;
    if (answer.state === LockState.LOCK_STATE_WAITING) {
      throw new LockNotAcquiredError(
        'LOCK_ACQUIRE_TIMEDOUT',
        'unavailable',
        `Lock acquisition for txnid:${this.txnId} timed out after ${waitedMs}ms. ${answer.errorMessage}`.trim(),
        { hiveCode: 10307, sqlState: '42000' },
      );
    }
    throw new LockNotAcquiredError(
      'LOCK_CANNOT_BE_ACQUIRED',
      'conflict',
      `Locks on the underlying objects cannot be acquired, retry after some time. ${answer.errorMessage}`.trim(),
      { hiveCode: 10104, sqlState: '42000' },
    );
  }

  /** The snapshot of transactions this statement reads by; taken once. */
  async takeSnapshot(): Promise<void> {
    const { validTxns } = await this.services.txns.getValidTxns({ txnId: this.txnId });
    this.validTxns = validTxns;
  }

  /** The snapshot's write ids of a table, Hive's ValidReaderWriteIdList as text. */
  async validWriteIdsOf(database: string, table: string): Promise<string> {
    const name = `${database}.${table}`;
    const known = this.validWriteIds.get(name);
    if (known !== undefined) return known;
    const { validWriteIds } = await this.services.txns.getValidWriteIds({ tables: [name], validTxns: this.validTxns });
    this.validWriteIds.set(name, validWriteIds[0]);
    return validWriteIds[0];
  }

  /** The transaction's write id in a table, allocated at first use. */
  async writeIdOf(database: string, table: string): Promise<bigint> {
    const name = `${database}.${table}`;
    const known = this.writeIds.get(name);
    if (known !== undefined) return known;
    const answer = await this.services.txns.allocateTableWriteIds({
      txnIds: [this.txnId],
      database,
      table,
      reallocate: false,
    });
    const writeId = answer.txnToWriteIds[0].writeId;
    this.writeIds.set(name, writeId);
    return writeId;
  }

  /** True once it was committed or rolled back. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** The number of the next writer of this transaction: the statement id in its folder's name. */
  nextStatementId(): number {
    return this.nextStatement++;
  }

  /** What has to be taken back if the transaction does not commit: changes of the catalog, which are visible at once. */
  onRollback(undo: () => Promise<void>): void {
    this.undo.push(undo);
  }

  /** Commits; TxnAbortedError names the winner of a write conflict. */
  async commit(exclWriteEnabled: boolean): Promise<void> {
    this.stopHeartbeat();
    this.ended = true;
    try {
      await this.services.txns.commitTxn({ txnId: this.txnId, exclWriteEnabled });
    } catch (error) {
      // After another error nobody knows whether it has committed: then the catalog stays.
      if (error instanceof SkepError && (error.code === 'TXN_ABORTED' || error.code === 'NO_SUCH_TXN'))
        await this.takeBack();
      throw error;
    }
  }

  private async takeBack(): Promise<void> {
    for (const undo of this.undo.splice(0).reverse()) await undo();
  }

  /** Rolls back unless the transaction has ended; never hides the error that led here. */
  async abort(): Promise<void> {
    this.stopHeartbeat();
    if (this.ended) return;
    this.ended = true;
    try {
      await this.takeBack();
    } finally {
      await this.services.txns.abortTxns({ txnIds: [this.txnId], reasonCode: rollbackReason });
    }
  }

  private startHeartbeat(): void {
    const controller = new AbortController();
    this.heartbeat = controller;
    void beat(this.services.clock, this.heartbeatMs, controller.signal, () =>
      this.services.txns.heartbeatTxns({ txnIds: [this.txnId] }),
    );
  }

  private stopHeartbeat(): void {
    this.heartbeat?.abort();
    this.heartbeat = undefined;
  }
}

/** One failed heartbeat is tried again with the next; whether the transaction lives is judged at commit. */
async function beat(clock: Clock, everyMs: number, signal: AbortSignal, send: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(everyMs, signal);
      await send();
    } catch {
      // The sleep was ended, or one beat failed: the loop's condition and the commit decide.
    }
  }
}
