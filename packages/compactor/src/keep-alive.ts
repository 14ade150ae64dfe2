import { idle, SkepError } from '@skep/core';
import type { WorkerServices } from './worker-services.js';

/** The compaction's transaction was aborted under it, by a time-out or by ABORT TRANSACTIONS: what it writes is for nobody. */
class CompactionTxnLostError extends SkepError {
  constructor(txnId: bigint) {
    super('COMPACTION_TXN_LOST', 'conflict', `the compaction's transaction ${txnId} is no longer open`);
  }
}

export interface KeptAlive {
  /** Aborted with the caller's signal, and when the transaction turns out to be no longer open. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Sends heartbeats of a transaction until it is stopped. A failed one is tried again with the next. */
export function keepAlive(services: WorkerServices, txnId: bigint, outer?: AbortSignal): KeptAlive {
  const work = new AbortController();
  const beats = new AbortController();
  const end = () => work.abort(outer?.reason);
  if (outer?.aborted) end();
  outer?.addEventListener('abort', end, { once: true });
  const everyMs = Math.max(1000, services.conf.txnTimeoutMs / 4);
  const beat = async (): Promise<void> => {
    for (;;) {
      await idle(everyMs, beats.signal);
      if (beats.signal.aborted) return;
      try {
        const { abortedTxnIds, noSuchTxnIds } = await services.txns.heartbeatTxns({ txnIds: [txnId] });
        if (abortedTxnIds.length + noSuchTxnIds.length > 0) {
          work.abort(new CompactionTxnLostError(txnId));
          return;
        }
      } catch (error) {
        if (!beats.signal.aborted)
          services.log.warn({ txnId, error }, `heartbeat of transaction ${txnId} failed: ${String(error)}`);
      }
    }
  };
  void beat();
  return {
    signal: work.signal,
    stop() {
      outer?.removeEventListener('abort', end);
      beats.abort();
    },
  };
}
