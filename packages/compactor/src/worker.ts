import {
  type AcidState,
  type CompactionResult,
  compactMajor,
  compactMinor,
  compactRebalance,
  getAcidState,
} from '@skep/acid';
import { SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import {
  type Compaction,
  CompactionState,
  CompactionType,
  DataOperation,
  LockComponent,
  LockLevel,
  LockState,
  LockType,
  TxnType,
} from '@skep/rpc';
import { keepAlive } from './keep-alive.js';
import { type CompactedResource, findResource, schemaOf } from './resource.js';
import type { CompactorServices } from './services.js';
import { isEnoughToCompact, needsCleaning } from './worker-decision.js';

const nothingToDo = 'None of the compaction thresholds met, compaction request is refused!';
const compactionAborted = 50006;

/**
 * Takes one request after the other from a pool's queue and carries it out in a transaction of its own: what it writes is
 * named by that transaction and seen only once it commits (org.apache.hadoop.hive.ql.txn.compactor.Worker).
 */
export class Worker {
  constructor(
    private readonly services: CompactorServices,
    readonly workerId: string,
    private readonly poolName = '',
  ) {}

  /** Carries out the next request. Answers whether there was one. */
  async runOnce(signal?: AbortSignal): Promise<boolean> {
    const { compactions, version } = this.services;
    const { job } = await compactions.findNextCompact({
      workerId: this.workerId,
      workerVersion: version,
      poolName: this.poolName,
    });
    if (job === undefined) return false;
    await this.carryOut(job, signal);
    return true;
  }

  private async carryOut(job: Compaction, signal?: AbortSignal): Promise<void> {
    const resource = await findResource(this.services, job);
    const refusal = resource === undefined ? 'Table or partition is gone' : refuse(job, resource);
    if (resource === undefined || refusal !== undefined) {
      await this.finish(job, CompactionState.COMPACTION_STATE_REFUSED, refusal ?? '');
      return;
    }
    const type =
      job.type === CompactionType.COMPACTION_TYPE_REBALANCE
        ? TxnType.TXN_TYPE_REBALANCE_COMPACTION
        : TxnType.TXN_TYPE_COMPACTION;
    const { user, host, agentInfo, txns, log } = this.services;
    const { txnIds } = await txns.openTxns({ count: 1, user, host, agentInfo, type });
    const stop = keepAlive(this.services, txnIds[0]);
    try {
      await this.compactIn(txnIds[0], job, resource, signal);
    } catch (error) {
      await txns.abortTxns({ txnIds, reasonCode: compactionAborted });
      log(`Worker: compaction ${job.id} of ${job.database}.${job.table} failed: ${String(error)}`);
      await this.finish(job, CompactionState.COMPACTION_STATE_FAILED, String(error));
    } finally {
      stop();
    }
  }

  private async compactIn(
    txnId: bigint,
    job: Compaction,
    resource: CompactedResource,
    signal?: AbortSignal,
  ): Promise<void> {
    const { txns, compactions, fs } = this.services;
    await this.lock(txnId, job);
    const { validTxns } = await txns.getValidTxns({ txnId });
    const tables = [`${job.database}.${job.table}`];
    const reader = ValidWriteIdList.parse((await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0]);
    const writeIds = ValidWriteIdList.forCompactor(reader);
    await compactions.updateCompactorState({ id: job.id, txnId, highestWriteId: writeIds.highWatermark });
    await txns.addWriteComponents({
      txnId,
      components: [
        {
          resource: { database: job.database, table: job.table, partition: job.partition },
          operation: DataOperation.DATA_OPERATION_COMPACT,
          isDynamicPartitionWrite: false,
          writeId: writeIds.highWatermark,
        },
      ],
    });
    const state = await getAcidState(fs, resource.location, writeIds, ValidTxnList.parse(validTxns), {
      insertOnly: resource.insertOnly,
    });
    if (!isEnoughToCompact(job.type, state)) {
      await txns.commitTxn({ txnId });
      if (needsCleaning(state)) await this.readyWithoutResult(job);
      else await this.finish(job, CompactionState.COMPACTION_STATE_REFUSED, nothingToDo);
      return;
    }
    const written = await this.write(txnId, job, resource, state, writeIds, signal);
    try {
      const { commitId, commitTimeMs } = await txns.commitTxn({ txnId });
      await compactions.markCompacted({ id: job.id, nextTxnId: commitId, commitTimeMs });
    } catch (error) {
      await this.remove(written);
      throw error;
    }
  }

  /** The request found obsolete files only: they are for the Cleaner, as soon as no snapshot needs them. */
  private async readyWithoutResult(job: Compaction): Promise<void> {
    const { highWatermark } = await this.services.txns.showTxns({});
    const commitTimeMs = BigInt(this.services.clock.now());
    await this.services.compactions.markCompacted({ id: job.id, nextTxnId: highWatermark, commitTimeMs });
  }

  private async write(
    txnId: bigint,
    job: Compaction,
    resource: CompactedResource,
    state: AcidState,
    writeIds: ValidWriteIdList,
    signal?: AbortSignal,
  ): Promise<CompactionResult> {
    const input = {
      fs: this.services.fs,
      state,
      writeIds,
      schema: schemaOf(resource.table),
      visibilityTxnId: txnId,
      insertOnly: resource.insertOnly,
      orc: { tableProperties: orcProperties(resource.table.parameters, job.properties) },
      ...(signal === undefined ? {} : { signal }),
    };
    switch (job.type) {
      case CompactionType.COMPACTION_TYPE_MAJOR:
        return await compactMajor(input);
      case CompactionType.COMPACTION_TYPE_REBALANCE:
        return await compactRebalance({
          ...input,
          ...(job.numberOfBuckets === undefined ? {} : { buckets: job.numberOfBuckets }),
        });
      default:
        // Insert-only tables have no events to merge apart: their minor compaction is a major one up to the watermark.
        return resource.insertOnly ? await compactMajor(input) : await compactMinor(input);
    }
  }

  /** Compaction reads: SHARED_READ; it never waits, a blocked request is for another round. */
  private async lock(txnId: bigint, job: Compaction): Promise<void> {
    const { locks, user, host } = this.services;
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
      user,
      host,
      agentInfo: `compaction-${job.id}`,
      zeroWaitRead: false,
      exclusiveCtas: false,
    });
    if (answer.state === LockState.LOCK_STATE_ACQUIRED) return;
    await locks.unlock({ lockId: answer.lockId });
    throw new CompactionLockError(job, answer.errorMessage);
  }

  private async remove(result: CompactionResult): Promise<void> {
    for (const directory of result.directories) await this.services.fs.delete(directory, { recursive: true });
  }

  private async finish(job: Compaction, state: CompactionState, errorMessage: string): Promise<void> {
    await this.services.compactions.finishCompaction({ id: job.id, state, errorMessage });
  }
}

/** The Worker's lock was not free at once. */
class CompactionLockError extends SkepError {
  constructor(job: Compaction, why: string) {
    super('COMPACTION_LOCK', 'unavailable', `the lock on ${job.database}.${job.table} is not free: ${why}`);
  }
}

/** Hive refuses what it cannot compact (Worker.findNextCompactionAndExecute). */
function refuse(job: Compaction, resource: CompactedResource): string | undefined {
  const { table } = resource;
  if ((table.sd?.sortColumns.length ?? 0) > 0)
    return `Attempt to compact sorted table ${table.database}.${table.name}, which is not yet supported!`;
  if (job.type !== CompactionType.COMPACTION_TYPE_REBALANCE) return undefined;
  if ((table.sd?.bucketColumns.length ?? 0) > 0) return `Cannot execute rebalancing compaction on bucketed tables.`;
  if (resource.insertOnly) return 'Rebalance compaction is supported only on full ACID tables.';
  if (job.orderBy !== '') return 'Rebalance compaction with ORDER BY is not supported by skep';
  return undefined;
}

/** ORC properties of the table; `tblprops.X` of the request overrides property X (reference §5, prefixes). */
function orcProperties(
  table: Readonly<Record<string, string>>,
  request: Readonly<Record<string, string>>,
): Record<string, string> {
  const overrides = Object.entries(request)
    .filter(([name]) => name.startsWith('tblprops.'))
    .map(([name, value]) => [name.slice('tblprops.'.length), value]);
  return { ...table, ...Object.fromEntries(overrides) };
}
