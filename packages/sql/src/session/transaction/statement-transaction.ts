import { MAX_STATEMENT_ID, type OwnWrites } from '@skep/acid';
import { type Clock, LONG_MAX, SkepError, ValidWriteIdList } from '@skep/core';
import { type CommitTxnResponse, type LockComponent, LockState, type Partition, type Table, TxnType } from '@skep/rpc';
import { type Publication, publish } from '../../formats/index.js';
import { distrustStatistics } from '../distrust-statistics.js';
import type { Services } from '../services.js';
import { allLocks } from './all-locks.js';
import { LockNotAcquiredError, lockRefused, lockTimedOut } from './lock-not-acquired.js';
import { type Action, runBackwards } from './run-backwards.js';
import { reportWritten, type WrittenPartitions } from './written-partitions.js';

/** How long a lock may be waited for, Hive's `hive.lock.numretries` and `hive.lock.sleep.between.retries`. */
export interface LockWait {
  readonly retries: number;
  readonly maxSleepMs: number;
  /** A read that an exclusive lock is in the way of fails at once. */
  readonly zeroWaitRead: boolean;
  /** A table is created by a query: another that creates the same is not waited for. */
  readonly exclusiveCtas: boolean;
  /** A wait that was too long tells of all locks. */
  readonly showsLocks?: boolean;
}

/** Statement ids have 12 bits in ROW__IDs. */
export class TooManyStatementsError extends SkepError {
  constructor(txnId: bigint) {
    super(
      'TOO_MANY_STATEMENTS',
      'invalid',
      `Transaction txnid:${txnId} has used all ${MAX_STATEMENT_ID + 1} statement ids (an UPDATE takes 2, a MERGE up to 4): COMMIT it and go on in another`,
      { sqlState: '54000' },
    );
  }
}

/** What is left to do when it is known how a statement, or the transaction, ends. */
interface Effects {
  readonly undo: Action[];
  /** Files of tables that are not transactional. */
  readonly publications: Publication[];
  readonly written: WrittenPartitions[];
  readonly afterStatement: Action[];
  readonly afterCommit: Action[];
}

const newEffects = (): Effects => ({ undo: [], publications: [], written: [], afterStatement: [], afterCommit: [] });

const firstSleepMs = 50;
const minimumSleepCapMs = 15_000;
const rollbackReason = 50005;

/**
 * The transaction of a statement, or of several: locks, then the snapshot, then write ids (in this order, so that what
 * others committed before the locks were granted is both seen and older than our own write ids), heartbeats all along.
 */
export class StatementTransaction {
  private readonly writeIds = new Map<string, bigint>();
  private readonly validWriteIds = new Map<string, string>();
  private nextStatement = 0;
  private heartbeat: AbortController | undefined;
  private ended = false;
  private hasCleanups = false;
  /** The partitions of tables as the running statement knows them: all of its scans read the same ones. */
  private readonly partitionLists = new Map<string, Promise<readonly Partition[]>>();
  /** Of the running statement, and of those that have succeeded. */
  private effects = newEffects();
  private readonly earlier = newEffects();
  /** Of a single statement: who heard late that it was aborted may have written what the Cleaner looked for before. */
  private readonly files: Action[] = [];
  /** The first statement id of the running statement: it sees the folders of those before. */
  private firstOfStatement = 0;
  /** Folders in which this transaction has put a base, insert-only ones: what it adds there later goes into the base. */
  private readonly bases = new Set<string>();
  /** What else is sent with each heartbeat. */
  readonly heartbeats: (() => Promise<unknown>)[] = [];
  /** Hive's ValidReadTxnList as text, once the snapshot is taken. */
  validTxns = '';

  private constructor(
    private readonly services: Services,
    readonly txnId: bigint,
    private readonly heartbeatMs: number,
    /** START TRANSACTION began it: its statements are undone one by one. */
    readonly isExplicit: boolean,
  ) {}

  static async open(
    services: Services,
    options: { timeoutMs: number; type?: TxnType; isExplicit?: boolean },
  ): Promise<StatementTransaction> {
    const { txnIds } = await services.txns.openTxns({
      count: 1,
      ...services.identity,
      type: options.type ?? TxnType.TXN_TYPE_UNSPECIFIED,
    });
    const heartbeatMs = Math.max(1000, options.timeoutMs / 2);
    const transaction = new StatementTransaction(services, txnIds[0], heartbeatMs, options.isExplicit ?? false);
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
      zeroWaitRead: wait.zeroWaitRead,
      exclusiveCtas: wait.exclusiveCtas,
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
      const locks = wait.showsLocks === true ? `; all locks: ${await allLocks(this.services.locks)}` : '';
      throw lockTimedOut(this.txnId, waitedMs, answer.errorMessage, locks);
    }
    throw lockRefused(answer.errorMessage);
  }

  /** The snapshot of transactions this statement reads by; taken once. */
  async takeSnapshot(): Promise<void> {
    const { validTxns } = await this.services.txns.getValidTxns({ txnId: this.txnId });
    this.validTxns = validTxns;
  }

  /**
   * The statement reads these tables and no others: the Cleaner need not wait for it elsewhere. Until this is said it waits
   * everywhere, so nothing is removed between the snapshot and this.
   */
  async readsOnly(tables: readonly { readonly database: string; readonly name: string }[]): Promise<void> {
    const entries = new Map<string, { database: string; table: string; writeId: bigint }>();
    for (const { database, name: table } of tables) {
      const list = ValidWriteIdList.parse(await this.validWriteIdsOf(database, table));
      const writeId = list.minOpenWriteId === LONG_MAX ? list.highWatermark + 1n : list.minOpenWriteId;
      entries.set(`${database}.${table}`, { database, table, writeId });
    }
    if (entries.size === 0) return;
    await this.services.txns.addMinHistoryWriteIds({ txnId: this.txnId, tables: [...entries.values()] });
  }

  get hasSnapshot(): boolean {
    return this.validTxns !== '';
  }

  /** The snapshot's write ids of a table and the transaction's own, Hive's ValidReaderWriteIdList as text. */
  async validWriteIdsOf(database: string, table: string): Promise<string> {
    const name = `${database}.${table}`;
    const known = this.validWriteIds.get(name);
    if (known !== undefined) return known;
    const { validWriteIds } = await this.services.txns.getValidWriteIds({
      tables: [name],
      validTxns: this.validTxns,
      ownTxnId: this.txnId,
    });
    this.validWriteIds.set(name, validWriteIds[0]);
    return validWriteIds[0];
  }

  /** The transaction's write id in a table, allocated at first use. */
  async writeIdOf(database: string, table: string): Promise<bigint> {
    const name = `${database}.${table}`;
    const known = this.writeIds.get(name);
    if (known !== undefined) return known;
    await distrustStatistics(this.services.catalog, database, table);
    const answer = await this.services.txns.allocateTableWriteIds({
      txnIds: [this.txnId],
      database,
      table,
      reallocate: false,
    });
    const writeId = answer.txnToWriteIds[0].writeId;
    this.writeIds.set(name, writeId);
    // What was known before ends below it.
    this.validWriteIds.delete(name);
    return writeId;
  }

  /** What the running statement sees of what its own transaction wrote into a folder of a table. */
  ownWritesIn(database: string, table: string, location: string): OwnWrites | undefined {
    const writeId = this.writeIds.get(`${database}.${table}`);
    if (writeId === undefined) return undefined;
    return { writeId, beforeStatement: this.firstOfStatement, seesBase: this.bases.has(location) };
  }

  /** Whether an earlier statement has replaced what is in a folder. */
  hasBaseIn(location: string): boolean {
    return this.bases.has(location);
  }

  /** A statement replaces what is in a folder by base_W; later ones see it. */
  putBase(location: string): void {
    if (this.bases.has(location)) return;
    this.onStatementEnd(async () => void this.bases.add(location));
  }

  /** True once it was committed or rolled back. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** The number of the next writer of this transaction: the statement id in its folder's name. */
  nextStatementId(): number {
    if (this.nextStatement > MAX_STATEMENT_ID) throw new TooManyStatementsError(this.txnId);
    return this.nextStatement++;
  }

  /**
   * What has to be taken back if the transaction does not commit, the newest first: changes of the catalog, which are visible
   * at once. `last`: when everything else is taken back.
   */
  onRollback(undo: Action, when: 'in turn' | 'last' = 'in turn'): void {
    // Backwards: what is at the front comes last.
    if (when === 'last') this.effects.undo.unshift(undo);
    else this.effects.undo.push(undo);
  }

  /** A file or folder that goes if its statement fails or the transaction does not commit. */
  wrote(path: string): void {
    const remove = async () => void (await this.services.fs.delete(path, { recursive: true }));
    if (this.isExplicit) this.onRollback(remove);
    else this.files.push(remove);
  }

  /** What cannot be taken back, to be done once the statement has succeeded as a whole. */
  onStatementEnd(action: Action): void {
    this.effects.afterStatement.push(action);
  }

  /** Files that a table without transactions gets when the statement has succeeded, with those of its other targets. */
  publish(publications: readonly Publication[]): void {
    this.effects.publications.push(...publications);
    for (const { staging } of publications) {
      this.onRollback(async () => void (await this.services.fs.delete(staging, { recursive: true })));
    }
  }

  /** Partitions that were known from the rows alone: recorded when all of the statement is written. */
  wroteTo(partitions: WrittenPartitions): void {
    this.effects.written.push(partitions);
  }

  onCommit(action: Action): void {
    this.effects.afterCommit.push(action);
  }

  /** Folders wait for the Cleaner until this transaction has ended: at its end they are told so. */
  settlesCleanups(): void {
    this.hasCleanups = true;
  }

  /** The partitions of a table, listed once a statement, after its snapshot. */
  async partitionsOf({ database, name }: Table): Promise<readonly Partition[]> {
    const key = `${database}.${name}`;
    const known = this.partitionLists.get(key);
    if (known !== undefined) return await known;
    const list = this.services.catalog
      .getPartitions({ database, table: name, names: [] })
      .then(({ partitions }) => partitions);
    this.partitionLists.set(key, list);
    return await list;
  }

  /** A further statement of the transaction begins. */
  beginStatement(): void {
    this.partitionLists.clear();
    this.firstOfStatement = this.nextStatement;
    this.effects = newEffects();
  }

  /** The statement has succeeded: its writes stay unless the transaction is rolled back. */
  async endStatement(): Promise<void> {
    await reportWritten(this.services.txns, this.txnId, this.effects.written);
    await publish(this.services.fs, this.effects.publications);
    for (const action of this.effects.afterStatement) await action();
    this.earlier.undo.push(...this.effects.undo);
    this.earlier.afterCommit.push(...this.effects.afterCommit);
    this.effects = newEffects();
  }

  /** Takes back what the statement did; the transaction goes on. */
  async undoStatement(): Promise<void> {
    const { undo } = this.effects;
    this.effects = newEffects();
    await runBackwards(undo);
  }

  /** Commits; TxnAbortedError names the winner of a write conflict. */
  async commit(exclWriteEnabled: boolean): Promise<void> {
    this.stopHeartbeat();
    this.ended = true;
    const snapshot = this.isExplicit && this.hasSnapshot ? { validTxns: this.validTxns } : {};
    let commit: CommitTxnResponse;
    try {
      commit = await this.services.txns.commitTxn({ txnId: this.txnId, exclWriteEnabled, ...snapshot });
    } catch (error) {
      // After another error nobody knows whether it has committed: then everything stays. (A transaction that is not known
      // any more may have committed in a call whose answer got lost.)
      if (isEndOfTransaction(error) && error.code !== 'NO_SUCH_TXN') await this.takeBack();
      if (isEndOfTransaction(error) && error.code === 'TXN_ABORTED') await runBackwards(this.files);
      throw error;
    }
    for (const action of [...this.earlier.afterCommit, ...this.effects.afterCommit]) await action();
    if (this.hasCleanups) await this.settle(commit);
  }

  /** The statement has succeeded, whatever becomes of this call: the Cleaner asks itself what nobody told it. */
  private async settle({ commitId: nextTxnId, commitTimeMs }: CommitTxnResponse): Promise<void> {
    try {
      await this.services.compactions.settleCleanups({ txnId: this.txnId, nextTxnId, commitTimeMs });
      this.services.wakeCompactor?.();
    } catch (error) {
      if (!(error instanceof SkepError)) throw error;
    }
  }

  private async takeBack(): Promise<void> {
    await runBackwards([...this.earlier.undo.splice(0), ...this.effects.undo.splice(0)]);
  }

  /**
   * Rolls back unless the transaction has ended; never hides the error that led here. `because`: that error, or what else made it
   * necessary, for the transaction's record.
   */
  async abort(because?: unknown): Promise<void> {
    this.stopHeartbeat();
    if (this.ended) return;
    this.ended = true;
    try {
      await this.takeBack();
    } finally {
      const message =
        because instanceof LockNotAcquiredError ? because.brief : because instanceof Error && because.message;
      const abortedBy = message === false ? because : message.split('\n', 1)[0];
      await this.services.txns.abortTxns({
        txnIds: [this.txnId],
        reasonCode: rollbackReason,
        ...(because === undefined ? {} : { abortedBy: String(abortedBy) }),
      });
    }
  }

  private startHeartbeat(): void {
    const controller = new AbortController();
    this.heartbeat = controller;
    void beat(this.services.clock, this.heartbeatMs, controller.signal, async () => {
      await this.services.txns.heartbeatTxns({ txnIds: [this.txnId] });
      for (const also of this.heartbeats) await also();
    });
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

/** Whether an error says that the transaction is no longer open. */
export const isEndOfTransaction = (error: unknown): error is SkepError =>
  error instanceof SkepError && ['TXN_ABORTED', 'TXN_CONFLICT', 'NO_SUCH_TXN'].includes(error.code);
