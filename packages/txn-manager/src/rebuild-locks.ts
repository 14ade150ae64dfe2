import type { Tx } from '@skep/metadb';
import type {
  HeartbeatMaterializationRebuildRequest,
  LockMaterializationRebuildRequest,
  LockMaterializationRebuildResponse,
} from '@skep/rpc';
import { requireOpen } from './txn-state.js';

const AUX_KEY = 'MaterializationRebuild';

/** TxnHandler.lockMaterializationRebuild: one rebuild of a view at a time; a lock without heartbeats is free again. */
export async function lockRebuild(
  tx: Tx,
  request: LockMaterializationRebuildRequest,
  timeoutMs: number,
): Promise<LockMaterializationRebuildResponse> {
  const { txnId } = request;
  const at = [request.database.toLowerCase(), request.table.toLowerCase()];
  await holdMutex(tx);
  await requireOpen(tx, txnId, true);
  const now = await tx.now();
  await removeStale(tx, now, timeoutMs);
  const held = await tx.get<{ ID: bigint }>(
    'SELECT MRL_TXN_ID AS ID FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_DB_NAME = ? AND MRL_TBL_NAME = ?',
    at,
  );
  if (held !== undefined) return { acquired: held.ID === txnId, heldByTxnId: held.ID };
  await tx.run(
    `INSERT INTO MATERIALIZATION_REBUILD_LOCKS (MRL_TXN_ID, MRL_DB_NAME, MRL_TBL_NAME, MRL_LAST_HEARTBEAT)
      VALUES (?, ?, ?, ?)`,
    [txnId, ...at, now],
  );
  return { acquired: true, heldByTxnId: txnId };
}

/** Answers whether the transaction has the lock. */
export async function heartbeatRebuild(tx: Tx, request: HeartbeatMaterializationRebuildRequest): Promise<boolean> {
  const { changes } = await tx.run(
    `UPDATE MATERIALIZATION_REBUILD_LOCKS SET MRL_LAST_HEARTBEAT = ?
      WHERE MRL_TXN_ID = ? AND MRL_DB_NAME = ? AND MRL_TBL_NAME = ?`,
    [await tx.now(), request.txnId, request.database.toLowerCase(), request.table.toLowerCase()],
  );
  if (changes > 0) return true;
  // MySQL counts a row that stays as it is as not changed.
  const row = await tx.get<{ ID: bigint }>(
    `SELECT MRL_TXN_ID AS ID FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID = ? AND MRL_DB_NAME = ? AND MRL_TBL_NAME = ?`,
    [request.txnId, request.database.toLowerCase(), request.table.toLowerCase()],
  );
  return row !== undefined;
}

/** MaterializationsRebuildLockHandler.cleanupResourceLocks. */
export async function removeStale(tx: Tx, now: bigint, timeoutMs: number): Promise<void> {
  await tx.run('DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_LAST_HEARTBEAT < ?', [now - BigInt(timeoutMs)]);
}

/** Two that ask at once must see each other (Hive's mutex in AUX_TABLE). */
async function holdMutex(tx: Tx): Promise<void> {
  if (tx.dialect.forUpdate === '') return;
  await tx.run(`${tx.dialect.insertIgnore} AUX_TABLE (MT_KEY1, MT_KEY2) VALUES (?, 0)`, [AUX_KEY]);
  await tx.all(`SELECT MT_KEY2 FROM AUX_TABLE WHERE MT_KEY1 = ?${tx.dialect.forUpdate}`, [AUX_KEY]);
}
