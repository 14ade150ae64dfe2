import { compareBytes } from '../compare-bytes.js';

/** Below this many keys comparing is as fast. */
const FEW = 12;
const TWO_21 = 1 << 21;

/**
 * Ids of keys in ascending order of their bytes; key i is bytes[offsets[i], offsets[i + 1]). Four bytes at a time and the place of the
 * id are packed into one double (32 and 21 bits), which the engine sorts without calling back; keys that agree are
 * then sorted by their next four bytes.
 */
export function sortKeys(bytes: Uint8Array, offsets: Int32Array, size: number): Int32Array {
  const ids = Int32Array.from({ length: size }, (_, id) => id);
  const compare = (a: number, b: number) =>
    compareBytes(bytes, offsets[a], offsets[a + 1], bytes, offsets[b], offsets[b + 1]);
  if (size > TWO_21) return ids.sort(compare);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const packed = new Float64Array(size);
  const places = new Int32Array(size);
  /** Ranges of ids whose keys agree before a depth: start, end, depth. */
  const open = [0, size, 0];
  while (open.length > 0) {
    const depth = open.pop() ?? 0;
    const end = open.pop() ?? 0;
    const start = open.pop() ?? 0;
    if (end - start <= FEW) {
      if (end - start > 1) insertionSort(ids, start, end, compare);
      continue;
    }
    let longer = false;
    for (let i = start; i < end; i++) {
      const at = offsets[ids[i]] + depth;
      const left = offsets[ids[i] + 1] - at;
      longer = longer || left > 4;
      packed[i] = wordAt(view, at, left) * TWO_21 + (i - start);
      places[i] = ids[i];
    }
    packed.subarray(start, end).sort();
    let from = start;
    let word = -1;
    for (let i = start; i < end; i++) {
      const own = Math.floor(packed[i] / TWO_21);
      ids[i] = places[start + packed[i] - own * TWO_21];
      if (own === word) continue;
      if (i - from > 1) agreeing(from, i);
      from = i;
      word = own;
    }
    if (end - from > 1) agreeing(from, end);

    function agreeing(first: number, last: number): void {
      // Keys that end here differ in length alone: zeros stand for what they do not have.
      if (longer) open.push(first, last, depth + 4);
      else ids.subarray(first, last).sort(compare);
    }
  }
  return ids;
}

/** Big endian; zeros behind the end. */
function wordAt(view: DataView, at: number, left: number): number {
  if (left >= 4) return view.getUint32(at);
  let word = 0;
  for (let i = 0; i < 4; i++) word = word * 256 + (i < left ? view.getUint8(at + i) : 0);
  return word;
}

function insertionSort(ids: Int32Array, start: number, end: number, compare: (a: number, b: number) => number): void {
  for (let i = start + 1; i < end; i++) {
    const id = ids[i];
    let to = i;
    for (; to > start && compare(ids[to - 1], id) > 0; to--) ids[to] = ids[to - 1];
    ids[to] = id;
  }
}
