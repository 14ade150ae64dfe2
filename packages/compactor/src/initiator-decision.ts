import type { AcidState } from '@skep/acid';
import { CompactionState, CompactionType } from '@skep/rpc';

/** What decides whether a folder is due (org.apache.hadoop.hive.ql.txn.compactor.InitiatorBase.determineCompactionType). */
export interface Thresholds {
  readonly deltaNum: number;
  readonly deltaPct: number;
}

/** The table's own thresholds, `compactorthreshold.hive.compactor.…`, before the configured ones. */
export function thresholdsOf(parameters: Readonly<Record<string, string>>, configured: Thresholds): Thresholds {
  const own = (name: string) => {
    const text = parameters[`compactorthreshold.hive.compactor.${name}`];
    const value = Number(text);
    return text === undefined || Number.isNaN(value) ? undefined : value;
  };
  return {
    deltaNum: own('delta.num.threshold') ?? configured.deltaNum,
    deltaPct: own('delta.pct.threshold') ?? configured.deltaPct,
  };
}

/** The type of compaction a folder is due for, with the reason; undefined: none. Pure. */
export function decideCompactionType(
  state: AcidState,
  thresholds: Thresholds,
  aborts: { readonly tooMany: boolean; readonly old: boolean },
): { readonly type: CompactionType; readonly reason: string } | undefined {
  const major = CompactionType.COMPACTION_TYPE_MAJOR;
  if (aborts.tooMany) return { type: major, reason: 'too many aborted transactions' };
  if (aborts.old) return { type: CompactionType.COMPACTION_TYPE_MINOR, reason: 'old aborted transactions' };
  const size = (files: readonly { sizeBytes: number }[]) => files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const baseBytes = size(state.base?.files ?? []) + size(state.originals);
  const deltaBytes = state.deltas.reduce((sum, delta) => sum + size(delta.files), 0);
  const noBase = baseBytes === 0 && deltaBytes > 0;
  if (!noBase) {
    const hasObsoleteBase = state.obsolete.some((path) => /\/base_[^/]*$/.test(path));
    if (deltaBytes === 0 && hasObsoleteBase) return { type: major, reason: 'an overwrite left an obsolete base' };
    if (baseBytes > 0 && deltaBytes / baseBytes > thresholds.deltaPct) {
      return { type: major, reason: `deltas are ${deltaBytes} bytes beside a base of ${baseBytes}` };
    }
  }
  if (state.deltas.length <= thresholds.deltaNum) return undefined;
  // Loaded files (B53): a base is what makes ACID files of them.
  const raw = state.deltas.some((delta) => delta.isRaw);
  const type = noBase || raw ? major : CompactionType.COMPACTION_TYPE_MINOR;
  return { type, reason: `${state.deltas.length} delta folders` };
}

/** `no_auto_compaction`, in lower or upper case; a database's value overrides its tables'. */
export function isAutoCompactionOff(
  table: Readonly<Record<string, string>>,
  database: Readonly<Record<string, string>>,
): boolean {
  const valueIn = (parameters: Readonly<Record<string, string>>) =>
    parameters.no_auto_compaction ?? parameters.NO_AUTO_COMPACTION;
  return (valueIn(database) ?? valueIn(table))?.toLowerCase() === 'true';
}

/** What the queue and its history say of a resource. */
export interface PastCompaction {
  readonly id: bigint;
  readonly state: CompactionState;
  readonly enqueueTimeMs: bigint;
}

/** Whether the newest that ended of a resource's compactions failed or was never queued: then it is looked at again. Pure. */
export function isToRetry(past: readonly PastCompaction[]): boolean {
  const newest = past.reduce<PastCompaction | undefined>((a, b) => (a === undefined || b.id > a.id ? b : a), undefined);
  return (
    newest?.state === CompactionState.COMPACTION_STATE_FAILED ||
    newest?.state === CompactionState.COMPACTION_STATE_DID_NOT_INITIATE
  );
}

/** Whether the last compactions of a resource failed so often and so lately that it must rest. Pure. */
export function mustRest(
  past: readonly PastCompaction[],
  failedThreshold: number,
  retryTimeMs: number,
  nowMs: number,
): boolean {
  const counted = past
    .filter(({ state }) => state === CompactionState.COMPACTION_STATE_FAILED || isSucceeded(state))
    .sort((a, b) => (a.id > b.id ? -1 : 1))
    .slice(0, failedThreshold);
  if (counted.length < failedThreshold || counted.some(({ state }) => isSucceeded(state))) return false;
  const latestMs = Math.max(...counted.map((entry) => Number(entry.enqueueTimeMs)));
  return retryTimeMs <= 0 || latestMs + retryTimeMs >= nowMs;
}

const isSucceeded = (state: CompactionState): boolean => state === CompactionState.COMPACTION_STATE_SUCCEEDED;

/** Whether a compaction waits for a Worker or is under way. Pure. */
export const isPending = ({ state }: PastCompaction): boolean =>
  state === CompactionState.COMPACTION_STATE_INITIATED || state === CompactionState.COMPACTION_STATE_WORKING;
