import {
  allSet,
  type BytesVector,
  type ColumnVector,
  concatVectors,
  filterVector,
  getBit,
  intersect,
  nullVector,
  type StructVector,
  type TimestampVector,
  type TypeDescription,
  typeToString,
} from '@skep/orc';
import { type Data, type DataType, type RecordBatch, Type } from 'apache-arrow';
import { ArrowMappingError } from './errors.js';
import { splitTime } from './int64-time.js';

/**
 * A record batch's columns as vectors of a struct type: matched by name without regard to case, in the type's order. Arrow's
 * types may be those that toArrowType makes, or others whose every value the column holds (narrower integers, large and
 * view forms, dictionaries, other time units); integers and decimals that are wider are checked value by value.
 */
export function fromRecordBatch(batch: RecordBatch, type: TypeDescription): StructVector {
  const found = new Map(batch.schema.fields.map((field, i) => [field.name.toLowerCase(), batch.data.children[i]]));
  const children = type.children.map((child, i) => {
    const name = type.fieldNames[i];
    const data = found.get(name.toLowerCase());
    if (data === undefined) {
      const names = batch.schema.fields.map((field) => field.name).join(', ');
      throw new ArrowMappingError('TYPE_MISMATCH', `column ${name} is missing: there are ${names}`);
    }
    return toVector(data, child, name);
  });
  return { kind: 'struct', length: batch.numRows, fieldNames: type.fieldNames, children };
}

/** A column's vector. */
export function toVector(data: Data, target: TypeDescription, path: string): ColumnVector {
  if (data.type.typeId === Type.Null) return nullVector(target, data.length);
  if (data.type.typeId === Type.Dictionary) return fromDictionary(data, target, path);
  const { length } = data;
  const validity = validityOf(data);
  switch (target.kind) {
    case 'boolean':
      expect(data, target, path, Type.Bool);
      return { kind: 'boolean', length, validity, values: unpackBits(data) };
    case 'byte':
      return { kind: 'byte', length, validity, values: integers(data, target, path, Int8Array, -128, 127) };
    case 'short':
      return { kind: 'short', length, validity, values: integers(data, target, path, Int16Array, -32768, 32767) };
    case 'int':
      return {
        kind: 'int',
        length,
        validity,
        values: integers(data, target, path, Int32Array, -(2 ** 31), 2 ** 31 - 1),
      };
    case 'long':
      return { kind: 'long', length, validity, values: longs(data, target, path) };
    case 'float':
      expect(data, target, path, Type.Float);
      return { kind: 'float', length, validity, values: floats(data, target, path) };
    case 'double':
      return { kind: 'double', length, validity, values: doubles(data, target, path) };
    case 'date':
      return { kind: 'date', length, validity, values: days(data, target, path) };
    case 'string':
    case 'char':
    case 'varchar':
      expect(data, target, path, Type.Utf8, Type.LargeUtf8, Type.Utf8View);
      return bytes(data, target.kind, validity);
    case 'binary':
      expect(data, target, path, Type.Binary, Type.LargeBinary, Type.BinaryView, Type.FixedSizeBinary);
      return bytes(data, 'binary', validity);
    case 'decimal':
      return decimals(data, target, path, validity);
    case 'timestamp':
    case 'timestamp_instant':
      return timestamps(data, target, path, validity);
    case 'list': {
      expect(data, target, path, Type.List, Type.LargeList, Type.FixedSizeList);
      const child = toVector(data.children[0], target.children[0], `${path}.element`);
      return { kind: 'list', length, validity, offsets: offsetsOf(data, path), child };
    }
    case 'map': {
      expect(data, target, path, Type.Map);
      const [keys, values] = data.children[0].children;
      return {
        kind: 'map',
        length,
        validity,
        offsets: offsetsOf(data, path),
        keys: toVector(keys, target.children[0], `${path}.key`),
        values: toVector(values, target.children[1], `${path}.value`),
      };
    }
    case 'struct':
      return structs(data, target, path, validity);
    case 'union':
      return unions(data, target, path);
  }
}

function mismatch(data: Data, target: TypeDescription, path: string): ArrowMappingError {
  return new ArrowMappingError('TYPE_MISMATCH', `column ${path} is ${typeToString(target)}, not Arrow's ${data.type}`);
}

function expect(data: Data, target: TypeDescription, path: string, ...ids: readonly Type[]): void {
  if (!ids.includes(data.type.typeId)) throw mismatch(data, target, path);
}

function outOfRange(value: number | bigint, row: number, target: TypeDescription, path: string): ArrowMappingError {
  const type = typeToString(target);
  return new ArrowMappingError('NOT_REPRESENTABLE', `column ${path}, row ${row} of the batch: ${value} is no ${type}`);
}

function validityOf(data: Data): Uint8Array | undefined {
  // Unions have none; the library counts the NULLs of their alternatives instead.
  const bitmap: Uint8Array | undefined | null = data.nullBitmap;
  if (!bitmap?.length || data.nullCount === 0) return undefined;
  if (data.offset === 0) return bitmap;
  const shifted = new Uint8Array(Math.ceil(data.length / 8));
  for (let row = 0; row < data.length; row++) {
    if (getBit(bitmap, data.offset + row)) shifted[row >> 3] |= 1 << (row & 7);
  }
  return shifted;
}

const isValid = (validity: Uint8Array | undefined, row: number): boolean =>
  validity === undefined || getBit(validity, row);

function unpackBits(data: Data): Uint8Array {
  const { length, offset } = data;
  const bits = data.values as Uint8Array;
  const values = new Uint8Array(length);
  for (let row = 0; row < length; row++) values[row] = (bits[(offset + row) >> 3] >> ((offset + row) & 7)) & 1;
  return values;
}

type SmallInts = Int8Array | Int16Array | Int32Array;

function integers<T extends SmallInts>(
  data: Data,
  target: TypeDescription,
  path: string,
  array: { new (length: number): T },
  least: number,
  most: number,
): T {
  expect(data, target, path, Type.Int);
  const { values, length } = data;
  if (values instanceof array) return values.subarray(0, length) as T;
  const validity = validityOf(data);
  const out = new array(length);
  const isWide = values instanceof BigInt64Array || values instanceof BigUint64Array;
  for (let row = 0; row < length; row++) {
    const value = Number(values[row]);
    if (value < least || value > most || (isWide && !Number.isSafeInteger(value))) {
      if (isValid(validity, row)) throw outOfRange(values[row], row, target, path);
      continue;
    }
    out[row] = value;
  }
  return out;
}

function longs(data: Data, target: TypeDescription, path: string): BigInt64Array {
  expect(data, target, path, Type.Int);
  const { values, length } = data;
  if (values instanceof BigInt64Array) return values.subarray(0, length);
  if (values instanceof BigUint64Array) {
    const validity = validityOf(data);
    const signed = new BigInt64Array(values.buffer, values.byteOffset, length);
    for (let row = 0; row < length; row++) {
      if (signed[row] < 0n && isValid(validity, row)) throw outOfRange(values[row], row, target, path);
    }
    return signed;
  }
  return BigInt64Array.from(values.subarray(0, length) as Int32Array, BigInt);
}

const precisionOf = (type: DataType): number => (type as unknown as { precision: number }).precision;

function floats(data: Data, target: TypeDescription, path: string): Float32Array {
  if (precisionOf(data.type) !== 1) throw mismatch(data, target, path);
  return (data.values as Float32Array).subarray(0, data.length);
}

function doubles(data: Data, target: TypeDescription, path: string): Float64Array {
  if (data.type.typeId === Type.Float && precisionOf(data.type) > 0) {
    const { values, length } = data;
    if (values instanceof Float64Array) return values.subarray(0, length);
    return Float64Array.from((values as Float32Array).subarray(0, length));
  }
  if (data.type.typeId === Type.Int && !(data.values instanceof BigInt64Array || data.values instanceof BigUint64Array))
    return Float64Array.from((data.values as Int32Array).subarray(0, data.length));
  throw mismatch(data, target, path);
}

function days(data: Data, target: TypeDescription, path: string): Int32Array {
  expect(data, target, path, Type.Date);
  const { values, length } = data;
  if (values instanceof Int32Array) return values.subarray(0, length);
  const validity = validityOf(data);
  return Int32Array.from({ length }, (_, row) => {
    const day = Number((values as BigInt64Array)[row]) / 86_400_000;
    if (!Number.isInteger(day)) {
      if (isValid(validity, row)) throw outOfRange((values as BigInt64Array)[row], row, target, path);
      return 0;
    }
    return day;
  });
}

/** Values and offsets of text and bytes, in any of Arrow's layouts. */
function bytes(data: Data, kind: BytesVector['kind'], validity: Uint8Array | undefined): BytesVector {
  const { length, type } = data;
  if (type.typeId === Type.Utf8View || type.typeId === Type.BinaryView) return viewBytes(data, kind, validity);
  const values = data.values as Uint8Array;
  if (type.typeId === Type.FixedSizeBinary) {
    const { byteWidth } = type as unknown as { byteWidth: number };
    return {
      kind,
      length,
      validity,
      bytes: values,
      offsets: Int32Array.from({ length: length + 1 }, (_, i) => i * byteWidth),
    };
  }
  // A batch without rows may come without offsets.
  if (length === 0) return { kind, length, validity, bytes: values, offsets: new Int32Array(1) };
  const given: Int32Array | BigInt64Array = data.valueOffsets;
  const offsets =
    given instanceof Int32Array
      ? given.subarray(0, length + 1)
      : Int32Array.from(given.subarray(0, length + 1), Number);
  return { kind, length, validity, bytes: values, offsets };
}

/** Views of 16 bytes: length, then the text itself (up to 12 bytes), or a prefix, a buffer's number and an offset. */
function viewBytes(data: Data, kind: BytesVector['kind'], validity: Uint8Array | undefined): BytesVector {
  const { length } = data;
  const buffers = (data as unknown as { variadicBuffers: readonly Uint8Array[] }).variadicBuffers;
  const values = data.values as Uint8Array;
  const views = new DataView(values.buffer, values.byteOffset, length * 16);
  const offsets = new Int32Array(length + 1);
  const sizeOf = (row: number) => (isValid(validity, row) ? views.getInt32(row * 16, true) : 0);
  for (let row = 0; row < length; row++) offsets[row + 1] = offsets[row] + sizeOf(row);
  const out = new Uint8Array(offsets[length]);
  for (let row = 0; row < length; row++) {
    const size = sizeOf(row);
    if (size <= 12) out.set(values.subarray(row * 16 + 4, row * 16 + 4 + size), offsets[row]);
    else {
      const at = views.getInt32(row * 16 + 12, true);
      out.set(buffers[views.getInt32(row * 16 + 8, true)].subarray(at, at + size), offsets[row]);
    }
  }
  return { kind, length, validity, bytes: out, offsets };
}

function decimals(data: Data, target: TypeDescription, path: string, validity: Uint8Array | undefined): ColumnVector {
  expect(data, target, path, Type.Decimal);
  const { precision = 38, scale = 0 } = target;
  const type = data.type as unknown as { precision: number; scale: number; bitWidth: number };
  const isWhole = type.scale <= scale && type.precision - type.scale <= precision - scale;
  if (type.bitWidth !== 128 || !isWhole) throw mismatch(data, target, path);
  const { length } = data;
  const given = data.values as Uint32Array;
  let words = alignedWords(given, length);
  if (type.scale < scale) {
    const factor = 10n ** BigInt(scale - type.scale);
    const scaled = new BigInt64Array(2 * length);
    for (let row = 0; row < length; row++) {
      const value = ((words[2 * row + 1] << 64n) | BigInt.asUintN(64, words[2 * row])) * factor;
      scaled[2 * row] = BigInt.asIntN(64, value);
      scaled[2 * row + 1] = BigInt.asIntN(64, value >> 64n);
    }
    words = scaled;
  }
  return { kind: 'decimal', length, validity, precision, scale, words };
}

function alignedWords(values: Uint32Array, length: number): BigInt64Array {
  if (values.byteOffset % 8 === 0) return new BigInt64Array(values.buffer, values.byteOffset, length * 2);
  const copy = values.slice(0, length * 4);
  return new BigInt64Array(copy.buffer, 0, length * 2);
}

/** By Arrow's TimeUnit: seconds, milli-, micro-, nanoseconds. */
const PER_SECOND = [1, 1000, 1_000_000, 1_000_000_000] as const;

function timestamps(
  data: Data,
  target: TypeDescription,
  path: string,
  validity: Uint8Array | undefined,
): TimestampVector {
  const kind = target.kind === 'timestamp' ? 'timestamp' : 'timestamp_instant';
  const { length } = data;
  if (data.type.typeId === Type.Struct) {
    const [seconds, nanos] = data.children;
    if (!(seconds?.values instanceof BigInt64Array && nanos?.values instanceof Int32Array))
      throw mismatch(data, target, path);
    const parts = { seconds: seconds.values.subarray(0, length), nanos: nanos.values.subarray(0, length) };
    for (let row = 0; row < length; row++) {
      const isNano = parts.nanos[row] >= 0 && parts.nanos[row] < 1_000_000_000;
      if (!isNano && isValid(validity, row)) throw outOfRange(parts.nanos[row], row, target, `${path}.nanos`);
    }
    return { kind, length, validity, ...parts };
  }
  expect(data, target, path, Type.Timestamp);
  const { unit, timezone } = data.type as unknown as { unit: number; timezone: string | null };
  // An instant is no wall time: which one it was depends on the zone, and the other way round.
  if ((kind === 'timestamp') !== (timezone === null || timezone === undefined || timezone === '')) {
    throw mismatch(data, target, path);
  }
  const seconds = new BigInt64Array(length);
  const nanos = new Int32Array(length);
  splitTime(data.values as BigInt64Array, length, PER_SECOND[unit], seconds, nanos);
  return { kind, length, validity, seconds, nanos };
}

function offsetsOf(data: Data, path: string): Int32Array {
  const { length, type } = data;
  if (type.typeId === Type.FixedSizeList) {
    const { listSize } = type as unknown as { listSize: number };
    return Int32Array.from({ length: length + 1 }, (_, i) => i * listSize);
  }
  if (length === 0) return new Int32Array(1);
  const given: Int32Array | BigInt64Array | undefined = data.valueOffsets;
  if (given === undefined || given.length <= length) {
    throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: a list's offsets are missing`);
  }
  return given instanceof Int32Array
    ? given.subarray(0, length + 1)
    : Int32Array.from(given.subarray(0, length + 1), Number);
}

function structs(data: Data, target: TypeDescription, path: string, validity: Uint8Array | undefined): StructVector {
  expect(data, target, path, Type.Struct);
  const names: string[] = data.type.children.map((field: { name: string }) => field.name.toLowerCase());
  const children = target.children.map((child, i) => {
    const name = target.fieldNames[i];
    const at = names.indexOf(name.toLowerCase());
    if (at < 0) throw new ArrowMappingError('TYPE_MISMATCH', `column ${path}: the field ${name} is missing`);
    return toVector(data.children[at], child, `${path}.${name}`);
  });
  if (names.length > children.length) {
    const extra = names.filter((name) => !target.fieldNames.some((known) => known.toLowerCase() === name));
    throw new ArrowMappingError('TYPE_MISMATCH', `column ${path} has no field ${extra.join(', ')}`);
  }
  return { kind: 'struct', length: data.length, validity, fieldNames: target.fieldNames, children };
}

/** Dense unions; rows of an alternative of type null are NULL as a whole. */
function unions(data: Data, target: TypeDescription, path: string): ColumnVector {
  expect(data, target, path, Type.Union);
  const { length } = data;
  const { mode, typeIds } = data.type as unknown as { mode: number; typeIds: ArrayLike<number> };
  const given = data as unknown as { typeIds: Int8Array; valueOffsets: Int32Array | undefined };
  const isDense = mode === 1;
  const alternatives = data.children.flatMap((child, i) => (child.type.typeId === Type.Null ? [] : [i]));
  if (alternatives.length !== target.children.length) throw mismatch(data, target, path);
  const children = alternatives.map((at, i) => toVector(data.children[at], target.children[i], `${path}.${i}`));
  const tagOf = new Map(alternatives.map((at, i) => [typeIds[at], i]));
  const tags = new Uint8Array(length);
  const rowOffsets = new Int32Array(length);
  const validity = allSet(length);
  let nulls = 0;
  for (let row = 0; row < length; row++) {
    const tag = tagOf.get(given.typeIds[row]);
    if (tag === undefined) {
      validity[row >> 3] &= ~(1 << (row & 7));
      nulls++;
      continue;
    }
    tags[row] = tag;
    rowOffsets[row] = isDense ? (given.valueOffsets?.[row] ?? 0) : row;
  }
  return { kind: 'union', length, validity: nulls === 0 ? undefined : validity, tags, rowOffsets, children };
}

/** A dictionary column as the plain column it stands for. */
function fromDictionary(data: Data, target: TypeDescription, path: string): ColumnVector {
  const chunks = data.dictionary?.data;
  if (chunks === undefined) throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: its dictionary is missing`);
  const { length } = data;
  const entries = concatVectors(chunks.map((chunk) => toVector(chunk as Data, target, path)));
  const validity = validityOf(data);
  const indices = data.values as Int32Array | BigInt64Array;
  const selection = new Int32Array(length);
  for (let row = 0; row < length; row++) {
    if (!isValid(validity, row)) continue;
    const index = Number(indices[row]);
    if (index < 0 || index >= entries.length) {
      const why = `index ${index} of row ${row} is not in its dictionary of ${entries.length}`;
      throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: ${why}`);
    }
    selection[row] = index;
  }
  if (entries.length === 0) return nullVector(target, length);
  const taken = filterVector(entries, selection);
  if (validity === undefined) return taken;
  const both = taken.validity === undefined ? validity : intersect(validity, taken.validity, length);
  return { ...taken, validity: both };
}
