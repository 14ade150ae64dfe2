import { type TxnInfo, TxnState } from '@skep/rpc';
import { type LockView, openedBy, whyLock } from './why-lock.js';
import { isWaiting, moment } from './words.js';

export interface TxnView extends LockView {
  readonly state: TxnState;
  /** Which open transaction keeps the Cleaner from going on. */
  readonly cleanerWaitsFor: bigint | undefined;
  /** hive.txn.timeout as the metastore has it. */
  readonly timeout: string;
}

/** Why a transaction is aborted, waits, or is still open. Pure. */
export function whyTxn(txnId: bigint, view: TxnView): string[] {
  const txn = view.txns.find((one) => one.txnId === txnId);
  switch (view.state) {
    case TxnState.TXN_STATE_OPEN:
      return whyOpen(txnId, txn, view);
    case TxnState.TXN_STATE_ABORTED:
      return whyAborted(txnId, txn, view);
    case TxnState.TXN_STATE_COMMITTED:
      return [`txnid:${txnId} is committed.`];
    default:
      return [`txnid:${txnId} is not known: it was never opened, or ended so long ago that its record is gone.`];
  }
}

function whyOpen(txnId: bigint, txn: TxnInfo | undefined, view: TxnView): string[] {
  const lines = [`txnid:${txnId} is open.`];
  if (txn !== undefined && txn.startedMs > 0n) {
    lines[0] = `txnid:${txnId} is open: ${openedBy(txn, view.nowMs)}.`;
    const heartbeat = moment(txn.lastHeartbeatMs, view.nowMs);
    lines.push(`Last heartbeat: ${heartbeat}. Without one for ${view.timeout} (hive.txn.timeout) it is aborted.`);
  }
  const requests = new Set(view.locks.filter((lock) => lock.txnId === txnId).map(({ lockId }) => lockId));
  for (const lockId of requests) lines.push(...whyLock(lockId, view));
  const blocked = view.locks.filter((lock) => isWaiting(lock) && requests.has(lock.blockedByLockId ?? -1n));
  for (const { lockId, txnId: other } of blocked) {
    if (requests.has(lockId)) continue;
    const whom = other === 0n ? '' : ` of txnid:${other}`;
    lines.push(`It is in the way of lockid:${lockId}${whom}.`);
  }
  if (view.cleanerWaitsFor === txnId) {
    lines.push('The Cleaner waits for its end: files that were replaced since it began are kept for it.');
  }
  return lines;
}

function whyAborted(txnId: bigint, txn: TxnInfo | undefined, view: TxnView): string[] {
  if (txn === undefined) return [`txnid:${txnId} was aborted.`];
  const why = txn.metaInfo === '' ? 'no reason was recorded' : txn.metaInfo;
  return [
    `txnid:${txnId} was aborted: ${why}.`,
    `It was ${openedBy(txn, view.nowMs)}; last heartbeat ${moment(txn.lastHeartbeatMs, view.nowMs)}.`,
  ];
}
