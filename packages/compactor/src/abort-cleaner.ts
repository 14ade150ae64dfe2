import { getAcidState, isHiddenName, parseAcidDirectoryName } from '@skep/acid';
import { LONG_MAX, SkepError, ValidTxnList, type ValidWriteIdList } from '@skep/core';
import {
  type CatalogService,
  type Compaction,
  CompactionState,
  CompactionType,
  DataOperation,
  LockLevel,
  LockState,
  LockType,
  type Resource,
  type Table,
} from '@skep/rpc';
import { type FileSystem, joinPath } from '@skep/storage';
import { failedAttempts, forgettableWriteIds, hasAbortedResult, retryDelayMs } from './cleaner-decision.js';
import { isFinished } from './cleanup.js';
import { findResource, isCleaningOff, isInsertOnly, tableOf } from './resource.js';
import type { CompactorServices } from './services.js';
import { completeWriteIds } from './write-id-lists.js';

/** How many folders were removed, and whether the resource need not be looked at soon again. */
interface Cleaned {
  readonly removed: number;
  readonly isDone: boolean;
}

/** A resource that could not be done with is left alone for a while, longer each time. */
interface Rest {
  readonly attempts: number;
  readonly untilMs: number;
}

/**
 * Cleans resources with many or old aborted transactions of what these wrote, without a compaction
 * (org.apache.hadoop.hive.ql.txn.compactor.handler.AbortedTxnCleaner).
 */
export class AbortCleaner {
  private readonly resting = new Map<string, Rest>();

  constructor(private readonly services: CompactorServices) {}

  /** Answers how many folders were removed. */
  async runOnce(signal?: AbortSignal): Promise<number> {
    const { txns, conf, clock, log, meter } = this.services;
    const { candidates } = await txns.findCompactionCandidates({
      abortedThreshold: conf.abortedTxnThreshold,
      abortedTimeThresholdMs: BigInt(conf.abortedTxnTimeThresholdMs),
      // Only what was aborted matters here.
      sinceMs: BigInt(clock.now()) + 86_400_000n,
    });
    const due = candidates.filter(({ tooManyAborts, hasOldAbort }) => tooManyAborts || hasOldAbort);
    const retries = await this.retries();
    await this.endForgotten(retries, due);
    let removed = 0;
    for (const { resource } of due) {
      if (resource === undefined) continue;
      const retry = retries.get(keyOf(resource));
      if (this.isResting(resource) || isTooEarly(retry, clock.now())) continue;
      signal?.throwIfAborted();
      try {
        const result = await this.clean(resource);
        removed += result.removed;
        if (result.removed > 0) {
          const { database, table, partition } = resource;
          log.info({ table: `${database}.${table}`, partition, removed: result.removed }, 'cleaned of aborted writes');
        }
        if (retry !== undefined) await this.end(retry, CompactionState.COMPACTION_STATE_SUCCEEDED);
        if (result.isDone) this.resting.delete(keyOf(resource));
        else this.rest(resource);
      } catch (error) {
        meter.failure('cleaner');
        const table = `${resource.database}.${resource.table}`;
        const message = `Cleaner of aborts: ${table} ${resource.partition ?? ''}: ${String(error)}`;
        log.warn({ table, partition: resource.partition, error }, message);
        await this.putOff(resource, retry, message);
      }
    }
    return removed;
  }

  /** Nobody has any aborts there any more: they were cleaned with compactions of its partitions, or went with it. */
  private async endForgotten(
    retries: ReadonlyMap<string, Compaction>,
    due: readonly { readonly resource?: Resource | undefined }[],
  ): Promise<void> {
    const known = new Set(due.map(({ resource }) => resource && keyOf(resource)));
    if ([...retries.keys()].every((key) => known.has(key))) return;
    const any = { abortedThreshold: 0, abortedTimeThresholdMs: 0n };
    const sinceMs = BigInt(this.services.clock.now()) + 86_400_000n;
    const { candidates } = await this.services.txns.findCompactionCandidates({ ...any, sinceMs });
    for (const { resource, tooManyAborts, hasOldAbort } of candidates) {
      if (resource !== undefined && (tooManyAborts || hasOldAbort)) known.add(keyOf(resource));
    }
    for (const [key, retry] of retries) {
      if (!known.has(key)) await this.end(retry, CompactionState.COMPACTION_STATE_SUCCEEDED);
    }
  }

  /** What could not be cleaned before, by table and partition. */
  private async retries(): Promise<Map<string, Compaction>> {
    const { compactions } = await this.services.compactions.showCompactions({
      type: CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP,
      state: CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
      limit: 0n,
    });
    return new Map(compactions.map((retry) => [keyOf(retry), retry]));
  }

  /** In the queue, where whoever cleans next finds it, and people see why (Cleaner.handleCleanerAttemptFailure). */
  private async putOff(resource: Resource, retry: Compaction | undefined, errorMessage: string): Promise<void> {
    const { conf, compactions } = this.services;
    const firstMs = conf.cleanerRetryRetentionMs;
    const attempts = failedAttempts(retry?.retryRetentionMs ?? 0n, firstMs);
    const delayMs = retryDelayMs(attempts, firstMs, conf.cleanerRetryMaxAttempts);
    if (retry !== undefined && delayMs === undefined) {
      await this.end(retry, CompactionState.COMPACTION_STATE_FAILED, errorMessage);
      return;
    }
    const retryRetentionMs = BigInt(delayMs ?? firstMs);
    await compactions.setCleanerRetry({ id: 0n, retryRetentionMs, errorMessage, ...resource });
  }

  private async end({ id }: Compaction, state: CompactionState, errorMessage = ''): Promise<void> {
    try {
      await this.services.compactions.finishCompaction({ id, state, errorMessage });
    } catch (error) {
      // Another process's Cleaner has ended it meanwhile.
      if (!isFinished(error)) throw error;
    }
  }

  private isResting(resource: Resource): boolean {
    return (this.resting.get(keyOf(resource))?.untilMs ?? 0) > this.services.clock.now();
  }

  private rest(resource: Resource): void {
    const { conf, clock } = this.services;
    const attempts = this.resting.get(keyOf(resource))?.attempts ?? 0;
    const delayMs = conf.cleanerRetryRetentionMs * 2 ** Math.min(attempts, conf.cleanerRetryMaxAttempts);
    this.resting.set(keyOf(resource), { attempts: attempts + 1, untilMs: clock.now() + delayMs });
  }

  /**
   * What was aborted before the snapshot is nobody's: nobody sees it, and its writer has ended or hears of it. What was
   * aborted since is for another round.
   */
  private async clean(resource: Resource): Promise<Cleaned> {
    const { conf, fs } = this.services;
    const table = await tableOf(this.services, resource.database, resource.table);
    if (table === undefined) return await this.whileLocked(resource, () => this.forgetTable(resource));
    if (isCleaningOff(table)) return { removed: 0, isDone: false };
    if ((await fs.stat(table.sd?.location ?? '')) === undefined) return { removed: 0, isDone: false };
    const isDynamic = table.partitionKeys.length > 0 && resource.partition === undefined;
    if (!conf.cleanAbortsUsingCleaner && !isDynamic) return { removed: 0, isDone: true };
    const txnList = ValidTxnList.parse((await this.services.txns.getValidTxns({})).validTxns);
    if (isDynamic) return await this.cleanFolders(resource, table, txnList, await this.everyFolder(table));
    const folders = await this.folderOf(table, resource);
    if (folders.length > 0) return await this.cleanFolders(resource, table, txnList, folders);
    return await this.whileLocked(resource, async () => {
      // One that the catalog has, whose folder is missing, may be back.
      if ((await findResource(this.services, resource)) !== undefined) return { removed: 0, isDone: false };
      // A rename that ended half-way has taken its files elsewhere.
      return await this.cleanFolders(resource, table, txnList, await this.everyFolder(table));
    });
  }

  /**
   * What is gone is no more to be cleaned (AbortedTxnCleaner, "assuming it was dropped"), unless it is just being renamed, which a
   * lock tells: whoever does has one until names are the same everywhere.
   */
  private async whileLocked(resource: Resource, work: () => Promise<Cleaned>): Promise<Cleaned> {
    const { locks, user, host, agentInfo } = this.services;
    const { database, table, partition } = resource;
    const lock = await locks.lock({
      txnId: 0n,
      user,
      host,
      agentInfo,
      zeroWaitRead: false,
      exclusiveCtas: false,
      components: [
        {
          type: LockType.LOCK_TYPE_EXCLUSIVE,
          level: partition === undefined ? LockLevel.LOCK_LEVEL_TABLE : LockLevel.LOCK_LEVEL_PARTITION,
          database,
          table,
          partition,
          operation: DataOperation.DATA_OPERATION_NO_TXN,
          isTransactional: false,
          isDynamicPartitionWrite: false,
        },
      ],
    });
    try {
      return lock.state === LockState.LOCK_STATE_ACQUIRED ? await work() : { removed: 0, isDone: false };
    } finally {
      await locks.unlock({ lockId: lock.lockId });
    }
  }

  private async forgetTable(resource: Resource): Promise<Cleaned> {
    const { txns, catalog, fs } = this.services;
    const isBack = (await tableOf(this.services, resource.database, resource.table)) !== undefined;
    const root = await locationOfDatabase(catalog, resource.database);
    // A drop that ended half-way has left its files, or another Cleaner has still to remove them.
    const isThere = root !== undefined && (await fs.stat(joinPath(root, resource.table.toLowerCase()))) !== undefined;
    if (isBack || isThere) return { removed: 0, isDone: false };
    const txnList = ValidTxnList.parse((await txns.getValidTxns({})).validTxns);
    await txns.markCleaned({
      resource,
      highestWriteId: LONG_MAX,
      abortedWriteIds: [],
      allAbortedBelow: true,
      compactionTxnId: endedBy(txnList),
    });
    return { removed: 0, isDone: true };
  }

  private async cleanFolders(
    resource: Resource,
    table: Table,
    txnList: ValidTxnList,
    folders: readonly string[],
  ): Promise<Cleaned> {
    const { txns, fs } = this.services;
    const writeIds = await completeWriteIds(this.services, `${resource.database}.${resource.table}`, txnList);
    let removed = 0;
    let forgettable: readonly bigint[] = writeIds.abortedWriteIds;
    let endedTxnId: bigint | undefined = endedBy(txnList);
    for (const folder of folders) {
      removed += await this.removeAborted(folder, writeIds, txnList, isInsertOnly(table));
      const names = (await fs.list(folder)).map((entry) => entry.name);
      forgettable = forgettableWriteIds(forgettable, names);
      if (hasAbortedResult(names, txnList)) endedTxnId = undefined;
    }
    await txns.markCleaned({
      resource,
      highestWriteId: 0n,
      abortedWriteIds: [...forgettable],
      allAbortedBelow: false,
      compactionTxnId: endedTxnId,
    });
    const isChanged = removed + forgettable.length > 0;
    return { removed, isDone: isChanged && forgettable.length === writeIds.abortedWriteIds.length };
  }

  /** The resource's folder; a partition that never came to be in the catalog has its files in the default place. */
  private async folderOf(table: Table, resource: Resource): Promise<string[]> {
    const { fs } = this.services;
    const found = await findResource(this.services, resource);
    const folder = found?.location ?? joinPath(table.sd?.location ?? '', resource.partition ?? '');
    return (await fs.stat(folder)) === undefined ? [] : [folder];
  }

  /**
   * A dynamic-partition write that ended early may have left folders in any partition, those that it was about to make
   * included: all that hold base or delta folders.
   */
  private async everyFolder(table: Table): Promise<string[]> {
    const { catalog, fs } = this.services;
    const names = { database: table.database, table: table.name, names: [] };
    const { partitions } = await catalog.getPartitions(names);
    const root = table.sd?.location ?? '';
    const elsewhere = partitions.map(({ sd }) => sd?.location ?? '').filter((path) => !path.startsWith(`${root}/`));
    const folders: string[] = [];
    for (const top of [root, ...elsewhere]) {
      if ((await fs.stat(top)) !== undefined) folders.push(...(await acidFolders(fs, top)));
    }
    return folders;
  }

  private async removeAborted(
    folder: string,
    writeIds: ValidWriteIdList,
    txnList: ValidTxnList,
    insertOnly: boolean,
  ): Promise<number> {
    const { fs } = this.services;
    const { aborted } = await getAcidState(fs, folder, writeIds, txnList, { insertOnly, withoutFiles: true });
    for (const path of aborted) await fs.delete(path, { recursive: true });
    return aborted.length;
  }
}

/** undefined: gone too. */
async function locationOfDatabase(catalog: CatalogService, name: string): Promise<string | undefined> {
  try {
    return (await catalog.getDatabase({ name })).database?.locationUri;
  } catch (error) {
    if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT') return undefined;
    throw error;
  }
}

/** The transactions that had ended by then: of those above the smallest open one some may have aborted since. */
const endedBy = (txns: ValidTxnList): bigint =>
  txns.minOpenTxn === LONG_MAX ? txns.highWatermark : txns.minOpenTxn - 1n;

/** Folders at any depth that hold base or delta folders. */
async function acidFolders(fs: FileSystem, folder: string): Promise<string[]> {
  const entries = (await fs.list(folder)).filter((entry) => entry.isDirectory && !isHiddenName(entry.name));
  const isAcid = (name: string) => parseAcidDirectoryName(name) !== undefined;
  const found = entries.some((entry) => isAcid(entry.name)) ? [folder] : [];
  for (const entry of entries) if (!isAcid(entry.name)) found.push(...(await acidFolders(fs, entry.path)));
  return found;
}

/** The delay counts from the first failure on. */
const isTooEarly = (retry: Compaction | undefined, nowMs: number): boolean =>
  retry !== undefined && Number(retry.commitTimeMs ?? 0n) + Number(retry.retryRetentionMs) > nowMs;

const keyOf = ({ database, table, partition }: Pick<Resource, 'database' | 'table' | 'partition'>): string =>
  `${database}\0${table}\0${partition ?? ''}`;
