import { idle, linkedAbort, SkepError } from '@skep/core';
import type { WorkerServices } from './worker-services.js';

/** The compaction's transaction was aborted under it, by a time-out or by ABORT TRANSACTIONS: what it writes is for nobody. */
class CompactionTxnLostError extends SkepError {
  constructor(txnId: bigint, why = 'is no longer open') {
    super('COMPACTION_TXN_LOST', 'conflict', `the compaction's transaction ${txnId} ${why}`);
  }
}

export interface KeptAlive {
  /** Aborted with the caller's signal, and when the transaction turns out to be no longer open. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Sends heartbeats of a transaction until it is stopped. A failed one is tried again with the next; once none got through for
 * hive.txn.timeout the transaction has timed out, whoever aborted it may have forgotten it, and what is written is for nobody.
 */
export function keepAlive(services: WorkerServices, txnId: bigint, outer?: AbortSignal): KeptAlive {
  const work = linkedAbort(outer);
  const beats = new AbortController();
  const { clock, conf, log } = services;
  const rest = services.idle ?? idle;
  const everyMs = Math.max(1000, conf.txnTimeoutMs / 4);
  let heardMs = clock.now();
  const beat = async (): Promise<void> => {
    for (;;) {
      await rest(everyMs, beats.signal);
      if (beats.signal.aborted) return;
      try {
        const { abortedTxnIds, noSuchTxnIds } = await services.txns.heartbeatTxns({ txnIds: [txnId] });
        if (abortedTxnIds.length + noSuchTxnIds.length > 0) {
          work.abort(new CompactionTxnLostError(txnId));
          return;
        }
        heardMs = clock.now();
      } catch (error) {
        if (beats.signal.aborted) return;
        log.warn({ txnId, error }, `heartbeat of transaction ${txnId} failed: ${String(error)}`);
        const silentMs = clock.now() - heardMs;
        if (silentMs >= conf.txnTimeoutMs) {
          work.abort(new CompactionTxnLostError(txnId, `has had no heartbeat for ${silentMs} ms: it has timed out`));
          return;
        }
      }
    }
  };
  void beat();
  return {
    signal: work.signal,
    stop() {
      work.release();
      beats.abort();
    },
  };
}
