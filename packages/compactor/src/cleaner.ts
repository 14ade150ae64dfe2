import { getAcidState, parseAcidDirectoryName } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type Compaction, type CompactionCandidate, CompactionState } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import { type CompactedResource, findResource } from './resource.js';
import type { CompactorServices } from './services.js';

/**
 * Removes folders that compactions and overwrites made obsolete, and those of aborted transactions, once no open snapshot
 * can need them (org.apache.hadoop.hive.ql.txn.compactor.Cleaner with its CompactionCleaner and AbortedTxnCleaner).
 */
export class Cleaner {
  constructor(private readonly services: CompactorServices) {}

  /** One round. Answers how many folders and files were removed. */
  async runOnce(signal?: AbortSignal): Promise<number> {
    const { txns, compactions, conf } = this.services;
    const watermark = await txns.getCleanerWatermark({});
    const { compactions: ready } = await compactions.findReadyToClean({
      minOpenTxnId: watermark.minOpenTxnId,
      retentionMs: BigInt(conf.cleanerDelayMs),
    });
    let removed = 0;
    for (const job of ready) {
      signal?.throwIfAborted();
      removed += await this.guarded(job, async () => await this.clean(job, watermark.validTxns));
    }
    if (conf.cleanAbortsUsingCleaner) removed += await this.cleanAborts(signal);
    return removed;
  }

  private async guarded(job: Compaction, clean: () => Promise<number>): Promise<number> {
    try {
      return await clean();
    } catch (error) {
      const { conf, compactions, log } = this.services;
      const message = `Cleaner: ${job.database}.${job.table} ${job.partition ?? ''}: ${String(error)}`;
      log(message);
      const attempt = attempts(job.retryRetentionMs, conf.cleanerRetryRetentionMs);
      if (attempt >= conf.cleanerRetryMaxAttempts) {
        await compactions.finishCompaction({
          id: job.id,
          state: CompactionState.COMPACTION_STATE_FAILED,
          errorMessage: message,
        });
      } else {
        const retryRetentionMs = BigInt(conf.cleanerRetryRetentionMs) * 2n ** BigInt(attempt);
        await compactions.setCleanerRetry({ id: job.id, retryRetentionMs, errorMessage: message });
      }
      return 0;
    }
  }

  private async clean(job: Compaction, validTxns: string): Promise<number> {
    const { compactions, txns, fs } = this.services;
    const resource = await findResource(this.services, job);
    if (resource === undefined) {
      await this.succeed(job);
      return 0;
    }
    if (isCleaningOff(resource)) {
      const errorMessage = `Table ${job.database}.${job.table} has no_cleanup set`;
      await compactions.finishCompaction({ id: job.id, state: CompactionState.COMPACTION_STATE_REFUSED, errorMessage });
      return 0;
    }
    const txnList = ValidTxnList.parse(validTxns);
    const tables = [`${job.database}.${job.table}`];
    const reader = ValidWriteIdList.parse((await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0]);
    const watermark =
      job.highestWriteId > 0n && job.highestWriteId < reader.highWatermark ? job.highestWriteId : reader.highWatermark;
    const writeIds = ValidWriteIdList.forCleaner(reader, watermark);
    const state = await getAcidState(fs, resource.location, writeIds, txnList, {
      insertOnly: resource.insertOnly,
      withoutFiles: true,
    });
    const paths = [...state.obsolete, ...state.aborted];
    for (const path of paths) await fs.delete(path, { recursive: true });
    if (!(await this.isClean(resource, writeIds, txnList))) return paths.length;
    await txns.markCleaned({
      resource: { database: job.database, table: job.table, partition: job.partition },
      highestWriteId: job.highestWriteId,
      abortedWriteIds: state.uncompactedAborts ? [...state.abortedWriteIds] : [],
      allAbortedBelow: !state.uncompactedAborts,
      compactionTxnId: job.txnId,
    });
    await this.succeed(job);
    return paths.length;
  }

  /** Nothing obsolete is left up to the request's write id; if there is, the request stays for another round. */
  private async isClean(resource: CompactedResource, writeIds: ValidWriteIdList, txns: ValidTxnList): Promise<boolean> {
    const state = await getAcidState(this.services.fs, resource.location, writeIds, txns, {
      insertOnly: resource.insertOnly,
      withoutFiles: true,
    });
    return state.obsolete.length === 0 && state.aborted.length === 0;
  }

  private async succeed(job: Compaction): Promise<void> {
    await this.services.compactions.finishCompaction({
      id: job.id,
      state: CompactionState.COMPACTION_STATE_SUCCEEDED,
      errorMessage: '',
    });
  }

  /** Resources with many or old aborted transactions are cleaned of them without a compaction. */
  private async cleanAborts(signal?: AbortSignal): Promise<number> {
    const { txns, conf, log } = this.services;
    const { candidates } = await txns.findCompactionCandidates({
      abortedThreshold: conf.abortedTxnThreshold,
      abortedTimeThresholdMs: BigInt(conf.abortedTxnTimeThresholdMs),
      sinceMs: BigInt(this.services.clock.now()),
    });
    let removed = 0;
    for (const candidate of candidates.filter((c) => c.tooManyAborts || c.hasOldAbort)) {
      signal?.throwIfAborted();
      try {
        removed += await this.cleanAborted(candidate);
      } catch (error) {
        log(`Cleaner of aborts: ${candidate.resource?.database}.${candidate.resource?.table}: ${String(error)}`);
      }
    }
    return removed;
  }

  private async cleanAborted(candidate: CompactionCandidate): Promise<number> {
    const { txns } = this.services;
    const names = candidate.resource;
    if (names === undefined) return 0;
    const resource = await findResource(this.services, names);
    if (resource === undefined || isCleaningOff(resource)) return 0;
    const { validTxns } = await txns.getValidTxns({});
    const tables = [`${names.database}.${names.table}`];
    const writeIds = ValidWriteIdList.parse((await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0]);
    const locations =
      resource.table.partitionKeys.length > 0 && resource.partition === undefined
        ? await this.allPartitions(names)
        : [resource.location];
    const abortedWriteIds = new Set<bigint>(writeIds.abortedWriteIds);
    let removed = 0;
    for (const location of locations) removed += await this.removeAborted(location, abortedWriteIds);
    await txns.markCleaned({
      resource: names,
      highestWriteId: 0n,
      abortedWriteIds: [...abortedWriteIds],
      allAbortedBelow: false,
    });
    return removed;
  }

  /** Folders of exactly one write, an aborted one: nobody ever sees them. */
  private async removeAborted(location: string, aborted: ReadonlySet<bigint>): Promise<number> {
    const { fs } = this.services;
    if ((await fs.stat(location)) === undefined) return 0;
    let removed = 0;
    for (const entry of await fs.list(location)) {
      const name = parseAcidDirectoryName(entry.name);
      if (name === undefined || name.visibilityTxnId !== 0n) continue;
      const isAborted =
        name.kind === 'base'
          ? aborted.has(name.writeId)
          : name.minWriteId === name.maxWriteId && aborted.has(name.minWriteId);
      if (!isAborted) continue;
      await fs.delete(joinPath(location, entry.name), { recursive: true });
      removed++;
    }
    return removed;
  }

  private async allPartitions(names: { database: string; table: string }): Promise<string[]> {
    const { partitions } = await this.services.catalog.getPartitions({ ...names, names: [] });
    return partitions.map((partition) => partition.sd?.location ?? '');
  }
}

const isCleaningOff = (resource: CompactedResource): boolean =>
  (resource.table.parameters.no_cleanup ?? resource.table.parameters.NO_CLEANUP)?.toLowerCase() === 'true';

/** How often cleaning has failed, out of the delay the last failure set: it doubles each time. */
function attempts(retentionMs: bigint, firstMs: number): number {
  if (retentionMs <= 0n) return 0;
  return Math.round(Math.log2(Number(retentionMs) / firstMs)) + 1;
}
