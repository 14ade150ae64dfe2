import { BugError } from '@skep/core';
import {
  allSet,
  type BytesVector,
  bitmapBytes,
  type ColumnVector,
  type DecimalVector,
  filterVector,
  getBit,
  intersect,
  type ListVector,
  type MapVector,
  sliceBitmap,
  type TimestampVector,
  type UnionVector,
} from '@skep/orc';
import type { HiveType } from '../types/hive-type.js';
import type { Duck, Vector } from './bindings.js';
import { packNanoseconds } from './nanoseconds.js';

/*
 * Copies rows of our vectors into DuckDB's (toolchain.md §3): whole arrays at a time. DuckDB's own layouts are in its
 * duckdb.h; string_t is 16 bytes: length, then 12 bytes inline, or a 4-byte prefix and a pointer.
 */

/** Fills rows [0, count) of `target` with rows [start, start + count) of `source`. `mask` are the rows that an enclosing struct has. */
export function fillVector(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: ColumnVector,
  start: number,
  count: number,
  mask?: Uint8Array,
): void {
  const own = source.validity === undefined ? undefined : sliceBitmap(source.validity, start, start + count);
  const validity = intersect(own, mask, count);
  if (count > 0) {
    fillValues(duck, type, target, source, start, count, validity);
    if (validity !== undefined) fillValidity(duck, target, validity, count);
  }
}

/**
 * Fills rows [at, at + count) of `target`, whose rows before `at` came from another batch, with rows [start, start + count) of
 * `source`. Only for vectors that `canAppend` says yes to.
 */
export function appendVector(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: ColumnVector,
  start: number,
  count: number,
  at: number,
): void {
  fillValues(duck, type, target, source, start, count, undefined, at);
}

/** Whether a vector's rows can go behind others of a DuckDB vector: values of a fixed width, none of them null. */
export function canAppend({ kind, validity }: ColumnVector): boolean {
  if (validity !== undefined) return false;
  switch (kind) {
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
    case 'list':
    case 'map':
    case 'struct':
    case 'union':
      return false;
    default:
      return true;
  }
}

function fillValidity(duck: Duck, target: Vector, validity: Uint8Array, count: number): void {
  duck.vector_ensure_validity_writable(target);
  duck.copy_data_to_vector_validity(target, 0, validity.buffer as ArrayBuffer, validity.byteOffset, bitmapBytes(count));
}

/** `offset`: bytes of values that are before these. */
function copy(duck: Duck, target: Vector, values: ArrayBufferView, offset = 0): void {
  duck.copy_data_to_vector(target, offset, values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

function fillValues(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: ColumnVector,
  start: number,
  count: number,
  validity: Uint8Array | undefined,
  at = 0,
): void {
  switch (source.kind) {
    case 'boolean':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      copy(duck, target, source.values.subarray(start, start + count), at * source.values.BYTES_PER_ELEMENT);
      return;
    case 'timestamp':
    case 'timestamp_instant':
      fillTimestamps(duck, target, source, start, count, at);
      return;
    case 'decimal':
      fillDecimals(duck, type, target, source, start, count, at);
      return;
    case 'string':
    case 'varchar':
    case 'binary':
      fillBytes(duck, target, source, start, count, validity, false);
      return;
    case 'char':
      fillBytes(duck, target, source, start, count, validity, true);
      return;
    case 'list':
    case 'map':
      fillList(duck, type, target, source, start, count);
      return;
    case 'struct': {
      if (type.kind !== 'struct') throw new BugError(`a struct vector for ${type.kind}`);
      const { fields } = type;
      source.children.forEach((child, i) => {
        fillVector(duck, fields[i].type, duck.struct_vector_get_child(target, i), child, start, count, validity);
      });
      return;
    }
    case 'union':
      fillUnion(duck, type, target, source, start, count, validity);
      return;
  }
}

const words = (values: BigInt64Array, start: number, count: number): Int32Array =>
  new Int32Array(values.buffer, values.byteOffset + start * 8, count * 2);

function fillTimestamps(
  duck: Duck,
  target: Vector,
  source: TimestampVector,
  start: number,
  count: number,
  at: number,
): void {
  const out = new Int32Array(4 * count);
  packNanoseconds(words(source.seconds, start, count), source.nanos.subarray(start, start + count), count, out);
  copy(duck, target, out, at * 16);
}

function fillDecimals(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: DecimalVector,
  start: number,
  count: number,
  at: number,
): void {
  if (type.kind !== 'decimal' || source.scale !== type.scale) {
    throw new BugError(`a decimal vector of scale ${source.scale} for ${JSON.stringify(type)}`);
  }
  const from = words(source.words, start * 2, count * 2);
  if (type.precision > 18) {
    copy(duck, target, from, at * 16);
    return;
  }
  if (type.precision > 9) {
    const out = new Int32Array(count * 2);
    for (let i = 0; i < count; i++) {
      out[2 * i] = from[4 * i];
      out[2 * i + 1] = from[4 * i + 1];
    }
    copy(duck, target, out, at * 8);
    return;
  }
  const out = type.precision > 4 ? new Int32Array(count) : new Int16Array(count);
  for (let i = 0; i < count; i++) out[i] = from[4 * i];
  copy(duck, target, out, at * out.BYTES_PER_ELEMENT);
}

const INLINE_BYTES = 12;

/**
 * The batch's bytes are given to DuckDB as one string of row 0, whose heap the vector then owns; every row's string_t
 * points into it. An order of magnitude faster than a call a value.
 */
function fillBytes(
  duck: Duck,
  target: Vector,
  source: BytesVector,
  start: number,
  count: number,
  validity: Uint8Array | undefined,
  stripBlanks: boolean,
): void {
  const { offsets } = source;
  const from = offsets[start];
  const bytes = source.bytes.subarray(from, offsets[start + count]);
  let pointer = 0n;
  if (bytes.length > INLINE_BYTES) {
    duck.vector_assign_string_element_len(target, 0, bytes);
    const first = duck.vector_get_data(target, 16);
    pointer = new DataView(first.buffer, first.byteOffset, 16).getBigUint64(8, true);
  }
  const base = Number(pointer);
  const entries = new Int32Array(count * 4);
  const entryBytes = new Uint8Array(entries.buffer);
  for (let i = 0; i < count; i++) {
    if (validity !== undefined && !getBit(validity, i)) continue;
    const at = offsets[start + i] - from;
    let length = offsets[start + i + 1] - from - at;
    if (stripBlanks) while (length > 0 && bytes[at + length - 1] === 0x20) length--;
    entries[4 * i] = length;
    const to = 16 * i + 4;
    const copied = length <= INLINE_BYTES ? length : 4;
    for (let b = 0; b < copied; b++) entryBytes[to + b] = bytes[at + b];
    if (length > INLINE_BYTES) {
      // A user-space address is below 2^48.
      const address = base + at;
      entries[4 * i + 2] = (address % 0x1_0000_0000) | 0;
      entries[4 * i + 3] = Math.floor(address / 0x1_0000_0000);
    }
  }
  copy(duck, target, entries);
}

function fillList(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: ListVector | MapVector,
  start: number,
  count: number,
): void {
  const { offsets } = source;
  const from = offsets[start];
  const total = offsets[start + count] - from;
  const entries = new Int32Array(count * 4);
  for (let i = 0; i < count; i++) {
    entries[4 * i] = offsets[start + i] - from;
    entries[4 * i + 2] = offsets[start + i + 1] - offsets[start + i];
  }
  duck.list_vector_reserve(target, total);
  duck.list_vector_set_size(target, total);
  const child = duck.list_vector_get_child(target);
  if (source.kind === 'list') {
    if (type.kind !== 'array') throw new BugError(`a list vector for ${type.kind}`);
    fillVector(duck, type.element, child, source.child, from, total);
  } else {
    if (type.kind !== 'map') throw new BugError(`a map vector for ${type.kind}`);
    fillVector(duck, type.key, duck.struct_vector_get_child(child, 0), source.keys, from, total);
    fillVector(duck, type.value, duck.struct_vector_get_child(child, 1), source.values, from, total);
  }
  copy(duck, target, entries);
}

function fillUnion(
  duck: Duck,
  type: HiveType,
  target: Vector,
  source: UnionVector,
  start: number,
  count: number,
  validity: Uint8Array | undefined,
): void {
  if (type.kind !== 'uniontype') throw new BugError(`a union vector for ${type.kind}`);
  const { alternatives } = type;
  const tags = new Int8Array(source.tags.subarray(start, start + count));
  const tagVector = duck.struct_vector_get_child(target, 0);
  copy(duck, tagVector, tags);
  if (validity !== undefined) fillValidity(duck, tagVector, validity, count);
  source.children.forEach((child, tag) => {
    const rows = new Int32Array(count);
    const present = new Uint8Array(allSet(count));
    for (let i = 0; i < count; i++) {
      const has = tags[i] === tag && (validity === undefined || getBit(validity, i));
      rows[i] = has ? source.rowOffsets[start + i] : 0;
      if (!has) present[i >>> 3] &= ~(1 << (i & 7));
    }
    const inner = duck.struct_vector_get_child(target, tag + 1);
    if (child.length > 0) {
      fillVector(duck, alternatives[tag], inner, filterVector(child, rows), 0, count, present);
    } else if (count > 0) fillValidity(duck, inner, new Uint8Array(bitmapBytes(count)), count);
  });
}
