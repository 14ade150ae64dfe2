import { type BytesVector, type ColumnVector, countSet, getBit, type StructVector } from '@skep/orc';
import {
  type Data,
  type DataType,
  type Field,
  makeData,
  Null,
  RecordBatch,
  type Schema,
  Struct,
  Type,
} from 'apache-arrow';
import { ArrowMappingError } from './errors.js';
import { joinTime } from './int64-time.js';

/** Columns' rows as a record batch of the schema (toArrowSchema of the same type). Memory is shared where the layouts agree. */
export function toRecordBatch(schema: Schema, root: StructVector): RecordBatch {
  const children = schema.fields.map((field, i) => toData(field, root.children[i], field.name));
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: root.length, nullCount: 0, children }),
  );
}

interface Nulls {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
}

function nullsOf({ length, validity }: ColumnVector): Nulls {
  if (validity === undefined) return { length, nullCount: 0 };
  const nullCount = length - countSet(validity, length);
  return nullCount === 0 ? { length, nullCount } : { length, nullCount, nullBitmap: validity };
}

function toData({ type }: Field, vector: ColumnVector, path: string): Data {
  const nulls = nullsOf(vector);
  const { length } = nulls;
  // makeData's overloads want each type's own class; these are made by toArrowType for this very vector.
  const make = (parts: object): Data => makeData({ type, ...nulls, ...parts } as never) as Data;
  switch (vector.kind) {
    case 'boolean':
      return make({ data: packBits(vector.values, length) });
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      return make({ data: vector.values.subarray(0, length) });
    case 'char': {
      const { offsets, bytes } = withoutBlanks(vector);
      return make({ valueOffsets: offsets.subarray(0, length + 1), data: bytes });
    }
    case 'string':
    case 'varchar':
    case 'binary':
      return make({ valueOffsets: vector.offsets.subarray(0, length + 1), data: vector.bytes });
    case 'decimal':
      return make({ data: new Uint32Array(vector.words.buffer, vector.words.byteOffset, length * 4) });
    case 'timestamp':
    case 'timestamp_instant':
      return timestampData(type, vector, make, path);
    case 'list':
      return make({
        valueOffsets: vector.offsets.subarray(0, length + 1),
        child: toData(type.children[0], vector.child, `${path}.element`),
      });
    case 'map': {
      const entries = type.children[0] as Field<Struct>;
      const [key, value] = entries.type.children;
      const children = [toData(key, vector.keys, `${path}.key`), toData(value, vector.values, `${path}.value`)];
      refuseNullKeys(children[0], path);
      return make({
        valueOffsets: vector.offsets.subarray(0, length + 1),
        child: makeData({ type: entries.type, length: vector.keys.length, nullCount: 0, children }),
      });
    }
    case 'struct':
      return make({
        children: vector.children.map((child, i) => {
          const field = type.children[i] as Field;
          return toData(field, child, `${path}.${field.name}`);
        }),
      });
    case 'union': {
      const nullTag = vector.children.length;
      const tags = Int8Array.from(vector.tags.subarray(0, length));
      const valueOffsets = vector.rowOffsets.slice(0, length);
      let nullRows = 0;
      if (nulls.nullBitmap !== undefined) {
        for (let row = 0; row < length; row++) {
          if (getBit(nulls.nullBitmap, row)) continue;
          tags[row] = nullTag;
          valueOffsets[row] = nullRows++;
        }
      }
      const children = vector.children.map((child, i) => toData(type.children[i], child, `${path}.${i}`));
      children.push(makeData({ type: new Null(), length: nullRows }) as Data);
      return makeData({ type, length, nullCount: 0, typeIds: tags, valueOffsets, children } as never) as Data;
    }
  }
}

const BLANK = 32;

/** Files may have a char with or without the blanks at its end; clients get it without. */
function withoutBlanks({ offsets, bytes, length }: BytesVector): Pick<BytesVector, 'offsets' | 'bytes'> {
  const endOf = (row: number): number => {
    let end = offsets[row + 1];
    while (end > offsets[row] && bytes[end - 1] === BLANK) end--;
    return end;
  };
  let isClean = true;
  for (let row = 0; row < length && isClean; row++) isClean = endOf(row) === offsets[row + 1];
  if (isClean) return { offsets, bytes };
  const ends = new Int32Array(length + 1);
  const kept = new Uint8Array(offsets[length] - offsets[0]);
  for (let row = 0; row < length; row++) {
    const value = bytes.subarray(offsets[row], endOf(row));
    kept.set(value, ends[row]);
    ends[row + 1] = ends[row] + value.length;
  }
  return { offsets: ends, bytes: kept };
}

function timestampData(
  type: DataType,
  vector: Extract<ColumnVector, { kind: 'timestamp' | 'timestamp_instant' }>,
  make: (parts: object) => Data,
  path: string,
): Data {
  const { length, validity, seconds, nanos } = vector;
  if (type.typeId === Type.Struct) {
    const parts = [seconds.subarray(0, length), nanos.subarray(0, length)];
    const children = parts.map((data, i) => {
      return makeData({ type: type.children[i].type, length, nullCount: 0, data } as never) as Data;
    });
    return make({ children });
  }
  const { unit } = type as unknown as { unit: number };
  const perSecond = unit === NANOSECONDS ? 1_000_000_000 : 1_000_000;
  const data = new BigInt64Array(length);
  const bad = joinTime(
    seconds,
    nanos,
    length,
    perSecond,
    data,
    (row) => validity === undefined || getBit(validity, row),
  );
  if (bad < 0) return make({ data });
  const value = `${seconds[bad]} s and ${nanos[bad]} ns since 1970`;
  throw new ArrowMappingError(
    'NOT_REPRESENTABLE',
    perSecond === 1_000_000
      ? `column ${path}: the timestamp ${value} has nanoseconds, which timestamp[us] has not: ask for "timestamps": "struct" (or "ns")`
      : `column ${path}: the timestamp ${value} is outside of timestamp[ns] (1677-09-21 to 2262-04-11): ask for "timestamps": "us" or "struct"`,
  );
}

/** Arrow's TimeUnit. */
const NANOSECONDS = 3;

function refuseNullKeys(keys: Data, path: string): void {
  if (keys.nullCount === 0) return;
  throw new ArrowMappingError(
    'NOT_REPRESENTABLE',
    `column ${path}: a map has a NULL key, which Arrow's maps cannot have`,
  );
}

function packBits(values: Uint8Array, length: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 64) * 8);
  const whole = length - (length % 8);
  for (let row = 0, at = 0; row < whole; row += 8, at++) {
    bits[at] =
      values[row] |
      (values[row + 1] << 1) |
      (values[row + 2] << 2) |
      (values[row + 3] << 3) |
      (values[row + 4] << 4) |
      (values[row + 5] << 5) |
      (values[row + 6] << 6) |
      (values[row + 7] << 7);
  }
  for (let row = whole; row < length; row++) bits[row >> 3] |= values[row] << (row & 7);
  return bits;
}
