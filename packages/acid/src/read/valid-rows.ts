import type { ValidWriteIdList } from '@skep/core';
import { halvesOf } from './key-runs.js';

/** 1 where the row's write is valid; undefined where all are. Ids come in runs, so few are looked up. */
export function validRows(writeIds: ValidWriteIdList, ids: BigInt64Array, length: number): Uint8Array | undefined {
  const halves = halvesOf(ids);
  let flags: Uint8Array | undefined;
  for (let start = 0; start < length; ) {
    const id = ids[start];
    const [low, high] = [halves[2 * start], halves[2 * start + 1]];
    let end = start + 1;
    while (end < length && halves[2 * end] === low && halves[2 * end + 1] === high) end++;
    if (!writeIds.isWriteIdValid(id)) {
      flags ??= new Uint8Array(length).fill(1);
      flags.fill(0, start, end);
    }
    start = end;
  }
  return flags;
}

/** Every id of the range is valid: no row needs a look at its own. (A compactor's list counts a range with aborted ids in it.) */
export function isWholeRangeValid({ highWatermark, exceptions }: ValidWriteIdList, min: bigint, max: bigint): boolean {
  return max <= highWatermark && exceptions.every((id) => id < min || id > max);
}
