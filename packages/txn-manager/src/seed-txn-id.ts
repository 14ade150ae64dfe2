import type { Tx } from '@skep/metadb';
import { InvalidRequestError } from '@skep/rpc';
import { COMMITTED, highestTxnId, txnLockForCommit } from './context.js';

/**
 * TxnHandler.seedTxnId: ids go on above the seed. Hive sets the table's counter; here a committed transaction of that number
 * does it, because snapshots take the highest row for the highest id. Nothing is of it, so that housekeeping forgets it.
 */
export async function seedTxnId(tx: Tx, seed: bigint): Promise<void> {
  if (seed <= 0n) throw new InvalidRequestError(`${seed} is no transaction id to go on above`);
  await tx.all(txnLockForCommit(tx));
  if ((await highestTxnId(tx)) >= seed) return;
  // Of long ago: snapshots take ids that are missing below a young row for transactions that are just being opened.
  await tx.run(
    `INSERT INTO TXNS (TXN_ID, TXN_STATE, TXN_STARTED, TXN_LAST_HEARTBEAT, TXN_USER, TXN_HOST, TXN_TYPE)
      VALUES (?, '${COMMITTED}', 0, ?, '', '', 0)`,
    [seed, await tx.now()],
  );
}
