import { parseAcidDirectoryName } from '@skep/acid';
import type { ValidTxnList } from '@skep/core';

/**
 * Which write ids of aborted transactions nobody needs to know of any more once a folder was cleaned: all but those within
 * a folder that is left, whose rows they hide (a streaming delta_A_B keeps them beside valid ones; HIVE-24481). A
 * compaction's folder, `_vT`, has no rows of aborted writes. Pure.
 */
export function forgettableWriteIds(aborted: readonly bigint[], namesLeft: readonly string[]): bigint[] {
  const ranges: (readonly [bigint, bigint])[] = [];
  for (const text of namesLeft) {
    const name = parseAcidDirectoryName(text);
    if (name === undefined || name.visibilityTxnId !== 0n) continue;
    ranges.push(name.kind === 'base' ? [name.writeId, name.writeId] : [name.minWriteId, name.maxWriteId]);
  }
  return aborted.filter((id) => !ranges.some(([min, max]) => min <= id && id <= max));
}

/** Whether a folder of an aborted compaction is left: its transaction must not be forgotten yet. Pure. */
export const hasAbortedResult = (namesLeft: readonly string[], txns: ValidTxnList): boolean =>
  namesLeft.some((text) => txns.isTxnAborted(parseAcidDirectoryName(text)?.visibilityTxnId ?? 0n));

/**
 * How often cleaning has failed, out of the delay that the last failure set, which doubles each time
 * (Cleaner.handleCleanerAttemptFailure). A shorter delay was not set by a failure. Pure.
 */
export function failedAttempts(retryRetentionMs: bigint, firstMs: number): number {
  if (retryRetentionMs < BigInt(firstMs) || retryRetentionMs <= 0n) return 0;
  return Math.floor(Math.log2(Number(retryRetentionMs) / Math.max(1, firstMs))) + 1;
}

/** The delay after so many failed attempts; undefined: enough, give up. Pure. */
export function retryDelayMs(attempts: number, firstMs: number, maxAttempts: number): number | undefined {
  return attempts >= maxAttempts ? undefined : firstMs * 2 ** attempts;
}
