import { LONG_MAX, ValidTxnList } from '@skep/core';
import type { Tx } from '@skep/metadb';
import { TxnType } from '@skep/rpc';
import type { TxnConf } from './conf.js';
import { ABORTED, COMMITTED, highestTxnId, lowWatermark, OPEN } from './context.js';

/** What is known of a transaction when a snapshot is taken. */
export interface SeenTxn {
  readonly txnId: bigint;
  readonly state: string;
  /** False for READ_ONLY ones: they write nothing that a snapshot could miss. */
  readonly mayWrite: boolean;
}

/** Open and aborted transactions, ascending, up to the high watermark. */
export interface OpenTxnList {
  readonly highWatermark: bigint;
  readonly open: readonly bigint[];
  readonly aborted: readonly bigint[];
}

/**
 * GetOpenTxnsListHandler. `seen` is ascending and complete above `settledUpTo`: an id missing above it belongs to a
 * transaction that may just be being opened, and counts as open.
 */
export function listOpenTxns(seen: readonly SeenTxn[], highWatermark: bigint, settledUpTo: bigint): OpenTxnList {
  const open: bigint[] = [];
  const aborted: bigint[] = [];
  let next = settledUpTo + 1n;
  for (const { txnId, state, mayWrite } of seen) {
    for (; next < txnId; next++) open.push(next);
    if (txnId >= next) next = txnId + 1n;
    if (!mayWrite || state === COMMITTED) continue;
    (state === ABORTED ? aborted : open).push(txnId);
  }
  return { highWatermark, open, aborted };
}

interface RawTxn {
  TXN_ID: bigint;
  TXN_STATE: string;
  TXN_TYPE: bigint | null;
}

/** Open and aborted transactions below `below`, or all. */
export async function selectOpenTxns(tx: Tx, conf: TxnConf, below: bigint = LONG_MAX): Promise<OpenTxnList> {
  const highWatermark = await highestTxnId(tx);
  const settledUpTo = await lowWatermark(tx, conf);
  const rows = await tx.all<RawTxn>(
    `SELECT TXN_ID, TXN_STATE, TXN_TYPE FROM TXNS WHERE TXN_STATE IN ('${OPEN}', '${ABORTED}') AND TXN_ID < ?`,
    [below],
  );
  // Where ids may appear out of order, committed ones above the low watermark show which ids are not missing.
  if (settledUpTo < highWatermark) {
    const young = await tx.all<RawTxn>(
      `SELECT TXN_ID, TXN_STATE, TXN_TYPE FROM TXNS WHERE TXN_STATE = '${COMMITTED}' AND TXN_ID > ? AND TXN_ID < ?`,
      [settledUpTo, below],
    );
    rows.push(...young);
  }
  rows.sort((a, b) => (a.TXN_ID < b.TXN_ID ? -1 : 1));
  const seen = rows.map((row) => ({
    txnId: row.TXN_ID,
    state: row.TXN_STATE,
    mayWrite: row.TXN_TYPE !== BigInt(TxnType.TXN_TYPE_READ_ONLY),
  }));
  return listOpenTxns(seen, highWatermark, settledUpTo);
}

/**
 * The snapshot of a reader (TxnCommonUtils.createValidReadTxnList): of transaction `own`, what was there before it, or
 * without one, all up to the highest.
 */
export function toValidTxnList(list: OpenTxnList, own: bigint | undefined): ValidTxnList {
  if (own === undefined) return ValidTxnList.of(list.highWatermark, list);
  const before = (id: bigint) => id < own;
  const highWatermark = own < list.highWatermark ? own : list.highWatermark;
  return ValidTxnList.of(highWatermark, { open: list.open.filter(before), aborted: list.aborted.filter(before) });
}

export async function selectValidTxns(tx: Tx, conf: TxnConf, own: bigint | undefined): Promise<ValidTxnList> {
  return toValidTxnList(await selectOpenTxns(tx, conf, own ?? LONG_MAX), own);
}
