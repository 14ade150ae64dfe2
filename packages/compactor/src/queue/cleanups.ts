import { LONG_MAX } from '@skep/core';
import type { SqlValue, Tx } from '@skep/metadb';
import {
  Compaction,
  CompactionState,
  CompactionType,
  InvalidRequestError,
  type SettleCleanupsRequest,
  type SubmitForCleanupRequest,
} from '@skep/rpc';
import { type CompactionRow, compactionOf, queueColumns, sharedValues } from './compaction-row.js';

/**
 * Cleanups: rows of the queue that no Worker sees. A drop puts them there ready for cleaning, with the folder in the property
 * `location`, as Hive does (TxnHandler.submitForCleanup). Until the dropping transaction has ended CQ_NEXT_TXN_ID is as high as
 * no transaction gets, so that neither our Cleaner nor a Hive's takes them (in Hive commit itself writes it).
 */
const UNSETTLED = LONG_MAX;

const DROPPED_ID = 'skep.dropped.id';
const SPARE = 'skep.spare';

/** CQ_TBLPROPERTIES has a property `location` (StringableMap): a cleanup. */
export const IS_CLEANUP = "CQ_TBLPROPERTIES LIKE '%8:location%'";

/** Not one that is there in case only, which nobody has asked for. */
export const IS_NO_SPARE = `(CQ_TBLPROPERTIES IS NULL OR CQ_TBLPROPERTIES NOT LIKE '%${SPARE.length}:${SPARE}%')`;

export const isSpare = ({ properties }: Compaction): boolean => properties[SPARE] !== undefined;

/** The folder that a cleanup removes; undefined: it is a compaction. */
export const locationOf = ({ properties }: Compaction): string | undefined => properties.location;

/** The catalog's number of the table or partition that was dropped, where it is known. */
export const droppedIdOf = ({ properties }: Compaction): bigint | undefined =>
  properties[DROPPED_ID] === undefined ? undefined : BigInt(properties[DROPPED_ID]);

/** A folder that belonged to one table only: no later one gets its name (org.apache.hadoop.hive.common.AcidConstants). */
export const isSoftDeleteFolder = (location: string): boolean => /[^/]\.v\d{7,}\/*$/.test(location);

export function validateCleanup({ database, table, partition, location, txnId }: SubmitForCleanupRequest): void {
  if (database === '' || table === '') throw new InvalidRequestError('a cleanup needs a database and a table');
  if (txnId <= 0n) throw new InvalidRequestError('a cleanup needs the transaction that drops');
  if (location === '') throw new InvalidRequestError('a cleanup needs the folder that goes');
  if (partition === undefined && !isSoftDeleteFolder(location)) {
    throw new InvalidRequestError(
      `${location} may be the folder of another table one day: only folders whose names end in .v and digits are left to the Cleaner as a whole`,
    );
  }
}

/** Answers the id of the request that is there already; undefined: none. */
export async function findCleanup(tx: Tx, request: SubmitForCleanupRequest): Promise<bigint | undefined> {
  const rows = await tx.all<CompactionRow>(
    `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_TXN_ID = ? AND CQ_STATE = 'r' AND ${IS_CLEANUP}`,
    [request.txnId],
  );
  return rows.map(compactionOf).find((row) => locationOf(row) === request.location)?.id;
}

export function cleanupRow(request: SubmitForCleanupRequest, id: bigint, nowMs: bigint) {
  const { location, purge, droppedId, spare, database, table, ...shared } = request;
  const dropped = {
    ...(droppedId === 0n ? {} : { [DROPPED_ID]: String(droppedId) }),
    ...(spare ? { [SPARE]: 'true' } : {}),
  };
  const compaction = Compaction.fromPartial({
    ...shared,
    id,
    database: database.toLowerCase(),
    table: table.toLowerCase(),
    type: CompactionType.COMPACTION_TYPE_MAJOR,
    state: CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
    enqueueTimeMs: nowMs,
    nextTxnId: UNSETTLED,
    properties: { ifPurge: String(purge), location, ...dropped },
  });
  return sharedValues(compaction, 'CQ');
}

/** Answers how many there were. */
export async function settleCleanups(tx: Tx, request: SettleCleanupsRequest): Promise<number> {
  const { txnId, nextTxnId, commitTimeMs } = request;
  if (txnId <= 0n || nextTxnId < txnId) {
    throw new InvalidRequestError(`what txnid:${txnId} dropped cannot wait for transactions up to ${nextTxnId} only`);
  }
  const params: SqlValue[] = [nextTxnId, commitTimeMs, txnId, UNSETTLED];
  const { changes } = await tx.run(
    `UPDATE COMPACTION_QUEUE SET CQ_NEXT_TXN_ID = ?, CQ_COMMIT_TIME = ?
      WHERE CQ_TXN_ID = ? AND CQ_STATE = 'r' AND CQ_NEXT_TXN_ID = ? AND ${IS_CLEANUP}`,
    params,
  );
  return Number(changes);
}

export async function unsettledCleanups(tx: Tx): Promise<Compaction[]> {
  const rows = await tx.all<CompactionRow>(
    `SELECT ${queueColumns} FROM COMPACTION_QUEUE WHERE CQ_STATE = 'r' AND CQ_NEXT_TXN_ID = ? AND ${IS_CLEANUP} ORDER BY CQ_ID`,
    [UNSETTLED],
  );
  return rows.map(compactionOf);
}
