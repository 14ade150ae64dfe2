import { stateName } from '@skep/compactor';
import { parseTimeMs } from '@skep/config';
import { LONG_MAX } from '@skep/core';
import {
  type Compaction,
  CompactionState,
  CompactionType,
  type GetCleanerWatermarkResponse,
  type TxnInfo,
} from '@skep/rpc';
import { duration, moment, resourceText, whose } from './words.js';

export interface CompactionView {
  /** The queue and its history. */
  readonly compactions: readonly Compaction[];
  readonly watermark: GetCleanerWatermarkResponse;
  readonly txns: readonly TxnInfo[];
  /** Values of the metastore (GetServerInfo). */
  readonly parameters: Readonly<Record<string, string>>;
  readonly nowMs: number;
}

const TYPE_WORDS = ['', 'minor', 'major', 'rebalance', 'abort cleanup'];

/** What a compaction waits for, or why it ended as it did. Pure. */
export function whyCompaction(id: bigint, view: CompactionView): string[] {
  const found = view.compactions.find((one) => one.id === id);
  if (found === undefined) {
    return [
      `There is no compaction ${id}: it was never asked for, or its record was purged (hive.compactor.history.retention.*).`,
    ];
  }
  return [`${titleOf(found)}: ${stateName(found.state)}.`, ...askedBy(found, view), ...reasons(found, view)];
}

/** A drop leaves its folder to the Cleaner as a request of this kind (docs/transactions.md, drops beside readers). */
const leftFolder = ({ properties }: Compaction): string | undefined => properties.location;

export const titleOf = (job: Compaction): string => {
  const folder = leftFolder(job);
  return folder === undefined
    ? `Compaction ${job.id} (${TYPE_WORDS[job.type] ?? 'unknown'}) of ${resourceText(job)}`
    : `Request ${job.id} of the drop of ${resourceText(job)}, whose folder ${folder} the Cleaner removes`;
};

function askedBy({ enqueueTimeMs, initiatorId, poolName }: Compaction, { nowMs }: CompactionView): string[] {
  if (enqueueTimeMs === 0n) return [];
  const by = initiatorId === '' ? '' : ` by ${initiatorId}`;
  const pool = poolName === '' ? '' : ` for the pool ${poolName}`;
  return [`Asked for ${moment(enqueueTimeMs, nowMs)}${by}${pool}.`];
}

function reasons(job: Compaction, view: CompactionView): string[] {
  switch (job.state) {
    case CompactionState.COMPACTION_STATE_INITIATED:
      return whyInitiated(job, view);
    case CompactionState.COMPACTION_STATE_WORKING:
      return whyWorking(job, view);
    case CompactionState.COMPACTION_STATE_READY_FOR_CLEANING:
      return whyUncleaned(job, view);
    default: {
      const when = job.endMs === 0n ? '' : `Ended ${moment(job.endMs, view.nowMs)}. `;
      const because = job.errorMessage === '' ? '' : `Because: ${job.errorMessage}`;
      return `${when}${because}` === '' ? [] : [`${when}${because}`.trim()];
    }
  }
}

function whyInitiated(job: Compaction, { compactions, parameters, nowMs }: CompactionView): string[] {
  if (Number(job.cleanerStartMs) > nowMs) {
    const until = duration(Number(job.cleanerStartMs) - nowMs);
    return [`It was put off: ${job.errorMessage}.`, `A Worker looks again in ${until}.`];
  }
  const pool = job.poolName === '' ? 'the default pool' : `the pool ${job.poolName}`;
  const ofPool = compactions.filter(({ poolName }) => poolName === job.poolName);
  const ahead = ofPool.filter(({ state, id }) => state === CompactionState.COMPACTION_STATE_INITIATED && id < job.id);
  const working = ofPool.filter(({ state }) => state === CompactionState.COMPACTION_STATE_WORKING);
  const lines = [`It waits for a Worker of ${pool}; ${ahead.length} request(s) are before it.`];
  for (const one of working) {
    lines.push(
      `  ${one.workerId} is at compaction ${one.id} of ${resourceText(one)} since ${moment(one.startMs, nowMs)}.`,
    );
  }
  if (working.length === 0) {
    lines.push('  No Worker of that pool is at work: is one running (`skep compactor`, `skep metastore --workers`)?');
  }
  if (job.poolName !== '') lines.push(...whenOverdue(job, parameters, nowMs));
  if (job.errorMessage !== '') lines.push(`Before: ${job.errorMessage}`);
  return lines;
}

/** A request of a pool that nobody serves is not for ever its pool's. */
function whenOverdue({ enqueueTimeMs }: Compaction, parameters: CompactionView['parameters'], nowMs: number): string[] {
  const name = 'hive.compactor.worker.pool.timeout';
  const timeoutMs = parseTimeMs(parameters[name] ?? '12h', 'h');
  if (timeoutMs === undefined) return [];
  const restMs = Number(enqueueTimeMs) + timeoutMs - nowMs;
  const when = restMs <= 0 ? 'by now' : `in ${duration(restMs)}`;
  return [`  Workers of the default pool may take it ${when} (${name}).`];
}

function whyWorking(job: Compaction, { txns, nowMs }: CompactionView): string[] {
  const lines = [`${job.workerId} works at it since ${moment(job.startMs, nowMs)}.`];
  const txn = txns.find(({ txnId }) => txnId === job.txnId);
  if (txn !== undefined) {
    lines.push(`Its transaction is txnid:${txn.txnId}, last heartbeat ${moment(txn.lastHeartbeatMs, nowMs)}.`);
  }
  return lines;
}

function whyUncleaned(job: Compaction, { watermark, parameters, nowMs }: CompactionView): string[] {
  const { nextTxnId, commitTimeMs, retryRetentionMs, errorMessage, cleanerStartMs } = job;
  const isRetry = job.type === CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP;
  const what = isRetry ? 'What aborted transactions wrote could not be removed, first' : 'It committed';
  const lines = commitTimeMs === undefined ? [] : [`${what} ${moment(commitTimeMs, nowMs)}.`];
  if (parameters['hive.compactor.cleaner.on'] === 'false') {
    lines.push('The metastore has hive.compactor.cleaner.on=false: it has no Cleaner.');
  }
  if (errorMessage !== '') lines.push(`The Cleaner failed: ${errorMessage}`);
  if (cleanerStartMs > 0n) return [...lines, `The Cleaner is at it since ${moment(cleanerStartMs, nowMs)}.`];
  if (nextTxnId === LONG_MAX) {
    return [...lines, `The Cleaner waits for the transaction that drops it, txnid:${job.txnId}, to end.`];
  }
  if (nextTxnId !== undefined && watermark.minOpenTxnId <= nextTxnId) {
    const { heldBy } = watermark;
    const whom =
      heldBy === undefined
        ? `a transaction up to txnid:${nextTxnId}`
        : `txnid:${heldBy.txnId} of ${whose(heldBy)}, open since ${moment(heldBy.startedMs, nowMs)}`;
    return [
      ...lines,
      `The Cleaner waits for ${whom}: it may still read the files that were ${leftFolder(job) === undefined ? 'replaced' : 'dropped'}.`,
    ];
  }
  const untilMs = Number(commitTimeMs ?? 0n) + Number(retryRetentionMs);
  if (retryRetentionMs > 0n && untilMs > nowMs) {
    return [...lines, `The Cleaner takes it up again in ${duration(untilMs - nowMs)}.`];
  }
  const delayed = parameters['hive.compactor.delayed.cleanup.enabled'] === 'true';
  const delay = parameters['hive.compactor.cleaner.retention.time.seconds'] ?? '300s';
  return [
    ...lines,
    delayed
      ? `Files are kept for ${delay} (hive.compactor.delayed.cleanup.enabled).`
      : 'Nothing is in the way: the next round of the Cleaner takes it up.',
  ];
}
