import { type Clock, LONG_MAX, ValidWriteIdList } from '@skep/core';
import type { Database, SqlValue, Tx } from '@skep/metadb';
import {
  type AbortCompactionsRequest,
  type AbortCompactionsResponse,
  Compaction,
  type CompactionService,
  CompactionState,
  type CompactRequest,
  type CompactResponse,
  currentCall,
  currentCallOptions,
  type FindNextCompactRequest,
  type FindNextCompactResponse,
  type FindReadyToCleanRequest,
  type FindReadyToCleanResponse,
  type FinishCompactionRequest,
  type ForgetCompactionsRequest,
  type MarkCompactedRequest,
  NoSuchCompactionError,
  type PurgeHistoryResponse,
  type RenameCompactionsRequest,
  type RevokeWorkersRequest,
  type RevokeWorkersResponse,
  type SetCleanerRetryRequest,
  type SetCleanerStartRequest,
  type SettleCleanupsRequest,
  type SettleCleanupsResponse,
  type ShowCompactionsRequest,
  type ShowCompactionsResponse,
  type SubmitForCleanupRequest,
  type SubmitForCleanupResponse,
  type TransactionService,
  type UpdateCompactorStateRequest,
  type WaitForCompactRequest,
  type WaitForCompactResponse,
} from '@skep/rpc';
import { endAbortRetries, setCleanerRetry } from './cleaner-retries.js';
import {
  cleanupRow,
  findCleanup,
  IS_CLEANUP,
  isSpare,
  locationOf,
  settleCleanups,
  unsettledCleanups,
  validateCleanup,
} from './cleanups.js';
import { poolOf, stateName, stateOf } from './codes.js';
import { CompactWaits, type WaitingPool } from './compact-waits.js';
import { type CompactionRow, compactionOf, queueColumns, sharedValues } from './compaction-row.js';
import { type HistoryRetention, purgeHistory } from './history.js';
import { forgetCompactions, renameCompactions } from './names.js';
import { findRequest, insertRow, nextId, selectNextId, validateRequest } from './queue-rows.js';
import { selectCompactions } from './show-compactions.js';

export interface CompactionQueueOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly retention: HistoryRetention;
  /** hive.compactor.worker.pool.timeout: a request that waited so long is taken by the default pool. */
  readonly poolTimeoutMs: number;
  /**
   * Tells how far a table is written: a request is refused while one that reached as far waits for the Cleaner. A getter,
   * because services hold each other. Absent: such requests are taken.
   */
  readonly txns?: () => Pick<TransactionService, 'getValidWriteIds'>;
}

/** Thrown where a request names a compaction that is not in the queue, or not in the state it should be in. */
const noSuchCompaction = (id: bigint, state?: string): NoSuchCompactionError =>
  new NoSuchCompactionError(id, `no compaction with id ${id} is ${state ?? 'in the queue'}`);

/** Who says something of a request that it took. */
interface TakenBy {
  readonly workerId?: string | undefined;
  readonly workerStartMs?: bigint | undefined;
}

const isTakenBy = (row: Compaction, { workerId, workerStartMs }: TakenBy): boolean =>
  workerId === undefined ||
  (row.state === CompactionState.COMPACTION_STATE_WORKING &&
    row.workerId === workerId &&
    (workerStartMs === undefined || row.startMs === workerStartMs));

/** A request that waits for a Worker, and does not rest (FinishCompactionRequest.rest_ms). */
const MAY_BE_TAKEN = "CQ_STATE = 'i' AND (CQ_CLEANER_START IS NULL OR CQ_CLEANER_START <= ?)";

/** A request that no Worker has. */
const WAITS_AGAIN =
  "CQ_STATE = 'i', CQ_WORKER_ID = NULL, CQ_WORKER_VERSION = NULL, CQ_START = NULL, CQ_TXN_ID = NULL, CQ_HIGHEST_WRITE_ID = NULL";

/** Worker ids are `host-thread`; the thread is a number, so `web` is not taken for the host of `web-1-4711`. */
const isOfHost = (workerId: string, host: string): boolean =>
  workerId.startsWith(`${host}-`) && /^\d+$/.test(workerId.slice(host.length + 1));

/** The compaction queue and its history (org.apache.hadoop.hive.metastore.txn.CompactionTxnHandler). */
export class CompactionQueue implements CompactionService {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly waits: CompactWaits;

  constructor(private readonly options: CompactionQueueOptions) {
    this.db = options.db;
    this.clock = options.clock;
    const { clock, poolTimeoutMs } = options;
    this.waits = new CompactWaits({ clock, poolTimeoutMs, waitingPools: () => this.waitingPools() });
  }

  async compact(request: CompactRequest): Promise<CompactResponse> {
    validateRequest(request);
    const database = request.database.toLowerCase();
    const table = request.table.toLowerCase();
    const watermark = await this.writeIdWatermark(`${database}.${table}`);
    const response = await this.db.transaction(async (tx): Promise<CompactResponse> => {
      // One request after the other: two for the same resource must see each other (Hive's mutex CompactionScheduler).
      if (tx.dialect.forUpdate !== '') await selectNextId(tx);
      const same = await tx.get<{ CQ_ID: bigint; CQ_STATE: string }>(
        `SELECT CQ_ID, CQ_STATE FROM COMPACTION_QUEUE WHERE CQ_DATABASE = ? AND CQ_TABLE = ? AND ${this.samePartition()}
          AND (CQ_STATE IN ('i', 'w') OR CQ_STATE = 'r' AND CQ_HIGHEST_WRITE_ID = ? AND NOT (CQ_TBLPROPERTIES IS NOT NULL AND ${IS_CLEANUP}))
          ORDER BY CQ_ID LIMIT 1`,
        [database, table, request.partition, watermark],
      );
      if (same !== undefined) {
        const scheduled = stateName(stateOf(same.CQ_STATE));
        const errorMessage = `Compaction is already scheduled with state='${scheduled}' and id=${same.CQ_ID}`;
        return { id: -1n, state: CompactionState.COMPACTION_STATE_REFUSED, accepted: false, errorMessage };
      }
      const id = await nextId(tx);
      const state = CompactionState.COMPACTION_STATE_INITIATED;
      const enqueueTimeMs = BigInt(this.clock.now());
      const poolName = poolOf(request.poolName);
      const compaction = Compaction.fromPartial({ ...request, database, table, poolName, id, state, enqueueTimeMs });
      await insertRow(tx, 'COMPACTION_QUEUE', sharedValues(compaction, 'CQ'));
      return { id, state, accepted: true, errorMessage: '' };
    });
    if (response.accepted) this.waits.notify();
    return response;
  }

  /** What a compaction would reach that began now; undefined where the transactions are not known here. */
  private async writeIdWatermark(table: string): Promise<bigint | undefined> {
    const answer = await this.options.txns?.().getValidWriteIds({ tables: [table] });
    if (answer === undefined) return undefined;
    return ValidWriteIdList.forCompactor(ValidWriteIdList.parse(answer.validWriteIds[0])).highWatermark;
  }

  async showCompactions(request: ShowCompactionsRequest): Promise<ShowCompactionsResponse> {
    return { compactions: await this.db.read((tx) => selectCompactions(tx, request)) };
  }

  async abortCompactions(request: AbortCompactionsRequest): Promise<AbortCompactionsResponse> {
    const results = await this.db.transaction(async (tx) => {
      const answers: AbortCompactionsResponse['results'] = [];
      for (const id of request.ids) {
        const found = await findRequest(tx, id);
        if (found === undefined) answers.push({ id, success: false, message: 'No Such Compaction Id Available' });
        else if (found.state !== CompactionState.COMPACTION_STATE_INITIATED) {
          const message = `Error while aborting compaction as compaction is in state-${stateName(found.state)}`;
          answers.push({ id, success: false, message });
        } else {
          await this.moveToHistory(tx, found, CompactionState.COMPACTION_STATE_ABORTED, 'Compaction aborted by user');
          answers.push({ id, success: true, message: 'Successfully aborted compaction' });
        }
      }
      return answers;
    });
    return { results };
  }

  async findNextCompact(request: FindNextCompactRequest): Promise<FindNextCompactResponse> {
    const now = BigInt(this.clock.now());
    const poolName = poolOf(request.poolName);
    const pool =
      poolName === ''
        ? { sql: '(CQ_POOL_NAME IS NULL OR CQ_ENQUEUE_TIME < ?)', value: now - BigInt(this.options.poolTimeoutMs) }
        : { sql: 'CQ_POOL_NAME = ?', value: poolName };
    const params = [now, pool.value];
    const query = `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE ${MAY_BE_TAKEN} AND ${pool.sql} ORDER BY CQ_ID LIMIT 1`;
    // An idle Worker asks often and must not keep the others from writing: it looks before it takes the write lock.
    const waiting = await this.db.read(async (tx) => await tx.get<CompactionRow>(query, params));
    if (waiting === undefined) return {};
    return await this.db.transaction(async (tx) => {
      const row = await tx.get<CompactionRow>(`${query} ${tx.dialect.forUpdate}`, params);
      if (row === undefined) return {};
      await tx.run(
        "UPDATE COMPACTION_QUEUE SET CQ_STATE = 'w', CQ_WORKER_ID = ?, CQ_WORKER_VERSION = ?, CQ_START = ?, CQ_CLEANER_START = NULL WHERE CQ_ID = ?",
        [request.workerId, request.workerVersion, now, row.CQ_ID],
      );
      const job = compactionOf(row);
      return {
        job: { ...job, state: CompactionState.COMPACTION_STATE_WORKING, workerId: request.workerId, startMs: now },
      };
    });
  }

  async waitForCompact({ poolName, waitMs }: WaitForCompactRequest): Promise<WaitForCompactResponse> {
    // Before the first await: what comes after it may run in another call's context.
    const signal = currentCall()?.signal ?? currentCallOptions()?.signal;
    return { found: await this.waits.wait(poolOf(poolName), Number(waitMs), signal) };
  }

  private async waitingPools(): Promise<WaitingPool[]> {
    const rows = await this.db.read((tx) =>
      tx.all<{ POOL: string | null; OLDEST: bigint | null }>(
        `SELECT CQ_POOL_NAME AS POOL, MIN(CQ_ENQUEUE_TIME) AS OLDEST FROM COMPACTION_QUEUE WHERE ${MAY_BE_TAKEN} GROUP BY CQ_POOL_NAME`,
        [BigInt(this.clock.now())],
      ),
    );
    return rows.map(({ POOL, OLDEST }) => ({ pool: POOL, oldestMs: OLDEST ?? LONG_MAX }));
  }

  async updateCompactorState(request: UpdateCompactorStateRequest): Promise<Record<string, never>> {
    const params = [request.txnId, request.highestWriteId, request.runAs || null];
    await this.update(
      request,
      'CQ_TXN_ID = ?, CQ_HIGHEST_WRITE_ID = ?, CQ_RUN_AS = COALESCE(?, CQ_RUN_AS)',
      params,
      'w',
    );
    return {};
  }

  async markCompacted(request: MarkCompactedRequest): Promise<Record<string, never>> {
    await this.update(
      request,
      // Why it was given up before does not matter any more.
      `CQ_STATE = 'r', CQ_WORKER_ID = NULL, CQ_ERROR_MESSAGE = NULL, CQ_NEXT_TXN_ID = ?, CQ_COMMIT_TIME = ?`,
      [request.nextTxnId, request.commitTimeMs],
      'w',
    );
    return {};
  }

  /** Ends a request; with state INITIATED a Worker gives it up instead, and it waits again. */
  async finishCompaction(request: FinishCompactionRequest): Promise<Record<string, never>> {
    if (request.state === CompactionState.COMPACTION_STATE_INITIATED) {
      const why = request.errorMessage || null;
      const until = request.restMs !== undefined ? BigInt(this.clock.now()) + request.restMs : null;
      const assignments = `${WAITS_AGAIN}, CQ_ERROR_MESSAGE = COALESCE(?, CQ_ERROR_MESSAGE), CQ_CLEANER_START = ?`;
      await this.update(request, assignments, [why, until], 'w');
      this.waits.notify();
      return {};
    }
    await this.db.transaction(async (tx) => {
      if (request.record !== undefined) {
        const now = BigInt(this.clock.now());
        const record = { ...request.record, id: await nextId(tx), enqueueTimeMs: request.record.enqueueTimeMs || now };
        await this.addToHistory(tx, record, request.state, request.errorMessage);
        return;
      }
      const found = await findRequest(tx, request.id);
      if (found === undefined) throw noSuchCompaction(request.id);
      if (!isTakenBy(found, request)) throw noSuchCompaction(request.id, `with ${request.workerId} any more`);
      if (await endAbortRetries(tx, found, request.state)) return;
      await this.moveToHistory(tx, found, request.state, request.errorMessage);
    });
    return {};
  }

  async revokeWorkers(request: RevokeWorkersRequest): Promise<RevokeWorkersResponse> {
    const working = await this.db.read(
      async (tx) => await tx.all<CompactionRow>(`SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'w'`),
    );
    const before = BigInt(this.clock.now()) - request.olderThanMs;
    const left = working
      .filter((row) => request.host === '' || isOfHost(row.CQ_WORKER_ID ?? '', request.host))
      .filter((row) => !request.aliveWorkerIds.includes(row.CQ_WORKER_ID ?? ''))
      .filter((row) => request.olderThanMs === 0n || (row.CQ_START ?? 0n) < before);
    if (left.length === 0) return { ids: [] };
    const ids = await this.db.transaction(async (tx) => {
      const revoked: bigint[] = [];
      for (const row of left) {
        // Unless it has ended, or another Worker has it, meanwhile.
        const { changes } = await tx.run(
          `UPDATE COMPACTION_QUEUE SET ${WAITS_AGAIN}, CQ_ERROR_MESSAGE = ?
            WHERE CQ_ID = ? AND CQ_STATE = 'w' AND CQ_WORKER_ID = ? AND CQ_START = ?`,
          [`${row.CQ_WORKER_ID} is gone, or took too long`, row.CQ_ID, row.CQ_WORKER_ID, row.CQ_START],
        );
        if (changes > 0) revoked.push(row.CQ_ID);
      }
      return revoked;
    });
    if (ids.length > 0) this.waits.notify();
    return { ids };
  }

  async findReadyToClean(request: FindReadyToCleanRequest): Promise<FindReadyToCleanResponse> {
    const now = BigInt(this.clock.now());
    const { rows, unsettled } = await this.db.read(async (tx) => ({
      unsettled: await unsettledCleanups(tx),
      rows: await tx.all<CompactionRow>(
        `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'r' AND CQ_TYPE <> 'c'
            AND (CQ_COMMIT_TIME IS NULL OR CQ_COMMIT_TIME < ? - CQ_RETRY_RETENTION - ? OR (CQ_RETRY_RETENTION = 0 AND ? = 0))
            AND (CQ_NEXT_TXN_ID IS NULL OR CQ_NEXT_TXN_ID < ?)
            ORDER BY CQ_HIGHEST_WRITE_ID, CQ_ID`,
        [now, request.retentionMs, request.retentionMs, request.minOpenTxnId],
      ),
    }));
    // Of each resource the one with the lowest write id: the next is looked at when this one is done. (A cleanup is of a folder
    // that the table and partition of its name do not have any more.)
    const first = new Map<string, Compaction>();
    for (const job of rows.map(compactionOf)) {
      const resource = [job.database, job.table, job.partition ?? '', locationOf(job) ?? ''].join('\0');
      if (!first.has(resource)) first.set(resource, job);
    }
    return { compactions: [...first.values()], unsettled };
  }

  async submitForCleanup(request: SubmitForCleanupRequest): Promise<SubmitForCleanupResponse> {
    validateCleanup(request);
    return await this.db.transaction(async (tx) => {
      const known = await findCleanup(tx, request);
      if (known !== undefined) return { id: known };
      const id = await nextId(tx);
      await insertRow(tx, 'COMPACTION_QUEUE', cleanupRow(request, id, BigInt(this.clock.now())));
      return { id };
    });
  }

  async settleCleanups(request: SettleCleanupsRequest): Promise<SettleCleanupsResponse> {
    return { settled: BigInt(await this.db.transaction((tx) => settleCleanups(tx, request))) };
  }

  async setCleanerStart({ id, isBegun }: SetCleanerStartRequest): Promise<Record<string, never>> {
    await this.update({ id }, 'CQ_CLEANER_START = ?', [isBegun ? BigInt(this.clock.now()) : null], 'r');
    return {};
  }

  async setCleanerRetry(request: SetCleanerRetryRequest): Promise<Record<string, never>> {
    await this.db.transaction((tx) => setCleanerRetry(tx, request, BigInt(this.clock.now())));
    return {};
  }

  async forgetCompactions(request: ForgetCompactionsRequest): Promise<Record<string, never>> {
    await this.db.transaction(async (tx) => await forgetCompactions(tx, request));
    return {};
  }

  async renameCompactions(request: RenameCompactionsRequest): Promise<Record<string, never>> {
    await this.db.transaction(async (tx) => await renameCompactions(tx, request));
    return {};
  }

  async purgeHistory(): Promise<PurgeHistoryResponse> {
    const purged = await this.db.transaction(
      async (tx) => await purgeHistory(tx, this.options.retention, BigInt(this.clock.now())),
    );
    return { purged: BigInt(purged) };
  }

  private samePartition(): string {
    return this.db.dialect.nullSafeEquals('CQ_PARTITION', '?');
  }

  private async update(
    by: { readonly id: bigint } & TakenBy,
    assignments: string,
    params: readonly SqlValue[],
    state: string,
  ): Promise<void> {
    const { id, workerId, workerStartMs } = by;
    const isTheirs = workerId === undefined ? '' : ' AND CQ_WORKER_ID = ? AND CQ_START = COALESCE(?, CQ_START)';
    await this.db.transaction(async (tx) => {
      const { changes } = await tx.run(
        `UPDATE COMPACTION_QUEUE SET ${assignments} WHERE CQ_ID = ? AND CQ_STATE = '${state}'${isTheirs}`,
        [...params, id, ...(workerId === undefined ? [] : [workerId, workerStartMs])],
      );
      if (changes > 0) return;
      const whose = workerId === undefined ? '' : ` and with ${workerId}`;
      throw noSuchCompaction(id, `${stateName(stateOf(state))}${whose}`);
    });
  }

  private async moveToHistory(
    tx: Tx,
    compaction: Compaction,
    state: CompactionState,
    errorMessage: string,
  ): Promise<void> {
    await tx.run('DELETE FROM COMPACTION_QUEUE WHERE CQ_ID = ?', [compaction.id]);
    if (!isSpare(compaction)) await this.addToHistory(tx, compaction, state, errorMessage);
  }

  private async addToHistory(
    tx: Tx,
    compaction: Compaction,
    state: CompactionState,
    errorMessage: string,
  ): Promise<void> {
    const { columns, values } = sharedValues(
      { ...compaction, state, errorMessage: errorMessage || compaction.errorMessage },
      'CC',
    );
    await insertRow(tx, 'COMPLETED_COMPACTIONS', {
      columns: [...columns, 'CC_END'],
      values: [...values, BigInt(this.clock.now())],
    });
  }
}
