import type { SqlValue, Tx } from '@skep/metadb';
import { type ForgetResourceRequest, InvalidRequestError, type RenameResourceRequest } from '@skep/rpc';

/** TxnHandler.cleanupRecords: a dropped database, table, or partitions. */
export async function forgetResource(tx: Tx, request: ForgetResourceRequest): Promise<void> {
  const { partitions } = request;
  if (request.database === '') throw new InvalidRequestError('no database given to forget');
  if (partitions.length > 0 && request.table === undefined) {
    throw new InvalidRequestError('partitions to forget need their table');
  }
  const at: string[] = [request.database.toLowerCase()];
  if (request.table !== undefined) at.push(request.table.toLowerCase());
  const isAt = (prefix: string) => `${prefix}_DATABASE = ?${at.length > 1 ? ` AND ${prefix}_TABLE = ?` : ''}`;
  if (partitions.length > 0) {
    for (const partition of partitions) {
      await tx.run(`DELETE FROM TXN_COMPONENTS WHERE ${isAt('TC')} AND TC_PARTITION = ?`, [...at, partition]);
      await tx.run(`DELETE FROM COMPLETED_TXN_COMPONENTS WHERE ${isAt('CTC')} AND CTC_PARTITION = ?`, [
        ...at,
        partition,
      ]);
    }
    return;
  }
  await tx.run(`DELETE FROM TXN_COMPONENTS WHERE ${isAt('TC')}`, at);
  await tx.run(`DELETE FROM COMPLETED_TXN_COMPONENTS WHERE ${isAt('CTC')}`, at);
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
  for (const [table, prefix] of BY_TABLE) await rename(tx, table, prefix, fields(from), fields(to));
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
