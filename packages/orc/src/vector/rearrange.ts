import { BugError } from '@skep/core';
import type { BytesVector, ColumnVector, UnionVector } from '../vector.js';
import { bitmapBytes, copyBits, getBit, setBit, sliceBitmap } from './bitmap.js';

/** Rows [start, end) without copying values. */
export function sliceVector(vector: ColumnVector, start: number, end: number): ColumnVector {
  if (start === 0 && end === vector.length) return vector;
  const base = {
    length: end - start,
    validity: vector.validity === undefined ? undefined : sliceBitmap(vector.validity, start, end),
  };
  switch (vector.kind) {
    case 'boolean':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      return { ...base, kind: vector.kind, values: vector.values.subarray(start, end) } as ColumnVector;
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return { ...base, kind: vector.kind, bytes: vector.bytes, offsets: vector.offsets.subarray(start, end + 1) };
    case 'timestamp':
    case 'timestamp_instant':
      return {
        ...base,
        kind: vector.kind,
        seconds: vector.seconds.subarray(start, end),
        nanos: vector.nanos.subarray(start, end),
      };
    case 'decimal':
      return { ...vector, ...base, words: vector.words.subarray(2 * start, 2 * end) };
    case 'list':
    case 'map':
      return { ...vector, ...base, offsets: vector.offsets.subarray(start, end + 1) };
    case 'struct':
      return { ...vector, ...base, children: vector.children.map((child) => sliceVector(child, start, end)) };
    case 'union':
      return {
        ...vector,
        ...base,
        tags: vector.tags.subarray(start, end),
        rowOffsets: vector.rowOffsets.subarray(start, end),
      };
  }
}

/** The rows whose numbers are in `selection`, in that order; a row may be taken more than once. */
export function filterVector(vector: ColumnVector, selection: Int32Array): ColumnVector {
  const length = selection.length;
  const base = { length, validity: gatherBits(vector.validity, selection) };
  switch (vector.kind) {
    case 'boolean':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Uint8Array(length), selection) };
    case 'byte':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Int8Array(length), selection) };
    case 'short':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Int16Array(length), selection) };
    case 'int':
    case 'date':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Int32Array(length), selection) };
    case 'long':
      return { ...base, kind: vector.kind, values: gatherLongs(vector.values, selection) };
    case 'float':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Float32Array(length), selection) };
    case 'double':
      return { ...base, kind: vector.kind, values: gather(vector.values, new Float64Array(length), selection) };
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return { ...base, kind: vector.kind, ...gatherBytes(vector, selection) };
    case 'timestamp':
    case 'timestamp_instant':
      return {
        ...base,
        kind: vector.kind,
        seconds: gatherLongs(vector.seconds, selection),
        nanos: gather(vector.nanos, new Int32Array(length), selection),
      };
    case 'decimal':
      return { ...vector, ...base, words: gatherLongs(vector.words, selection, 2) };
    case 'list': {
      const { offsets, elements } = gatherElements(vector, selection);
      return { ...base, kind: 'list', offsets, child: filterVector(vector.child, elements) };
    }
    case 'map': {
      const { offsets, elements } = gatherElements(vector, selection);
      const keys = filterVector(vector.keys, elements);
      return { ...base, kind: 'map', offsets, keys, values: filterVector(vector.values, elements) };
    }
    case 'struct':
      return { ...vector, ...base, children: vector.children.map((child) => filterVector(child, selection)) };
    case 'union':
      return { ...base, ...gatherUnion(vector, selection) };
  }
}

function gatherBits(bitmap: Uint8Array | undefined, selection: Int32Array): Uint8Array | undefined {
  if (bitmap === undefined) return undefined;
  const out = new Uint8Array(bitmapBytes(selection.length));
  for (let i = 0; i < selection.length; i++) if (getBit(bitmap, selection[i])) setBit(out, i);
  return out;
}

function gather<T extends { [row: number]: number }>(from: T, to: T, selection: Int32Array): T {
  for (let i = 0; i < selection.length; i++) to[i] = from[selection[i]];
  return to;
}

/** `each` elements a row. An element that is only passed on costs no allocation. */
function gatherLongs(from: BigInt64Array, selection: Int32Array, each = 1): BigInt64Array<ArrayBuffer> {
  const { length } = selection;
  const out = new BigInt64Array(length * each);
  if (each === 1) {
    for (let i = 0; i < length; i++) out[i] = from[selection[i]];
    return out;
  }
  for (let i = 0, at = 0; i < length; i++) {
    const row = selection[i] * each;
    for (let e = 0; e < each; e++) out[at++] = from[row + e];
  }
  return out;
}

function gatherBytes(vector: BytesVector, selection: Int32Array): { bytes: Uint8Array; offsets: Int32Array } {
  const offsets = new Int32Array(selection.length + 1);
  let total = 0;
  for (let i = 0; i < selection.length; i++) {
    total += vector.offsets[selection[i] + 1] - vector.offsets[selection[i]];
    offsets[i + 1] = total;
  }
  const bytes = new Uint8Array(total);
  // Values that follow each other are copied at once.
  for (let i = 0; i < selection.length; ) {
    let end = i + 1;
    while (end < selection.length && selection[end] === selection[end - 1] + 1) end++;
    copyBytes(vector.bytes, vector.offsets[selection[i]], vector.offsets[selection[end - 1] + 1], bytes, offsets[i]);
    i = end;
  }
  return { bytes, offsets };
}

/** TypedArray.set and copyWithin cost some 100 ns a call: short ones are copied by hand. */
function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > 48) to.set(from.subarray(start, end), at);
  else for (let i = start, j = at; i < end; i++, j++) to[j] = from[i];
}

function gatherElements(
  vector: ColumnVector & { offsets: Int32Array },
  selection: Int32Array,
): { offsets: Int32Array; elements: Int32Array } {
  const offsets = new Int32Array(selection.length + 1);
  let total = 0;
  for (let i = 0; i < selection.length; i++) {
    total += vector.offsets[selection[i] + 1] - vector.offsets[selection[i]];
    offsets[i + 1] = total;
  }
  const elements = new Int32Array(total);
  for (let i = 0; i < selection.length; i++) {
    let from = vector.offsets[selection[i]];
    for (let at = offsets[i]; at < offsets[i + 1]; at++) elements[at] = from++;
  }
  return { offsets, elements };
}

function gatherUnion(vector: UnionVector, selection: Int32Array): Omit<UnionVector, 'length' | 'validity'> {
  const tags = new Uint8Array(selection.length);
  const rowOffsets = new Int32Array(selection.length);
  const rows = vector.children.map(() => [] as number[]);
  for (let i = 0; i < selection.length; i++) {
    const from = selection[i];
    const tag = vector.tags[from];
    tags[i] = tag;
    if (vector.validity !== undefined && !getBit(vector.validity, from)) continue;
    rowOffsets[i] = rows[tag].length;
    rows[tag].push(vector.rowOffsets[from]);
  }
  const children = vector.children.map((child, tag) => filterVector(child, Int32Array.from(rows[tag])));
  return { kind: 'union', tags, rowOffsets, children };
}

/** The rows of all vectors, one after the other. They are of one type; there is at least one. */
export function concatVectors(vectors: readonly ColumnVector[]): ColumnVector {
  const first = vectors[0];
  if (first === undefined) throw new BugError('concatVectors without vectors');
  if (vectors.length === 1) return first;
  const length = vectors.reduce((sum, vector) => sum + vector.length, 0);
  const base = { length, validity: concatBits(vectors, length) };
  switch (first.kind) {
    case 'boolean':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Uint8Array(length)) };
    case 'byte':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Int8Array(length)) };
    case 'short':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Int16Array(length)) };
    case 'int':
    case 'date':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Int32Array(length)) };
    case 'long':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new BigInt64Array(length)) };
    case 'float':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Float32Array(length)) };
    case 'double':
      return { ...base, kind: first.kind, values: concatArrays(of(first, vectors), new Float64Array(length)) };
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary': {
      const same = of(first, vectors);
      const { offsets, parts } = concatOffsets(same, length);
      const bytes = new Uint8Array(offsets[length]);
      same.forEach((vector, i) => {
        bytes.set(vector.bytes.subarray(vector.offsets[0], vector.offsets[vector.length]), parts[i]);
      });
      return { ...base, kind: first.kind, bytes, offsets };
    }
    case 'timestamp':
    case 'timestamp_instant': {
      const same = of(first, vectors);
      const seconds = new BigInt64Array(length);
      const nanos = new Int32Array(length);
      let at = 0;
      for (const vector of same) {
        seconds.set(vector.seconds.subarray(0, vector.length), at);
        nanos.set(vector.nanos.subarray(0, vector.length), at);
        at += vector.length;
      }
      return { ...base, kind: first.kind, seconds, nanos };
    }
    case 'decimal': {
      const words = new BigInt64Array(2 * length);
      let at = 0;
      for (const vector of of(first, vectors)) {
        words.set(vector.words.subarray(0, 2 * vector.length), at);
        at += 2 * vector.length;
      }
      return { ...first, ...base, words };
    }
    case 'list': {
      const same = of(first, vectors);
      const { offsets } = concatOffsets(same, length);
      const child = concatVectors(same.map((v) => sliceVector(v.child, v.offsets[0], v.offsets[v.length])));
      return { ...base, kind: 'list', offsets, child };
    }
    case 'map': {
      const same = of(first, vectors);
      const { offsets } = concatOffsets(same, length);
      const keys = concatVectors(same.map((v) => sliceVector(v.keys, v.offsets[0], v.offsets[v.length])));
      const values = concatVectors(same.map((v) => sliceVector(v.values, v.offsets[0], v.offsets[v.length])));
      return { ...base, kind: 'map', offsets, keys, values };
    }
    case 'struct': {
      const same = of(first, vectors);
      const children = first.children.map((_, i) => concatVectors(same.map((vector) => vector.children[i])));
      return { ...first, ...base, children };
    }
    case 'union':
      return { ...base, ...concatUnions(of(first, vectors), length) };
  }
}

function of<V extends ColumnVector>(first: V, vectors: readonly ColumnVector[]): readonly V[] {
  for (const vector of vectors) {
    const scale = vector.kind === 'decimal' && first.kind === 'decimal' && vector.scale !== first.scale;
    if (vector.kind !== first.kind || scale) throw new BugError(`a ${vector.kind} vector after a ${first.kind} vector`);
  }
  return vectors as readonly V[];
}

function concatArrays<A extends { set(array: A, at: number): void; subarray(start: number, end: number): A }>(
  vectors: readonly { readonly values: A; readonly length: number }[],
  out: A,
): A {
  let at = 0;
  for (const vector of vectors) {
    out.set(vector.values.subarray(0, vector.length), at);
    at += vector.length;
  }
  return out;
}

function concatBits(vectors: readonly ColumnVector[], length: number): Uint8Array | undefined {
  if (vectors.every((vector) => vector.validity === undefined)) return undefined;
  const out = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const vector of vectors) {
    copyBits(out, at, vector.validity, vector.length);
    at += vector.length;
  }
  return out;
}

/** Joined offsets from 0, and where each vector's elements start. */
function concatOffsets(
  vectors: readonly { readonly offsets: Int32Array; readonly length: number }[],
  length: number,
): { offsets: Int32Array; parts: number[] } {
  const offsets = new Int32Array(length + 1);
  const parts: number[] = [];
  let row = 0;
  for (const vector of vectors) {
    const start = offsets[row];
    parts.push(start);
    const shift = start - vector.offsets[0];
    if (shift + vector.offsets[vector.length] > 0x7fffffff) throw new BugError('vectors above 2 GiB cannot be joined');
    for (let i = 1; i <= vector.length; i++) offsets[++row] = vector.offsets[i] + shift;
  }
  return { offsets, parts };
}

function concatUnions(vectors: readonly UnionVector[], length: number): Omit<UnionVector, 'length' | 'validity'> {
  const tags = new Uint8Array(length);
  const rowOffsets = new Int32Array(length);
  const starts = vectors[0].children.map(() => 0);
  let at = 0;
  for (const vector of vectors) {
    for (let i = 0; i < vector.length; i++, at++) {
      tags[at] = vector.tags[i];
      rowOffsets[at] = vector.rowOffsets[i] + starts[vector.tags[i]];
    }
    vector.children.forEach((child, tag) => {
      starts[tag] += child.length;
    });
  }
  const children = vectors[0].children.map((_, tag) => concatVectors(vectors.map((vector) => vector.children[tag])));
  return { kind: 'union', tags, rowOffsets, children };
}
