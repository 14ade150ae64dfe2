import type { Table } from '@skep/rpc';
import { SemanticError } from '../errors.js';
import type { Services } from '../services.js';
import type { StatementTransaction } from './statement-transaction.js';

/**
 * One transaction at a time rebuilds a materialized view (DbTxnManager.acquireMaterializationRebuildLock); a second one is refused,
 * not queued. The lock ends with the transaction, and without its heartbeats.
 */
export async function lockRebuild(
  { txns }: Services,
  transaction: StatementTransaction,
  { database, name }: Table,
): Promise<void> {
  const request = { database, table: name, txnId: transaction.txnId };
  const { acquired, heldByTxnId } = await txns.lockMaterializationRebuild(request);
  if (!acquired) {
    throw new SemanticError(
      40000,
      `Another process is rebuilding the materialized view ${database}.${name}: txnid:${heldByTxnId}`,
    );
  }
  // A statement that waited for its locks is planned, and asks, again.
  if (transaction.heartbeats.length === 0)
    transaction.heartbeats.push(() => txns.heartbeatMaterializationRebuild(request));
}
