import { ClaimIndex } from './compatibility.js';
import type { LockRow } from './lock-row.js';

/**
 * The waiting requests (external ids) that cannot be granted before `txnId` ends: they wait for a lock it holds, or behind a
 * request that does, or for a lock of a transaction one of whose requests does. `rows`: the whole of HIVE_LOCKS.
 */
export function requestsWaitingFor(txnId: bigint, rows: readonly LockRow[]): ReadonlySet<bigint> {
  const waiting = rows.filter((row) => !row.acquired);
  const stuck = new Set<bigint>();
  if (waiting.length === 0) return stuck;
  const index = new ClaimIndex(rows);
  const stuckTxns = new Set<bigint>([txnId]);
  // A request may be stuck because of one that is found to be only later: until nothing more is found.
  for (let found = true; found; ) {
    found = false;
    for (const row of waiting) {
      if (stuck.has(row.extId) || row.txnId === txnId) continue;
      for (const by of index.blockersOf(row)) {
        if (by.extId >= row.extId || !(by.acquired ? stuckTxns.has(by.txnId) : stuck.has(by.extId))) continue;
        stuck.add(row.extId);
        if (row.txnId !== 0n) stuckTxns.add(row.txnId);
        found = true;
        break;
      }
    }
  }
  return stuck;
}

/** Waiting requests that a lock held by `txnId` itself keeps from being granted, until it ends. */
function requestsBlockedBy(txnId: bigint, rows: readonly LockRow[]): ReadonlySet<bigint> {
  const held = new ClaimIndex(rows.filter((row) => row.acquired && row.txnId === txnId));
  const blocked = new Set<bigint>();
  for (const row of rows) {
    if (row.acquired || blocked.has(row.extId)) continue;
    for (const by of held.blockersOf(row)) if (by.extId < row.extId) blocked.add(row.extId);
  }
  return blocked;
}

/** What really is in the way of a request of a transaction that holds locks already. */
export interface Entanglement {
  /**
   * Requests that a lock of the transaction itself holds up are none: by first come, first served both would wait for ever.
   * (Passing over those that it holds up through others would not be safe: the others may give up.)
   */
  readonly blockers: readonly LockRow[];
  /** What waits, or whose holder waits, for this transaction: neither would ever go on. */
  readonly deadlock: LockRow | undefined;
}

export function entanglement(txnId: bigint, blockers: readonly LockRow[], rows: readonly LockRow[]): Entanglement {
  const stuck = requestsWaitingFor(txnId, rows);
  if (stuck.size === 0) return { blockers, deadlock: undefined };
  const blocked = requestsBlockedBy(txnId, rows);
  const stuckTxns = new Set(rows.filter((row) => stuck.has(row.extId) && row.txnId !== 0n).map((row) => row.txnId));
  const real = blockers.filter((row) => row.acquired || !blocked.has(row.extId));
  const waitsForUs = (row: LockRow) => (row.acquired ? stuckTxns.has(row.txnId) : stuck.has(row.extId));
  return { blockers: real, deadlock: real.find(waitsForUs) };
}
