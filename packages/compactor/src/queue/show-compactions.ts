import type { SqlValue, Tx } from '@skep/metadb';
import type { Compaction, ShowCompactionsRequest } from '@skep/rpc';
import { IS_NO_SPARE } from './cleanups.js';
import { poolOf, stateCode, typeCode } from './codes.js';
import { type CompactionRow, compactionOf, historyColumns, queueColumns } from './compaction-row.js';

/**
 * Hive's default order: what is not done yet (no commit time) by the time it was asked for, then the latest of end, start
 * and commit first. An ended request that never committed has 0 there in Hive's history.
 */
const ORDER = `
  CASE WHEN CQ_END IS NULL AND CQ_COMMIT_TIME IS NULL THEN 0 ELSE 1 END,
  CASE WHEN CQ_END IS NULL AND CQ_COMMIT_TIME IS NULL THEN 0
    WHEN CQ_END > COALESCE(CQ_START, 0) AND CQ_END > COALESCE(CQ_COMMIT_TIME, 0) THEN CQ_END
    WHEN CQ_START > COALESCE(CQ_COMMIT_TIME, 0) THEN CQ_START
    ELSE CQ_COMMIT_TIME END DESC,
  CQ_ENQUEUE_TIME, CQ_ID`;

/** The queue and the history (TxnHandler.showCompact). */
export async function selectCompactions(tx: Tx, request: ShowCompactionsRequest): Promise<Compaction[]> {
  const { sql, params } = filters(request);
  const limit = request.limit > 0n ? 'LIMIT ?' : '';
  const rows = await tx.all<CompactionRow>(
    `SELECT * FROM (SELECT ${queueColumns} FROM COMPACTION_QUEUE
        UNION ALL SELECT ${historyColumns} FROM COMPLETED_COMPACTIONS) Q
      ${sql} ORDER BY ${ORDER} ${limit}`,
    limit === '' ? params : [...params, request.limit],
  );
  return rows.map(compactionOf);
}

function filters(request: ShowCompactionsRequest): { sql: string; params: SqlValue[] } {
  const terms: [string, SqlValue | undefined][] = [
    ['CQ_ID = ?', request.id],
    ['CQ_DATABASE = ?', request.database?.toLowerCase()],
    ['CQ_TABLE = ?', request.table?.toLowerCase()],
    ['CQ_PARTITION = ?', request.partition],
    ["COALESCE(CQ_POOL_NAME, '') = ?", request.poolName === undefined ? undefined : poolOf(request.poolName)],
    ['CQ_TYPE = ?', request.type === undefined ? undefined : typeCode(request.type)],
    ['CQ_STATE = ?', request.state === undefined ? undefined : stateCode(request.state)],
  ];
  const used = terms.filter(([, value]) => value !== undefined);
  const all = [...used.map(([term]) => term), ...(request.id === undefined ? [IS_NO_SPARE] : [])];
  return { sql: `WHERE ${all.join(' AND ')}`, params: used.map(([, value]) => value) };
}
