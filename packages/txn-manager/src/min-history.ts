import { chunked, idList, insertStatements, type Tx } from '@skep/metadb';
import { type AddMinHistoryWriteIdsRequest, InvalidRequestError, type Resource } from '@skep/rpc';
import { OPEN } from './context.js';
import { requireOpen } from './txn-state.js';

/**
 * TxnHandler.addWriteIdsToMinHistory: what a transaction reads, and from which write id on. One that is recorded here reads
 * nothing else; of one that is not, nobody knows.
 */
export async function addMinHistoryWriteIds(tx: Tx, request: AddMinHistoryWriteIdsRequest): Promise<void> {
  const { txnId, tables } = request;
  if (tables.length === 0) throw new InvalidRequestError('no table given that the transaction reads');
  await requireOpen(tx, txnId, true);
  const known = await tx.all<{ DB: string; TBL: string }>(
    'SELECT MH_DATABASE AS DB, MH_TABLE AS TBL FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID = ?',
    [txnId],
  );
  const names = new Set(known.map(({ DB, TBL }) => `${DB}.${TBL}`));
  const rows = tables
    .map(({ database, table, writeId }) => [txnId, database.toLowerCase(), table.toLowerCase(), writeId] as const)
    .filter(([, database, table]) => !names.has(`${database}.${table}`));
  await tx.runAll(
    insertStatements('MIN_HISTORY_WRITE_ID', ['MH_TXNID', 'MH_DATABASE', 'MH_TABLE', 'MH_WRITEID'], rows),
  );
}

/** The open transactions that may read a table: those that named it, and those that named none. */
export async function mayRead(tx: Tx, { database, table }: Resource): Promise<bigint[]> {
  return await tx.column<bigint>(
    `SELECT TXN_ID FROM TXNS WHERE TXN_STATE = '${OPEN}' AND (
        NOT EXISTS (SELECT 1 FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID = TXN_ID)
        OR EXISTS (SELECT 1 FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID = TXN_ID AND MH_DATABASE = ? AND MH_TABLE = ?))
      ORDER BY TXN_ID`,
    [database.toLowerCase(), table.toLowerCase()],
  );
}

/** The smallest id that any of these open transactions may need the history of. */
export async function minNeededBy(tx: Tx, txnIds: readonly bigint[]): Promise<bigint | undefined> {
  let least: bigint | undefined;
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    const row = await tx.get<{ ID: bigint | null }>(
      `SELECT MIN(MHL_MIN_OPEN_TXNID) AS ID FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN ${ids.sql}`,
      ids.params,
    );
    const id = row?.ID ?? undefined;
    if (id !== undefined && (least === undefined || id < least)) least = id;
  }
  return least;
}
