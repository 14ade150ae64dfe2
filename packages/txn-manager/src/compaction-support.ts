import { ValidTxnList } from '@skep/core';
import { chunked, idList, type SqlValue, type Tx } from '@skep/metadb';
import type {
  CompactionCandidate,
  FindCompactionCandidatesRequest,
  GetCleanerWatermarkResponse,
  MarkCleanedRequest,
  Resource,
  TxnInfo,
} from '@skep/rpc';
import { InvalidRequestError } from '@skep/rpc';
import { COMPACT } from './components.js';
import type { TxnConf } from './conf.js';
import { ABORTED, lowWatermark, minOf, minOpenTxnId, OPEN } from './context.js';
import { mayRead, minNeededBy } from './min-history.js';
import { selectOpenTxns, toValidTxnList } from './open-txn-list.js';
import { infoOf } from './show-txns.js';

interface RawResource {
  DB: string;
  TBL: string;
  PART: string | null;
}

interface RawAborts extends RawResource {
  N: bigint;
  OLDEST_MS: bigint;
  HIGHEST: bigint | null;
}

function resourceKey({ DB, TBL, PART }: RawResource): string {
  return JSON.stringify([DB, TBL, PART]);
}

/** CompactionCandidateHandler and ReadyToCleanAbortHandler in one: what was written, and where aborts pile up. */
export async function findCandidates(
  tx: Tx,
  conf: TxnConf,
  request: FindCompactionCandidatesRequest,
): Promise<CompactionCandidate[]> {
  const found = new Map<string, CompactionCandidate>();
  for (const row of await writtenSince(tx, conf, request.sinceMs)) found.set(resourceKey(row), candidate(row));
  const minOpen = await minOpenWriters(tx);
  const now = await tx.now();
  for (const row of await abortedResources(tx)) {
    const tooManyAborts = row.N > BigInt(request.abortedThreshold);
    const age = request.abortedTimeThresholdMs;
    const hasOldAbort = age >= 0n && row.OLDEST_MS + age < now;
    if (!tooManyAborts && !hasOldAbort) continue;
    const key = resourceKey(row);
    found.set(key, {
      ...candidate(row),
      tooManyAborts,
      hasOldAbort,
      minOpenWriteTxnId: minOpen.get(key),
      highestAbortedWriteId: row.HIGHEST ?? undefined,
    });
  }
  return [...found.values()];
}

/**
 * All of them, a page at a time. Hive takes the first page only, so that the same resources are looked at every time
 * while others starve (HIVE-30026).
 */
async function writtenSince(tx: Tx, conf: TxnConf, sinceMs: bigint): Promise<RawResource[]> {
  const found: RawResource[] = [];
  for (;;) {
    const page = await tx.all<RawResource>(
      `SELECT DISTINCT CTC_DATABASE AS DB, CTC_TABLE AS TBL, CTC_PARTITION AS PART FROM COMPLETED_TXN_COMPONENTS
        WHERE CTC_TIMESTAMP >= ? ORDER BY CTC_DATABASE, CTC_TABLE, CTC_PARTITION LIMIT ? OFFSET ?`,
      [tx.dialect.timestamp(sinceMs), conf.candidateLimit, found.length],
    );
    for (const row of page) found.push(row);
    if (page.length < conf.candidateLimit) return found;
  }
}

function candidate({ DB, TBL, PART }: RawResource): CompactionCandidate {
  return {
    resource: { database: DB, table: TBL, partition: PART ?? undefined },
    hasOldAbort: false,
    tooManyAborts: false,
  };
}

/**
 * Resources with writes of aborted transactions. What a dead compaction left does not count (`N`), but it is to be cleaned
 * up one day even where nothing else was aborted.
 */
function abortedResources(tx: Tx): Promise<RawAborts[]> {
  return tx.all<RawAborts>(
    `SELECT TC_DATABASE AS DB, TC_TABLE AS TBL, TC_PARTITION AS PART,
        COUNT(CASE WHEN TC_OPERATION_TYPE <> '${COMPACT}' THEN 1 END) AS N, MIN(TXN_STARTED) AS OLDEST_MS,
        MAX(CASE WHEN TC_OPERATION_TYPE <> '${COMPACT}' THEN TC_WRITEID END) AS HIGHEST
      FROM TXNS INNER JOIN TXN_COMPONENTS ON TC_TXNID = TXN_ID
      WHERE TXN_STATE = '${ABORTED}'
      GROUP BY TC_DATABASE, TC_TABLE, TC_PARTITION`,
  );
}

/** The smallest open transaction that writes to a resource. */
async function minOpenWriters(tx: Tx): Promise<Map<string, bigint>> {
  const rows = await tx.all<RawResource & { ID: bigint }>(
    `SELECT TC_DATABASE AS DB, TC_TABLE AS TBL, TC_PARTITION AS PART, MIN(TC_TXNID) AS ID
      FROM TXNS INNER JOIN TXN_COMPONENTS ON TC_TXNID = TXN_ID WHERE TXN_STATE = '${OPEN}'
      GROUP BY TC_DATABASE, TC_TABLE, TC_PARTITION`,
  );
  return new Map(rows.map((row) => [resourceKey(row), row.ID]));
}

/** Below the watermark no snapshot is open any more (TxnHandler.findMinOpenTxnIdForCleaner). */
export async function cleanerWatermark(
  tx: Tx,
  conf: TxnConf,
  resource?: Resource,
): Promise<GetCleanerWatermarkResponse> {
  if (resource !== undefined && conf.useMinHistoryWriteId) return await watermarkOf(tx, conf, resource);
  const needed = await tx.get<{ ID: bigint | null }>('SELECT MIN(MHL_MIN_OPEN_TXNID) AS ID FROM MIN_HISTORY_LEVEL');
  const above = (await lowWatermark(tx, conf)) + 1n;
  const minOpenId = minOf(await minOpenTxnId(tx), needed?.ID ?? undefined, above) ?? above;
  const list = toValidTxnList(await selectOpenTxns(tx, conf), undefined);
  const validTxns = ValidTxnList.forCleaner(list, minOpenId).toString();
  return { minOpenTxnId: minOpenId, validTxns, heldBy: await holderOf(tx, minOpenId) };
}

/** The watermark for one table: transactions that are known not to read it do not count, but are still open. */
async function watermarkOf(tx: Tx, conf: TxnConf, resource: Resource): Promise<GetCleanerWatermarkResponse> {
  const readers = await mayRead(tx, resource);
  const above = (await lowWatermark(tx, conf)) + 1n;
  const minOpenId = minOf(readers[0], await minNeededBy(tx, readers), above) ?? above;
  const list = toValidTxnList(await selectOpenTxns(tx, conf), undefined);
  const validTxns = ValidTxnList.forCleaner(list, minOpenId, true).toString();
  return { minOpenTxnId: minOpenId, validTxns, heldBy: await holderOf(tx, minOpenId, readers) };
}

/** Who holds the watermark: the first open transaction that may need what is not below it. */
async function holderOf(tx: Tx, minOpenId: bigint, among?: readonly bigint[]): Promise<TxnInfo | undefined> {
  const ids = await tx.column<bigint>(
    `SELECT TXN_ID FROM TXNS LEFT JOIN MIN_HISTORY_LEVEL ON MHL_TXNID = TXN_ID WHERE TXN_STATE = '${OPEN}'
      AND (TXN_ID = ? OR MHL_MIN_OPEN_TXNID <= ?) ORDER BY TXN_ID`,
    [minOpenId, minOpenId],
  );
  const first = ids.find((id) => among?.includes(id) ?? true);
  return first === undefined ? undefined : await infoOf(tx, first);
}

/**
 * MarkCleanedFunction, the part about transactions: what is forgotten has no files any more. The record of a compaction
 * (`c`) says that its folders `_vT` are nobody's: it goes by `compactionTxnId` alone, never by write ids.
 */
export async function markCleaned(tx: Tx, request: MarkCleanedRequest): Promise<void> {
  const { resource } = request;
  if (resource === undefined) throw new InvalidRequestError('no resource given that was cleaned');
  const at: SqlValue[] = [resource.database.toLowerCase(), resource.table.toLowerCase(), resource.partition];
  const isAt = (prefix: string) =>
    `${prefix}_DATABASE = ? AND ${prefix}_TABLE = ? AND ${tx.dialect.nullSafeEquals(`${prefix}_PARTITION`, '?')}`;
  if (request.highestWriteId > 0n) {
    await tx.run(`DELETE FROM COMPLETED_TXN_COMPONENTS WHERE ${isAt('CTC')} AND CTC_WRITEID <= ?`, [
      ...at,
      request.highestWriteId,
    ]);
  }
  const ofAborted = `DELETE FROM TXN_COMPONENTS WHERE ${isAt('TC')}
    AND TC_TXNID IN (SELECT TXN_ID FROM TXNS WHERE TXN_STATE = '${ABORTED}')`;
  const ofWriters = `${ofAborted} AND TC_OPERATION_TYPE <> '${COMPACT}'`;
  if (request.allAbortedBelow) await tx.run(`${ofWriters} AND TC_WRITEID <= ?`, [...at, request.highestWriteId]);
  for (const chunk of chunked(request.abortedWriteIds)) {
    const ids = idList(chunk);
    await tx.run(`${ofWriters} AND TC_WRITEID IN ${ids.sql}`, [...at, ...ids.params]);
  }
  if (request.compactionTxnId !== undefined) {
    // Aborted compactions up to this one: the caller has seen that none of their folders is left. So have those that only
    // locked the table without a write id (rebalancing): nothing but a `_vT` folder can be theirs.
    await tx.run(
      `${ofAborted} AND TC_TXNID <= ? AND (TC_OPERATION_TYPE = '${COMPACT}' OR TC_WRITEID IS NULL AND NOT EXISTS (
        SELECT 1 FROM TXN_TO_WRITE_ID WHERE T2W_TXNID = TC_TXNID AND T2W_DATABASE = TC_DATABASE AND T2W_TABLE = TC_TABLE))`,
      [...at, request.compactionTxnId],
    );
  }
}
