import type { LockInfo, TxnInfo } from '@skep/rpc';
import { isWaiting, lockText, moment, whose } from './words.js';

/** What is known of the locks at one moment. */
export interface LockView {
  readonly locks: readonly LockInfo[];
  readonly txns: readonly TxnInfo[];
  readonly nowMs: number;
}

/** Longer chains of waiters are cut. */
const MOST_LINKS = 32;

/** Why a lock is held or waits: a line for each lock of the request, and the chain of those it waits for. Pure. */
export function whyLock(lockId: bigint, view: LockView): string[] {
  const own = view.locks.filter((lock) => lock.lockId === lockId);
  if (own.length === 0) return [`lockid:${lockId} is not there: it was released, removed, or never asked for.`];
  return own.flatMap((lock) => [`${lockText(lock)}: ${stateText(lock, view)}`, ...blockers(lock, view)]);
}

function stateText(lock: LockInfo, view: LockView): string {
  if (!isWaiting(lock)) {
    const since = lock.acquiredAtMs === undefined ? '' : ` since ${moment(lock.acquiredAtMs, view.nowMs)}`;
    return `held${since}${ofTxn(lock, view)}.`;
  }
  return lock.blockedByLockId === undefined
    ? `waits; nothing is in its way as far as is known: its owner asks again with its next poll${ofTxn(lock, view)}.`
    : `waits for lockid:${lock.blockedByLockId}.${lock.blockedByInternalId ?? 1n}${ofTxn(lock, view)}.`;
}

/** Since when its transaction is open, and heard of. */
function ofTxn({ txnId, lastHeartbeatMs }: LockInfo, { txns, nowMs }: LockView): string {
  const txn = txns.find((one) => one.txnId === txnId);
  if (txn !== undefined) {
    return `; its transaction is open since ${moment(txn.startedMs, nowMs)}, last heartbeat ${moment(txn.lastHeartbeatMs, nowMs)}`;
  }
  return txnId === 0n && lastHeartbeatMs > 0n ? `; last heartbeat ${moment(lastHeartbeatMs, nowMs)}` : '';
}

/** Whom it waits for, whom that one waits for, and so on. */
function blockers(first: LockInfo, view: LockView): string[] {
  const lines: string[] = [];
  const seen = new Set([first.lockId]);
  let lock = first;
  while (isWaiting(lock) && lock.blockedByLockId !== undefined && lines.length < MOST_LINKS) {
    const { blockedByLockId, blockedByInternalId } = lock;
    const next =
      view.locks.find((one) => one.lockId === blockedByLockId && one.internalId === blockedByInternalId) ??
      view.locks.find((one) => one.lockId === blockedByLockId);
    const indent = '  '.repeat(lines.length + 1);
    if (next === undefined) {
      lines.push(`${indent}lockid:${blockedByLockId} is gone by now: the next poll finds the way free.`);
      break;
    }
    lines.push(`${indent}${lockText(next)}: ${stateText(next, view)}`);
    if (seen.has(next.lockId)) break;
    seen.add(next.lockId);
    lock = next;
  }
  return lines;
}

/** Who holds, and who waits for, locks. Pure. */
export function lockLines(locks: readonly LockInfo[], view: LockView): string[] {
  return locks.map((lock) => `${lockText(lock)}: ${stateText(lock, view)}`);
}

export const openedBy = (txn: TxnInfo, nowMs: number): string =>
  `opened ${moment(txn.startedMs, nowMs)} by ${whose(txn)}`;
