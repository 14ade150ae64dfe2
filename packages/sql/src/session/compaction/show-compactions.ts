import type { Compaction, LockInfo, TxnInfo } from '@skep/rpc';
import { LockState, LockType, TxnState } from '@skep/rpc';
import { stateName, typeName } from './compact-statement.js';

const missing = ' --- ';

/** SHOW COMPACTIONS: names, the heading that Hive's embedded client prints as first row, and the rows. */
export const compactionColumns = [
  'compactionid',
  'dbname',
  'tabname',
  'partname',
  'type',
  'state',
  'workerhost',
  'workerid',
  'enqueuetime',
  'starttime',
  'duration',
  'hadoopjobid',
  'errormessage',
  'initiatorhost',
  'initiatorid',
  'poolname',
  'txnid',
  'nexttxnid',
  'committime',
  'hightestwriteid',
] as const;
export const compactionHeader = [
  'CompactionId',
  'Database',
  'Table',
  'Partition',
  'Type',
  'State',
  'Worker host',
  'Worker',
  'Enqueue Time',
  'Start Time',
  'Duration(ms)',
  'HadoopJobId',
  'Error message',
  'Initiator host',
  'Initiator',
  'Pool name',
  'TxnId',
  'Next TxnId',
  'Commit Time',
  'Highest WriteId',
] as const;

export function compactionRow(c: Compaction): string[] {
  const [workerHost, worker] = hostAndThread(c.workerId);
  const [initiatorHost, initiator] = hostAndThread(c.initiatorId);
  return [
    String(c.id),
    c.database,
    c.table,
    c.partition ?? missing,
    typeName(c.type),
    stateName(c.state),
    workerHost,
    worker,
    time(c.enqueueTimeMs),
    time(c.startMs),
    c.endMs > 0n && c.startMs > 0n ? String(c.endMs - c.startMs) : missing,
    c.hadoopJobId || missing,
    c.errorMessage || missing,
    initiatorHost,
    initiator,
    c.poolName || 'default',
    String(c.txnId ?? 0n),
    String(c.nextTxnId ?? 0n),
    String(c.commitTimeMs ?? 0n),
    // Hive's server fills another field, so its last column never has a value (reference §6).
    missing,
  ];
}

/** Worker and initiator ids are `host-thread`. */
function hostAndThread(id: string): [string, string] {
  const dash = id.lastIndexOf('-');
  if (id === '') return [missing, missing];
  return dash < 0 ? [id, missing] : [id.slice(0, dash), id.slice(dash + 1)];
}

const time = (ms: bigint): string => (ms > 0n ? String(ms) : missing);

export const transactionColumns = ['txnid', 'state', 'startedtime', 'lastheartbeattime', 'user', 'host'] as const;
export const transactionHeader = [
  'Transaction ID',
  'Transaction State',
  'Started Time',
  'Last Heartbeat Time',
  'User',
  'Hostname',
] as const;

export const transactionRow = (t: TxnInfo): string[] => [
  String(t.txnId),
  t.state === TxnState.TXN_STATE_OPEN ? 'OPEN' : 'ABORTED',
  String(t.startedMs),
  String(t.lastHeartbeatMs),
  t.user,
  t.host,
];

export const lockColumns = [
  'lockid',
  'database',
  'table',
  'partition',
  'lock_state',
  'blocked_by',
  'lock_type',
  'transaction_id',
  'last_heartbeat',
  'acquired_at',
  'user',
  'hostname',
  'agent_info',
] as const;
export const lockHeader = [
  'Lock ID',
  'Database',
  'Table',
  'Partition',
  'State',
  'Blocked By',
  'Type',
  'Transaction ID',
  'Last Heartbeat',
  'Acquired At',
  'User',
  'Hostname',
  'Agent Info',
] as const;

export const lockRow = (l: LockInfo): string[] => [
  `${l.lockId}.${l.internalId}`,
  l.database,
  l.table ?? 'NULL',
  l.partition ?? 'NULL',
  l.state === LockState.LOCK_STATE_ACQUIRED ? 'ACQUIRED' : 'WAITING',
  l.blockedByLockId === undefined ? ' '.repeat(12) : `${l.blockedByLockId}.${l.blockedByInternalId ?? 1n}`,
  LockType[l.type].replace('LOCK_TYPE_', ''),
  l.txnId === 0n ? 'NULL' : String(l.txnId),
  String(l.lastHeartbeatMs),
  l.acquiredAtMs === undefined ? 'NULL' : String(l.acquiredAtMs),
  l.user,
  l.host,
  l.agentInfo,
];
