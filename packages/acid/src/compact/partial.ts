import type { AcidState } from '../state/acid-directory.js';

type Delta = AcidState['deltas'][number];

/**
 * Deltas in parts of at most `most`, in the order they are read, for minor compactions before the one that was asked for
 * (CompactorMR above hive.compactor.max.num.delta). What is of one range of write ids stays together (HIVE-25441): two
 * results of the same range would take each other's place. So a part may be larger. Pure.
 */
export function partsOf(deltas: readonly Delta[], most: number): Delta[][] {
  if (deltas.length <= most) return [[...deltas]];
  const groups: Delta[][] = [];
  let end = 0n;
  for (const delta of deltas) {
    const last = groups.at(-1);
    if (last !== undefined && delta.minWriteId <= end) last.push(delta);
    else groups.push([delta]);
    if (delta.maxWriteId > end) end = delta.maxWriteId;
  }
  const parts: Delta[][] = [];
  for (const group of groups) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + group.length <= most) last.push(...group);
    else parts.push([...group]);
  }
  return parts;
}
