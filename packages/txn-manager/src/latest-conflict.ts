import type { Tx } from '@skep/metadb';

/**
 * LatestTxnIdInConflictHandler: the highest transaction that committed an update or delete, since this one was opened, of
 * what this one is about to update or delete. A table-wide component meets every partition.
 */
export async function selectLatestConflict(tx: Tx, txnId: bigint): Promise<bigint | undefined> {
  const row = await tx.get<{ ID: bigint | null }>(
    `SELECT MAX(WS_TXNID) AS ID FROM WRITE_SET INNER JOIN TXN_COMPONENTS
        ON TC_DATABASE = WS_DATABASE AND TC_TABLE = WS_TABLE AND (TC_PARTITION IS NULL OR TC_PARTITION = WS_PARTITION)
      WHERE TC_TXNID = ? AND WS_TXNID <> ? AND WS_COMMIT_ID >= ?
        AND TC_OPERATION_TYPE IN ('u', 'd') AND WS_OPERATION_TYPE IN ('u', 'd')`,
    [txnId, txnId, txnId],
  );
  return row?.ID ?? undefined;
}
