import type { Tx } from '@skep/metadb';
import { HousekeepingTask, TxnType } from '@skep/rpc';
import { COMPACT } from './components.js';
import type { TxnConf } from './conf.js';
import { ABORTED, COMMITTED, highestTxnId, lowWatermark, minOf, minOpenTxnId } from './context.js';
import { IS_REMEMBERED, purgeForgotten, remember } from './forgotten.js';

/** The ids that decide what nobody needs any more. */
export interface GarbageBounds {
  readonly highestTxnId: bigint;
  readonly lowWatermark: bigint;
  readonly minOpenTxnId: bigint | undefined;
  readonly minAbortedTxnId: bigint | undefined;
  /** MIN(MHL_MIN_OPEN_TXNID): the smallest that was open when a transaction began that is open now. */
  readonly minNeededTxnId: bigint | undefined;
}

/**
 * How long it is known that a transaction has committed: a client whose answer got lost asks again (a call's deadline is
 * 60 s), and must not hear that there never was such a transaction. Hive forgets at once.
 */
const REPEATED_COMMIT_MS = 120_000n;

/** Rows below these ids go. */
export interface GarbageThresholds {
  /** WRITE_SET by WS_COMMIT_ID: nobody open began before. */
  readonly writeSet: bigint;
  /** TXN_TO_WRITE_ID by T2W_TXNID: every snapshot, open now or later, takes these write ids as valid without a row. */
  readonly txnToWriteId: bigint;
  /** TXNS by TXN_ID, those without components. */
  readonly txns: bigint;
}

export function garbageThresholds(bounds: GarbageBounds): GarbageThresholds {
  const above = bounds.highestTxnId + 1n;
  return {
    writeSet: minOf(bounds.minOpenTxnId, bounds.lowWatermark + 1n) ?? 0n,
    txnToWriteId: minOf(above, bounds.minAbortedTxnId, bounds.minNeededTxnId, bounds.minOpenTxnId) ?? above,
    txns: bounds.lowWatermark,
  };
}

async function boundsOf(tx: Tx, conf: TxnConf): Promise<GarbageBounds> {
  const aborted = await tx.get<{ ID: bigint | null }>(
    `SELECT MIN(TXN_ID) AS ID FROM TXNS WHERE TXN_STATE = '${ABORTED}'`,
  );
  const needed = await tx.get<{ ID: bigint | null }>('SELECT MIN(MHL_MIN_OPEN_TXNID) AS ID FROM MIN_HISTORY_LEVEL');
  return {
    highestTxnId: await highestTxnId(tx),
    lowWatermark: await lowWatermark(tx, conf),
    minOpenTxnId: await minOpenTxnId(tx),
    minAbortedTxnId: aborted?.ID ?? undefined,
    minNeededTxnId: needed?.ID ?? undefined,
  };
}

/** What is left of AcidHouseKeeperService, AcidTxnCleanerService, and AcidCompactionHouseKeeperService's duplicate removal. */
export async function collectGarbage(tx: Tx, conf: TxnConf, task?: HousekeepingTask): Promise<void> {
  const thresholds = garbageThresholds(await boundsOf(tx, conf));
  const isDue = (one: HousekeepingTask) => task === undefined || task === one;
  if (isDue(HousekeepingTask.HOUSEKEEPING_TASK_EXPIRE)) await forgetWriteIds(tx, thresholds);
  if (isDue(HousekeepingTask.HOUSEKEEPING_TASK_FORGET_TXNS)) await forgetTxns(tx, conf, thresholds);
  if (!isDue(HousekeepingTask.HOUSEKEEPING_TASK_MERGE_COMPLETED)) return;
  await mergeCompleted(tx, thresholds);
  await purgeForgotten(tx, await tx.now());
}

async function forgetWriteIds(tx: Tx, thresholds: GarbageThresholds): Promise<void> {
  await tx.run('DELETE FROM WRITE_SET WHERE WS_COMMIT_ID < ?', [thresholds.writeSet]);
  // Hive removes them by transaction alone. But write ids need not ascend with transactions, and a reader takes the highest
  // that is left as the end of the table: a committed one must stay while a smaller one does, or its rows would vanish.
  await tx.run(
    `DELETE FROM TXN_TO_WRITE_ID WHERE T2W_TXNID < ? AND NOT EXISTS (SELECT 1 FROM (
        SELECT T2W_DATABASE AS DB, T2W_TABLE AS TBL, MIN(T2W_WRITEID) AS LOWEST FROM TXN_TO_WRITE_ID
        WHERE T2W_TXNID >= ? GROUP BY T2W_DATABASE, T2W_TABLE) KEPT
      WHERE KEPT.DB = T2W_DATABASE AND KEPT.TBL = T2W_TABLE AND KEPT.LOWEST < T2W_WRITEID)`,
    [thresholds.txnToWriteId, thresholds.txnToWriteId],
  );
}

async function forgetTxns(tx: Tx, conf: TxnConf, thresholds: GarbageThresholds): Promise<void> {
  // The write ids of an aborted transaction are valid once its row is gone: only where nothing was, or is, of it. And not
  // at once, as Hive does: its client is to hear that it was aborted, not that it never was.
  const now = await tx.now();
  const heardOf = now - BigInt(2 * conf.txnTimeoutMs);
  await forgetEmptyComponents(tx, thresholds);
  const isEmpty = 'NOT EXISTS (SELECT 1 FROM TXN_COMPONENTS WHERE TC_TXNID = TXN_ID)';
  // One that never had a write id can have written nothing, however late its client is: as in Hive it goes at once.
  const aborted = `TXN_ID < ? AND (TXN_LAST_HEARTBEAT < ? OR TXN_ID NOT IN (SELECT T2W_TXNID FROM TXN_TO_WRITE_ID)) AND ${isEmpty}`;
  const some = await tx.get(
    `SELECT TXN_ID FROM TXNS WHERE TXN_STATE = '${ABORTED}' AND TXN_ID < ? AND ${isEmpty} LIMIT 1`,
    [thresholds.txns],
  );
  // Mostly there are none, and TXN_TO_WRITE_ID may be long.
  if (some !== undefined) {
    await remember(tx, aborted, [thresholds.txns, heardOf], now);
    // One that was aborted just now is for another round.
    await tx.run(`DELETE FROM TXNS WHERE TXN_STATE = '${ABORTED}' AND ${aborted} AND ${IS_REMEMBERED}`, [
      thresholds.txns,
      heardOf,
    ]);
  }
  await tx.run(
    `DELETE FROM TXNS WHERE TXN_STATE = '${COMMITTED}' AND TXN_LAST_HEARTBEAT < ? AND TXN_ID < ? AND TXN_ID <> 0 AND ${isEmpty}`,
    [now - REPEATED_COMMIT_MS, thresholds.txns],
  );
}

/**
 * What aborted transactions were about to write when they ended, of which they had no write id yet: nobody needs to look for it.
 * Not of compactions, whose folders are named without one.
 */
async function forgetEmptyComponents(tx: Tx, thresholds: GarbageThresholds): Promise<void> {
  const compactions = [TxnType.TXN_TYPE_COMPACTION, TxnType.TXN_TYPE_REBALANCE_COMPACTION].join(', ');
  await tx.run(
    `DELETE FROM TXN_COMPONENTS WHERE TC_WRITEID IS NULL AND TC_OPERATION_TYPE <> '${COMPACT}'
      AND TC_TXNID IN (SELECT TXN_ID FROM TXNS WHERE TXN_STATE = '${ABORTED}' AND TXN_ID < ?
        AND (TXN_TYPE IS NULL OR TXN_TYPE NOT IN (${compactions})))
      AND NOT EXISTS (SELECT 1 FROM TXN_TO_WRITE_ID
        WHERE T2W_TXNID = TC_TXNID AND T2W_DATABASE = TC_DATABASE AND T2W_TABLE = TC_TABLE)`,
    [thresholds.txns],
  );
}

async function mergeCompleted(tx: Tx, thresholds: GarbageThresholds): Promise<void> {
  // Keeps per resource the highest write id, and the highest that updates or deletes; and what an open transaction may have
  // to ask about: whether others wrote what it overwrites.
  // (MySQL deletes by a table itself only through a table derived from it.)
  await tx.run(
    `DELETE FROM COMPLETED_TXN_COMPONENTS WHERE CTC_TXNID < ? AND EXISTS (SELECT 1 FROM (
        SELECT CTC_DATABASE AS DB, CTC_TABLE AS TBL, CTC_PARTITION AS PART, MAX(CTC_WRITEID) AS HIGHEST,
          MAX(CASE WHEN CTC_UPDATE_DELETE = 'Y' THEN CTC_WRITEID END) AS HIGHEST_UPDATE
        FROM COMPLETED_TXN_COMPONENTS GROUP BY CTC_DATABASE, CTC_TABLE, CTC_PARTITION) NEWEST
      WHERE NEWEST.DB = CTC_DATABASE AND NEWEST.TBL = CTC_TABLE
        AND ${tx.dialect.nullSafeEquals('NEWEST.PART', 'CTC_PARTITION')}
        AND CTC_WRITEID < CASE WHEN CTC_UPDATE_DELETE = 'N' THEN HIGHEST ELSE HIGHEST_UPDATE END)`,
    [thresholds.writeSet],
  );
}
