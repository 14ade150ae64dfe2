import { chunked, idList, type Tx } from '@skep/metadb';
import { abortText } from './abort-reason.js';
import { ABORTED, OPEN } from './context.js';
import { txnRows } from './txn-state.js';

/**
 * AbortTxnsFunction: the open ones of these become aborted. TXN_COMPONENTS stay, because they say which files are nobody's
 * until these are gone. The caller releases the locks after its transaction.
 * `details`, who did it or what it lost to, follow Hive's label of the reason, with the time.
 */
export async function abortInTx(
  tx: Tx,
  txnIds: readonly bigint[],
  reasonCode: number,
  details = '',
): Promise<bigint[]> {
  const rows = await txnRows(tx, [...new Set(txnIds)], true);
  const open = [...rows.values()].filter((row) => row.state === OPEN).map((row) => row.txnId);
  const label = abortText(reasonCode, details, await tx.now());
  for (const chunk of chunked(open)) {
    const ids = idList(chunk);
    await tx.runAll([
      [`DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN ${ids.sql}`, ids.params],
      [`DELETE FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID IN ${ids.sql}`, ids.params],
      [`DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID IN ${ids.sql}`, ids.params],
      [
        `UPDATE TXNS SET TXN_STATE = '${ABORTED}', TXN_META_INFO = ? WHERE TXN_ID IN ${ids.sql}`,
        [label, ...ids.params],
      ],
    ]);
  }
  return open.sort((a, b) => (a < b ? -1 : 1));
}
