import { BugError, SkepError, ValidWriteIdList } from '@skep/core';
import {
  type CompactFolderResult,
  CompactFolderResult_Outcome,
  type Compaction,
  CompactionType,
  DataOperation,
  InvalidRequestError,
  LockComponent,
  LockLevel,
  LockState,
  LockType,
  TxnState,
} from '@skep/rpc';
import { folderRequest } from './folder-request.js';
import { fieldsOf } from './log-fields.js';
import { findResource } from './resource.js';
import type { NamedFolder } from './run-as.js';
import { type Outcome, refusalOf, refused, restAfter } from './worker-decision.js';
import type { WorkerServices } from './worker-services.js';

const nothingToDo = 'None of the compaction thresholds met, compaction request is refused!';
const compactionAborted = 50006;

/** The Worker's lock was not free at once. */
class CompactionLockError extends SkepError {
  constructor(job: Compaction, why: string) {
    super('COMPACTION_LOCK', 'unavailable', `the lock on ${job.database}.${job.table} is not free: ${why}`);
  }
}

/** One request carried out in an open transaction of its own: all that it writes is named by it, `_vT`. */
export class CompactionRun {
  /** Where folders of this transaction may be, once they may be. */
  private folder: NamedFolder | undefined;
  private result: CompactFolderResult | undefined;

  constructor(
    private readonly services: WorkerServices,
    private readonly job: Compaction,
    private readonly as: { readonly txnId: bigint; readonly runAs: string },
    private readonly signal: AbortSignal,
  ) {}

  private get txnId(): bigint {
    return this.as.txnId;
  }

  /** Locks, decides, has the files written, commits. */
  async compact(): Promise<Outcome> {
    const { services, job, txnId, signal } = this;
    const { txns, compactions, files, log } = services;
    await this.lock();
    const resource = await findResource(services, job);
    const refusal = resource === undefined ? gone : refusalOf(job, resource.table);
    if (resource === undefined || refusal !== undefined) return await this.refuse(refusal ?? gone);
    if (resource.insertOnly && !services.conf.compactInsertOnly) {
      throw new InvalidRequestError(
        'Insert only compaction is disabled. Set hive.compactor.compact.insert.only=true to enable it.',
      );
    }
    if (resource.insertOnly && job.type === CompactionType.COMPACTION_TYPE_REBALANCE) {
      // Hive's Worker fails where it refuses that of a bucketed table.
      throw new InvalidRequestError('REBALANCE compaction is not supported on insert only tables.');
    }
    // The folders of a partitioned table are its partitions'. Such requests are Hive's for writes that aborted in partitions nobody
    // knows, and of tables without any partition (Worker.isDynPartAbort): they are the Cleaner's alone.
    if (resource.table.partitionKeys.length > 0 && job.partition === undefined) return await this.commit(true);
    const { validTxns } = await txns.getValidTxns({ txnId });
    const tables = [`${job.database}.${job.table}`];
    const [list] = (await txns.getValidWriteIds({ tables, validTxns })).validWriteIds;
    const { highWatermark } = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(list));
    const { id, workerId, startMs } = job;
    const mine = { workerId, workerStartMs: startMs };
    const { runAs } = this.as;
    await compactions.updateCompactorState({ id, txnId, highestWriteId: highWatermark, ...mine, runAs });
    await this.record(highWatermark);
    const request = folderRequest(services.conf, { job, resource, validTxns, writeIds: list, ...this.as });
    this.folder = request;
    const result = await files.compact(request, { signal });
    switch (result.outcome) {
      case CompactFolderResult_Outcome.OUTCOME_WRITTEN:
        if (result.reason !== '')
          log.info({ compactionId: id }, `compaction ${id} is a major one, because ${result.reason}`);
        this.result = result;
        return await this.commit(false);
      case CompactFolderResult_Outcome.OUTCOME_ONLY_OBSOLETE:
        return await this.commit(true);
      case CompactFolderResult_Outcome.OUTCOME_NOTHING_TO_DO:
        return await this.refuse(nothingToDo);
      case CompactFolderResult_Outcome.OUTCOME_REFUSED:
        return await this.refuse(result.reason);
      case CompactFolderResult_Outcome.OUTCOME_PUT_OFF:
        return await this.putOff(result.reason);
      default:
        throw new BugError(`compaction ${id}: the file-format layer answers ${result.outcome}`);
    }
  }

  /**
   * After an error: nothing of this transaction stays, unless it turns out to have committed although no answer said so.
   * Where its fate cannot be learned nothing is touched, because others may see it: the Cleaner removes it should it not
   * have committed.
   */
  async undo(cause: unknown): Promise<Outcome> {
    const { txns, log } = this.services;
    const { job, txnId } = this;
    try {
      const { abortedTxnIds } = await txns.abortTxns({ txnIds: [txnId], reasonCode: compactionAborted });
      const state =
        abortedTxnIds.length > 0
          ? TxnState.TXN_STATE_ABORTED
          : (await txns.getTxnStates({ txnIds: [txnId] })).states[0];
      if (state === TxnState.TXN_STATE_COMMITTED) return await this.commit(false);
      if (state === TxnState.TXN_STATE_ABORTED) await this.discard();
    } catch (error) {
      log.warn(
        { ...fieldsOf(job), txnId, error },
        `Worker: cannot undo compaction ${job.id} in transaction ${txnId} yet: ${String(error)}`,
      );
    }
    return { kind: 'again', reason: cause };
  }

  private async commit(isOnlyObsolete: boolean): Promise<Outcome> {
    const { commitId, commitTimeMs } = await this.services.txns.commitTxn({ txnId: this.txnId });
    const { txnId } = this;
    const { bytesRead = 0n, bytesWritten = 0n } = this.result ?? {};
    return { kind: 'ready', nextTxnId: commitId, commitTimeMs, isOnlyObsolete, txnId, bytesRead, bytesWritten };
  }

  /** It waits as long again as it has waited, until it has waited for hive.compactor.worker.timeout in all. */
  private async putOff(why: string): Promise<Outcome> {
    const { clock, conf, txns } = this.services;
    const restMs = restAfter(clock.now() - Number(this.job.enqueueTimeMs), conf.workerTimeoutMs);
    if (restMs === undefined) return await this.refuse(`${why}, which was waited for too long`);
    await txns.commitTxn({ txnId: this.txnId });
    return { kind: 'later', why, restMs };
  }

  private async refuse(why: string): Promise<Outcome> {
    await this.services.txns.commitTxn({ txnId: this.txnId });
    return refused(why);
  }

  /** Written down before the first file is: while the record is there, an aborted compaction is never taken as committed. */
  private async record(writeId: bigint): Promise<void> {
    const { database, table, partition } = this.job;
    const operation = DataOperation.DATA_OPERATION_COMPACT;
    await this.services.txns.addWriteComponents({
      txnId: this.txnId,
      components: [{ resource: { database, table, partition }, operation, isDynamicPartitionWrite: false, writeId }],
    });
  }

  /** A compaction reads: SHARED_READ. It never waits: the request fails, and the Initiator asks again. */
  private async lock(): Promise<void> {
    const { locks, host } = this.services;
    const { job, txnId } = this;
    const rebalance = job.type === CompactionType.COMPACTION_TYPE_REBALANCE;
    const component = LockComponent.fromPartial({
      type: rebalance ? LockType.LOCK_TYPE_EXCL_WRITE : LockType.LOCK_TYPE_SHARED_READ,
      level: job.partition === undefined ? LockLevel.LOCK_LEVEL_TABLE : LockLevel.LOCK_LEVEL_PARTITION,
      database: job.database,
      table: job.table,
      partition: job.partition,
      operation: rebalance ? DataOperation.DATA_OPERATION_UPDATE : DataOperation.DATA_OPERATION_SELECT,
      isTransactional: true,
    });
    const answer = await locks.lock({
      components: [component],
      txnId,
      user: this.as.runAs,
      host,
      agentInfo: `compaction-${job.id}`,
      zeroWaitRead: false,
      exclusiveCtas: false,
    });
    if (answer.state === LockState.LOCK_STATE_ACQUIRED) return;
    await locks.unlock({ lockId: answer.lockId });
    throw new CompactionLockError(job, answer.errorMessage);
  }

  private async discard(): Promise<void> {
    if (this.folder === undefined) return;
    const { database, table, partition, location } = this.folder;
    await this.services.files.discard({ database, table, partition, location, ...this.as });
  }
}

const gone = 'Table or partition is gone';
