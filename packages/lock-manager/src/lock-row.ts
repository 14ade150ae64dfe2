import { BugError } from '@skep/core';
import { type BlockingLock, type LockInfo, LockState, LockType } from '@skep/rpc';
import type { LockClaim } from './compatibility.js';

/** A row of HIVE_LOCKS. */
export interface LockRow extends LockClaim {
  readonly extId: bigint;
  readonly intId: bigint;
  readonly acquired: boolean;
  readonly lastHeartbeatMs: bigint;
  readonly acquiredAtMs: bigint | undefined;
  readonly user: string;
  readonly host: string;
  readonly agentInfo: string;
  readonly blockedByExtId: bigint | undefined;
  readonly blockedByIntId: bigint | undefined;
}

/** As the driver answers it. */
export interface RawLockRow {
  HL_LOCK_EXT_ID: bigint;
  HL_LOCK_INT_ID: bigint;
  HL_TXNID: bigint;
  HL_DB: string;
  HL_TABLE: string | null;
  HL_PARTITION: string | null;
  HL_LOCK_STATE: string;
  HL_LOCK_TYPE: string;
  HL_LAST_HEARTBEAT: bigint;
  HL_ACQUIRED_AT: bigint | null;
  HL_USER: string;
  HL_HOST: string;
  HL_AGENT_INFO: string | null;
  HL_BLOCKEDBY_EXT_ID: bigint | null;
  HL_BLOCKEDBY_INT_ID: bigint | null;
}

export const ACQUIRED = 'a';
export const WAITING = 'w';

const TYPE_CODES: readonly (readonly [LockType, string])[] = [
  [LockType.LOCK_TYPE_SHARED_READ, 'r'],
  [LockType.LOCK_TYPE_SHARED_WRITE, 'w'],
  [LockType.LOCK_TYPE_EXCLUSIVE, 'e'],
  [LockType.LOCK_TYPE_EXCL_WRITE, 'x'],
];

/** HL_LOCK_TYPE; undefined for a type that is none. */
export function typeCode(type: LockType): string | undefined {
  return TYPE_CODES.find(([known]) => known === type)?.[1];
}

function typeOf(code: string): LockType {
  const found = TYPE_CODES.find(([, known]) => known === code);
  if (found === undefined) throw new BugError(`HIVE_LOCKS holds the lock type '${code}'`);
  return found[0];
}

export function toLockRow(raw: RawLockRow): LockRow {
  return {
    extId: raw.HL_LOCK_EXT_ID,
    intId: raw.HL_LOCK_INT_ID,
    txnId: raw.HL_TXNID,
    database: raw.HL_DB,
    table: raw.HL_TABLE ?? undefined,
    partition: raw.HL_PARTITION ?? undefined,
    acquired: raw.HL_LOCK_STATE === ACQUIRED,
    type: typeOf(raw.HL_LOCK_TYPE),
    lastHeartbeatMs: raw.HL_LAST_HEARTBEAT,
    acquiredAtMs: raw.HL_ACQUIRED_AT ?? undefined,
    user: raw.HL_USER,
    host: raw.HL_HOST,
    agentInfo: raw.HL_AGENT_INFO ?? '',
    blockedByExtId: raw.HL_BLOCKEDBY_EXT_ID ?? undefined,
    blockedByIntId: raw.HL_BLOCKEDBY_INT_ID ?? undefined,
  };
}

function stateOf(row: LockRow): LockState {
  return row.acquired ? LockState.LOCK_STATE_ACQUIRED : LockState.LOCK_STATE_WAITING;
}

export function toBlockingLock(row: LockRow): BlockingLock {
  return {
    lockId: row.extId,
    internalId: row.intId,
    txnId: row.txnId,
    type: row.type,
    state: stateOf(row),
    database: row.database,
    table: row.table,
    partition: row.partition,
    user: row.user,
    host: row.host,
    agentInfo: row.agentInfo,
    acquiredAtMs: row.acquiredAtMs ?? 0n,
  };
}

export function toLockInfo(row: LockRow): LockInfo {
  return {
    ...toBlockingLock(row),
    acquiredAtMs: row.acquiredAtMs,
    lastHeartbeatMs: row.lastHeartbeatMs,
    blockedByLockId: row.blockedByExtId,
    blockedByInternalId: row.blockedByIntId,
  };
}

const TYPE_NAMES: Record<string, string> = { r: 'SHARED_READ', w: 'SHARED_WRITE', e: 'EXCLUSIVE', x: 'EXCL_WRITE' };

/** `EXCLUSIVE on db.t/p=1 held by lockid:3.1 of txnid:7 (user@host, query, since time)`: says who, for a human. */
export function describeLock(row: LockRow): string {
  const resource = [row.database, row.table].filter((part) => part !== undefined).join('.');
  const partition = row.partition === undefined ? '' : `/${row.partition}`;
  const owner = row.txnId === 0n ? 'no transaction' : `txnid:${row.txnId}`;
  const verb = row.acquired ? 'held' : 'asked for';
  const agent = row.agentInfo === '' ? '' : `, ${row.agentInfo}`;
  const since = row.acquiredAtMs === undefined ? '' : `, since ${new Date(Number(row.acquiredAtMs)).toISOString()}`;
  const type = TYPE_NAMES[typeCode(row.type) ?? ''];
  return `${type} on ${resource}${partition} ${verb} by lockid:${row.extId}.${row.intId} of ${owner} (${row.user}@${row.host}${agent}${since})`;
}
