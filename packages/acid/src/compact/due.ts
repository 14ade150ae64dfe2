import { SkepError } from '@skep/core';
import type { AcidState } from '../state/acid-directory.js';

/** What decides whether a folder is due (org.apache.hadoop.hive.ql.txn.compactor.CompactorUtil.determineCompactionType). */
export interface CompactionThresholds {
  /** hive.compactor.delta.num.threshold: more current delta folders than this. */
  readonly deltaNum: number;
  /** hive.compactor.delta.pct.threshold: size of the deltas in relation to the base. */
  readonly deltaPct: number;
}

/** A threshold in the properties of a table or database that is no number. */
export class InvalidThresholdError extends SkepError {
  constructor(
    readonly property: string,
    text: string,
  ) {
    super('INVALID_THRESHOLD', 'invalid', `the property ${property} must be a number, not '${text}'`);
  }
}

/**
 * The thresholds of a table: its own, `compactorthreshold.hive.compactor.…`, before its database's, before the configured
 * ones. Throws where one is no number, as Hive's Initiator fails.
 */
export function compactionThresholds(
  configured: CompactionThresholds,
  ...properties: readonly Readonly<Record<string, string>>[]
): CompactionThresholds {
  const own = (name: string) => {
    const property = `compactorthreshold.hive.compactor.${name}`;
    const text = properties.map((all) => all[property]?.trim()).find((value) => value !== undefined && value !== '');
    if (text !== undefined && !Number.isFinite(Number(text))) throw new InvalidThresholdError(property, text);
    return text === undefined ? undefined : Number(text);
  };
  return {
    deltaNum: own('delta.num.threshold') ?? configured.deltaNum,
    deltaPct: own('delta.pct.threshold') ?? configured.deltaPct,
  };
}

/** Whether a folder is due for a compaction, of which type, and why or why not. */
export interface CompactionDue {
  readonly type: 'major' | 'minor' | undefined;
  readonly reason: string;
}

/** Pure. */
export function compactionDue(state: AcidState, thresholds: CompactionThresholds): CompactionDue {
  const size = (files: readonly { sizeBytes: number }[]) => files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const baseBytes = size(state.base?.files ?? []) + size(state.originals);
  const deltaBytes = state.deltas.reduce((sum, delta) => sum + size(delta.files), 0);
  const noBase = baseBytes === 0 && deltaBytes > 0;
  if (!noBase) {
    const hasObsoleteBase = state.obsolete.some((path) => /\/base_[^/]*$/.test(path));
    if (deltaBytes === 0 && hasObsoleteBase) return { type: 'major', reason: 'an overwrite left an obsolete base' };
    if (baseBytes > 0 && deltaBytes / baseBytes > thresholds.deltaPct) {
      return { type: 'major', reason: `deltas are ${deltaBytes} bytes beside a base of ${baseBytes}` };
    }
  }
  const { length } = state.deltas;
  if (length <= thresholds.deltaNum) {
    const beside =
      baseBytes === 0 ? '' : `, ${deltaBytes} bytes beside a base of ${baseBytes} (${thresholds.deltaPct})`;
    const folders = length === 1 ? '1 delta folder' : `${length} delta folders`;
    return { type: undefined, reason: `not due: ${folders} (more than ${thresholds.deltaNum} are compacted)${beside}` };
  }
  // Loaded files (B53): a base is what makes ACID files of them.
  const raw = state.deltas.some((delta) => delta.isRaw);
  return { type: noBase || raw ? 'major' : 'minor', reason: `${length} delta folders` };
}
