import { SkepError } from '@skep/core';
import { CompactionState, TxnState } from '@skep/rpc';
import type { WorkerServices } from './worker-services.js';

/**
 * Requests whose Worker has lost its transaction wait again: it died, on whatever host, and the transaction timed out or
 * its holder was found dead. (Hive waits a day for them, hive.compactor.worker.timeout.) Answers their ids.
 */
export async function recoverAbandoned(services: WorkerServices): Promise<bigint[]> {
  const { compactions, txns } = services;
  const working = await compactions.showCompactions({ state: CompactionState.COMPACTION_STATE_WORKING, limit: 0n });
  const begun = working.compactions.flatMap((job) => (job.txnId === undefined ? [] : [{ ...job, txnId: job.txnId }]));
  if (begun.length === 0) return [];
  const { states } = await txns.getTxnStates({ txnIds: begun.map((job) => job.txnId) });
  const abandoned = begun.filter((_, i) => states[i] === TxnState.TXN_STATE_ABORTED);
  for (const { id, workerId, startMs } of abandoned) {
    const taken = { id, workerId, workerStartMs: startMs };
    try {
      await compactions.finishCompaction({
        ...taken,
        state: CompactionState.COMPACTION_STATE_INITIATED,
        errorMessage: `${workerId} is gone, or was too long silent: its transaction was aborted`,
      });
    } catch (error) {
      // Somebody else has given it back, or ended it, meanwhile.
      if (!(error instanceof SkepError && error.code === 'NO_SUCH_COMPACTION')) throw error;
    }
  }
  return abandoned.map(({ id }) => id);
}
