import type { ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import { getAcidState } from '../state/get-acid-state.js';
import { oldEventsOf } from './acid-version.js';

/** Why a table's or partition's folder must be major-compacted before Hive 3 or later reads it. */
export interface UpgradeFinding {
  /** Deltas whose files hold updates or deletes among the inserts, or do not tell. */
  readonly deltas: readonly string[];
  readonly updates: number;
  readonly deletes: number;
  /** Files without statistics: what they hold is not known. */
  readonly unknownFiles: number;
}

/**
 * Looks for what Hive 3 cannot read: update and delete events in ordinary deltas (org.apache.hadoop.hive.upgrade.acid.PreUpgradeTool).
 * Undefined: nothing is to be done. Folders that a base replaces, or whose writes were aborted, do not count.
 */
export async function upgradeCheck(
  fs: FileSystem,
  dir: string,
  writeIds: ValidWriteIdList,
  txns: ValidTxnList,
): Promise<UpgradeFinding | undefined> {
  const state = await getAcidState(fs, dir, writeIds, txns, {});
  const found = { deltas: [] as string[], updates: 0, deletes: 0, unknownFiles: 0 };
  for (const delta of state.deltas) {
    if (delta.kind !== 'delta' || delta.hasVersionFile || delta.isRaw) continue;
    let isOld = false;
    for (const file of delta.files) {
      if (file.sizeBytes === 0) continue;
      const events = await oldEventsOf(fs, file);
      if (events === undefined) found.unknownFiles++;
      found.updates += events?.updates ?? 0;
      found.deletes += events?.deletes ?? 0;
      isOld ||= events === undefined || events.updates > 0 || events.deletes > 0;
    }
    if (isOld) found.deltas.push(delta.name);
  }
  return found.deltas.length === 0 ? undefined : found;
}
