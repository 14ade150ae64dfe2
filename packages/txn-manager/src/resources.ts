import type { SqlValue, Tx } from '@skep/metadb';
import { type ForgetResourceRequest, InvalidRequestError, type RenameResourceRequest, type Resource } from '@skep/rpc';
import { OPEN } from './context.js';

/**
 * TxnHandler.cleanupRecords: a dropped database, table, or partitions. Where the Cleaner removes the files later, write ids stay
 * known, so that whoever still reads them learns which of them it sees; the next table of that name goes on above them. What other
 * open transactions are recorded to write stays, where Hive removes it: they wait for the one that drops, and would write to what has
 * been made again without a record, so that an abort would not be known of their files, and a conflict not be found.
 */
export async function forgetResource(tx: Tx, request: ForgetResourceRequest): Promise<void> {
  const { partitions, txnId } = request;
  const isNobodys =
    txnId === undefined
      ? ''
      : ` AND NOT (TC_TXNID <> ? AND TC_TXNID IN (SELECT TXN_ID FROM TXNS WHERE TXN_STATE = '${OPEN}'))`;
  const own = txnId === undefined ? [] : [txnId];
  if (request.database === '') throw new InvalidRequestError('no database given to forget');
  if (partitions.length > 0 && request.table === undefined) {
    throw new InvalidRequestError('partitions to forget need their table');
  }
  const at: string[] = [request.database.toLowerCase()];
  if (request.table !== undefined) at.push(request.table.toLowerCase());
  const isAt = (prefix: string) => `${prefix}_DATABASE = ?${at.length > 1 ? ` AND ${prefix}_TABLE = ?` : ''}`;
  if (partitions.length > 0) {
    for (const partition of partitions) {
      const ofPartition = `${isAt('TC')} AND TC_PARTITION = ?${isNobodys}`;
      await tx.run(`DELETE FROM TXN_COMPONENTS WHERE ${ofPartition}`, [...at, partition, ...own]);
      await tx.run(`DELETE FROM COMPLETED_TXN_COMPONENTS WHERE ${isAt('CTC')} AND CTC_PARTITION = ?`, [
        ...at,
        partition,
      ]);
    }
    return;
  }
  await tx.run(`DELETE FROM TXN_COMPONENTS WHERE ${isAt('TC')}${isNobodys}`, [...at, ...own]);
  await tx.run(`DELETE FROM COMPLETED_TXN_COMPONENTS WHERE ${isAt('CTC')}`, at);
  if (request.keepWriteIds) return;
  await tx.run(`DELETE FROM TXN_TO_WRITE_ID WHERE ${isAt('T2W')}`, at);
  await tx.run(`DELETE FROM NEXT_WRITE_ID WHERE ${isAt('NWI')}`, at);
}

/** Prefixes of the tables that name partitions, and of those that name tables only (OnRenameFunction). */
const BY_PARTITION = [
  ['TXN_COMPONENTS', 'TC'],
  ['COMPLETED_TXN_COMPONENTS', 'CTC'],
  ['WRITE_SET', 'WS'],
] as const;
const BY_TABLE = [
  ['TXN_TO_WRITE_ID', 'T2W'],
  ['NEXT_WRITE_ID', 'NWI'],
  ['MIN_HISTORY_WRITE_ID', 'MH'],
] as const;

/** A renamed table or partition keeps what is known of it. An empty table name means a whole database. */
export async function renameResource(tx: Tx, { from, to }: RenameResourceRequest): Promise<void> {
  if (from === undefined || to === undefined || from.database === '' || to.database === '') {
    throw new InvalidRequestError('a rename needs both names');
  }
  if ((from.table === '') !== (to.table === '') || (from.partition === undefined) !== (to.partition === undefined)) {
    throw new InvalidRequestError('a rename cannot change what kind of thing it names');
  }
  for (const [table, prefix] of BY_PARTITION) await rename(tx, table, prefix, fields(from), fields(to));
  if (from.partition !== undefined) return;
  if (to.table !== '' && (await hasWriteIds(tx, from))) {
    // What a table of the new name has left, whose files the Cleaner removes: the name is another's now.
    const at = [to.database.toLowerCase(), to.table.toLowerCase()];
    await tx.run('DELETE FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ?', at);
    await tx.run('DELETE FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?', at);
  }
  for (const [table, prefix] of BY_TABLE) await rename(tx, table, prefix, fields(from), fields(to));
}

async function hasWriteIds(tx: Tx, { database, table }: Resource): Promise<boolean> {
  const at = [database.toLowerCase(), table.toLowerCase()];
  const sql = 'SELECT NWI_NEXT FROM NEXT_WRITE_ID WHERE NWI_DATABASE = ? AND NWI_TABLE = ?';
  return (await tx.get(sql, at)) !== undefined;
}

function fields(resource: { database: string; table: string; partition?: string }): [string, string][] {
  const named: [string, string][] = [['DATABASE', resource.database.toLowerCase()]];
  if (resource.table !== '') named.push(['TABLE', resource.table.toLowerCase()]);
  if (resource.partition !== undefined) named.push(['PARTITION', resource.partition]);
  return named;
}

async function rename(tx: Tx, table: string, prefix: string, from: [string, string][], to: [string, string][]) {
  const assign = to.map(([column]) => `${prefix}_${column} = ?`).join(', ');
  const where = from.map(([column]) => `${prefix}_${column} = ?`).join(' AND ');
  const params: SqlValue[] = [...to, ...from].map(([, value]) => value);
  await tx.run(`UPDATE ${table} SET ${assign} WHERE ${where}`, params);
}
