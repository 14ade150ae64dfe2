import type { AcidState } from '@skep/acid';
import { CompactionType } from '@skep/rpc';

/**
 * Whether there is enough for a compaction to do (org.apache.hadoop.hive.ql.txn.compactor.QueryCompactor.Util.isEnoughToCompact):
 * major wants originals, or a base and deltas that are more than one; minor wants more than one delta folder that are not
 * just one delta and its delete delta. Pure.
 */
export function isEnoughToCompact(type: CompactionType, state: AcidState): boolean {
  const deltas = state.deltas.filter((delta) => delta.kind === 'delta').length;
  const deleteDeltas = state.deltas.length - deltas;
  switch (type) {
    case CompactionType.COMPACTION_TYPE_REBALANCE:
      return true;
    case CompactionType.COMPACTION_TYPE_MAJOR:
      return state.originals.length > 0 || state.deltas.length + (state.base === undefined ? 0 : 1) > 1;
    default:
      return state.deltas.length > 1 && !(deltas === 1 && deleteDeltas === 1);
  }
}

/**
 * Why a rebalance has to be put off; undefined: it has not. It reads below the lowest open write id only, which may be another
 * partition's, and gives the rows other ROW__IDs: deletes of committed writes above would be of rows that are no longer known
 * by theirs, and the rows be seen again (Hive's RebalanceQueryCompactor brings them back). `visible`: all that a reader sees. Pure.
 */
export function reasonToPutOff(visible: AcidState, highestWriteId: bigint): string | undefined {
  const later = visible.deltas.find(
    // Of ACID version 1 there may be deletes in deltas too.
    ({ kind, maxWriteId, isRaw, hasVersionFile }) =>
      maxWriteId > highestWriteId && (kind === 'deleteDelta' || (!isRaw && !hasVersionFile)),
  );
  return later === undefined
    ? undefined
    : `${later.name} may delete rows that a rebalance gives other ROW__IDs, and cannot be rebalanced with them while ` +
        `a transaction with write id ${highestWriteId + 1n} of the table is open: it waits until that has ended`;
}

/** Folders that a Cleaner could remove although nothing needs compacting. */
export const needsCleaning = (state: AcidState): boolean => state.obsolete.length > 0 || state.aborted.length > 0;
