import type { TxnState } from '@skep/rpc';
import { ABORTED, OPEN, type TxnContext, VOLATILE } from './context.js';
import { abortStillLeft, type HeldTxn, hasDeadHolder, isTimedOut, selectHeldByIds } from './expiry.js';
import { toTxnState, txnRows } from './txn-state.js';

export interface StatesFound {
  /** Parallel to the ids asked for. */
  readonly states: TxnState[];
  /** Those found open but left behind, and therefore aborted just now. */
  readonly leftBehind: readonly bigint[];
}

/**
 * States of transactions. Whoever asks is about to wait for them: one that has timed out, or whose holder is gone, is
 * aborted here instead of at the next housekeeping.
 */
export async function statesOf(ctx: TxnContext, txnIds: readonly bigint[]): Promise<StatesFound> {
  const { found, suspects } = await ctx.db.read(async (tx) => {
    const rows = await txnRows(tx, [...new Set(txnIds)]);
    const open = [...rows.values()].filter((row) => row.state === OPEN).map((row) => row.txnId);
    const held = await selectHeldByIds(tx, open, false);
    const suspects = held.filter(leftBehindAt(ctx, await tx.now())).map((txn) => txn.txnId);
    return { found: new Map([...rows].map(([id, row]) => [id, row.state])), suspects };
  });
  const leftBehind = suspects.length === 0 ? [] : await abortSuspects(ctx, suspects);
  for (const id of leftBehind) found.set(id, ABORTED);
  return { states: txnIds.map((id) => toTxnState(found.get(id))), leftBehind };
}

const leftBehindAt = (ctx: TxnContext, now: bigint) => (txn: HeldTxn) =>
  isTimedOut(txn, now, ctx.conf) || hasDeadHolder(txn, ctx.host, ctx.isAlive);

/** Looks again inside the transaction that aborts: a heartbeat may have come meanwhile. */
function abortSuspects(ctx: TxnContext, suspects: readonly bigint[]): Promise<bigint[]> {
  return ctx.db.transaction(async (tx) => abortStillLeft(tx, suspects, leftBehindAt(ctx, await tx.now())), VOLATILE);
}
