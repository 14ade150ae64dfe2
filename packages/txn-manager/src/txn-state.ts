import { chunked, idList, type Tx } from '@skep/metadb';
import { NoSuchTxnError, TxnAbortedError, TxnState, type TxnType } from '@skep/rpc';
import { ABORTED, COMMITTED, OPEN } from './context.js';

export interface TxnRow {
  readonly txnId: bigint;
  readonly state: string;
  readonly type: TxnType;
}

/** The rows of transactions that are known, by id. */
export async function txnRows(tx: Tx, txnIds: readonly bigint[], forUpdate = false): Promise<Map<bigint, TxnRow>> {
  const found = new Map<bigint, TxnRow>();
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    const rows = await tx.all<{ TXN_ID: bigint; TXN_STATE: string; TXN_TYPE: bigint | null }>(
      `SELECT TXN_ID, TXN_STATE, TXN_TYPE FROM TXNS WHERE TXN_ID IN ${ids.sql}${forUpdate ? tx.dialect.forUpdate : ''}`,
      ids.params,
    );
    for (const row of rows) {
      // Hive's seed row and rows of older versions have no type.
      const type = Number(row.TXN_TYPE ?? 0n) as TxnType;
      found.set(row.TXN_ID, { txnId: row.TXN_ID, state: row.TXN_STATE, type });
    }
  }
  return found;
}

/** The row of a transaction that must be open. */
export async function requireOpen(tx: Tx, txnId: bigint, forUpdate = false): Promise<TxnRow> {
  const row = (await txnRows(tx, [txnId], forUpdate)).get(txnId);
  return assertOpen(txnId, row);
}

/** EnsureValidTxnFunction. */
export function assertOpen(txnId: bigint, row: TxnRow | undefined): TxnRow {
  if (row === undefined) throw new NoSuchTxnError(txnId);
  if (row.state === ABORTED) throw new TxnAbortedError(txnId);
  if (row.state === COMMITTED) throw new NoSuchTxnError(txnId, `Transaction txnid:${txnId} is already committed`);
  return row;
}

export function toTxnState(state: string | undefined): TxnState {
  switch (state) {
    case OPEN:
      return TxnState.TXN_STATE_OPEN;
    case ABORTED:
      return TxnState.TXN_STATE_ABORTED;
    case COMMITTED:
      return TxnState.TXN_STATE_COMMITTED;
    default:
      return TxnState.TXN_STATE_UNSPECIFIED;
  }
}
