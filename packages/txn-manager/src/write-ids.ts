import { chunked, idList, insertStatements, type Row, type Statement, type Tx } from '@skep/metadb';
import { type AllocateTableWriteIdsRequest, InvalidRequestError, type TxnToWriteId, TxnType } from '@skep/rpc';
import { COMPACT } from './components.js';
import { assertOpen, toTxnRows, txnRowQueries } from './txn-state.js';

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
  const chunks = chunked(txnIds);
  const answers = await tx.allOf([
    ...txnRowQueries(tx, txnIds, true),
    ...chunks.map((chunk) => mappingQuery(at, chunk)),
    // Held until commit, so that ids appear in their order.
    sequenceQuery(tx, at),
  ]);
  const rows = toTxnRows(answers.slice(0, chunks.length));
  for (const txnId of txnIds) {
    if (assertOpen(txnId, rows.get(txnId)).type === TxnType.TXN_TYPE_READ_ONLY) {
      throw new InvalidRequestError(`txnid:${txnId} is read-only and cannot write to ${at.join('.')}`);
    }
  }
  const given = request.reallocate ? new Map<bigint, bigint>() : toMapping(answers.slice(chunks.length, -1).flat());
  const missing = txnIds.filter((txnId) => !given.has(txnId));
  if (missing.length > 0) {
    const next = answers.at(-1)?.[0]?.NWI_NEXT as bigint | undefined;
    const first = next ?? 1n;
    for (const [i, txnId] of missing.entries()) given.set(txnId, first + BigInt(i));
    await tx.runLast([
      ...(request.reallocate ? chunks.map((chunk) => forgetMapping(at, chunk)) : []),
      setNext(at, first + BigInt(missing.length), next === undefined),
      ...insertStatements(
        'TXN_TO_WRITE_ID',
        ['T2W_TXNID', 'T2W_DATABASE', 'T2W_TABLE', 'T2W_WRITEID'],
        missing.map((txnId) => [txnId, ...at, given.get(txnId)]),
      ),
      ...missing.map((txnId) => setComponents(at, txnId, given.get(txnId))),
    ]);
  }
  return txnIds.map((txnId) => ({ txnId, writeId: given.get(txnId) ?? 0n }));
}

function mappingQuery(at: readonly string[], txnIds: readonly bigint[]): Statement {
  const ids = idList(txnIds);
  return [
    `SELECT T2W_TXNID, T2W_WRITEID FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ?
      AND T2W_TXNID IN ${ids.sql}`,
    [...at, ...ids.params],
  ];
}

function toMapping(rows: readonly Row[]): Map<bigint, bigint> {
  return new Map(rows.map((row) => [row.T2W_TXNID as bigint, row.T2W_WRITEID as bigint]));
}

function forgetMapping(at: readonly string[], txnIds: readonly bigint[]): Statement {
  const ids = idList(txnIds);
  return [
    `DELETE FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_TXNID IN ${ids.sql}`,
    [...at, ...ids.params],
  ];
}

function sequenceQuery(tx: Tx, at: readonly string[]): Statement {
  return [`SELECT NWI_NEXT FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?${tx.dialect.forUpdate}`, at];
}

/** Another process that adds the row at the same time makes the transaction run again, which then finds it. */
function setNext(at: readonly string[], next: bigint, isNew: boolean): Statement {
  return isNew
    ? ['INSERT INTO NEXT_WRITE_ID (NWI_DATABASE, NWI_TABLE, NWI_NEXT) VALUES (?, ?, ?)', [...at, next]]
    : ['UPDATE NEXT_WRITE_ID SET NWI_NEXT = ? WHERE NWI_DATABASE = ? AND NWI_TABLE = ?', [next, ...at]];
}

/** Components recorded before, without an id or with the one just given up, are about this write now. */
function setComponents(at: readonly string[], txnId: bigint, writeId: bigint | undefined): Statement {
  return [
    `UPDATE TXN_COMPONENTS SET TC_WRITEID = ? WHERE TC_TXNID = ? AND TC_DATABASE = ? AND TC_TABLE = ?
      AND TC_OPERATION_TYPE <> '${COMPACT}'`,
    [writeId, txnId, ...at],
  ];
}

/** TxnHandler.seedWriteId: write ids go on above what was there before; they never go back. */
export async function seedWriteId(tx: Tx, database: string, table: string, seed: bigint): Promise<void> {
  const at = tableOf(database, table);
  if (seed < 0n) throw new InvalidRequestError(`${seed} is no write id`);
  const row = await tx.get<{ NWI_NEXT: bigint }>(...sequenceQuery(tx, at));
  if (row === undefined || row.NWI_NEXT <= seed) await tx.runAll([setNext(at, seed + 1n, row === undefined)]);
}
