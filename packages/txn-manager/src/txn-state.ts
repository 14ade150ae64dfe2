import { chunked, idList, type Lookup, type Row, type Statement, type Tx } from '@skep/metadb';
import { NoSuchTxnError, TxnAbortedError, TxnState, type TxnType } from '@skep/rpc';
import { ABORTED, COMMITTED, OPEN } from './context.js';
import { selectForgotten } from './forgotten.js';

export interface TxnRow {
  readonly txnId: bigint;
  readonly state: string;
  readonly type: TxnType;
  /** Why it was aborted. */
  readonly metaInfo: string;
}

interface RawTxnRow {
  readonly TXN_ID: bigint;
  readonly TXN_STATE: string;
  readonly TXN_TYPE: bigint | null;
  readonly TXN_META_INFO: string | null;
}

/** Ascending, each once: rows are locked in this order. */
export function distinctIds(ids: readonly bigint[]): bigint[] {
  return [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1));
}

/** What selects the rows of transactions, to be held until commit where they are to change. */
export function txnRowQueries(tx: Tx, txnIds: readonly bigint[], forUpdate: boolean): Statement[] {
  return chunked(txnIds).map((chunk) => {
    const ids = idList(chunk);
    const columns = 'SELECT TXN_ID, TXN_STATE, TXN_TYPE, TXN_META_INFO FROM TXNS';
    if (!forUpdate) return [`${columns} WHERE TXN_ID IN ${ids.sql}`, ids.params];
    const by = tx.dialect.useIndex('PRIMARY');
    return [`${columns}${by} WHERE TXN_ID IN ${ids.sql}${tx.dialect.forUpdate}`, ids.params];
  });
}

/** The rows of transactions that are to change: held until commit. */
export const HELD_TXNS: Lookup<bigint> = { queries: (tx, txnIds) => txnRowQueries(tx, distinctIds(txnIds), true) };

/** The rows of transactions that are known, by id; of aborted ones also after they have gone from TXNS. */
export async function txnRows(tx: Tx, txnIds: readonly bigint[], forUpdate = false): Promise<Map<bigint, TxnRow>> {
  const found = toTxnRows(await tx.allOf(txnRowQueries(tx, txnIds, forUpdate)));
  const missing = txnIds.filter((id) => !found.has(id));
  if (missing.length === 0) return found;
  for (const [id, row] of toTxnRows([await selectForgotten<Row>(tx, missing)])) found.set(id, row);
  return found;
}

/** From the answers to `txnRowQueries`. */
export function toTxnRows(answers: readonly Row[][]): Map<bigint, TxnRow> {
  const found = new Map<bigint, TxnRow>();
  for (const rows of answers) {
    for (const row of rows as unknown as RawTxnRow[]) {
      // Hive's seed row and rows of older versions have no type.
      const type = Number(row.TXN_TYPE ?? 0n) as TxnType;
      const metaInfo = row.TXN_META_INFO ?? '';
      found.set(row.TXN_ID, { txnId: row.TXN_ID, state: row.TXN_STATE, type, metaInfo });
    }
  }
  return found;
}

/** The row of a transaction that must be open. */
export async function requireOpen(tx: Tx, txnId: bigint, forUpdate = false): Promise<TxnRow> {
  const row = (await txnRows(tx, [txnId], forUpdate)).get(txnId);
  return assertOpen(txnId, row);
}

/** What became of a transaction that has no row in TXNS: aborted, as far as it is remembered. */
export async function forgottenError(tx: Tx, txnId: bigint): Promise<TxnAbortedError | undefined> {
  const row = toTxnRows([await selectForgotten<Row>(tx, [txnId])]).get(txnId);
  return row && new TxnAbortedError(txnId, abortedText(row));
}

/** EnsureValidTxnFunction. */
export function assertOpen(txnId: bigint, row: TxnRow | undefined): TxnRow {
  if (row === undefined) throw new NoSuchTxnError(txnId);
  if (row.state === ABORTED) throw new TxnAbortedError(txnId, abortedText(row));
  if (row.state === COMMITTED) throw new NoSuchTxnError(txnId, `Transaction txnid:${txnId} is already committed`);
  return row;
}

/** Hive's text, and why. */
function abortedText({ txnId, metaInfo }: TxnRow): string {
  return `Transaction txnid:${txnId} already aborted${metaInfo === '' ? '' : ` (${metaInfo})`}`;
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
