import { getAcidState } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { Compaction, type CompactionCandidate, CompactionState, CompactionType } from '@skep/rpc';
import { recoverAbandoned } from './abandoned.js';
import {
  decideCompactionType,
  isAutoCompactionOff,
  isPending,
  isToRetry,
  mustRest,
  type PastCompaction,
  thresholdsOf,
} from './initiator-decision.js';
import { type CompactedResource, findResource } from './resource.js';
import { userToRunAs } from './run-as.js';
import type { CompactorServices } from './services.js';

interface ResourceNames {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
}

const keyOf = (names: ResourceNames | undefined): string =>
  JSON.stringify([names?.database, names?.table, names?.partition ?? null]);

/** Commits are stamped before they are seen, and the metastore's clock may be another one: rounds overlap. */
const OVERLAP_MS = 60_000;

/** Finds resources that are due for a compaction and queues them (org.apache.hadoop.hive.ql.txn.compactor.Initiator). */
export class Initiator {
  private lastRunMs = 0;

  constructor(private readonly services: CompactorServices) {}

  /** One round over what was written since the last. Answers the ids of the requests it queued. */
  async runOnce(signal?: AbortSignal): Promise<bigint[]> {
    const { txns, compactions, clock, conf } = this.services;
    const startedMs = clock.now();
    await compactions.revokeWorkers({ host: '', aliveWorkerIds: [], olderThanMs: BigInt(conf.workerTimeoutMs) });
    await recoverAbandoned(this.services);
    const { candidates } = await txns.findCompactionCandidates({
      abortedThreshold: conf.abortedTxnThreshold,
      abortedTimeThresholdMs: BigInt(conf.abortedTxnTimeThresholdMs),
      sinceMs: BigInt(Math.max(0, this.lastRunMs - OVERLAP_MS)),
    });
    const queued: bigint[] = [];
    for (const candidate of [...candidates, ...(await this.toRetry(candidates))]) {
      signal?.throwIfAborted();
      const id = await this.consider(candidate);
      if (id !== undefined) queued.push(id);
    }
    this.lastRunMs = startedMs;
    return queued;
  }

  /** Resources whose newest compaction failed or could not be queued: nobody needs to write for another try (HIVE-24602). */
  private async toRetry(candidates: readonly CompactionCandidate[]): Promise<CompactionCandidate[]> {
    const known = new Set(candidates.map(({ resource }) => keyOf(resource)));
    const found = new Map<string, CompactionCandidate>();
    for (const state of [
      CompactionState.COMPACTION_STATE_FAILED,
      CompactionState.COMPACTION_STATE_DID_NOT_INITIATE,
    ] as const) {
      const { compactions } = await this.services.compactions.showCompactions({ state, limit: 0n });
      for (const { database, table, partition } of compactions) {
        const resource = { database, table, partition };
        if (known.has(keyOf(resource)) || found.has(keyOf(resource))) continue;
        if (isToRetry(await this.past(resource)))
          found.set(keyOf(resource), { resource, tooManyAborts: false, hasOldAbort: false });
      }
    }
    return [...found.values()];
  }

  /** What the queue and its history say of a resource. */
  private async past(names: ResourceNames): Promise<PastCompaction[]> {
    const { compactions } = await this.services.compactions.showCompactions({ ...names, limit: 0n });
    return compactions.filter((compaction) => compaction.partition === names.partition);
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

  private async decide(candidate: CompactionCandidate, names: ResourceNames): Promise<bigint | undefined> {
    const { catalog, conf, clock } = this.services;
    const found = await findResource(this.services, names);
    if (found === undefined) return undefined;
    // A partitioned table's writes are recorded by partition; a record without one is of a write that was aborted early.
    if (found.table.partitionKeys.length > 0 && found.partition === undefined) return undefined;
    const { database } = await catalog.getDatabase({ name: names.database });
    if (isAutoCompactionOff(found.table.parameters, database?.parameters ?? {})) return undefined;
    if (found.insertOnly && !conf.compactInsertOnly) return undefined;
    const past = await this.past(names);
    if (past.some(isPending)) return undefined;
    if (mustRest(past, conf.failedCompactsThreshold, conf.failedRetryTimeMs, clock.now())) {
      const why = `Compaction is not initiated since last ${conf.failedCompactsThreshold} consecutive compaction attempts failed`;
      await this.remember(names, why);
      return undefined;
    }
    return await this.queueIfDue(candidate, names, found, database?.parameters ?? {});
  }

  private async queueIfDue(
    candidate: CompactionCandidate,
    names: ResourceNames,
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
    );
    if (decision === undefined) return undefined;
    const response = await compactions.compact({
      ...names,
      type: decision.type,
      runAs: await userToRunAs(this.services, found.location),
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
  private async remember(names: ResourceNames, errorMessage: string): Promise<void> {
    const state = CompactionState.COMPACTION_STATE_DID_NOT_INITIATE;
    const initiatorId = `${this.services.host}-${process.pid}`;
    const record = Compaction.fromPartial({ ...names, type: CompactionType.COMPACTION_TYPE_MAJOR, initiatorId });
    await this.services.compactions.finishCompaction({ id: 0n, state, errorMessage, record });
  }
}
