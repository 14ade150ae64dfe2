import {
  allSet,
  type BytesVector,
  type ColumnVector,
  concatVectors,
  filterVector,
  intersect,
  nullVector,
  type StructVector,
  type TypeDescription,
} from '@skep/orc';
import { type Data, type RecordBatch, Type } from 'apache-arrow';
import { checkBuffers, checkOffsets, expect, isValid, mismatch, validityOf } from './arrow-data.js';
import { decimals } from './decimals.js';
import { ArrowMappingError } from './errors.js';
import { days, doubles, floats, integers, longs, timestamps, unpackBits } from './fixed-width.js';

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
  checkBuffers(data, path);
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
      return bytes(data, target.kind, validity, path);
    case 'binary':
      expect(data, target, path, Type.Binary, Type.LargeBinary, Type.BinaryView, Type.FixedSizeBinary);
      return bytes(data, 'binary', validity, path);
    case 'decimal':
      return decimals(data, target, path, validity);
    case 'timestamp':
    case 'timestamp_instant':
      return timestamps(data, target, path, validity);
    case 'list': {
      expect(data, target, path, Type.List, Type.LargeList, Type.FixedSizeList);
      const child = toVector(data.children[0], target.children[0], `${path}.element`);
      return { kind: 'list', length, validity, offsets: offsetsOf(data, child.length, path), child };
    }
    case 'map': {
      expect(data, target, path, Type.Map);
      const [keys, values] = data.children[0].children;
      return {
        kind: 'map',
        length,
        validity,
        offsets: offsetsOf(data, keys.length, path),
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

/** Values and offsets of text and bytes, in any of Arrow's layouts. */
function bytes(data: Data, kind: BytesVector['kind'], validity: Uint8Array | undefined, path: string): BytesVector {
  const { length, type } = data;
  if (type.typeId === Type.Utf8View || type.typeId === Type.BinaryView) return viewBytes(data, kind, validity, path);
  const values = data.values as Uint8Array;
  if (type.typeId !== Type.FixedSizeBinary) {
    return { kind, length, validity, bytes: values, offsets: offsetsOf(data, values.length, path) };
  }
  const { byteWidth } = type as unknown as { byteWidth: number };
  return {
    kind,
    length,
    validity,
    bytes: values,
    offsets: Int32Array.from({ length: length + 1 }, (_, i) => i * byteWidth),
  };
}

/** Views of 16 bytes: length, then the text itself (up to 12 bytes), or a prefix, a buffer's number and an offset. */
function viewBytes(data: Data, kind: BytesVector['kind'], validity: Uint8Array | undefined, path: string): BytesVector {
  const { length } = data;
  const buffers = (data as unknown as { variadicBuffers: readonly Uint8Array[] }).variadicBuffers;
  const values = data.values as Uint8Array;
  const broken = (row: number) =>
    new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: the view of row ${row} points outside of its buffers`);
  if (values.length < length * 16) throw broken(values.length >> 4);
  const views = new DataView(values.buffer, values.byteOffset, length * 16);
  const offsets = new Int32Array(length + 1);
  const sizeOf = (row: number) => (isValid(validity, row) ? views.getInt32(row * 16, true) : 0);
  for (let row = 0; row < length; row++) {
    const size = sizeOf(row);
    // Sums beyond 2^31 cannot be told in int32 offsets; a batch of that size comes in parts.
    if (size < 0 || offsets[row] + size > 2 ** 31 - 1) throw broken(row);
    offsets[row + 1] = offsets[row] + size;
  }
  const out = new Uint8Array(offsets[length]);
  for (let row = 0; row < length; row++) {
    const size = sizeOf(row);
    if (size <= 12) out.set(values.subarray(row * 16 + 4, row * 16 + 4 + size), offsets[row]);
    else {
      const at = views.getInt32(row * 16 + 12, true);
      const buffer: Uint8Array | undefined = buffers[views.getInt32(row * 16 + 8, true)];
      if (buffer === undefined || at < 0 || at + size > buffer.length) throw broken(row);
      out.set(buffer.subarray(at, at + size), offsets[row]);
    }
  }
  return { kind, length, validity, bytes: out, offsets };
}

/** The offsets of text or lists into `limit` values. */
function offsetsOf(data: Data, limit: number, path: string): Int32Array {
  const { length, type } = data;
  if (type.typeId === Type.FixedSizeList) {
    const { listSize } = type as unknown as { listSize: number };
    return checkOffsets(
      Int32Array.from({ length: length + 1 }, (_, i) => i * listSize),
      limit,
      path,
    );
  }
  // A batch without rows may come without offsets.
  if (length === 0) return new Int32Array(1);
  const given: Int32Array | BigInt64Array | undefined = data.valueOffsets;
  if (given === undefined || given.length <= length) {
    throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: its offsets are missing`);
  }
  const offsets =
    given instanceof Int32Array
      ? given.subarray(0, length + 1)
      : Int32Array.from(given.subarray(0, length + 1), Number);
  return checkOffsets(offsets, limit, path);
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
    const offset = isDense ? (given.valueOffsets?.[row] ?? -1) : row;
    if (offset < 0 || offset >= children[tag].length) {
      const why = `row ${row} is row ${offset} of an alternative with ${children[tag].length}`;
      throw new ArrowMappingError('BAD_ARROW_DATA', `column ${path}: ${why}`);
    }
    rowOffsets[row] = offset;
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
