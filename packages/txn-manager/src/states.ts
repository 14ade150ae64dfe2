import type { TxnState } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import { ABORTED, OPEN, type TxnContext, VOLATILE } from './context.js';
import { hasDeadHolder, isTimedOut, selectHeldById } from './expiry.js';
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
    const now = await tx.now();
    const suspects: bigint[] = [];
    for (const row of rows.values()) {
      if (row.state !== OPEN) continue;
      const held = await selectHeldById(tx, row.txnId);
      if (held && (isTimedOut(held, now, ctx.conf) || hasDeadHolder(held, ctx.host, ctx.isAlive))) {
        suspects.push(row.txnId);
      }
    }
    return { found: new Map([...rows].map(([id, row]) => [id, row.state])), suspects };
  });
  const leftBehind = suspects.length === 0 ? [] : await abortStillLeft(ctx, suspects);
  for (const id of leftBehind) found.set(id, ABORTED);
  return { states: txnIds.map((id) => toTxnState(found.get(id))), leftBehind };
}

/** Looks again inside the transaction that aborts: a heartbeat may have come meanwhile. */
function abortStillLeft(ctx: TxnContext, suspects: readonly bigint[]): Promise<bigint[]> {
  return ctx.db.transaction(async (tx) => {
    const now = await tx.now();
    const left: bigint[] = [];
    for (const id of suspects) {
      const held = await selectHeldById(tx, id);
      if (held && (isTimedOut(held, now, ctx.conf) || hasDeadHolder(held, ctx.host, ctx.isAlive))) left.push(id);
    }
    return abortInTx(tx, left, AbortReason.TIMEOUT);
  }, VOLATILE);
}
