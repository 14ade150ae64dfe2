import { LONG_MAX, parseTableName, type TableName, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { idList, type Tx } from '@skep/metadb';
import type { GetValidWriteIdsRequest } from '@skep/rpc';
import type { TxnConf } from './conf.js';
import { selectValidTxns } from './open-txn-list.js';

/** What a snapshot finds of one table. */
export interface TableWriteIds {
  readonly tableName: string;
  /** Highest write id of a transaction within the snapshot, or the last ever given, or 0. */
  readonly highWatermark: bigint;
  /** Write ids up to it whose transaction is not valid, ascending. */
  readonly invalid: readonly { readonly writeId: bigint; readonly isAborted: boolean }[];
  /** Whether a write id up to it is known whose transaction is valid. */
  readonly hasValid: boolean;
}

/**
 * The list a reader gets (GetValidWriteIdsForTableFunction). Where no valid write id is known, those below the lowest
 * invalid one are compacted and their transactions forgotten: the list ends at that one.
 */
export function toValidWriteIdList({ tableName, highWatermark, invalid, hasValid }: TableWriteIds): ValidWriteIdList {
  const minOpenWriteId = invalid.find((entry) => !entry.isAborted)?.writeId ?? LONG_MAX;
  const isCut = !hasValid && invalid.length > 0;
  const exceptions = isCut ? invalid.slice(0, 1) : invalid;
  return ValidWriteIdList.of({
    tableName,
    highWatermark: isCut ? invalid[0].writeId : highWatermark,
    open: exceptions.filter((entry) => !entry.isAborted).map((entry) => entry.writeId),
    aborted: exceptions.filter((entry) => entry.isAborted).map((entry) => entry.writeId),
    minOpenWriteId,
  });
}

/** The lists of several tables by one snapshot of transactions. */
export async function selectValidWriteIds(
  tx: Tx,
  conf: TxnConf,
  request: GetValidWriteIdsRequest,
): Promise<ValidWriteIdList[]> {
  const own = request.ownTxnId;
  const txns =
    request.validTxns === undefined
      ? await selectValidTxns(tx, conf, own)
      : withOwn(ValidTxnList.parse(request.validTxns), own);
  const lists: ValidWriteIdList[] = [];
  for (const table of request.tables) {
    lists.push(toValidWriteIdList(await selectTableWriteIds(tx, parseTableName(table), txns, own)));
  }
  return lists;
}

/** The same snapshot, in which a transaction sees its own writes. */
function withOwn(txns: ValidTxnList, own: bigint | undefined): ValidTxnList {
  if (own === undefined || txns.isTxnValid(own)) return txns;
  const others = (id: bigint) => id !== own;
  return ValidTxnList.of(txns.highWatermark, {
    open: txns.openTxns.filter(others),
    aborted: txns.abortedTxns.filter(others),
  });
}

/** More exceptions than this are not sent to the database: the table's rows are judged here. */
const MAX_SENT = 512;

async function selectTableWriteIds(
  tx: Tx,
  name: TableName,
  txns: ValidTxnList,
  own: bigint | undefined,
): Promise<TableWriteIds> {
  const tableName = `${name.db}.${name.table}`;
  const at = [name.db, name.table];
  const highWatermark = await writeIdWatermark(tx, at, txns.highWatermark, own);
  const of = 'FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ? AND T2W_WRITEID <= ?';
  const isSent = txns.exceptions.length <= MAX_SENT;
  const exceptions = idList(isSent ? txns.exceptions : []);
  const rows = await tx.all<{ TXN: bigint; WRITE_ID: bigint }>(
    `SELECT T2W_TXNID AS TXN, T2W_WRITEID AS WRITE_ID ${of}
      ${isSent ? `AND (T2W_TXNID > ? OR T2W_TXNID IN ${exceptions.sql})` : ''} ORDER BY T2W_WRITEID`,
    isSent ? [...at, highWatermark, txns.highWatermark, ...exceptions.params] : [...at, highWatermark],
  );
  const invalid = rows
    .filter((row) => row.TXN !== own && !txns.isTxnValid(row.TXN))
    .map((row) => ({ writeId: row.WRITE_ID, isAborted: txns.isTxnAborted(row.TXN) }));
  const total = isSent ? await tx.get<{ N: bigint }>(`SELECT COUNT(*) AS N ${of}`, [...at, highWatermark]) : undefined;
  const known = total === undefined ? rows.length : Number(total.N);
  return { tableName, highWatermark, invalid, hasValid: known > invalid.length };
}

async function writeIdWatermark(
  tx: Tx,
  at: readonly string[],
  txnHighWatermark: bigint,
  own: bigint | undefined,
): Promise<bigint> {
  const highest = await tx.get<{ ID: bigint | null }>(
    `SELECT MAX(T2W_WRITEID) AS ID FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ?
      AND (T2W_TXNID <= ? OR T2W_TXNID = ?)`,
    [...at, txnHighWatermark, own ?? -1n],
  );
  if (highest?.ID) return highest.ID;
  const next = await tx.get<{ NWI_NEXT: bigint }>(
    'SELECT NWI_NEXT FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?',
    at,
  );
  return next === undefined ? 0n : next.NWI_NEXT - 1n;
}
