import { type AcidState, getAcidState, MinorCompactionUnsupportedError, parseAcidDirectoryName } from '@skep/acid';
import { SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import {
  type Compaction,
  CompactionType,
  DataOperation,
  LockComponent,
  LockLevel,
  LockState,
  LockType,
  TxnState,
} from '@skep/rpc';
import { joinPath } from '@skep/storage';
import { fieldsOf } from './log-fields.js';
import { findResource } from './resource.js';
import { giveTo } from './run-as.js';
import type { CompactorServices } from './services.js';
import {
  isEnoughToCompact,
  needsCleaning,
  type Outcome,
  reasonToPutOff,
  refusalOf,
  refused,
} from './worker-decision.js';
import { withoutAbortedEnd } from './write-id-lists.js';
import { writeResult } from './write-result.js';

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
  /** What was read and written. */
  bytesRead = 0;
  bytesWritten = 0;
  /** Where folders of this transaction may be, once they may be. */
  private location: string | undefined;

  constructor(
    private readonly services: CompactorServices,
    private readonly job: Compaction,
    private readonly as: { readonly txnId: bigint; readonly runAs: string },
    private readonly signal: AbortSignal,
  ) {}

  private get txnId(): bigint {
    return this.as.txnId;
  }

  /** Locks, decides, writes, commits. */
  async compact(): Promise<Outcome> {
    const { txns, compactions, fs } = this.services;
    const { job, txnId } = this;
    await this.lock();
    const resource = await findResource(this.services, job);
    const refusal = resource === undefined ? gone : refusalOf(job, resource.table, resource.insertOnly);
    if (resource === undefined || refusal !== undefined) return await this.refuse(refusal ?? gone);
    const { validTxns } = await txns.getValidTxns({ txnId });
    const tables = [`${job.database}.${job.table}`];
    const reader = ValidWriteIdList.parse((await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0]);
    const writeIds = ValidWriteIdList.forCompactor(reader);
    const { insertOnly } = resource;
    const stateBy = (list: ValidWriteIdList) =>
      getAcidState(fs, resource.location, list, ValidTxnList.parse(validTxns), { insertOnly });
    if (job.type === CompactionType.COMPACTION_TYPE_REBALANCE && reader.highWatermark > writeIds.highWatermark) {
      const later = reasonToPutOff(await stateBy(reader), writeIds.highWatermark);
      if (later !== undefined) return await this.refuse(later);
    }
    await compactions.updateCompactorState({
      id: job.id,
      txnId,
      highestWriteId: writeIds.highWatermark,
      workerId: job.workerId,
      workerStartMs: job.startMs,
    });
    await this.record(writeIds.highWatermark);
    const state = await stateBy(writeIds);
    if (isEnoughToCompact(job.type, state)) {
      this.location = resource.location;
      this.bytesRead = bytesOf(state);
      const named = withoutAbortedEnd(writeIds);
      const snapshot = ValidTxnList.parse(validTxns);
      const { signal } = this;
      try {
        const task = { job, resource, state, writeIds: named, validTxns: snapshot, txnId, signal };
        this.bytesWritten = await writeResult(this.services, task);
      } catch (error) {
        if (!(error instanceof MinorCompactionUnsupportedError)) throw error;
        await this.removeFolders();
        return await this.refuse(`${error.message}: ask for a major compaction`);
      }
      for (const folder of await this.folders()) await giveTo(this.services, this.as.runAs, resource.location, folder);
      return await this.commit(false);
    }
    return needsCleaning(state) ? await this.commit(true) : await this.refuse(nothingToDo);
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
      if (state === TxnState.TXN_STATE_ABORTED) await this.removeFolders();
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
    const { txnId, bytesRead, bytesWritten } = this;
    return { kind: 'ready', nextTxnId: commitId, commitTimeMs, isOnlyObsolete, txnId, bytesRead, bytesWritten };
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

  private async removeFolders(): Promise<void> {
    for (const folder of await this.folders()) await this.services.fs.delete(folder, { recursive: true });
  }

  /** What this transaction has written so far. */
  private async folders(): Promise<string[]> {
    const { fs } = this.services;
    const { location, txnId } = this;
    if (location === undefined || (await fs.stat(location)) === undefined) return [];
    const names = (await fs.list(location)).map((entry) => entry.name);
    return names
      .filter((name) => parseAcidDirectoryName(name)?.visibilityTxnId === txnId)
      .map((name) => joinPath(location, name));
  }
}

const gone = 'Table or partition is gone';

/** Of what a compaction reads. */
const bytesOf = ({ base, deltas, originals }: AcidState): number =>
  [...(base?.files ?? []), ...originals, ...deltas.flatMap(({ files }) => files)].reduce((n, f) => n + f.sizeBytes, 0);
