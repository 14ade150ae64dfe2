import type { CompactorServices } from './services.js';

/** Sends heartbeats of a transaction until the function it answers is called. A failed one is tried again with the next. */
export function keepAlive(services: CompactorServices, txnId: bigint): () => void {
  const controller = new AbortController();
  const everyMs = Math.max(1000, services.conf.txnTimeoutMs / 4);
  const beat = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      try {
        await services.clock.sleep(everyMs, controller.signal);
        await services.txns.heartbeatTxns({ txnIds: [txnId] });
      } catch (error) {
        if (!controller.signal.aborted) services.log(`heartbeat of transaction ${txnId} failed: ${String(error)}`);
      }
    }
  };
  void beat();
  return () => controller.abort();
}
