import { ValidTxnList } from '@skep/core';
import type { Tx } from '@skep/metadb';
import type { GetLatestConflictingCommitRequest, Resource } from '@skep/rpc';

/** A commit that a transaction's snapshot is too old for. */
export interface ConflictingCommit {
  readonly txnId: bigint;
  readonly resource: Resource;
}

interface Row {
  ID: bigint;
  DB: string;
  TBL: string;
  PART: string | null;
}

/**
 * LatestTxnIdInConflictHandler: the highest transaction that committed an update or delete, since this one was opened, of
 * what this one is about to update or delete. A table-wide component meets every partition. With a snapshot only what that
 * does not see counts, and of what is to be overwritten any write.
 */
export async function selectLatestConflict(
  tx: Tx,
  { txnId, validTxns, overwritten }: GetLatestConflictingCommitRequest,
): Promise<ConflictingCommit | undefined> {
  // A snapshot may be older than the transaction: of rows that were read before it was opened.
  const sinceTxnId = validTxns === undefined ? txnId : 0n;
  const rows = await tx.all<Row>(
    `SELECT DISTINCT WS_TXNID AS ID, WS_DATABASE AS DB, WS_TABLE AS TBL, WS_PARTITION AS PART
      FROM WRITE_SET INNER JOIN TXN_COMPONENTS
        ON TC_DATABASE = WS_DATABASE AND TC_TABLE = WS_TABLE AND (TC_PARTITION IS NULL OR TC_PARTITION = WS_PARTITION)
      WHERE TC_TXNID = ? AND WS_TXNID <> ? AND WS_COMMIT_ID >= ?
        AND TC_OPERATION_TYPE IN ('u', 'd') AND WS_OPERATION_TYPE IN ('u', 'd')`,
    [txnId, txnId, sinceTxnId],
  );
  for (const resource of overwritten) rows.push(...(await writesOf(tx, resource)));
  const seen = validTxns === undefined ? undefined : ValidTxnList.parse(validTxns);
  const latest = rows
    .filter((row) => row.ID !== txnId && !seen?.isTxnValid(row.ID))
    .reduce<Row | undefined>((high, row) => (high === undefined || row.ID > high.ID ? row : high), undefined);
  if (latest === undefined) return undefined;
  const { ID, DB: database, TBL: table, PART } = latest;
  return { txnId: ID, resource: { database, table, partition: PART ?? undefined } };
}

/** Committed writes of any kind to a table or partition. */
async function writesOf(tx: Tx, { database, table, partition }: Resource): Promise<Row[]> {
  const where = partition === undefined ? '' : ' AND CTC_PARTITION = ?';
  return await tx.all<Row>(
    `SELECT DISTINCT CTC_TXNID AS ID, CTC_DATABASE AS DB, CTC_TABLE AS TBL, CTC_PARTITION AS PART
      FROM COMPLETED_TXN_COMPONENTS WHERE CTC_DATABASE = ? AND CTC_TABLE = ?${where}`,
    [database.toLowerCase(), table.toLowerCase(), ...(partition === undefined ? [] : [partition])],
  );
}
