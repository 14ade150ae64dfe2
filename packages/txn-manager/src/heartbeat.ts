import { chunked, idList, type Tx } from '@skep/metadb';
import type { HeartbeatTxnsResponse } from '@skep/rpc';
import { ABORTED, OPEN } from './context.js';
import { txnRows } from './txn-state.js';

/** HeartbeatTxnRangeFunction: only open ones live on; the others are told apart. */
export async function heartbeat(tx: Tx, txnIds: readonly bigint[]): Promise<HeartbeatTxnsResponse> {
  const now = await tx.now();
  const missed: bigint[] = [];
  for (const chunk of chunked([...new Set(txnIds)])) {
    const ids = idList(chunk);
    const { changes } = await tx.run(
      `UPDATE TXNS SET TXN_LAST_HEARTBEAT = ? WHERE TXN_STATE = '${OPEN}' AND TXN_ID IN ${ids.sql}`,
      [now, ...ids.params],
    );
    if (changes === chunk.length) continue;
    const rows = await txnRows(tx, chunk);
    missed.push(...chunk.filter((id) => rows.get(id)?.state !== OPEN));
  }
  const rows = await txnRows(tx, missed);
  const isAborted = (id: bigint) => rows.get(id)?.state === ABORTED;
  return {
    abortedTxnIds: missed.filter(isAborted),
    noSuchTxnIds: missed.filter((id) => !isAborted(id)),
  };
}
