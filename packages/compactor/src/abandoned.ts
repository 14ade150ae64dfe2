import { CompactionState, TxnState } from '@skep/rpc';
import type { CompactorServices } from './services.js';

/**
 * Requests whose Worker has lost its transaction wait again: it died, on whatever host, and the transaction timed out or
 * its holder was found dead. (Hive waits a day for them, hive.compactor.worker.timeout.) Answers their ids.
 */
export async function recoverAbandoned(services: CompactorServices): Promise<bigint[]> {
  const { compactions, txns } = services;
  const working = await compactions.showCompactions({ state: CompactionState.COMPACTION_STATE_WORKING, limit: 0n });
  const begun = working.compactions.flatMap((job) =>
    job.txnId === undefined ? [] : [{ id: job.id, txnId: job.txnId }],
  );
  if (begun.length === 0) return [];
  const { states } = await txns.getTxnStates({ txnIds: begun.map((job) => job.txnId) });
  const abandoned = begun.filter((_, i) => states[i] === TxnState.TXN_STATE_ABORTED);
  for (const { id } of abandoned) {
    await compactions.finishCompaction({ id, state: CompactionState.COMPACTION_STATE_INITIATED, errorMessage: '' });
  }
  return abandoned.map(({ id }) => id);
}
