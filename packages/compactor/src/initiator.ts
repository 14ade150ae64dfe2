import { getAcidState } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { Compaction, type CompactionCandidate, CompactionState } from '@skep/rpc';
import { decideCompactionType, isAutoCompactionOff, mustRest, thresholdsOf } from './initiator-decision.js';
import { type CompactedResource, findResource } from './resource.js';
import type { CompactorServices } from './services.js';

/** Finds resources that are due for a compaction and queues them (org.apache.hadoop.hive.ql.txn.compactor.Initiator). */
export class Initiator {
  private lastRunMs = 0;

  constructor(private readonly services: CompactorServices) {}

  /** One round over what was written since the last. Answers the ids of the requests it queued. */
  async runOnce(signal?: AbortSignal): Promise<bigint[]> {
    const { txns, compactions, clock, conf } = this.services;
    const startedMs = clock.now();
    await compactions.revokeWorkers({ host: '', aliveWorkerIds: [], olderThanMs: BigInt(conf.workerTimeoutMs) });
    const { candidates } = await txns.findCompactionCandidates({
      abortedThreshold: conf.abortedTxnThreshold,
      abortedTimeThresholdMs: BigInt(conf.abortedTxnTimeThresholdMs),
      sinceMs: BigInt(this.lastRunMs),
    });
    const queued: bigint[] = [];
    for (const candidate of candidates) {
      signal?.throwIfAborted();
      const id = await this.consider(candidate);
      if (id !== undefined) queued.push(id);
    }
    this.lastRunMs = startedMs;
    return queued;
  }

  private async consider(candidate: CompactionCandidate): Promise<bigint | undefined> {
    const resource = candidate.resource;
    if (resource === undefined) return undefined;
    try {
      return await this.decide(candidate, resource);
    } catch (error) {
      this.services.log(
        `Initiator: ${resource.database}.${resource.table} ${resource.partition ?? ''}: ${String(error)}`,
      );
      await this.remember(resource, `Initiator failed: ${String(error)}`);
      return undefined;
    }
  }

  private async decide(
    candidate: CompactionCandidate,
    names: { database: string; table: string; partition?: string | undefined },
  ): Promise<bigint | undefined> {
    const { catalog, compactions, conf, clock } = this.services;
    const found = await findResource(this.services, names);
    if (found === undefined) return undefined;
    // A partitioned table's writes are recorded by partition; a record without one is of a write that was aborted early.
    if (found.table.partitionKeys.length > 0 && found.partition === undefined) return undefined;
    const { database } = await catalog.getDatabase({ name: names.database });
    if (isAutoCompactionOff(found.table.parameters, database?.parameters ?? {})) return undefined;
    if (found.insertOnly && !conf.compactInsertOnly) return undefined;
    const { compactions: known } = await compactions.showCompactions({ ...names, limit: 0n });
    const ofResource = known.filter((c) => c.partition === names.partition);
    const isPending = (c: Compaction) =>
      c.state === CompactionState.COMPACTION_STATE_INITIATED || c.state === CompactionState.COMPACTION_STATE_WORKING;
    if (ofResource.some(isPending)) return undefined;
    const history = [...ofResource]
      .sort((a, b) => Number(b.id - a.id))
      .map((c) => ({
        failed: c.state === CompactionState.COMPACTION_STATE_FAILED,
        succeeded: c.state === CompactionState.COMPACTION_STATE_SUCCEEDED,
        enqueueTimeMs: c.enqueueTimeMs,
      }));
    if (mustRest(history, conf.failedCompactsThreshold, conf.failedRetryTimeMs, clock.now())) {
      await this.remember(
        names,
        `Compaction is not initiated since last ${conf.failedCompactsThreshold} consecutive compaction attempts failed`,
      );
      return undefined;
    }
    return await this.queueIfDue(candidate, names, found, database?.parameters ?? {});
  }

  private async queueIfDue(
    candidate: CompactionCandidate,
    names: { database: string; table: string; partition?: string | undefined },
    found: CompactedResource,
    databaseParameters: Readonly<Record<string, string>>,
  ): Promise<bigint | undefined> {
    const { txns, compactions, conf, fs, host, version } = this.services;
    const { validTxns } = await txns.getValidTxns({});
    const answer = await txns.getValidWriteIds({ tables: [`${names.database}.${names.table}`], validTxns });
    const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(answer.validWriteIds[0]));
    const state = await getAcidState(fs, found.location, writeIds, ValidTxnList.parse(validTxns), {
      insertOnly: found.insertOnly,
    });
    const useCleaner = conf.cleanAbortsUsingCleaner;
    const decision = decideCompactionType(
      state,
      thresholdsOf(found.table.parameters, { deltaNum: conf.deltaNumThreshold, deltaPct: conf.deltaPctThreshold }),
      { tooMany: candidate.tooManyAborts && !useCleaner, old: candidate.hasOldAbort && !useCleaner },
      found.insertOnly,
    );
    if (decision === undefined) return undefined;
    const response = await compactions.compact({
      ...names,
      type: decision.type,
      runAs: '',
      properties: {},
      initiatorId: `${host}-${process.pid}`,
      initiatorVersion: version,
      poolName:
        found.table.parameters['hive.compactor.worker.pool'] ?? databaseParameters['hive.compactor.worker.pool'] ?? '',
      orderBy: '',
    });
    return response.accepted ? response.id : undefined;
  }

  /** Leaves a record that can be asked why nothing was queued. */
  private async remember(
    names: { database: string; table: string; partition?: string | undefined },
    errorMessage: string,
  ): Promise<void> {
    const state = CompactionState.COMPACTION_STATE_DID_NOT_INITIATE;
    const record = Compaction.fromPartial({ ...names, type: 2, initiatorId: `${this.services.host}-${process.pid}` });
    await this.services.compactions.finishCompaction({ id: 0n, state, errorMessage, record });
  }
}
