import { LONG_MAX, ValidTxnList } from '@skep/core';
import type { Tx } from '@skep/metadb';
import { TxnType } from '@skep/rpc';
import type { TxnConf } from './conf.js';
import { ABORTED, COMMITTED, highestTxnId, lowWatermark, OPEN } from './context.js';

/** A transaction too young to be sure that all ids below it have been seen. */
export interface YoungTxn {
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
 * GetOpenTxnsListHandler: `settled` are the open and aborted ones up to `settledUpTo`; above it an id that is missing
 * between the young ones may just be being opened, and counts as open.
 */
export function listOpenTxns(
  settled: { readonly open: readonly bigint[]; readonly aborted: readonly bigint[] },
  young: readonly YoungTxn[],
  settledUpTo: bigint,
): { open: readonly bigint[]; aborted: readonly bigint[] } {
  if (young.length === 0) return settled;
  const open = settled.open.slice();
  const aborted = settled.aborted.slice();
  let next = settledUpTo + 1n;
  for (const { txnId, state, mayWrite } of young) {
    for (; next < txnId; next++) open.push(next);
    next = txnId + 1n;
    if (!mayWrite || state === COMMITTED) continue;
    (state === ABORTED ? aborted : open).push(txnId);
  }
  return { open, aborted };
}

/** Open and aborted transactions below `below`, or all. */
export async function selectOpenTxns(tx: Tx, conf: TxnConf, below: bigint = LONG_MAX): Promise<OpenTxnList> {
  const highWatermark = await highestTxnId(tx);
  const settledUpTo = await lowWatermark(tx, conf);
  const settled = (state: string) =>
    tx.column<bigint>(
      `SELECT TXN_ID FROM TXNS WHERE TXN_STATE = ? AND TXN_ID < ? AND TXN_ID <= ?
        AND (TXN_TYPE IS NULL OR TXN_TYPE <> ${TxnType.TXN_TYPE_READ_ONLY}) ORDER BY TXN_ID`,
      [state, below, settledUpTo],
    );
  const young = settledUpTo < highWatermark ? await selectYoung(tx, settledUpTo, below) : [];
  const lists = listOpenTxns({ open: await settled(OPEN), aborted: await settled(ABORTED) }, young, settledUpTo);
  return { highWatermark, ...lists };
}

async function selectYoung(tx: Tx, above: bigint, below: bigint): Promise<YoungTxn[]> {
  const rows = await tx.all<{ TXN_ID: bigint; TXN_STATE: string; TXN_TYPE: bigint | null }>(
    'SELECT TXN_ID, TXN_STATE, TXN_TYPE FROM TXNS WHERE TXN_ID > ? AND TXN_ID < ? ORDER BY TXN_ID',
    [above, below],
  );
  return rows.map((row) => ({
    txnId: row.TXN_ID,
    state: row.TXN_STATE,
    mayWrite: row.TXN_TYPE !== BigInt(TxnType.TXN_TYPE_READ_ONLY),
  }));
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
