import { type AcidState, type CompactionThresholds, compactionDue } from '@skep/acid';
import { CompactionState, CompactionType } from '@skep/rpc';

/** The type of compaction a folder is due for, undefined for none, with the reason. Pure. */
export function decideCompactionType(
  state: AcidState,
  thresholds: CompactionThresholds,
  aborts: { readonly tooMany: boolean; readonly old: boolean },
): { readonly type: CompactionType | undefined; readonly reason: string } {
  const { COMPACTION_TYPE_MAJOR: major, COMPACTION_TYPE_MINOR: minor } = CompactionType;
  if (aborts.tooMany) return { type: major, reason: 'too many aborted transactions' };
  if (aborts.old) return { type: minor, reason: 'old aborted transactions' };
  const { type, reason } = compactionDue(state, thresholds);
  return { type: type && (type === 'major' ? major : minor), reason };
}

/** Who says `no_auto_compaction`, in lower or upper case; a database's value overrides its tables'. */
export function whereAutoCompactionIsOff(
  table: Readonly<Record<string, string>>,
  database: Readonly<Record<string, string>>,
): 'table' | 'database' | undefined {
  const valueIn = (parameters: Readonly<Record<string, string>>) =>
    parameters.no_auto_compaction ?? parameters.NO_AUTO_COMPACTION;
  const inherited = valueIn(database);
  if ((inherited ?? valueIn(table))?.toLowerCase() !== 'true') return undefined;
  return inherited === undefined ? 'table' : 'database';
}

/** Whether the Initiator is to leave a table alone. */
export const isAutoCompactionOff = (
  table: Readonly<Record<string, string>>,
  database: Readonly<Record<string, string>>,
): boolean => whereAutoCompactionIsOff(table, database) !== undefined;

/**
 * Whether what is replicated must not be compacted until its first incremental load has come (ReplUtils.isFirstIncPending): a
 * table's, or all of a database.
 */
export const isFirstLoadPending = (parameters: Readonly<Record<string, string>>): boolean =>
  parameters['hive.repl.first.inc.pending']?.toLowerCase() === 'true';

/** The pool of a table's compactions, else of its database's; blank: none (Initiator.getPoolName). Pure. */
export function poolOf(...properties: readonly Readonly<Record<string, string>>[]): string {
  return properties.map((all) => all['hive.compactor.worker.pool'] ?? '').find((pool) => pool.trim() !== '') ?? '';
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
