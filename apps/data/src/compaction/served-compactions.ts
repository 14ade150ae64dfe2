import { type ActionCaller, type CompactHow, type CompactionFiles, localCompactionFiles } from '@skep/compactor';
import type { Configuration } from '@skep/config';
import { type Clock, type LinkedAbort, linkedAbort } from '@skep/core';
import { WorkPlaces } from '@skep/flight';
import {
  CallEndedError,
  type CompactFolderRequest,
  type CompactFolderResult,
  type DiscardCompactionRequest,
  detached,
  InvalidRequestError,
  NoSuchCompactionError,
} from '@skep/rpc';
import type { Services } from '@skep/sql';
import { layered } from '@skep/storage';
import type { Logger } from '@skep/telemetry/log';
import { CompactionCheck, requireMeant } from './compaction-check.js';
import { watchTxn } from './watch-txn.js';

export interface ServedCompactionsOptions {
  readonly services: Pick<Services, 'catalog' | 'txns' | 'compactions' | 'fs'>;
  readonly conf: Configuration;
  readonly clock: Clock;
  readonly log: Logger;
  /** Written at once; others wait in order. */
  readonly atOnce: number;
}

interface Running {
  readonly runAs: string;
  readonly stop: LinkedAbort;
  readonly work: Promise<CompactFolderResult>;
}

interface Done {
  readonly runAs: string;
  readonly result: CompactFolderResult;
  readonly untilMs: number;
}

/** How long an answer that may have got lost is kept, and how many. */
const KEEP_MS = 600_000;
const MOST_KEPT = 1000;

/**
 * Compactions that Workers elsewhere have done here. In one transaction a folder is written once: a call that is given up, or
 * whose transaction ends, is stopped and leaves nothing; an answer that gets lost is kept for who asks again.
 */
export class ServedCompactions {
  private readonly check: CompactionCheck;
  private readonly places: WorkPlaces;
  private readonly running = new Map<bigint, Running>();
  private readonly done = new Map<bigint, Done>();

  constructor(private readonly options: ServedCompactionsOptions) {
    this.check = new CompactionCheck(options.services, options.conf);
    this.places = new WorkPlaces(options.atOnce);
  }

  /** The files as that caller may have them worked on. Nothing ends with a call but by its signal. */
  filesFor(caller: ActionCaller): CompactionFiles {
    const { fs } = this.options.services;
    return {
      ownerOf: (request) =>
        detached(async () => {
          await this.check.folder(request);
          return await localCompactionFiles(fs).ownerOf(request);
        }),
      compact: (request, how) =>
        detached(() => (request.resume ? this.resume(caller, request) : this.compact(caller, request, how))),
      discard: (request) => detached(() => this.discard(caller, request)),
    };
  }

  /** Stops all that runs, and waits until it has cleaned up. */
  async close(): Promise<void> {
    const all = [...this.running.values()];
    for (const { stop } of all) stop.abort(new CallEndedError('SHUTTING_DOWN', 'the data service ends'));
    for (const { work } of all) await settled(work);
  }

  private async compact(
    caller: ActionCaller,
    request: CompactFolderRequest,
    { signal, onProgress }: CompactHow,
  ): Promise<CompactFolderResult> {
    const { txnId, runAs } = request;
    requireMeant(request);
    if (this.running.has(txnId) || this.done.has(txnId)) {
      throw new InvalidRequestError(`transaction ${txnId} has had its files written here already, or is at it`);
    }
    const stop = linkedAbort(signal);
    const how = { signal: stop.signal, onProgress };
    const work = this.places.run(stop.signal, () => this.carryOut(caller, request, how));
    this.running.set(txnId, { runAs, stop, work });
    try {
      const result = await work;
      this.keep(txnId, { runAs, result, untilMs: this.options.clock.now() + KEEP_MS });
      return result;
    } finally {
      this.running.delete(txnId);
      stop.release();
    }
  }

  private async carryOut(
    caller: ActionCaller,
    request: CompactFolderRequest,
    how: CompactHow,
  ): Promise<CompactFolderResult> {
    const { services, conf, clock, log } = this.options;
    const { txnId, compactionId, database, table, partition } = request;
    await this.check.folder(request);
    await this.check.user(caller, request.runAs, request.location);
    await this.check.running(request);
    const isOpen = () => this.check.open(txnId);
    const patienceMs = conf.getTimeMs('hive.txn.timeout');
    const watch = watchTxn({ isOpen, patienceMs, clock, signal: how.signal });
    const { fs } = services;
    // An aborted transaction is forgotten once its files are gone, and would count as committed: no file may come after.
    const fenced = layered(fs, {
      create: async (path) => {
        await isOpen();
        return await fs.create(path);
      },
      mkdirs: async (path) => {
        await isOpen();
        await fs.mkdirs(path);
      },
    });
    const fields = { compactionId, table: `${database}.${table}`, partition, txnId, user: request.runAs };
    const startedMs = clock.now();
    log.info(fields, 'compaction: files are being written');
    try {
      const result = await localCompactionFiles(fenced).compact(request, { ...how, signal: watch.signal });
      watch.signal.throwIfAborted();
      const { bytesRead, bytesWritten } = result;
      log.info(
        { ...fields, bytesRead, bytesWritten, durationMs: clock.now() - startedMs },
        'compaction: files are done',
      );
      return result;
    } catch (error) {
      log.info({ ...fields, error, durationMs: clock.now() - startedMs }, 'compaction: stopped, its files go');
      await this.remove(request);
      throw error;
    } finally {
      watch.stop();
    }
  }

  /** Nobody was told that there are any. */
  private async remove(request: CompactFolderRequest): Promise<void> {
    try {
      await localCompactionFiles(this.options.services.fs).discard(request);
    } catch (error) {
      const { compactionId, txnId } = request;
      this.options.log.warn(
        { compactionId, txnId, error },
        `compaction ${compactionId}: what it wrote in transaction ${txnId} is left to the Cleaner: ${String(error)}`,
      );
    }
  }

  private async resume(caller: ActionCaller, { txnId, compactionId, runAs }: CompactFolderRequest) {
    const known = this.running.get(txnId) ?? this.done.get(txnId);
    if (known !== undefined && known.runAs === runAs && (caller.user === '' || caller.user === runAs)) {
      return 'work' in known ? await known.work : known.result;
    }
    const what = `compaction ${compactionId} in transaction ${txnId}`;
    throw new NoSuchCompactionError(compactionId, `${what}: nothing of it is known here, or it was stopped`);
  }

  private async discard(caller: ActionCaller, request: DiscardCompactionRequest): Promise<void> {
    const { txnId, runAs, location } = request;
    await this.check.folder(request);
    await this.check.user(caller, runAs, location);
    await this.check.aborted(txnId);
    const running = this.running.get(txnId);
    running?.stop.abort(new CallEndedError('CANCELLED', `transaction ${txnId} is aborted`));
    if (running !== undefined) await settled(running.work);
    this.done.delete(txnId);
    await localCompactionFiles(this.options.services.fs).discard(request);
  }

  private keep(txnId: bigint, done: Done): void {
    const now = this.options.clock.now();
    for (const [id, { untilMs }] of this.done) {
      if (untilMs > now && this.done.size < MOST_KEPT) break;
      this.done.delete(id);
    }
    this.done.set(txnId, done);
  }
}

const settled = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined,
  );
