import type { Clock } from '@skep/core';
import type { Database, SqlValue, Tx } from '@skep/metadb';
import {
  type AbortCompactionsRequest,
  type AbortCompactionsResponse,
  Compaction,
  type CompactionService,
  CompactionState,
  type CompactRequest,
  type CompactResponse,
  type FindNextCompactRequest,
  type FindNextCompactResponse,
  type FindReadyToCleanRequest,
  type FindReadyToCleanResponse,
  type FinishCompactionRequest,
  type ForgetCompactionsRequest,
  InvalidRequestError,
  type MarkCompactedRequest,
  type PurgeHistoryResponse,
  type RenameCompactionsRequest,
  type RevokeWorkersRequest,
  type RevokeWorkersResponse,
  type SetCleanerRetryRequest,
  type ShowCompactionsRequest,
  type ShowCompactionsResponse,
  type UpdateCompactorStateRequest,
} from '@skep/rpc';
import { stateCode, stateOf, typeCode } from './codes.js';
import { type CompactionRow, compactionOf, historyColumns, queueColumns, sharedValues } from './compaction-row.js';
import { type HistoryRetention, purgeHistory } from './history.js';

export interface CompactionQueueOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly retention: HistoryRetention;
  /** hive.compactor.worker.pool.timeout: a request that waited so long is taken by the default pool. */
  readonly poolTimeoutMs: number;
}

/** Thrown where a request names a compaction that is not in the queue. */
const noSuchCompaction = (id: bigint): InvalidRequestError =>
  new InvalidRequestError(`no compaction with id ${id} is in the queue`);

/** The compaction queue and its history (org.apache.hadoop.hive.metastore.txn.CompactionTxnHandler). */
export class CompactionQueue implements CompactionService {
  private readonly db: Database;
  private readonly clock: Clock;

  constructor(private readonly options: CompactionQueueOptions) {
    this.db = options.db;
    this.clock = options.clock;
  }

  async compact(request: CompactRequest): Promise<CompactResponse> {
    if (request.database === '' || request.table === '')
      throw new InvalidRequestError('a compaction needs a database and a table');
    return await this.db.transaction(async (tx) => {
      const same = await tx.get<{ CQ_ID: bigint; CQ_STATE: string }>(
        `SELECT CQ_ID, CQ_STATE FROM COMPACTION_QUEUE WHERE CQ_DATABASE = ? AND CQ_TABLE = ? AND ${this.samePartition()}
          AND CQ_STATE IN ('i', 'w') ORDER BY CQ_ID`,
        [request.database, request.table, request.partition ?? null],
      );
      if (same !== undefined) {
        const state = stateOf(same.CQ_STATE);
        return {
          id: same.CQ_ID,
          state,
          accepted: false,
          errorMessage: `Compaction is already scheduled with state='${CompactionState[state].replace('COMPACTION_STATE_', '').toLowerCase()}' and id=${same.CQ_ID}`,
        };
      }
      const id = await nextId(tx);
      const compaction = Compaction.fromPartial({
        ...request,
        id,
        state: CompactionState.COMPACTION_STATE_INITIATED,
        enqueueTimeMs: BigInt(this.clock.now()),
      });
      await insert(tx, 'COMPACTION_QUEUE', sharedValues(compaction, 'CQ'));
      return { id, state: CompactionState.COMPACTION_STATE_INITIATED, accepted: true, errorMessage: '' };
    });
  }

  async showCompactions(request: ShowCompactionsRequest): Promise<ShowCompactionsResponse> {
    const { sql, params } = filters(request);
    const rows = await this.db.read(
      async (tx) =>
        await tx.all<CompactionRow>(
          `SELECT * FROM (SELECT ${queueColumns} FROM COMPACTION_QUEUE UNION ALL SELECT ${historyColumns} FROM COMPLETED_COMPACTIONS) Q
            ${sql}
            ORDER BY CASE WHEN CQ_END IS NULL AND CQ_START IS NULL THEN 0 ELSE 1 END,
              CASE WHEN CQ_END IS NULL AND CQ_START IS NULL THEN CQ_ENQUEUE_TIME ELSE 0 END,
              CASE WHEN CQ_END > CQ_START THEN CQ_END ELSE COALESCE(CQ_COMMIT_TIME, CQ_START, CQ_END) END DESC, CQ_ID DESC
            ${request.limit > 0n ? 'LIMIT ?' : ''}`,
          request.limit > 0n ? [...params, request.limit] : params,
        ),
    );
    return { compactions: rows.map(compactionOf) };
  }

  async abortCompactions(request: AbortCompactionsRequest): Promise<AbortCompactionsResponse> {
    const results = await this.db.transaction(async (tx) => {
      const answers: AbortCompactionsResponse['results'] = [];
      for (const id of request.ids) {
        const found = await find(tx, id);
        if (found === undefined) answers.push({ id, success: false, message: 'No Such Compaction Id Available' });
        else if (found.state !== CompactionState.COMPACTION_STATE_INITIATED) {
          const state = CompactionState[found.state]
            .replace('COMPACTION_STATE_', '')
            .toLowerCase()
            .replaceAll('_', ' ');
          answers.push({
            id,
            success: false,
            message: `Error while aborting compaction as compaction is in state-${state}`,
          });
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
    const pool =
      request.poolName === ''
        ? { sql: '(CQ_POOL_NAME IS NULL OR CQ_ENQUEUE_TIME < ?)', value: now - BigInt(this.options.poolTimeoutMs) }
        : { sql: 'CQ_POOL_NAME = ?', value: request.poolName };
    const query = `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'i' AND ${pool.sql} ORDER BY CQ_ID LIMIT 1`;
    // An idle Worker asks often and must not keep the others from writing: it looks before it takes the write lock.
    const waiting = await this.db.read(async (tx) => await tx.get<CompactionRow>(query, [pool.value]));
    if (waiting === undefined) return {};
    return await this.db.transaction(async (tx) => {
      const row = await tx.get<CompactionRow>(`${query} ${tx.dialect.forUpdate}`, [pool.value]);
      if (row === undefined) return {};
      await tx.run(
        "UPDATE COMPACTION_QUEUE SET CQ_STATE = 'w', CQ_WORKER_ID = ?, CQ_WORKER_VERSION = ?, CQ_START = ? WHERE CQ_ID = ?",
        [request.workerId, request.workerVersion, now, row.CQ_ID],
      );
      const job = compactionOf(row);
      return {
        job: { ...job, state: CompactionState.COMPACTION_STATE_WORKING, workerId: request.workerId, startMs: now },
      };
    });
  }

  async updateCompactorState(request: UpdateCompactorStateRequest): Promise<Record<string, never>> {
    await this.update(request.id, 'CQ_TXN_ID = ?, CQ_HIGHEST_WRITE_ID = ?', [request.txnId, request.highestWriteId]);
    return {};
  }

  async markCompacted(request: MarkCompactedRequest): Promise<Record<string, never>> {
    await this.update(request.id, `CQ_STATE = 'r', CQ_WORKER_ID = NULL, CQ_NEXT_TXN_ID = ?, CQ_COMMIT_TIME = ?`, [
      request.nextTxnId,
      request.commitTimeMs,
    ]);
    return {};
  }

  async finishCompaction(request: FinishCompactionRequest): Promise<Record<string, never>> {
    await this.db.transaction(async (tx) => {
      if (request.record !== undefined) {
        const now = BigInt(this.clock.now());
        const record = { ...request.record, id: await nextId(tx), enqueueTimeMs: request.record.enqueueTimeMs || now };
        await this.addToHistory(tx, record, request.state, request.errorMessage);
        return;
      }
      const found = await find(tx, request.id);
      if (found === undefined) throw noSuchCompaction(request.id);
      await this.moveToHistory(tx, found, request.state, request.errorMessage);
    });
    return {};
  }

  async revokeWorkers(request: RevokeWorkersRequest): Promise<RevokeWorkersResponse> {
    const working = await this.db.read(
      async (tx) => await tx.all<CompactionRow>(`SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'w'`),
    );
    const before = BigInt(this.clock.now()) - request.olderThanMs;
    const ids = working
      .filter((row) => request.host === '' || row.CQ_WORKER_ID?.startsWith(`${request.host}-`))
      .filter((row) => !request.aliveWorkerIds.includes(row.CQ_WORKER_ID ?? ''))
      .filter((row) => request.olderThanMs === 0n || (row.CQ_START ?? 0n) < before)
      .map((row) => row.CQ_ID);
    if (ids.length === 0) return { ids };
    await this.db.transaction(async (tx) => {
      for (const id of ids) {
        await tx.run(
          "UPDATE COMPACTION_QUEUE SET CQ_STATE = 'i', CQ_WORKER_ID = NULL, CQ_START = NULL, CQ_TXN_ID = NULL WHERE CQ_ID = ? AND CQ_STATE = 'w'",
          [id],
        );
      }
    });
    return { ids };
  }

  async findReadyToClean(request: FindReadyToCleanRequest): Promise<FindReadyToCleanResponse> {
    const now = BigInt(this.clock.now());
    const rows = await this.db.read(
      async (tx) =>
        await tx.all<CompactionRow>(
          `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'r' AND CQ_TYPE <> 'c'
            AND (CQ_COMMIT_TIME IS NULL OR CQ_COMMIT_TIME < ? - CQ_RETRY_RETENTION - ? OR (CQ_RETRY_RETENTION = 0 AND ? = 0))
            AND (CQ_NEXT_TXN_ID IS NULL OR CQ_NEXT_TXN_ID < ?)
            ORDER BY CQ_HIGHEST_WRITE_ID, CQ_ID`,
          [now, request.retentionMs, request.retentionMs, request.minOpenTxnId],
        ),
    );
    // Of each resource the one with the lowest write id: the next is looked at when this one is done.
    const first = new Map<string, CompactionRow>();
    for (const row of rows) {
      const resource = `${row.CQ_DATABASE}\0${row.CQ_TABLE}\0${row.CQ_PARTITION ?? ''}`;
      if (!first.has(resource)) first.set(resource, row);
    }
    return { compactions: [...first.values()].map(compactionOf) };
  }

  async setCleanerRetry(request: SetCleanerRetryRequest): Promise<Record<string, never>> {
    await this.update(request.id, 'CQ_RETRY_RETENTION = ?, CQ_ERROR_MESSAGE = ?', [
      request.retryRetentionMs,
      request.errorMessage,
    ]);
    return {};
  }

  async forgetCompactions(request: ForgetCompactionsRequest): Promise<Record<string, never>> {
    await this.db.transaction(async (tx) => {
      for (const [table, prefix] of [
        ['COMPACTION_QUEUE', 'CQ'],
        ['COMPLETED_COMPACTIONS', 'CC'],
        ['COMPACTION_METRICS_CACHE', 'CMC'],
      ]) {
        const base = `DELETE FROM ${table} WHERE ${prefix}_DATABASE = ?${request.table === undefined ? '' : ` AND ${prefix}_TABLE = ?`}`;
        const params = request.table === undefined ? [request.database] : [request.database, request.table];
        if (request.partitions.length === 0) await tx.run(base, params);
        for (const partition of request.partitions)
          await tx.run(`${base} AND ${prefix}_PARTITION = ?`, [...params, partition]);
      }
    });
    return {};
  }

  async renameCompactions(request: RenameCompactionsRequest): Promise<Record<string, never>> {
    await this.db.transaction(async (tx) => {
      for (const [table, prefix] of [
        ['COMPACTION_QUEUE', 'CQ'],
        ['COMPLETED_COMPACTIONS', 'CC'],
        ['COMPACTION_METRICS_CACHE', 'CMC'],
      ]) {
        const partition = request.fromPartition === undefined ? '' : `, ${prefix}_PARTITION = ?`;
        await tx.run(
          `UPDATE ${table} SET ${prefix}_DATABASE = ?, ${prefix}_TABLE = ?${partition} WHERE ${prefix}_DATABASE = ? AND ${prefix}_TABLE = ?${
            request.fromPartition === undefined ? '' : ` AND ${prefix}_PARTITION = ?`
          }`,
          [
            request.toDatabase,
            request.toTable,
            ...(request.fromPartition === undefined ? [] : [request.toPartition ?? null]),
            request.fromDatabase,
            request.fromTable,
            ...(request.fromPartition === undefined ? [] : [request.fromPartition]),
          ],
        );
      }
    });
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

  private async update(id: bigint, assignments: string, params: readonly SqlValue[]): Promise<void> {
    await this.db.transaction(async (tx) => {
      const { changes } = await tx.run(`UPDATE COMPACTION_QUEUE SET ${assignments} WHERE CQ_ID = ?`, [...params, id]);
      if (changes === 0) throw noSuchCompaction(id);
    });
  }

  private async moveToHistory(
    tx: Tx,
    compaction: Compaction,
    state: CompactionState,
    errorMessage: string,
  ): Promise<void> {
    await tx.run('DELETE FROM COMPACTION_QUEUE WHERE CQ_ID = ?', [compaction.id]);
    await this.addToHistory(tx, compaction, state, errorMessage);
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
    await insert(tx, 'COMPLETED_COMPACTIONS', {
      columns: [...columns, 'CC_END'],
      values: [...values, BigInt(this.clock.now())],
    });
  }
}

async function nextId(tx: Tx): Promise<bigint> {
  const row = await tx.get<{ NCQ_NEXT: bigint }>(
    `SELECT NCQ_NEXT FROM NEXT_COMPACTION_QUEUE_ID ${tx.dialect.forUpdate}`,
  );
  const id = row?.NCQ_NEXT ?? 1n;
  await tx.run('UPDATE NEXT_COMPACTION_QUEUE_ID SET NCQ_NEXT = ?', [id + 1n]);
  return id;
}

async function insert(
  tx: Tx,
  table: string,
  row: { columns: readonly string[]; values: readonly SqlValue[] },
): Promise<void> {
  await tx.run(
    `INSERT INTO ${table} (${row.columns.join(', ')}) VALUES (${row.columns.map(() => '?').join(', ')})`,
    row.values,
  );
}

async function find(tx: Tx, id: bigint): Promise<Compaction | undefined> {
  const row = await tx.get<CompactionRow>(`SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_ID = ?`, [id]);
  return row === undefined ? undefined : compactionOf(row);
}

function filters(request: ShowCompactionsRequest): { sql: string; params: SqlValue[] } {
  const terms: [string, SqlValue | undefined][] = [
    ['CQ_ID = ?', request.id],
    ['CQ_DATABASE = ?', request.database],
    ['CQ_TABLE = ?', request.table],
    ['CQ_PARTITION = ?', request.partition],
    ['CQ_POOL_NAME = ?', request.poolName],
    ['CQ_TYPE = ?', request.type === undefined ? undefined : typeCode(request.type)],
    ['CQ_STATE = ?', request.state === undefined ? undefined : stateCode(request.state)],
  ];
  const used = terms.filter(([, value]) => value !== undefined);
  return {
    sql: used.length === 0 ? '' : `WHERE ${used.map(([term]) => term).join(' AND ')}`,
    params: used.map(([, value]) => value),
  };
}
