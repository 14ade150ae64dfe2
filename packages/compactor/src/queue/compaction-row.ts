import type { SqlValue } from '@skep/metadb';
import { Compaction } from '@skep/rpc';
import { stateCode, stateOf, typeCode, typeOf } from './codes.js';

/** A row of either table; columns are read under the queue's names. */
export interface CompactionRow {
  CQ_ID: bigint;
  CQ_DATABASE: string;
  CQ_TABLE: string;
  CQ_PARTITION: string | null;
  CQ_STATE: string;
  CQ_TYPE: string;
  CQ_TBLPROPERTIES: string | null;
  CQ_WORKER_ID: string | null;
  CQ_ENQUEUE_TIME: bigint | null;
  CQ_START: bigint | null;
  CQ_END: bigint | null;
  CQ_RUN_AS: string | null;
  CQ_HIGHEST_WRITE_ID: bigint | null;
  CQ_HADOOP_JOB_ID: string | null;
  CQ_ERROR_MESSAGE: string | null;
  CQ_NEXT_TXN_ID: bigint | null;
  CQ_TXN_ID: bigint | null;
  CQ_COMMIT_TIME: bigint | null;
  CQ_INITIATOR_ID: string | null;
  CQ_INITIATOR_VERSION: string | null;
  CQ_WORKER_VERSION: string | null;
  CQ_CLEANER_START: bigint | null;
  CQ_RETRY_RETENTION: bigint | null;
  CQ_POOL_NAME: string | null;
  CQ_NUMBER_OF_BUCKETS: bigint | null;
  CQ_ORDER_BY: string | null;
}

const shared = [
  'ID',
  'DATABASE',
  'TABLE',
  'PARTITION',
  'STATE',
  'TYPE',
  'TBLPROPERTIES',
  'WORKER_ID',
  'ENQUEUE_TIME',
  'START',
  'RUN_AS',
  'HIGHEST_WRITE_ID',
  'HADOOP_JOB_ID',
  'ERROR_MESSAGE',
  'NEXT_TXN_ID',
  'TXN_ID',
  'COMMIT_TIME',
  'INITIATOR_ID',
  'INITIATOR_VERSION',
  'WORKER_VERSION',
  'POOL_NAME',
  'NUMBER_OF_BUCKETS',
  'ORDER_BY',
] as const;

/** The SELECT list of the queue, and of the history under the same names. */
export const queueColumns = [
  ...shared.map((c) => `CQ_${c}`),
  'NULL AS CQ_END',
  'CQ_CLEANER_START',
  'CQ_RETRY_RETENTION',
].join(', ');
export const historyColumns = [
  ...shared.map((c) => `CC_${c} AS CQ_${c}`),
  'CC_END AS CQ_END',
  'NULL AS CQ_CLEANER_START',
  'NULL AS CQ_RETRY_RETENTION',
].join(', ');

export function compactionOf(row: CompactionRow): Compaction {
  return Compaction.fromPartial({
    id: row.CQ_ID,
    database: row.CQ_DATABASE,
    table: row.CQ_TABLE,
    partition: row.CQ_PARTITION ?? undefined,
    type: typeOf(row.CQ_TYPE),
    state: stateOf(row.CQ_STATE),
    workerId: row.CQ_WORKER_ID ?? '',
    workerVersion: row.CQ_WORKER_VERSION ?? '',
    initiatorId: row.CQ_INITIATOR_ID ?? '',
    initiatorVersion: row.CQ_INITIATOR_VERSION ?? '',
    enqueueTimeMs: row.CQ_ENQUEUE_TIME ?? 0n,
    startMs: row.CQ_START ?? 0n,
    endMs: row.CQ_END ?? 0n,
    runAs: row.CQ_RUN_AS ?? '',
    highestWriteId: row.CQ_HIGHEST_WRITE_ID ?? 0n,
    hadoopJobId: row.CQ_HADOOP_JOB_ID ?? '',
    errorMessage: row.CQ_ERROR_MESSAGE ?? '',
    nextTxnId: row.CQ_NEXT_TXN_ID ?? undefined,
    txnId: row.CQ_TXN_ID ?? undefined,
    commitTimeMs: row.CQ_COMMIT_TIME ?? undefined,
    poolName: row.CQ_POOL_NAME ?? '',
    properties: parseProperties(row.CQ_TBLPROPERTIES),
    numberOfBuckets: row.CQ_NUMBER_OF_BUCKETS === null ? undefined : Number(row.CQ_NUMBER_OF_BUCKETS),
    orderBy: row.CQ_ORDER_BY ?? '',
    cleanerStartMs: row.CQ_CLEANER_START ?? 0n,
    retryRetentionMs: row.CQ_RETRY_RETENTION ?? 0n,
  });
}

/** The shared columns and their values, for an INSERT into either table. */
export function sharedValues(c: Compaction, prefix: 'CQ' | 'CC'): { columns: string[]; values: SqlValue[] } {
  const values: SqlValue[] = [
    c.id,
    c.database,
    c.table,
    c.partition,
    stateCode(c.state),
    typeCode(c.type),
    formatProperties(c.properties),
    c.workerId || null,
    c.enqueueTimeMs,
    c.startMs || null,
    c.runAs || null,
    c.highestWriteId || null,
    c.hadoopJobId || null,
    c.errorMessage || null,
    c.nextTxnId,
    c.txnId,
    c.commitTimeMs,
    c.initiatorId || null,
    c.initiatorVersion || null,
    c.workerVersion || null,
    c.poolName || null,
    c.numberOfBuckets,
    c.orderBy || null,
  ];
  return { columns: shared.map((name) => `${prefix}_${name}`), values };
}

/**
 * CQ_TBLPROPERTIES in the form of org.apache.hadoop.hive.metastore.utils.StringableMap: the number of entries and a colon,
 * then of each entry the length, a colon and the text of key and value.
 */
export function formatProperties(properties: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(properties);
  if (entries.length === 0) return null;
  return `${entries.length}:${entries.map(([k, v]) => `${k.length}:${k}${v.length}:${v}`).join('')}`;
}

export function parseProperties(text: string | null): Record<string, string> {
  const properties: Record<string, string> = {};
  if (text === null || text === '') return properties;
  let at = text.indexOf(':') + 1;
  const word = (): string => {
    const colon = text.indexOf(':', at);
    const length = Number(text.slice(at, colon));
    at = colon + 1 + length;
    return text.slice(colon + 1, at);
  };
  for (let left = Number.parseInt(text, 10); left > 0 && at < text.length; left--) {
    const key = word();
    properties[key] = word();
  }
  return properties;
}
