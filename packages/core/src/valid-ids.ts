import { LONG_MAX } from './ids.js';

/** org.apache.hadoop.hive.common.ValidTxnList.RangeResponse: how much of a range of ids is meant. */
export type RangeResponse = 'NONE' | 'SOME' | 'ALL';

/**
 * What a transaction list and a write-id list share: everything up to the high watermark is valid but for the
 * exceptions, which are sorted ascending; `aborted[i]` says whether exceptions[i] is aborted (else open).
 */
export interface ValidIds {
  readonly highWatermark: bigint;
  readonly exceptions: readonly bigint[];
  readonly aborted: readonly boolean[];
}

/** Index of the first exception >= id. */
function lowerBound(ids: readonly bigint[], id: bigint): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function isIdValid(list: ValidIds, id: bigint): boolean {
  if (id > list.highWatermark) return false;
  return list.exceptions[lowerBound(list.exceptions, id)] !== id;
}

export function isIdAborted(list: ValidIds, id: bigint): boolean {
  const at = lowerBound(list.exceptions, id);
  return list.exceptions[at] === id && list.aborted[at];
}

function shareOf(count: bigint, min: bigint, max: bigint, whole: RangeResponse, none: RangeResponse): RangeResponse {
  if (count === 0n) return none;
  return count === max - min + 1n ? whole : 'SOME';
}

/** ValidReadTxnList.isTxnRangeValid, ValidReaderWriteIdList.isWriteIdRangeValid. */
export function isRangeValid(list: ValidIds, min: bigint, max: bigint): RangeResponse {
  if (min > list.highWatermark) return 'NONE';
  // Hive's shortcut, kept as it is: it answers ALL even where max is above the high watermark.
  if (list.exceptions.length > 0 && list.exceptions[0] > max) return 'ALL';
  const above = max > list.highWatermark ? max - list.highWatermark : 0n;
  const inside = lowerBound(list.exceptions, max + 1n) - lowerBound(list.exceptions, min);
  return shareOf(above + BigInt(inside), min, max, 'NONE', 'ALL');
}

/** ValidReadTxnList.isTxnRangeAborted, ValidReaderWriteIdList.isWriteIdRangeAborted. */
export function isRangeAborted(list: ValidIds, min: bigint, max: bigint): RangeResponse {
  let count = 0n;
  const end = lowerBound(list.exceptions, max + 1n);
  for (let i = lowerBound(list.exceptions, min); i < end; i++) if (list.aborted[i]) count++;
  return shareOf(count, min, max, 'ALL', 'NONE');
}

/** The smallest id, LONG_MAX where there is none. */
export function smallestId(ids: readonly bigint[]): bigint {
  let smallest: bigint = LONG_MAX;
  for (const id of ids) if (id < smallest) smallest = id;
  return smallest;
}

/** Sorted exceptions with their flags from two lists in any order. */
export function mergeExceptions(open: readonly bigint[], aborted: readonly bigint[]): Omit<ValidIds, 'highWatermark'> {
  const all = [...open.map((id) => ({ id, aborted: false })), ...aborted.map((id) => ({ id, aborted: true }))];
  all.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return {
    exceptions: Object.freeze(all.map((entry) => entry.id)),
    aborted: Object.freeze(all.map((entry) => entry.aborted)),
  };
}

export function openIdsOf(list: ValidIds): bigint[] {
  return list.exceptions.filter((_, i) => !list.aborted[i]);
}

export function abortedIdsOf(list: ValidIds): bigint[] {
  return list.exceptions.filter((_, i) => list.aborted[i]);
}

/** Comma list; with `rangesFrom` set, runs of at least so many consecutive ids are written as `first-last`. */
export function formatIds(ids: readonly bigint[], rangesFrom = Number.POSITIVE_INFINITY): string {
  const parts: string[] = [];
  for (let start = 0; start < ids.length; ) {
    let end = start + 1;
    while (end < ids.length && ids[end] === ids[end - 1] + 1n) end++;
    if (end - start >= rangesFrom) parts.push(`${ids[start]}-${ids[end - 1]}`);
    else for (let i = start; i < end; i++) parts.push(String(ids[i]));
    start = end;
  }
  return parts.join(',');
}

/** The inverse of formatIds; undefined where the text is not such a list. */
export function parseIds(text: string): bigint[] | undefined {
  const ids: bigint[] = [];
  if (text === '') return ids;
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const last = BigInt(match[2] ?? match[1]);
    // A damaged text must not become an endless loop.
    if (last - BigInt(match[1]) > 100_000_000n) return undefined;
    for (let id = BigInt(match[1]); id <= last; id++) ids.push(id);
  }
  return ids;
}

/** A signed 64-bit decimal number; undefined where the text is none. */
export function parseLong(text: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > LONG_MAX || value < -LONG_MAX - 1n ? undefined : value;
}
