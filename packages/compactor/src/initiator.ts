import { compactionThresholds, getAcidState } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { Compaction, type CompactionCandidate, CompactionState, CompactionType } from '@skep/rpc';
import { recoverAbandoned } from './abandoned.js';
import {
  decideCompactionType,
  isFirstLoadPending,
  isPending,
  isToRetry,
  mustRest,
  type PastCompaction,
  poolOf,
  whereAutoCompactionIsOff,
} from './initiator-decision.js';
import { typeWord } from './log-fields.js';
import { type CompactedResource, findResource } from './resource.js';
import { userToRunAs } from './run-as.js';
import type { CompactorServices } from './services.js';
import { sideBySide } from './side-by-side.js';

interface ResourceNames {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
}

type Aborts = Pick<CompactionCandidate, 'tooManyAborts' | 'hasOldAbort'>;

interface Due {
  readonly type: CompactionType;
  readonly reason: string;
  readonly found: CompactedResource;
  readonly poolName: string;
}

/** What is due, or why nothing is; with or without a record in the history. */
type Verdict = Due | { readonly why: string; readonly isRemembered?: boolean };

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
    return await this.services.meter.cycle('initiator', () => this.round(signal));
  }

  private async round(signal?: AbortSignal): Promise<bigint[]> {
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
    const work = async (candidate: CompactionCandidate): Promise<void> => {
      const id = await this.consider(candidate);
      if (id !== undefined) queued.push(id);
    };
    const all = [...candidates, ...(await this.toRetry(candidates))];
    await sideBySide(all, conf.initiatorThreads, ({ resource }) => keyOf(resource), work, signal);
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
      this.services.meter.failure('initiator');
      const { database, table, partition } = resource;
      this.services.log.warn(
        { table: `${database}.${table}`, partition, error },
        `Initiator: ${database}.${table} ${partition ?? ''}: ${String(error)}`,
      );
      await this.remember(resource, `Initiator failed: ${String(error)}`);
      return undefined;
    }
  }

  /** Why a resource would, or would not, be queued now: the first reason that decides. */
  async explain(names: ResourceNames): Promise<string> {
    const { txns, conf } = this.services;
    const { candidates } = await txns.findCompactionCandidates({
      abortedThreshold: conf.abortedTxnThreshold,
      abortedTimeThresholdMs: BigInt(conf.abortedTxnTimeThresholdMs),
      sinceMs: 0n,
    });
    const candidate = candidates.find(({ resource }) => keyOf(resource) === keyOf(names));
    const verdict = await this.judge(candidate ?? { tooManyAborts: false, hasOldAbort: false }, names);
    if ('why' in verdict) return verdict.why;
    return `due for a ${typeWord(verdict.type)} compaction: ${verdict.reason}`;
  }

  private async decide(candidate: CompactionCandidate, names: ResourceNames): Promise<bigint | undefined> {
    const verdict = await this.judge(candidate, names);
    if (!('why' in verdict)) return await this.queue(names, verdict);
    if (verdict.isRemembered) await this.remember(names, verdict.why);
    return undefined;
  }

  /** InitiatorBase.isEligibleForCompaction and determineCompactionType. */
  private async judge(candidate: Aborts, names: ResourceNames): Promise<Verdict> {
    const { catalog, conf, clock } = this.services;
    const found = await findResource(this.services, names);
    if (found === undefined) return { why: 'the table or partition is gone' };
    // A partitioned table's writes are recorded by partition; a record without one is of a write that was aborted early.
    if (found.table.partitionKeys.length > 0 && found.partition === undefined) {
      return { why: 'a partitioned table is compacted by partition; what aborted writes left is for the Cleaner' };
    }
    const { database } = await catalog.getDatabase({ name: names.database });
    const inherited = database?.parameters ?? {};
    if (isFirstLoadPending(inherited) || isFirstLoadPending(found.table.parameters)) {
      return { why: 'it is a replica that waits for its first incremental load (hive.repl.first.inc.pending)' };
    }
    const off = whereAutoCompactionIsOff(found.table.parameters, inherited);
    if (off !== undefined) return { why: `no_auto_compaction is set on the ${off}` };
    if (found.insertOnly && !conf.compactInsertOnly) {
      return { why: 'insert-only tables are not compacted (hive.compactor.compact.insert.only)' };
    }
    const past = await this.past(names);
    const pending = past.find(isPending);
    if (pending !== undefined) {
      const since = new Date(Number(pending.enqueueTimeMs)).toISOString();
      return { why: `compaction ${pending.id} of it is under way, asked for at ${since}` };
    }
    if (mustRest(past, conf.failedCompactsThreshold, conf.failedRetryTimeMs, clock.now())) {
      const why = `Compaction is not initiated since last ${conf.failedCompactsThreshold} consecutive compaction attempts failed`;
      return { why, isRemembered: true };
    }
    const { type, reason } = await this.typeOf(candidate, names, found, inherited);
    if (type === undefined) return { why: reason };
    return { type, reason, found, poolName: poolOf(found.table.parameters, inherited) };
  }

  private async typeOf(
    candidate: Aborts,
    names: ResourceNames,
    found: CompactedResource,
    inherited: Readonly<Record<string, string>>,
  ): Promise<ReturnType<typeof decideCompactionType>> {
    const { txns, conf, fs } = this.services;
    const { validTxns } = await txns.getValidTxns({});
    const answer = await txns.getValidWriteIds({ tables: [`${names.database}.${names.table}`], validTxns });
    const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(answer.validWriteIds[0]));
    const state = await getAcidState(fs, found.location, writeIds, ValidTxnList.parse(validTxns), {
      insertOnly: found.insertOnly,
    });
    await this.services.deltaCounts?.found(names, state);
    const useCleaner = conf.cleanAbortsUsingCleaner;
    const configured = { deltaNum: conf.deltaNumThreshold, deltaPct: conf.deltaPctThreshold };
    return decideCompactionType(state, compactionThresholds(configured, found.table.parameters, inherited), {
      tooMany: candidate.tooManyAborts && !useCleaner,
      old: candidate.hasOldAbort && !useCleaner,
    });
  }

  private async queue(names: ResourceNames, decision: Due): Promise<bigint | undefined> {
    const { compactions, host, version } = this.services;
    const { location } = decision.found;
    const response = await compactions.compact({
      ...names,
      type: decision.type,
      runAs: await userToRunAs(this.services, { ...names, location }),
      properties: {},
      initiatorId: `${host}-${process.pid}`,
      initiatorVersion: version,
      poolName: decision.poolName,
      orderBy: '',
    });
    const { database, table, partition } = names;
    const fields = { compactionId: response.id, table: `${database}.${table}`, partition, reason: decision.reason };
    if (!response.accepted) {
      this.services.log.info({ ...fields, error: response.errorMessage }, 'compaction is due, but refused');
      return undefined;
    }
    this.services.log.info({ ...fields, type: typeWord(decision.type) }, 'compaction is due');
    return response.id;
  }

  /** Leaves a record that can be asked why nothing was queued. */
  private async remember(names: ResourceNames, errorMessage: string): Promise<void> {
    const { database, table, partition } = names;
    this.services.log.info({ table: `${database}.${table}`, partition, errorMessage }, 'compaction not initiated');
    const state = CompactionState.COMPACTION_STATE_DID_NOT_INITIATE;
    const initiatorId = `${this.services.host}-${process.pid}`;
    const record = Compaction.fromPartial({ ...names, type: CompactionType.COMPACTION_TYPE_MAJOR, initiatorId });
    await this.services.compactions.finishCompaction({ id: 0n, state, errorMessage, record });
  }
}
