import type { SqlValue, Tx } from '@skep/metadb';
import type { ForgetCompactionsRequest, RenameCompactionsRequest } from '@skep/rpc';

/** Tables that name resources, with the prefix of their columns. */
const TABLES = [
  ['COMPACTION_QUEUE', 'CQ'],
  ['COMPLETED_COMPACTIONS', 'CC'],
  ['COMPACTION_METRICS_CACHE', 'CMC'],
] as const;

/** A dropped database, table or partition: its requests and their history go (TxnHandler.cleanupRecords). */
export async function forgetCompactions(tx: Tx, request: ForgetCompactionsRequest): Promise<void> {
  const at: SqlValue[] = [request.database.toLowerCase()];
  if (request.table !== undefined) at.push(request.table.toLowerCase());
  for (const [table, prefix] of TABLES) {
    const sql = `DELETE FROM ${table} WHERE ${prefix}_DATABASE = ?${at.length > 1 ? ` AND ${prefix}_TABLE = ?` : ''}`;
    if (request.partitions.length === 0) await tx.run(sql, at);
    for (const partition of request.partitions) {
      await tx.run(`${sql} AND ${prefix}_PARTITION = ?`, [...at, partition]);
    }
  }
}

/** A renamed table, partition, or (without table names) database keeps its requests under its new name (HIVE-29512). */
export async function renameCompactions(tx: Tx, request: RenameCompactionsRequest): Promise<void> {
  const { fromPartition, toPartition } = request;
  const pairs: [string, SqlValue, SqlValue][] = [
    ['DATABASE', request.fromDatabase.toLowerCase(), request.toDatabase.toLowerCase()],
  ];
  if (request.fromTable !== '') pairs.push(['TABLE', request.fromTable.toLowerCase(), request.toTable.toLowerCase()]);
  if (fromPartition !== undefined) pairs.push(['PARTITION', fromPartition, toPartition]);
  for (const [table, prefix] of TABLES) {
    const columns = pairs.map(([name]) => `${prefix}_${name} = ?`);
    await tx.run(`UPDATE ${table} SET ${columns.join(', ')} WHERE ${columns.join(' AND ')}`, [
      ...pairs.map(([, , to]) => to),
      ...pairs.map(([, from]) => from),
    ]);
  }
}
