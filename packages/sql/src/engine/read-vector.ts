import { bitmapBytes, type ColumnVector, filterVector, getBit } from '@skep/orc';
import type { HiveType } from '../types/hive-type.js';
import type { Duck, Vector } from './bindings.js';
import { unpackNanoseconds } from './nanoseconds.js';

/*
 * Copies rows out of DuckDB's vectors (flat, as the C API hands them out). Everything is copied: the memory belongs to the
 * chunk.
 */

/** The first `count` rows. */
export function readVector(duck: Duck, type: HiveType, vector: Vector, count: number): ColumnVector {
  const validity = readValidity(duck, vector, count);
  return readValues(duck, type, vector, count, validity);
}

function readValidity(duck: Duck, vector: Vector, count: number): Uint8Array | undefined {
  if (count === 0) return undefined;
  const found = duck.vector_get_validity(vector, Math.ceil(count / 64) * 8) as Uint8Array | null;
  return found === null || found.length === 0 ? undefined : found.slice(0, bitmapBytes(count));
}

function data(duck: Duck, vector: Vector, bytes: number): ArrayBuffer {
  const out = new Uint8Array(bytes);
  if (bytes > 0) out.set(duck.vector_get_data(vector, bytes));
  return out.buffer;
}

function readValues(
  duck: Duck,
  type: HiveType,
  vector: Vector,
  count: number,
  validity: Uint8Array | undefined,
): ColumnVector {
  const base = { length: count, validity };
  switch (type.kind) {
    case 'void':
    case 'boolean':
      return { ...base, kind: 'boolean', values: new Uint8Array(data(duck, vector, count)) };
    case 'tinyint':
      return { ...base, kind: 'byte', values: new Int8Array(data(duck, vector, count)) };
    case 'smallint':
      return { ...base, kind: 'short', values: new Int16Array(data(duck, vector, count * 2)) };
    case 'int':
    case 'interval_year_month':
      return { ...base, kind: 'int', values: new Int32Array(data(duck, vector, count * 4)) };
    case 'date':
      return { ...base, kind: 'date', values: new Int32Array(data(duck, vector, count * 4)) };
    case 'bigint':
      return { ...base, kind: 'long', values: new BigInt64Array(data(duck, vector, count * 8)) };
    case 'float':
      return { ...base, kind: 'float', values: new Float32Array(data(duck, vector, count * 4)) };
    case 'double':
      return { ...base, kind: 'double', values: new Float64Array(data(duck, vector, count * 8)) };
    case 'timestamp':
    case 'timestamp with local time zone':
    case 'interval_day_time': {
      const seconds = new BigInt64Array(count);
      const nanos = new Int32Array(count);
      unpackNanoseconds(new Int32Array(data(duck, vector, count * 16)), count, new Int32Array(seconds.buffer), nanos);
      const kind = type.kind === 'timestamp with local time zone' ? 'timestamp_instant' : 'timestamp';
      return { ...base, kind, seconds, nanos };
    }
    case 'decimal':
      return {
        ...base,
        kind: 'decimal',
        precision: type.precision,
        scale: type.scale,
        words: readDecimals(duck, type.precision, vector, count),
      };
    case 'string':
    case 'varchar':
    case 'binary':
      return { ...base, kind: type.kind, ...readBytes(duck, vector, count, validity) };
    case 'char':
      return { ...base, kind: 'char', ...padded(readBytes(duck, vector, count, validity), type.length, validity) };
    case 'array': {
      const { offsets, compact } = readOffsets(duck, vector, count, validity);
      const size = duck.list_vector_get_size(vector);
      const child = readVector(duck, type.element, duck.list_vector_get_child(vector), size);
      return { ...base, kind: 'list', offsets, child: compact(child) };
    }
    case 'map': {
      const { offsets, compact } = readOffsets(duck, vector, count, validity);
      const size = duck.list_vector_get_size(vector);
      const entries = duck.list_vector_get_child(vector);
      const keys = readVector(duck, type.key, duck.struct_vector_get_child(entries, 0), size);
      const values = readVector(duck, type.value, duck.struct_vector_get_child(entries, 1), size);
      return { ...base, kind: 'map', offsets, keys: compact(keys), values: compact(values) };
    }
    case 'struct':
      return {
        ...base,
        kind: 'struct',
        fieldNames: type.fields.map((field) => field.name),
        children: type.fields.map((field, i) =>
          readVector(duck, field.type, duck.struct_vector_get_child(vector, i), count),
        ),
      };
    case 'uniontype': {
      const rowOffsets = new Int32Array(count);
      for (let i = 0; i < count; i++) rowOffsets[i] = i;
      return {
        ...base,
        kind: 'union',
        tags: new Uint8Array(data(duck, duck.struct_vector_get_child(vector, 0), count)),
        rowOffsets,
        children: type.alternatives.map((alternative, i) =>
          readVector(duck, alternative, duck.struct_vector_get_child(vector, i + 1), count),
        ),
      };
    }
  }
}

function readDecimals(duck: Duck, precision: number, vector: Vector, count: number): BigInt64Array {
  if (precision > 18) return new BigInt64Array(data(duck, vector, count * 16));
  const words = new BigInt64Array(count * 2);
  const out = new Int32Array(words.buffer);
  if (precision > 9) {
    const from = new Int32Array(data(duck, vector, count * 8));
    for (let i = 0; i < count; i++) {
      out[4 * i] = from[2 * i];
      out[4 * i + 1] = from[2 * i + 1];
      out[4 * i + 2] = out[4 * i + 3] = from[2 * i + 1] >> 31;
    }
    return words;
  }
  const from =
    precision > 4 ? new Int32Array(data(duck, vector, count * 4)) : new Int16Array(data(duck, vector, count * 2));
  for (let i = 0; i < count; i++) {
    out[4 * i] = from[i];
    out[4 * i + 1] = out[4 * i + 2] = out[4 * i + 3] = from[i] >> 31;
  }
  return words;
}

const INLINE_BYTES = 12;
/** Strings of one heap lie side by side, at most alignment apart: a gap this small is mapped memory. */
const LARGEST_GAP = 16;

/** Long strings are fetched in runs of neighbours: a call each would cost more than everything else. */
function readBytes(
  duck: Duck,
  vector: Vector,
  count: number,
  validity: Uint8Array | undefined,
): { bytes: Uint8Array; offsets: Int32Array } {
  const offsets = new Int32Array(count + 1);
  if (count === 0) return { bytes: new Uint8Array(0), offsets };
  const raw = data(duck, vector, count * 16);
  const entries = new Int32Array(raw);
  const inline = new Uint8Array(raw);
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (validity === undefined || getBit(validity, i)) total += entries[4 * i];
    offsets[i + 1] = total;
  }
  const bytes = new Uint8Array(total);
  const address = (i: number) => entries[4 * i + 3] * 0x1_0000_0000 + (entries[4 * i + 2] >>> 0);
  const isLong = (i: number) => entries[4 * i] > INLINE_BYTES && (validity === undefined || getBit(validity, i));
  for (let i = 0; i < count; i++) {
    if (validity !== undefined && !getBit(validity, i)) continue;
    if (!isLong(i)) {
      const at = offsets[i];
      for (let b = 0; b < entries[4 * i]; b++) bytes[at + b] = inline[16 * i + 4 + b];
      continue;
    }
    const start = address(i);
    let end = start + entries[4 * i];
    let last = i;
    for (let next = i + 1; next < count; next++) {
      if (!isLong(next)) break;
      const gap = address(next) - end;
      if (gap < 0 || gap > LARGEST_GAP) break;
      end = address(next) + entries[4 * next];
      last = next;
    }
    const run = duck.get_data_from_pointer(raw, 16 * i + 8, end - start);
    for (let row = i; row <= last; row++) {
      const from = address(row) - start;
      bytes.set(run.subarray(from, from + entries[4 * row]), offsets[row]);
    }
    i = last;
  }
  return { bytes, offsets };
}

/** char values get their trailing blanks back, as ORC files and Hive's clients have them. */
function padded(
  values: { bytes: Uint8Array; offsets: Int32Array },
  length: number,
  validity: Uint8Array | undefined,
): { bytes: Uint8Array; offsets: Int32Array } {
  const count = values.offsets.length - 1;
  const blanks = new Int32Array(count);
  let more = 0;
  for (let i = 0; i < count; i++) {
    if (validity !== undefined && !getBit(validity, i)) continue;
    let characters = 0;
    for (let at = values.offsets[i]; at < values.offsets[i + 1]; at++) {
      if ((values.bytes[at] & 0xc0) !== 0x80) characters++;
    }
    blanks[i] = Math.max(0, length - characters);
    more += blanks[i];
  }
  const bytes = new Uint8Array(values.bytes.length + more).fill(0x20);
  const offsets = new Int32Array(count + 1);
  for (let i = 0; i < count; i++) {
    bytes.set(values.bytes.subarray(values.offsets[i], values.offsets[i + 1]), offsets[i]);
    offsets[i + 1] = offsets[i] + values.offsets[i + 1] - values.offsets[i] + blanks[i];
  }
  return { bytes, offsets };
}

/** DuckDB's list entries are (offset, length) in any order; ours are consecutive. */
function readOffsets(
  duck: Duck,
  vector: Vector,
  count: number,
  validity: Uint8Array | undefined,
): { offsets: Int32Array; compact: (child: ColumnVector) => ColumnVector } {
  const entries = new Int32Array(data(duck, vector, count * 16));
  const offsets = new Int32Array(count + 1);
  let consecutive = true;
  for (let i = 0; i < count; i++) {
    const has = validity === undefined || getBit(validity, i);
    const length = has ? entries[4 * i + 2] : 0;
    if (length > 0 && entries[4 * i] !== offsets[i]) consecutive = false;
    offsets[i + 1] = offsets[i] + length;
  }
  if (consecutive) return { offsets, compact: (child) => child };
  const selection = new Int32Array(offsets[count]);
  for (let i = 0; i < count; i++) {
    for (let at = offsets[i], from = entries[4 * i]; at < offsets[i + 1]; at++, from++) selection[at] = from;
  }
  return { offsets, compact: (child) => filterVector(child, selection) };
}
