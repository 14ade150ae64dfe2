import { SkepError } from '@skep/core';
import { type Compaction, CompactionState, CompactionType, TxnType } from '@skep/rpc';
import { CompactionRun } from './compaction-run.js';
import { keepAlive } from './keep-alive.js';
import { fieldsOf } from './log-fields.js';
import { stateName } from './queue/codes.js';
import { findResource } from './resource.js';
import { actAs, userToRunAs } from './run-as.js';
import { Takes } from './takes.js';
import { isStillOurs, type Outcome } from './worker-decision.js';
import type { WorkerServices } from './worker-services.js';

/** Hive cleans nothing that committed within the last second (hive.txn.opentxn.timeout); we wait with what is not urgent. */
const OBSOLETE_REST_MS = 1000n;

/**
 * Takes one request after the other from a pool's queue and carries it out in a transaction of its own: what it writes is
 * named by that transaction and seen only once it commits (org.apache.hadoop.hive.ql.txn.compactor.Worker).
 */
export class Worker {
  /** How a request ended that could not be told to the queue: before anything else, it is told. */
  private untold: { readonly job: Compaction; readonly outcome: Outcome } | undefined;

  constructor(
    private readonly services: WorkerServices,
    readonly workerId: string,
    private readonly poolName = '',
    private readonly takes = new Takes(services, workerId),
  ) {}

  /** Carries out the next request. Answers whether there was one. An aborted signal gives it up: it waits again. */
  async runOnce(signal?: AbortSignal): Promise<boolean> {
    await this.tell();
    if (signal?.aborted) return false;
    const job = await this.takes.next(this.poolName);
    if (job === undefined) return false;
    const { clock, log, meter } = this.services;
    const startedMs = clock.now();
    log.info(
      { ...fieldsOf(job), worker: this.workerId, waitedMs: startedMs - Number(job.enqueueTimeMs) },
      'compaction begun',
    );
    const outcome = await this.carryOut(job, signal);
    meter.job('worker', job, clock.now() - startedMs);
    this.report(job, outcome, clock.now() - startedMs);
    this.untold = { job, outcome };
    await this.tell();
    // Whoever runs this in a loop is to rest a while.
    if (outcome.kind === 'again' && !signal?.aborted) throw outcome.reason;
    return true;
  }

  private async carryOut(job: Compaction, signal?: AbortSignal): Promise<Outcome> {
    const { host, agentInfo, txns } = this.services;
    const type =
      job.type === CompactionType.COMPACTION_TYPE_REBALANCE
        ? TxnType.TXN_TYPE_REBALANCE_COMPACTION
        : TxnType.TXN_TYPE_COMPACTION;
    let runAs: string;
    let txnId: bigint;
    try {
      runAs = job.runAs || (await this.ownerOf(job));
      const request = { count: 1, user: runAs, host, agentInfo, type };
      txnId = (await actAs(this.services, runAs, () => txns.openTxns(request))).txnIds[0];
    } catch (error) {
      // What is not only in the way now would fail every time, and keep this Worker from all other requests.
      return isTransient(error) ? { kind: 'again', reason: error } : failed(error);
    }
    return await actAs(this.services, runAs, () => this.carryOutIn(txnId, runAs, job, signal));
  }

  private async carryOutIn(txnId: bigint, runAs: string, job: Compaction, signal?: AbortSignal): Promise<Outcome> {
    const { log } = this.services;
    const alive = keepAlive(this.services, txnId, signal);
    const run = new CompactionRun(this.services, job, { txnId, runAs }, alive.signal);
    try {
      return await run.compact();
    } catch (error) {
      const outcome = await run.undo(error);
      if (signal?.aborted || outcome.kind !== 'again' || isForAnotherTime(error)) return outcome;
      const what = `Worker: compaction ${job.id} of ${job.database}.${job.table} failed: ${String(error)}`;
      log.warn({ ...fieldsOf(job), txnId, error }, what);
      return failed(error);
    } finally {
      alive.stop();
    }
  }

  /** Requests made by hand do not say whom they are for. */
  private async ownerOf(job: Compaction): Promise<string> {
    const resource = await findResource(this.services, job);
    if (resource === undefined) return this.services.user;
    const { database, table, partition } = job;
    return await userToRunAs(this.services, { database, table, partition, location: resource.location });
  }

  private report(job: Compaction, outcome: Outcome, durationMs: number): void {
    const { log } = this.services;
    const fields = { ...fieldsOf(job), durationMs };
    switch (outcome.kind) {
      case 'ready': {
        const { txnId } = outcome;
        // Counts are numbers in the log, as everywhere; only ids are text.
        const [bytesRead, bytesWritten] = [Number(outcome.bytesRead), Number(outcome.bytesWritten)];
        log.info({ ...fields, txnId, bytesRead, bytesWritten }, 'compaction finished: ready for cleaning');
        return;
      }
      case 'ended': {
        log.info({ ...fields, reason: outcome.errorMessage }, `compaction ${stateName(outcome.state)}`);
        return;
      }
      case 'later': {
        const { why: reason, restMs } = outcome;
        log.info({ ...fields, reason, restMs }, 'compaction put off: it waits again');
        return;
      }
      case 'again':
        log.info({ ...fields, error: outcome.reason }, 'compaction given up: it waits again');
    }
  }

  private async tell(): Promise<void> {
    if (this.untold === undefined) return;
    const { job, outcome } = this.untold;
    const { compactions, log } = this.services;
    const { compactions: rows } = await compactions.showCompactions({ id: job.id, limit: 1n });
    if (isStillOurs(rows[0], job)) await this.apply(job, outcome);
    else
      log.warn(
        fieldsOf(job),
        `Worker: compaction ${job.id} is no longer with ${job.workerId}: its end, ${outcome.kind}, is not recorded`,
      );
    this.untold = undefined;
    this.takes.end(job.id);
  }

  /** In the name of who took it: should it be another's by now, that one is left alone. */
  private async apply({ id, workerId, startMs }: Compaction, outcome: Outcome): Promise<void> {
    const { compactions } = this.services;
    const mine = { id, workerId, workerStartMs: startMs };
    switch (outcome.kind) {
      case 'ready': {
        const { nextTxnId, commitTimeMs } = outcome;
        if (outcome.isOnlyObsolete) {
          await compactions.setCleanerRetry({ id, retryRetentionMs: OBSOLETE_REST_MS, errorMessage: '' });
        }
        await compactions.markCompacted({ ...mine, nextTxnId, commitTimeMs });
        return;
      }
      case 'ended':
        await compactions.finishCompaction({ ...mine, state: outcome.state, errorMessage: outcome.errorMessage });
        return;
      case 'later':
        await compactions.finishCompaction({
          ...mine,
          state: CompactionState.COMPACTION_STATE_INITIATED,
          errorMessage: outcome.why,
          restMs: BigInt(outcome.restMs),
        });
        return;
      case 'again':
        await compactions.finishCompaction({
          ...mine,
          state: CompactionState.COMPACTION_STATE_INITIATED,
          errorMessage: `given up by ${workerId}: ${isStop(outcome.reason) ? 'it was stopped' : messageOf(outcome.reason)}`,
        });
    }
  }
}

/** The trouble of the metastore or of whoever has the files, not the request's: it is not to fail for that. */
function isForAnotherTime(error: unknown): boolean {
  return error instanceof SkepError && (error.code.startsWith('DATABASE_') || FOR_ANOTHER_TIME.has(error.code));
}

const FOR_ANOTHER_TIME: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'DEADLINE',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'CANCELLED',
]);

/** The reason of a signal that was aborted without one. */
const isStop = (reason: unknown): boolean => reason instanceof Error && reason.name === 'AbortError';

/** Of what comes before the work: no transaction can be opened now, or nobody can be asked. */
const isTransient = (error: unknown): boolean =>
  isForAnotherTime(error) || (error instanceof SkepError && error.kind === 'unavailable');

const failed = (error: unknown): Outcome => ({
  kind: 'ended',
  state: CompactionState.COMPACTION_STATE_FAILED,
  errorMessage: messageOf(error),
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
