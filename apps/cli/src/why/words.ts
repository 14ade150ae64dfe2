import { type LockInfo, LockState, LockType, type TxnInfo } from '@skep/rpc';

const TYPES: ReadonlyMap<LockType, string> = new Map([
  [LockType.LOCK_TYPE_SHARED_READ, 'SHARED_READ'],
  [LockType.LOCK_TYPE_SHARED_WRITE, 'SHARED_WRITE'],
  [LockType.LOCK_TYPE_EXCL_WRITE, 'EXCL_WRITE'],
  [LockType.LOCK_TYPE_EXCLUSIVE, 'EXCLUSIVE'],
]);

/** `5 s`, `12 min`, `3 h`, `2 d`: the biggest unit that has a whole number of two or more, else seconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const;
  const unit = units.find(([size]) => seconds >= 2 * size);
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit[0])} ${unit[1]}`;
}

/** `2026-01-31T10:00:00Z (5 s ago)`. */
export function moment(ms: bigint, nowMs: number): string {
  const at = new Date(Number(ms)).toISOString().replace(/\.\d+Z$/, 'Z');
  const age = nowMs - Number(ms);
  return age >= 0 ? `${at} (${duration(age)} ago)` : `${at} (in ${duration(-age)})`;
}

/** `user@host`, and what it runs there where that is known. */
export function whose({ user, host, agentInfo }: Pick<TxnInfo, 'user' | 'host' | 'agentInfo'>): string {
  return `${user}@${host}${agentInfo === '' ? '' : `, ${agentInfo}`}`;
}

export function resourceText({
  database,
  table,
  partition,
}: {
  readonly database: string;
  readonly table?: string | undefined;
  readonly partition?: string | undefined;
}): string {
  if (table === undefined) return `database ${database}`;
  return `${database}.${table}${partition === undefined ? '' : `/${partition}`}`;
}

/** `lockid:3.1, EXCLUSIVE on default.t of txnid:5 (user@host, query)`. */
export function lockText(lock: LockInfo): string {
  const owner = lock.txnId === 0n ? 'without a transaction' : `of txnid:${lock.txnId}`;
  const type = TYPES.get(lock.type) ?? 'a lock';
  return `lockid:${lock.lockId}.${lock.internalId}, ${type} on ${resourceText(lock)} ${owner} (${whose(lock)})`;
}

export const isWaiting = (lock: LockInfo): boolean => lock.state === LockState.LOCK_STATE_WAITING;
