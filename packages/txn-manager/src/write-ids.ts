import { chunked, idList, type Tx } from '@skep/metadb';
import { type AllocateTableWriteIdsRequest, InvalidRequestError, type TxnToWriteId, TxnType } from '@skep/rpc';
import { COMPACT } from './components.js';
import { assertOpen, txnRows } from './txn-state.js';

function tableOf(database: string, table: string): [string, string] {
  if (database === '' || table === '') throw new InvalidRequestError('a table is named by database and table');
  return [database.toLowerCase(), table.toLowerCase()];
}

/**
 * AllocateTableWriteIdsFunction: ascending by transaction, contiguous, from 1. A transaction that has one keeps it, unless
 * it asks for a new one.
 */
export async function allocateWriteIds(tx: Tx, request: AllocateTableWriteIdsRequest): Promise<TxnToWriteId[]> {
  const at = tableOf(request.database, request.table);
  const txnIds = [...new Set(request.txnIds)].sort((a, b) => (a < b ? -1 : 1));
  if (txnIds.length === 0) throw new InvalidRequestError('no transaction given to allocate write ids for');
  const rows = await txnRows(tx, txnIds, true);
  for (const txnId of txnIds) {
    if (assertOpen(txnId, rows.get(txnId)).type === TxnType.TXN_TYPE_READ_ONLY) {
      throw new InvalidRequestError(`txnid:${txnId} is read-only and cannot write to ${at.join('.')}`);
    }
  }
  const given = request.reallocate ? new Map<bigint, bigint>() : await allocated(tx, at, txnIds);
  if (request.reallocate) await forgetMapping(tx, at, txnIds);
  const missing = txnIds.filter((txnId) => !given.has(txnId));
  if (missing.length > 0) {
    let writeId = await reserve(tx, at, BigInt(missing.length));
    for (const txnId of missing) {
      await insertMapping(tx, at, txnId, writeId);
      given.set(txnId, writeId);
      writeId++;
    }
  }
  return txnIds.map((txnId) => ({ txnId, writeId: given.get(txnId) ?? 0n }));
}

async function allocated(tx: Tx, at: readonly string[], txnIds: readonly bigint[]): Promise<Map<bigint, bigint>> {
  const found = new Map<bigint, bigint>();
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    const rows = await tx.all<{ T2W_TXNID: bigint; T2W_WRITEID: bigint }>(
      `SELECT T2W_TXNID, T2W_WRITEID FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ?
        AND T2W_TXNID IN ${ids.sql}`,
      [...at, ...ids.params],
    );
    for (const row of rows) found.set(row.T2W_TXNID, row.T2W_WRITEID);
  }
  return found;
}

async function forgetMapping(tx: Tx, at: readonly string[], txnIds: readonly bigint[]): Promise<void> {
  for (const chunk of chunked(txnIds)) {
    const ids = idList(chunk);
    await tx.run(`DELETE FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_TXNID IN ${ids.sql}`, [
      ...at,
      ...ids.params,
    ]);
  }
}

/** Takes `count` ids from the table's sequence and answers the first. */
async function reserve(tx: Tx, at: readonly string[], count: bigint): Promise<bigint> {
  const row = await tx.get<{ NWI_NEXT: bigint }>(
    `SELECT NWI_NEXT FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?${tx.dialect.forUpdate}`,
    at,
  );
  const first = row?.NWI_NEXT ?? 1n;
  await setNext(tx, at, first + count, row === undefined);
  return first;
}

async function setNext(tx: Tx, at: readonly string[], next: bigint, isNew: boolean): Promise<void> {
  if (isNew)
    await tx.run('INSERT INTO NEXT_WRITE_ID (NWI_DATABASE, NWI_TABLE, NWI_NEXT) VALUES (?, ?, ?)', [...at, next]);
  else await tx.run('UPDATE NEXT_WRITE_ID SET NWI_NEXT = ? WHERE NWI_DATABASE = ? AND NWI_TABLE = ?', [next, ...at]);
}

async function insertMapping(tx: Tx, at: readonly string[], txnId: bigint, writeId: bigint): Promise<void> {
  await tx.run('INSERT INTO TXN_TO_WRITE_ID (T2W_TXNID, T2W_DATABASE, T2W_TABLE, T2W_WRITEID) VALUES (?, ?, ?, ?)', [
    txnId,
    ...at,
    writeId,
  ]);
  // Components recorded before, without an id or with the one just given up, are about this write now.
  await tx.run(
    `UPDATE TXN_COMPONENTS SET TC_WRITEID = ? WHERE TC_TXNID = ? AND TC_DATABASE = ? AND TC_TABLE = ?
      AND TC_OPERATION_TYPE <> '${COMPACT}'`,
    [writeId, txnId, ...at],
  );
}

/** TxnHandler.seedWriteId: write ids go on above what was there before; they never go back. */
export async function seedWriteId(tx: Tx, database: string, table: string, seed: bigint): Promise<void> {
  const at = tableOf(database, table);
  if (seed < 0n) throw new InvalidRequestError(`${seed} is no write id`);
  const row = await tx.get<{ NWI_NEXT: bigint }>(
    `SELECT NWI_NEXT FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?${tx.dialect.forUpdate}`,
    at,
  );
  if (row === undefined || row.NWI_NEXT <= seed) await setNext(tx, at, seed + 1n, row === undefined);
}
