import type { Tx } from '@skep/metadb';

/** How many ended compactions of a resource are remembered (hive.compactor.history.retention.*). */
export interface HistoryRetention {
  readonly succeeded: number;
  readonly failed: number;
  readonly refused: number;
  readonly didNotInitiate: number;
  /** Failed, refused and not initiated ones go when older than this and a newer one of their kind succeeded. */
  readonly timeoutMs: number;
}

interface HistoryRow {
  CC_ID: bigint;
  CC_DATABASE: string;
  CC_TABLE: string;
  CC_PARTITION: string | null;
  CC_STATE: string;
  CC_TYPE: string;
  CC_START: bigint | null;
  CC_END: bigint | null;
}

/** Purges the history (CompactionTxnHandler.purgeCompactionHistory). Answers how many rows went. */
export async function purgeHistory(tx: Tx, retention: HistoryRetention, nowMs: bigint): Promise<number> {
  const rows = await tx.all<HistoryRow>(
    `SELECT CC_ID, CC_DATABASE, CC_TABLE, CC_PARTITION, CC_STATE, CC_TYPE, CC_START, CC_END FROM COMPLETED_COMPACTIONS
      ORDER BY CC_DATABASE, CC_TABLE, CC_PARTITION, CC_ID DESC`,
  );
  const ids = idsToPurge(rows, retention, nowMs);
  for (const id of ids) await tx.run('DELETE FROM COMPLETED_COMPACTIONS WHERE CC_ID = ?', [id]);
  return ids.length;
}

/** Pure: which of the rows (newest first within a resource) go. Aborted ones are never purged, as in Hive. */
export function idsToPurge(rows: readonly HistoryRow[], retention: HistoryRetention, nowMs: bigint): bigint[] {
  const limits: Record<string, number> = {
    s: retention.succeeded,
    f: retention.failed,
    c: retention.refused,
    a: retention.didNotInitiate,
  };
  const ids: bigint[] = [];
  const kept = new Map<string, number>();
  const succeeded = new Map<string, Set<string>>();
  for (const row of rows) {
    const resource = `${row.CC_DATABASE}\0${row.CC_TABLE}\0${row.CC_PARTITION ?? ''}`;
    const limit = limits[row.CC_STATE];
    if (limit === undefined) continue;
    const newer = succeeded.get(resource) ?? new Set<string>();
    if (row.CC_STATE === 's') succeeded.set(resource, newer.add(row.CC_TYPE));
    const count = (kept.get(`${resource}\0${row.CC_STATE}`) ?? 0) + 1;
    const isOld = nowMs - (row.CC_END ?? row.CC_START ?? nowMs) > BigInt(retention.timeoutMs);
    const isSuperseded = newer.has('a') || (row.CC_TYPE === 'i' && newer.has('i'));
    if (count > limit || (row.CC_STATE !== 's' && isOld && isSuperseded)) ids.push(row.CC_ID);
    else kept.set(`${resource}\0${row.CC_STATE}`, count);
  }
  return ids;
}
