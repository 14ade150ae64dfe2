import type { SqlValue, Tx } from '@skep/metadb';
import type { ForgetCompactionsRequest, RenameCompactionsRequest } from '@skep/rpc';
import { IS_CLEANUP } from './cleanups.js';

/** Tables that name resources, with the prefix of their columns. */
const TABLES = [
  ['COMPACTION_QUEUE', 'CQ'],
  ['COMPLETED_COMPACTIONS', 'CC'],
  ['COMPACTION_METRICS_CACHE', 'CMC'],
] as const;

/** Not what a drop has left to the Cleaner, this one's or an earlier one's: its folder is still to be removed. */
const NO_CLEANUP = `(CQ_TBLPROPERTIES IS NULL OR NOT (${IS_CLEANUP}))`;

/** A dropped database, table or partition: its requests and their history go (TxnHandler.cleanupRecords). */
export async function forgetCompactions(tx: Tx, request: ForgetCompactionsRequest): Promise<void> {
  const at: SqlValue[] = [request.database.toLowerCase()];
  if (request.table !== undefined) at.push(request.table.toLowerCase());
  for (const [table, prefix] of TABLES) {
    const kept = prefix === 'CQ' ? ` AND ${NO_CLEANUP}` : '';
    const sql = `DELETE FROM ${table} WHERE ${prefix}_DATABASE = ?${at.length > 1 ? ` AND ${prefix}_TABLE = ?` : ''}${kept}`;
    if (request.partitions.length === 0) await tx.run(sql, at);
    for (const partition of request.partitions) {
      await tx.run(`${sql} AND ${prefix}_PARTITION = ?`, [...at, partition]);
    }
  }
}

/** A renamed table, partition, or (without table names) database keeps its requests under its new name (HIVE-29512). */
export async function renameCompactions(tx: Tx, request: RenameCompactionsRequest): Promise<void> {
  const { fromPartition, toPartition, keepTxnId } = request;
  const pairs: [string, SqlValue, SqlValue][] = [
    ['DATABASE', request.fromDatabase.toLowerCase(), request.toDatabase.toLowerCase()],
  ];
  if (request.fromTable !== '') pairs.push(['TABLE', request.fromTable.toLowerCase(), request.toTable.toLowerCase()]);
  if (fromPartition !== undefined) pairs.push(['PARTITION', fromPartition, toPartition]);
  for (const [table, prefix] of TABLES) {
    const columns = pairs.map(([name]) => `${prefix}_${name} = ?`);
    const isKept = prefix === 'CQ' && keepTxnId !== undefined;
    const kept = isKept ? ` AND (CQ_TXN_ID IS NULL OR CQ_TXN_ID <> ? OR ${NO_CLEANUP})` : '';
    await tx.run(`UPDATE ${table} SET ${columns.join(', ')} WHERE ${columns.join(' AND ')}${kept}`, [
      ...pairs.map(([, , to]) => to),
      ...pairs.map(([, from]) => from),
      ...(isKept ? [keepTxnId] : []),
    ]);
  }
}
