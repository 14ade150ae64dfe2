import { LONGEST_CODE } from './tables.js';

/** Lengths of codes in which `frequencies` take the fewest bits (Huffman), none longer than `longest`. 0: never used. */
export function codeLengths(frequencies: Uint32Array, longest: number): Uint8Array {
  const lengths = new Uint8Array(frequencies.length);
  const used = sortedSymbols(frequencies);
  const { length: count } = used;
  if (count === 0) return lengths;
  if (count === 1) {
    lengths[used[0]] = 1;
    return lengths;
  }
  const numbers = lengthNumbers(frequencies, used);
  shorten(numbers, longest);
  // The most frequent ones get the shortest.
  let at = count;
  for (let length = 1; length < numbers.length; length++) {
    for (let left = numbers[length]; left > 0; left--) lengths[used[--at]] = length;
  }
  return lengths;
}

/** Used symbols, the rarest first; of equal ones the lower first. */
function sortedSymbols(frequencies: Uint32Array): Uint32Array {
  const keys = new Float64Array(frequencies.length);
  let count = 0;
  for (let i = 0; i < frequencies.length; i++) if (frequencies[i] > 0) keys[count++] = frequencies[i] * 512 + i;
  return Uint32Array.from(keys.subarray(0, count).sort(), (key) => key % 512);
}

/** How many codes of each length Huffman's tree has. Nodes are made in the order of their weights, so that two queues do. */
function lengthNumbers(frequencies: Uint32Array, used: Uint32Array): Uint32Array {
  const { length: count } = used;
  const nodes = 2 * count - 1;
  const weights = new Float64Array(nodes);
  const parents = new Uint16Array(nodes);
  for (let i = 0; i < count; i++) weights[i] = frequencies[used[i]];
  let leaf = 0;
  let inner = count;
  for (let node = count; node < nodes; node++) {
    for (let child = 0; child < 2; child++) {
      const next = leaf < count && (inner >= node || weights[leaf] <= weights[inner]) ? leaf++ : inner++;
      weights[node] += weights[next];
      parents[next] = node;
    }
  }
  const depths = new Uint16Array(nodes);
  const numbers = new Uint32Array(count + 1);
  for (let node = nodes - 2; node >= 0; node--) {
    depths[node] = depths[parents[node]] + 1;
    if (node < count) numbers[depths[node]]++;
  }
  return numbers;
}

/** Longer codes than allowed become as long as allowed; for each that this makes too many, a shorter one becomes longer. */
function shorten(numbers: Uint32Array, longest: number): void {
  if (numbers.length <= longest + 1) return;
  for (let length = longest + 1; length < numbers.length; length++) {
    numbers[longest] += numbers[length];
    numbers[length] = 0;
  }
  let taken = 0;
  for (let length = 1; length <= longest; length++) taken += numbers[length] * 2 ** (longest - length);
  for (; taken > 2 ** longest; taken--) {
    numbers[longest]--;
    let length = longest - 1;
    while (numbers[length] === 0) length--;
    numbers[length]--;
    numbers[length + 1] += 2;
  }
}

/** The codes of the lengths (RFC 1951, 3.2.2), their bits reversed: DEFLATE has the first bit lowest. */
export function reversedCodes(lengths: Uint8Array): Uint16Array {
  const numbers = new Uint16Array(LONGEST_CODE + 1);
  for (const length of lengths) if (length > 0) numbers[length]++;
  const next = new Uint16Array(LONGEST_CODE + 2);
  for (let length = 1; length <= LONGEST_CODE; length++) next[length + 1] = (next[length] + numbers[length]) << 1;
  return Uint16Array.from(lengths, (length) => (length === 0 ? 0 : reversed(next[length]++, length)));
}

function reversed(code: number, length: number): number {
  let out = 0;
  for (let i = 0; i < length; i++) out |= ((code >>> i) & 1) << (length - 1 - i);
  return out;
}
