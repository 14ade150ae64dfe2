import type { Tx } from '@skep/metadb';
import {
  type Compaction,
  CompactionState,
  CompactionType,
  InvalidRequestError,
  NoSuchCompactionError,
  type SetCleanerRetryRequest,
} from '@skep/rpc';
import { insertRow, nextId } from './queue-rows.js';

/** Cleaning failed: it is tried again later (CompactionTxnHandler.setCleanerRetryRetentionTimeOnError). */
export async function setCleanerRetry(tx: Tx, request: SetCleanerRetryRequest, nowMs: bigint): Promise<void> {
  if (request.id === 0n) {
    await setAbortRetry(tx, request, nowMs);
    return;
  }
  const { changes } = await tx.run(
    'UPDATE COMPACTION_QUEUE SET CQ_RETRY_RETENTION = ?, CQ_ERROR_MESSAGE = ?, CQ_CLEANER_START = NULL WHERE CQ_ID = ?',
    [request.retryRetentionMs, request.errorMessage || null, request.id],
  );
  if (changes === 0) throw new NoSuchCompactionError(request.id, `no compaction with id ${request.id} is in the queue`);
}

/**
 * What aborted transactions wrote has no request of its own: one stands for it while it cannot be cleaned, of type `c`, ready for
 * cleaning, from whose commit time on the delay counts.
 */
async function setAbortRetry(tx: Tx, request: SetCleanerRetryRequest, nowMs: bigint): Promise<void> {
  const { retryRetentionMs, errorMessage, partition } = request;
  const [database, table] = [request.database?.toLowerCase(), request.table?.toLowerCase()];
  if (!database || !table) throw new InvalidRequestError('a retry without a request needs a database and a table');
  const samePartition = tx.dialect.nullSafeEquals('CQ_PARTITION', '?');
  // Two Cleaners that fail at once must see each other.
  const id = await nextId(tx);
  const known = await tx.get<{ CQ_ID: bigint }>(
    `SELECT CQ_ID FROM COMPACTION_QUEUE WHERE CQ_TYPE = 'c' AND CQ_DATABASE = ? AND CQ_TABLE = ? AND ${samePartition}`,
    [database, table, partition ?? null],
  );
  if (known !== undefined) {
    await tx.run('UPDATE COMPACTION_QUEUE SET CQ_RETRY_RETENTION = ?, CQ_ERROR_MESSAGE = ? WHERE CQ_ID = ?', [
      retryRetentionMs,
      errorMessage || null,
      known.CQ_ID,
    ]);
    return;
  }
  const row = {
    CQ_ID: id,
    CQ_DATABASE: database,
    CQ_TABLE: table,
    CQ_PARTITION: partition ?? null,
    CQ_TYPE: 'c',
    CQ_STATE: 'r',
    CQ_RETRY_RETENTION: retryRetentionMs,
    CQ_ERROR_MESSAGE: errorMessage || null,
    CQ_COMMIT_TIME: nowMs,
  };
  await insertRow(tx, 'COMPACTION_QUEUE', { columns: Object.keys(row), values: Object.values(row) });
}

/**
 * A cleaning that succeeded leaves no retries of aborted writes of its table or partition (MarkCleanedFunction). Answers whether
 * it was one itself: of these there is no history.
 */
export async function endAbortRetries(tx: Tx, cleaned: Compaction, state: CompactionState): Promise<boolean> {
  if (state !== CompactionState.COMPACTION_STATE_SUCCEEDED) return false;
  const { database, table, partition = null } = cleaned;
  await tx.run(
    `DELETE FROM COMPACTION_QUEUE WHERE CQ_TYPE = 'c' AND CQ_DATABASE = ? AND CQ_TABLE = ?
      AND (? IS NULL OR CQ_PARTITION = ?)`,
    [database, table, partition, partition],
  );
  return cleaned.type === CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP;
}
