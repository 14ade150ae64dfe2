import { sortKeys } from './sort-keys.js';

const INITIAL_KEYS = 1024;

/**
 * The distinct values of a text column in a stripe: a hash table with open addressing over bytes, without JS strings. Ids are given
 * in order of first appearance; `sortedIds` is the order in which ORC keeps the values.
 */
export class Dictionary {
  size = 0;
  private bytes = new Uint8Array(INITIAL_KEYS * 16);
  private view = new DataView(this.bytes.buffer);
  /** Key i is bytes[offsets[i], offsets[i + 1]). */
  private offsets = new Int32Array(INITIAL_KEYS + 1);
  private hashes = new Int32Array(INITIAL_KEYS);
  /** Id + 1 by hash; 0 is empty. At most half full. */
  private table = new Int32Array(INITIAL_KEYS * 2);

  get lengthBytes(): number {
    return this.offsets[this.size];
  }

  /** Memory that it takes. */
  get sizeBytes(): number {
    return this.lengthBytes + this.size * 16;
  }

  keyBytes(): Uint8Array {
    return this.bytes;
  }

  start(id: number): number {
    return this.offsets[id];
  }

  end(id: number): number {
    return this.offsets[id + 1];
  }

  /** The id of source[start, end), a new one where it is not known yet. `view` is of the same bytes. */
  add(source: Uint8Array, view: DataView, start: number, end: number): number {
    const hash = hashBytes(source, view, start, end);
    const { table, hashes } = this;
    const mask = table.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = table[slot] - 1;
      if (id < 0) return this.insert(source, start, end, hash, slot);
      if (hashes[id] === hash && this.equals(id, source, view, start, end)) return id;
    }
  }

  private equals(id: number, source: Uint8Array, sourceView: DataView, start: number, end: number): boolean {
    const { bytes, view } = this;
    const from = this.offsets[id];
    const length = end - start;
    if (this.offsets[id + 1] - from !== length) return false;
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      if (view.getInt32(from + i, true) !== sourceView.getInt32(start + i, true)) return false;
    }
    for (; i < length; i++) if (bytes[from + i] !== source[start + i]) return false;
    return true;
  }

  private insert(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const id = this.size++;
    const from = this.offsets[id];
    const to = from + end - start;
    if (to > this.bytes.length) {
      this.bytes = grown(this.bytes, to);
      this.view = new DataView(this.bytes.buffer);
    }
    this.bytes.set(source.subarray(start, end), from);
    if (id + 2 > this.offsets.length) this.offsets = grown(this.offsets, id + 2);
    this.offsets[id + 1] = to;
    if (id + 1 > this.hashes.length) this.hashes = grown(this.hashes, id + 1);
    this.hashes[id] = hash;
    this.table[slot] = id + 1;
    if (this.size * 2 > this.table.length) this.rehash();
    return id;
  }

  private rehash(): void {
    const table = new Int32Array(this.table.length * 4);
    const mask = table.length - 1;
    for (let id = 0; id < this.size; id++) {
      let slot = this.hashes[id] & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = id + 1;
    }
    this.table = table;
  }

  /** Ids in ascending order of their bytes (Java: StringRedBlackTree.visit). */
  sortedIds(): Int32Array {
    return sortKeys(this.bytes, this.offsets, this.size);
  }

  clear(): void {
    this.size = 0;
    this.table.fill(0);
    this.offsets[0] = 0;
  }
}

function grown<T extends Uint8Array | Int32Array>(array: T, needed: number): T {
  const bigger = new (array.constructor as { new (length: number): T })(Math.max(needed, array.length * 2));
  bigger.set(array);
  return bigger;
}

/** Four bytes at a time, then mixed as in Murmur3's end. Good enough to spread keys; never leaves the process. */
function hashBytes(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b | 0);
  return hash ^ (hash >>> 13);
}
