import { type AcidState, getAcidState } from '@skep/acid';
import { LONG_MAX, SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type Compaction, CompactionState } from '@skep/rpc';
import { AbortCleaner } from './abort-cleaner.js';
import { failedAttempts, forgettableWriteIds, hasAbortedResult, retryDelayMs } from './cleaner-decision.js';
import { isFinished, removePartitionFiles, removeTableFolder, settleForgotten, verdictOf } from './cleanup.js';
import { fieldsOf } from './log-fields.js';
import { locationOf } from './queue/cleanups.js';
import { type CompactedResource, findResource, isCleaningOff } from './resource.js';
import type { CompactorServices } from './services.js';
import { sideBySide } from './side-by-side.js';

/**
 * Removes folders that compactions and overwrites made obsolete, those that drops have left, and those of aborted transactions,
 * once no open snapshot can need them (org.apache.hadoop.hive.ql.txn.compactor.Cleaner with its CompactionCleaner and AbortedTxnCleaner).
 */
export class Cleaner {
  private readonly aborts: AbortCleaner;
  /** Requests of this round that have ended. */
  private readonly finished = new Set<bigint>();
  /** How many have, of all rounds. */
  private ended = 0;

  constructor(private readonly services: CompactorServices) {
    this.aborts = new AbortCleaner(services);
  }

  /**
   * One round, as Hive's: of each table or partition the request with the lowest write id, of those that can be cleaned now.
   * Answers how many folders and files were removed.
   */
  async runOnce(signal?: AbortSignal): Promise<number> {
    return await this.services.meter.cycle('cleaner', () => this.round(signal));
  }

  /** Round after round, until no request is left that can be cleaned now. */
  async runAll(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (;;) {
      const before = this.ended;
      removed += await this.runOnce(signal);
      if (this.ended === before) return removed;
    }
  }

  private async round(signal?: AbortSignal): Promise<number> {
    const { txns, conf } = this.services;
    const { jobs, watermark } = await this.findReady();
    let removed = 0;
    const work = async (job: Compaction): Promise<void> => {
      removed += await this.guarded(job, async () => {
        if (!conf.useMinHistoryWriteId) return await this.clean(job, watermark.validTxns);
        const own = await txns.getCleanerWatermark({ resource: { database: job.database, table: job.table } });
        if (job.nextTxnId !== undefined && job.nextTxnId >= own.minOpenTxnId) return 0;
        return await this.clean(job, own.validTxns);
      });
    };
    const keyOf = ({ database, table, partition }: Compaction) => [database, table, partition ?? ''].join('\0');
    await sideBySide(jobs, conf.cleanerThreads, keyOf, work, signal);
    return removed + (await this.aborts.runOnce(signal));
  }

  private async findReady() {
    const { txns, compactions, conf } = this.services;
    for (;;) {
      const watermark = await txns.getCleanerWatermark({});
      const { compactions: jobs, unsettled } = await compactions.findReadyToClean({
        // By table each has a watermark of its own, which is looked at when it comes to it.
        minOpenTxnId: conf.useMinHistoryWriteId ? LONG_MAX : watermark.minOpenTxnId,
        retentionMs: BigInt(conf.cleanerDelayMs),
      });
      // What was settled only now may be ready too.
      if ((await settleForgotten(this.services, unsettled)) === 0) return { jobs, watermark };
    }
  }

  private async guarded(job: Compaction, clean: () => Promise<number>): Promise<number> {
    const { clock, meter, compactions } = this.services;
    const startedMs = clock.now();
    try {
      await compactions.setCleanerStart({ id: job.id, isBegun: true });
      const removed = await clean();
      if (!this.finished.delete(job.id)) await compactions.setCleanerStart({ id: job.id, isBegun: false });
      meter.job('cleaner', job, clock.now() - startedMs);
      if (removed > 0)
        this.services.log.info({ ...fieldsOf(job), removed, durationMs: clock.now() - startedMs }, 'cleaned');
      return removed;
    } catch (error) {
      // Another process's Cleaner has finished the request meanwhile.
      if (isFinished(error)) return 0;
      meter.failure('cleaner');
      const message = `Cleaner: ${job.database}.${job.table} ${job.partition ?? ''}: ${String(error)}`;
      this.services.log.warn({ ...fieldsOf(job), error }, message);
      await this.putOff(job, message);
      return 0;
    }
  }

  private async putOff(job: Compaction, errorMessage: string): Promise<void> {
    const { conf, compactions } = this.services;
    const firstMs = conf.cleanerRetryRetentionMs;
    const attempts = failedAttempts(job.retryRetentionMs, firstMs);
    const delayMs = retryDelayMs(attempts, firstMs, conf.cleanerRetryMaxAttempts);
    try {
      if (delayMs === undefined) await this.finish(job, CompactionState.COMPACTION_STATE_FAILED, errorMessage);
      else await compactions.setCleanerRetry({ id: job.id, retryRetentionMs: BigInt(delayMs), errorMessage });
    } catch (error) {
      // Another process's Cleaner has finished it meanwhile.
      if (!isFinished(error)) throw error;
    }
  }

  private async clean(job: Compaction, validTxns: string): Promise<number> {
    const location = locationOf(job);
    return location === undefined
      ? await this.cleanFolder(job, validTxns)
      : await this.cleanUp(job, location, validTxns);
  }

  /** What a drop has left (CompactionCleaner.cleanUsingLocation). */
  private async cleanUp(job: Compaction, location: string, validTxns: string): Promise<number> {
    const verdict = await verdictOf(this.services, job, location);
    switch (verdict.kind) {
      case 'refuse':
        await this.finish(job, CompactionState.COMPACTION_STATE_REFUSED, verdict.why);
        return 0;
      case 'clean': {
        const removed = await removePartitionFiles(this.services, job, location, true);
        return removed + (await this.cleanFolder(job, validTxns));
      }
      case 'remove': {
        const removed =
          job.partition === undefined
            ? await removeTableFolder(this.services, job, location)
            : await removePartitionFiles(this.services, job, location, false);
        await this.finish(job, CompactionState.COMPACTION_STATE_SUCCEEDED);
        return removed;
      }
    }
  }

  private async cleanFolder(job: Compaction, validTxns: string): Promise<number> {
    const { txns, fs } = this.services;
    const resource = await findResource(this.services, job);
    if (resource === undefined) {
      await this.finish(job, CompactionState.COMPACTION_STATE_SUCCEEDED);
      return 0;
    }
    const kept = [resource.table, resource.partition].find((one) => one !== undefined && isCleaningOff(one));
    if (kept !== undefined) {
      const what = kept === resource.table ? 'Table' : `Partition ${job.partition} of`;
      const why = `${what} ${job.database}.${job.table} has no_cleanup set`;
      await this.finish(job, CompactionState.COMPACTION_STATE_REFUSED, why);
      return 0;
    }
    if (resource.table.partitionKeys.length > 0 && job.partition === undefined) {
      // Of aborted writes in partitions nobody knows: the AbortCleaner finds them.
      await this.finish(job, CompactionState.COMPACTION_STATE_SUCCEEDED);
      return 0;
    }
    const txnList = ValidTxnList.parse(validTxns);
    const tables = [`${job.database}.${job.table}`];
    const reader = ValidWriteIdList.parse((await txns.getValidWriteIds({ tables, validTxns })).validWriteIds[0]);
    const writeIds = ValidWriteIdList.forCleaner(reader, this.cleanUpTo(job, reader.highWatermark));
    const state = await this.stateOf(resource, writeIds, txnList);
    const paths = state === undefined ? [] : [...state.obsolete, ...state.aborted];
    for (const path of paths) await fs.delete(path, { recursive: true });
    const rest = paths.length === 0 ? state : await this.stateOf(resource, writeIds, txnList);
    // Something is left: the request stays for another round.
    if (rest !== undefined) await this.services.deltaCounts?.cleaned(job, rest);
    if (rest !== undefined && rest.obsolete.length + rest.aborted.length > 0) return paths.length;
    await this.forget(job, reader, txnList, resource.location);
    await this.finish(job, CompactionState.COMPACTION_STATE_SUCCEEDED);
    return paths.length;
  }

  /** Only what this request made obsolete, as in Hive: what a later one did has a round, and maybe a delay, of its own. */
  private cleanUpTo({ highestWriteId }: Compaction, highWatermark: bigint): bigint {
    return highestWriteId > 0n && highestWriteId < highWatermark ? highestWriteId : highWatermark;
  }

  /**
   * undefined: by this list the folder cannot be read any more, a later request's result has replaced all of it, and leaves it to
   * that one. (Hive's Cleaner fails then, again and again, until it gives the request up.)
   */
  private async stateOf(
    { location, insertOnly }: CompactedResource,
    writeIds: ValidWriteIdList,
    txns: ValidTxnList,
  ): Promise<AcidState | undefined> {
    try {
      return await getAcidState(this.services.fs, location, writeIds, txns, { insertOnly, withoutFiles: true });
    } catch (error) {
      if (error instanceof SkepError && error.code === 'NOT_ENOUGH_HISTORY') return undefined;
      throw error;
    }
  }

  /**
   * Exactly what has no files any more. Of aborted compactions those below the watermark: their folders were listed as
   * aborted ones.
   */
  private async forget(
    job: Compaction,
    reader: ValidWriteIdList,
    txnList: ValidTxnList,
    location: string,
  ): Promise<void> {
    const { fs, txns } = this.services;
    const { database, table, partition, highestWriteId } = job;
    // A folder that is not there may just be being renamed: what it holds is not known to be gone.
    const isThere = (await fs.stat(location)) !== undefined;
    const names = isThere ? (await fs.list(location)).map((entry) => entry.name) : [];
    const below = reader.abortedWriteIds.filter((id) => highestWriteId === 0n || id <= highestWriteId);
    await txns.markCleaned({
      resource: { database, table, partition },
      highestWriteId,
      abortedWriteIds: isThere ? forgettableWriteIds(below, names) : [],
      allAbortedBelow: false,
      compactionTxnId: isThere && !hasAbortedResult(names, txnList) ? txnList.highWatermark : undefined,
    });
  }

  private async finish(job: Compaction, state: CompactionState, errorMessage = ''): Promise<void> {
    await this.services.compactions.finishCompaction({ id: job.id, state, errorMessage });
    this.finished.add(job.id);
    this.ended++;
  }
}
