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

/** Folders that a Cleaner could remove although nothing needs compacting. */
export const needsCleaning = (state: AcidState): boolean => state.obsolete.length > 0 || state.aborted.length > 0;
