/** Hive's codes for why a transaction was aborted (org.apache.hadoop.hive.metastore.txn.TxnErrorMsg). */
export const AbortReason = {
  NONE: 50000,
  QUERY: 50001,
  CONCURRENT: 50002,
  WRITE_CONFLICT: 50003,
  TIMEOUT: 50004,
  ROLLBACK: 50005,
  COMPACTION: 50006,
} as const;

/** The label that TXNS.TXN_META_INFO keeps for a code. */
export const ABORT_REASONS: ReadonlyMap<number, string> = new Map([
  [50000, 'none'],
  [50001, 'abort by query command'],
  [50002, 'concurrent committed transaction'],
  [50003, 'write conflicts'],
  [50004, 'heartbeat time-out'],
  [50005, 'rollback'],
  [50006, 'compaction transaction abort'],
  [50007, 'msck transaction abort'],
  [50008, 'managed migration transaction abort'],
  [51000, 'Replication:default replication transaction abort'],
  [51001, 'Replication:replayed replication transaction abort'],
  [51002, 'Replication:abort of allocated txns for referring mapped write ids as aborted ones'],
  [51003, 'Replication:abort of txns while trying to fetch failover metadata'],
  [51004, 'Replication:abort of write txns for the db under replication'],
  [51005, 'Replication:abort of ongoing txns(opened prior to failover) for the target database'],
]);

/** TXN_META_INFO has 128 characters. */
const MAX_TEXT = 128;

/** What TXN_META_INFO keeps: the label, and where there is more to say ` at TIME: DETAILS`. */
export function abortText(code: number, details: string, nowMs: bigint): string {
  const label = ABORT_REASONS.get(code) ?? 'none';
  if (details === '') return label;
  const time = new Date(Number(nowMs)).toISOString().replace(/\.\d+Z$/, 'Z');
  const text = `${label} at ${time}: ${details}`;
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
