import { type BytesVector, type ColumnVector, isNull, type TimestampVector } from '@skep/orc';
import { daysFromCivil } from '../../text/calendar.js';
import { zoneOffsetSeconds } from '../../text/time-zone.js';
import { BINARY, type HiveType } from '../../types/hive-type.js';
import { UnsupportedFormatError } from '../errors.js';
import { encodeThrift, THRIFT, ThriftReader, type ThriftStruct, type ThriftValue } from './thrift-compact.js';

/*
 * Hive writes Parquet timestamps as INT96: 8 bytes nanoseconds of the day, 4 bytes Julian day number, little endian
 * (org.apache.hadoop.hive.ql.io.parquet.timestamp.NanoTime). DuckDB reads them to microseconds only. A footer that calls
 * these columns FIXED_LEN_BYTE_ARRAY(12), which is stored the same, gives their bytes.
 */

const INT96 = 3;
const FIXED_LEN_BYTE_ARRAY = 7;
const int96Bytes = 12;
/** Field ids in parquet.thrift. */
const FIELD = { schema: 2, rowGroups: 4, type: 1, typeLength: 2, columns: 1, metaData: 3, statistics: 12 };

/** The footer with INT96 columns as plain bytes. */
export function footerWithoutInt96(footer: Uint8Array, path: string): Uint8Array {
  const file = new ThriftReader(footer, path).struct();
  return encodeThrift(
    inField(
      inField(file, FIELD.schema, (list) => eachStruct(list, schemaElement)),
      FIELD.rowGroups,
      (list) =>
        eachStruct(list, (group) =>
          inField(group, FIELD.columns, (columns) =>
            eachStruct(columns, (column) => inField(column, FIELD.metaData, columnMetaData)),
          ),
        ),
    ),
  );
}

const isInt96 = (struct: ThriftStruct): boolean =>
  struct.some((field) => field.id === FIELD.type && field.value === INT96);

function schemaElement(element: ThriftStruct): ThriftStruct {
  if (!isInt96(element)) return element;
  const rest = element.filter((field) => field.id !== FIELD.type && field.id !== FIELD.typeLength);
  return [
    { id: FIELD.type, type: THRIFT.i32, value: FIXED_LEN_BYTE_ARRAY },
    { id: FIELD.typeLength, type: THRIFT.i32, value: int96Bytes },
    ...rest,
  ];
}

function columnMetaData(value: ThriftValue): ThriftValue {
  if (!isStruct(value) || !isInt96(value)) return value;
  return inField(
    value.filter((field) => field.id !== FIELD.statistics),
    FIELD.type,
    () => FIXED_LEN_BYTE_ARRAY,
  );
}

const isStruct = (value: ThriftValue): value is ThriftStruct => Array.isArray(value);

const inField = (struct: ThriftStruct, id: number, change: (value: ThriftValue) => ThriftValue): ThriftStruct =>
  struct.map((field) => (field.id === id ? { ...field, value: change(field.value) } : field));

function eachStruct(value: ThriftValue, change: (struct: ThriftStruct) => ThriftStruct): ThriftValue {
  if (typeof value !== 'object' || !('items' in value)) return value;
  return { ...value, items: value.items.map((item) => (isStruct(item) ? change(item) : item)) };
}

/** The type to read where timestamps come as INT96's bytes. */
export function withInt96(type: HiveType): HiveType {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamp with local time zone':
      return BINARY;
    case 'array':
      return { kind: 'array', element: withInt96(type.element) };
    case 'map':
      return { kind: 'map', key: withInt96(type.key), value: withInt96(type.value) };
    case 'struct':
      return {
        kind: 'struct',
        fields: type.fields.map((field) => ({ name: field.name, type: withInt96(field.type) })),
      };
    default:
      return type;
  }
}

/** A vector that was read as `withInt96(type)`, as one of `type`. `zone`: the writer's, in which wall times are meant. */
export function fromInt96(type: HiveType, vector: ColumnVector, zone: string): ColumnVector {
  switch (type.kind) {
    case 'timestamp':
      return timestamps(vector as BytesVector, 'timestamp', zone);
    case 'timestamp with local time zone':
      return timestamps(vector as BytesVector, 'timestamp_instant', 'UTC');
    case 'array':
      return vector.kind === 'list' ? { ...vector, child: fromInt96(type.element, vector.child, zone) } : vector;
    case 'map':
      if (vector.kind !== 'map') return vector;
      return {
        ...vector,
        keys: fromInt96(type.key, vector.keys, zone),
        values: fromInt96(type.value, vector.values, zone),
      };
    case 'struct':
      if (vector.kind !== 'struct') return vector;
      return {
        ...vector,
        children: vector.children.map((child, i) => fromInt96(type.fields[i].type, child, zone)),
      };
    default:
      return vector;
  }
}

const julianDayOfEpoch = 2440588;
const secondsPerDay = 86400;
const nanosPerSecond = 1_000_000_000n;

function timestamps(vector: BytesVector, kind: TimestampVector['kind'], zone: string): TimestampVector {
  const { length, validity } = vector;
  const seconds = new BigInt64Array(length);
  const nanos = new Int32Array(length);
  const view = new DataView(vector.bytes.buffer, vector.bytes.byteOffset, vector.bytes.byteLength);
  for (let row = 0; row < length; row++) {
    if (isNull(vector, row)) continue;
    const at = vector.offsets[row];
    const nanosOfDay = view.getBigInt64(at, true);
    const days = prolepticDay(view.getInt32(at + 8, true) - julianDayOfEpoch);
    const instant = days * secondsPerDay + Number(nanosOfDay / nanosPerSecond);
    const offset = zone === 'UTC' ? 0 : zoneOffsetSeconds(instant, zone, true);
    if (offset === undefined) throw new UnsupportedFormatError(`Time zone ${zone} of a Parquet file`);
    seconds[row] = BigInt(instant + offset);
    nanos[row] = Number(nanosOfDay % nanosPerSecond);
  }
  return { kind, length, validity, seconds, nanos };
}

/** 1582-10-15, the first day of the Gregorian calendar. */
const gregorianStart = -141427;

/**
 * Hive writes days before 1582-10-15 in the Julian calendar: 0001-01-01 as the day that the proleptic Gregorian calendar
 * calls 0000-12-30. The day of the same name in the latter.
 */
export function prolepticDay(day: number): number {
  if (day >= gregorianStart) return day;
  const shifted = day + julianDayOfEpoch + 32082;
  const years = Math.floor((4 * shifted + 3) / 1461);
  const dayOfYear = shifted - Math.floor((1461 * years) / 4);
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  return daysFromCivil(
    years - 4800 + Math.floor(month / 10),
    month + 3 - 12 * Math.floor(month / 10),
    dayOfYear - Math.floor((153 * month + 2) / 5) + 1,
  );
}

/** Dates of a file whose calendar is the old one (its metadata say writer.date.proleptic=false). */
export function prolepticDates(vector: ColumnVector): ColumnVector {
  switch (vector.kind) {
    case 'date':
      return { ...vector, values: vector.values.map(prolepticDay) };
    case 'list':
      return { ...vector, child: prolepticDates(vector.child) };
    case 'map':
      return { ...vector, keys: prolepticDates(vector.keys), values: prolepticDates(vector.values) };
    case 'struct':
      return { ...vector, children: vector.children.map(prolepticDates) };
    default:
      return vector;
  }
}
