import { SkepError } from '@skep/core';
import type { StructVector } from '@skep/orc';
import { DataOperation, type LockComponent, TxnAbortedError, TxnConflictError } from '@skep/rpc';
import { lockSettings, type SessionContext } from '../context.js';
import { ExecutionError, SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { areReadsCurrent, areTablesCurrent } from './current-reads.js';
import { isTransactional } from './lock-plan.js';
import type { OpenTransaction, Plan, PlannedStatement } from './planned-statement.js';
import {
  allLocks,
  isOutdated,
  lockWait,
  nextQueryId,
  recordAgain,
  refuseWithoutAcid,
  signature,
} from './statement-locks.js';
import { isEndOfTransaction, StatementTransaction } from './statement-transaction.js';

/**
 * A transaction over several statements. Its snapshot is taken once, when the first statement has its locks; locks gather until
 * the end. Statements run one at a time. One that fails is undone as a whole and the transaction goes on; but where
 * another transaction won a conflict, in a deadlock, or where the transaction was aborted from outside, all of it is
 * rolled back, and until ROLLBACK (or a COMMIT, which fails) every statement says so.
 */
export class ExplicitTransaction implements OpenTransaction {
  private lostBecause: string | undefined;
  private tail: Promise<void> = Promise.resolve();
  /** Every statement that wrote asked for EXCL_WRITE, so that no conflict is left to be found at commit. */
  private exclWrite = true;

  private constructor(
    private readonly context: SessionContext,
    private transaction: StatementTransaction,
    private readonly readOnly: boolean,
  ) {}

  /** `snapshot`: taken now, so that the transaction keeps its id; else with the first statement. */
  static async start(
    context: SessionContext,
    readOnly: boolean,
    { snapshot = false }: { readonly snapshot?: boolean } = {},
  ): Promise<ExplicitTransaction> {
    const transaction = await open(context);
    if (snapshot) await transaction.takeSnapshot();
    return new ExplicitTransaction(context, transaction, readOnly);
  }

  get txnId(): bigint {
    return this.transaction.txnId;
  }

  get isLost(): boolean {
    return this.lostBecause !== undefined;
  }

  async run(plan: Plan, signal?: AbortSignal): Promise<StatementResult> {
    return await this.oneByOne(async () => {
      signal?.throwIfAborted();
      await this.requireAlive();
      try {
        const result = await this.attempt(plan, signal);
        await this.transaction.endStatement();
        if (result.batches === undefined) return result;
        return { ...result, batches: await begun(result.batches, this.transaction) };
      } catch (error) {
        await this.undo(error);
        throw error;
      }
    });
  }

  /** Afterwards the transaction is over, whatever happens. */
  async commit(): Promise<void> {
    await this.oneByOne(async () => {
      await this.requireAlive();
      await this.transaction.commit(this.exclWrite);
    });
  }

  async rollback(): Promise<void> {
    await this.oneByOne(() => this.transaction.abort());
  }

  private oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.tail.then(work);
    this.tail = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  private async attempt(plan: Plan, signal: AbortSignal | undefined): Promise<StatementResult> {
    const { context } = this;
    const queryId = nextQueryId(context);
    const rounds = context.conf.getInt('hive.txn.retrysnapshot.max.count');
    if (!this.transaction.hasSnapshot) await this.renewIfOld();
    for (let round = 0; round <= rounds; round++) {
      const { transaction } = this;
      transaction.beginStatement();
      const planned = await plan(transaction);
      refuseWithoutAcid(context, planned);
      this.refuseWrites(planned);
      const components = allLocks(context, planned);
      const waited = await transaction.lock(components, lockWait(context, planned), queryId, signal);
      const again = waited ? await plan(transaction) : planned;
      const isSame = waited
        ? signature(allLocks(context, again)) === signature(components)
        : await areTablesCurrent(context, planned);
      if (transaction.hasSnapshot) {
        // Whatever else has to be locked now is asked for beside what is held.
        if (!isSame) continue;
        if (components.some(changesRows)) await this.requireNoConflict();
      } else {
        // Nothing was read or written yet: a transaction that begins now sees what happened meanwhile.
        if (!isSame || (await isOutdated(context, transaction, components))) {
          await this.renew();
          continue;
        }
        await transaction.takeSnapshot();
      }
      if (waited) await recordAgain(context, transaction, components);
      if (!(await areReadsCurrent(context, transaction, again))) continue;
      if (again.writes.length > 0) this.exclWrite &&= lockSettings(context.conf).xlockWrite;
      return await again.run(transaction);
    }
    throw new ExecutionError(`The tables of the statement changed while it waited for its locks, ${rounds} times over`);
  }

  /** Transactions of higher ids are never seen: the first statement begins with the newest. */
  private async renewIfOld(): Promise<void> {
    const { txns } = this.context.services;
    const highest = BigInt((await txns.getValidTxns({})).validTxns.split(':')[0]);
    if (highest <= this.txnId) return;
    const old = this.transaction;
    this.transaction = await open(this.context);
    await old.commit(true);
  }

  private async renew(): Promise<void> {
    const old = this.transaction;
    this.transaction = await open(this.context);
    await old.abort('nothing was done in it, and what it would have seen was outdated: started over');
  }

  private refuseWrites({ writes }: PlannedStatement): void {
    if (writes.length === 0) return;
    if (this.readOnly) {
      throw new SemanticError(20007, `A write is not allowed in the read-only transaction txnid:${this.txnId}.`, {
        sqlState: '25006',
      });
    }
    const plain = writes.find(({ table }) => !isTransactional(table))?.table;
    if (plain === undefined) return;
    throw new SemanticError(
      20007,
      `A write to ${plain.database}.${plain.name} is not allowed in a transaction (txnid:${this.txnId}): the table is not transactional, so that a ROLLBACK could not take it back.`,
      { sqlState: '25000' },
    );
  }

  /** First committer wins: what others committed since the snapshot cannot be updated by it, and no new snapshot is taken. */
  private async requireNoConflict(): Promise<void> {
    const { txns } = this.context.services;
    const { validTxns, txnId } = this.transaction;
    const conflict = await txns.getLatestConflictingCommit({ txnId, validTxns, overwritten: [] });
    if (conflict.txnId === undefined) return;
    throw conflictError(txnId, conflict.txnId, conflict.resource);
  }

  /** A transaction that was aborted from outside (ABORT TRANSACTIONS, a time-out) is told so before it does more. */
  async requireAlive(): Promise<void> {
    if (this.lostBecause !== undefined) throw this.lostError();
    const { txns } = this.context.services;
    const { txnId } = this;
    const { abortedTxnIds, noSuchTxnIds } = await txns.heartbeatTxns({ txnIds: [txnId] });
    if (abortedTxnIds.length === 0 && noSuchTxnIds.length === 0) return;
    const known = (await txns.showTxns({ txnId })).txns.find((txn) => txn.txnId === txnId);
    await this.lose(known?.metaInfo || 'it is not open any more');
    throw this.lostError();
  }

  private async undo(error: unknown): Promise<void> {
    const isDeadlock = error instanceof SkepError && error.code === 'LOCK_CANNOT_BE_ACQUIRED';
    if (isEndOfTransaction(error) || isDeadlock) {
      await this.lose(error.message);
      return;
    }
    try {
      await this.transaction.undoStatement();
    } catch (cause) {
      await this.lose(`a statement failed and could not be undone: ${String(cause)}`);
    }
  }

  private async lose(reason: string): Promise<void> {
    this.lostBecause = reason;
    try {
      await this.transaction.abort(reason);
    } catch {
      // What is left of it is of an aborted transaction, or soon of one without heartbeats: the Cleaner's.
    }
  }

  private lostError(): TxnAbortedError {
    const { txnId } = this;
    return new TxnAbortedError(
      txnId,
      `Transaction manager has aborted the transaction txnid:${txnId}.  Reason: ${this.lostBecause} (nothing of it was kept; ROLLBACK ends it)`,
    );
  }
}

const open = async (context: SessionContext): Promise<StatementTransaction> =>
  await StatementTransaction.open(context.services, {
    timeoutMs: context.conf.getServedTimeMs('hive.txn.timeout'),
    isExplicit: true,
  });

const changesRows = ({ operation }: LockComponent): boolean =>
  operation === DataOperation.DATA_OPERATION_UPDATE || operation === DataOperation.DATA_OPERATION_DELETE;

/** Who lost, on what, to whom. */
export function conflictError(
  txnId: bigint,
  winner: bigint,
  resource?: { readonly database: string; readonly table: string; readonly partition?: string | undefined },
): TxnConflictError {
  const on = [resource?.database, resource?.table, resource?.partition].filter((part) => part !== undefined).join('/');
  return new TxnConflictError(
    txnId,
    winner,
    `Aborting [txnid:${txnId}] due to a write conflict on ${on} committed by [txnid:${winner}] after the snapshot of this transaction was taken`,
  );
}

/** The rows of a query, which has its files from now on; they end with the transaction. */
async function begun(
  batches: AsyncIterable<StructVector>,
  transaction: StatementTransaction,
): Promise<AsyncIterable<StructVector>> {
  const iterator = batches[Symbol.asyncIterator]();
  let next = await iterator.next();
  return (async function* rows() {
    try {
      while (!next.done) {
        if (transaction.hasEnded) {
          throw new ExecutionError(
            `Transaction txnid:${transaction.txnId} ended before all rows of its query were read`,
          );
        }
        yield next.value;
        next = await iterator.next();
      }
    } finally {
      await iterator.return?.();
    }
  })();
}
