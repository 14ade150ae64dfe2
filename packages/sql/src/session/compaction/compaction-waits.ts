import { type Compaction, CompactionState } from '@skep/rpc';
import type { SessionContext } from '../context.js';

/**
 * Compactions that wait for the Cleaner say for whom it waits: the transaction that may still read the old files, whose it is
 * and since when it is open. An error of the Cleaner is said instead.
 */
export async function withWaits(context: SessionContext, compactions: readonly Compaction[]): Promise<Compaction[]> {
  const { txns } = context.services;
  const known = new Map<string, Awaited<ReturnType<typeof txns.getCleanerWatermark>>>();
  const found: Compaction[] = [];
  for (const compaction of compactions) {
    const { database, table, nextTxnId } = compaction;
    const isReady = compaction.state === CompactionState.COMPACTION_STATE_READY_FOR_CLEANING;
    if (!isReady || compaction.errorMessage !== '' || nextTxnId === undefined) {
      found.push(compaction);
      continue;
    }
    const name = `${database}.${table}`;
    const watermark = known.get(name) ?? (await txns.getCleanerWatermark({ resource: { database, table } }));
    known.set(name, watermark);
    const { heldBy, minOpenTxnId } = watermark;
    const errorMessage =
      heldBy === undefined || nextTxnId < minOpenTxnId
        ? ''
        : `Cleaner waits for transaction ${heldBy.txnId} of ${heldBy.user}@${heldBy.host}, open since ${iso(heldBy.startedMs)}`;
    found.push({ ...compaction, errorMessage });
  }
  return found;
}

const iso = (ms: bigint): string => new Date(Number(ms)).toISOString();
