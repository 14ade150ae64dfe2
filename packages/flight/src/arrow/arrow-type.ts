import {
  createList,
  createMap,
  createStruct,
  createUnion,
  parseType,
  type TypeDescription,
  typeToString,
} from '@skep/orc';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  DenseUnion,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  TimestampMicrosecond,
  TimestampNanosecond,
  Type,
  Utf8,
} from 'apache-arrow';
import { ArrowMappingError } from './errors.js';
import type { ArrowOptions } from './options.js';

/** Field metadata with the ORC (and Hive) type, which tells char and varchar from string. */
export const TYPE_KEY = 'orc.type';

/** The name of the alternative that stands for a NULL of the union itself: Arrow's unions have no validity bitmap. */
export const NULL_ALTERNATIVE = 'null';

const INSTANT_ZONE = 'UTC';

/** The Arrow schema of a struct's fields. Every field may be NULL. */
export function toArrowSchema(
  type: TypeDescription,
  options: ArrowOptions = {},
  metadata: ReadonlyMap<string, string> = new Map(),
): Schema {
  const fields = type.children.map((child, i) => toArrowField(type.fieldNames[i], child, options));
  return new Schema(fields, new Map(metadata));
}

export function toArrowField(name: string, type: TypeDescription, options: ArrowOptions = {}): Field {
  return new Field(name, toArrowType(type, options), true, new Map([[TYPE_KEY, typeToString(type)]]));
}

export function toArrowType(type: TypeDescription, options: ArrowOptions = {}): DataType {
  switch (type.kind) {
    case 'boolean':
      return new Bool();
    case 'byte':
      return new Int8();
    case 'short':
      return new Int16();
    case 'int':
      return new Int32();
    case 'long':
      return new Int64();
    case 'float':
      return new Float32();
    case 'double':
      return new Float64();
    case 'string':
    case 'char':
    case 'varchar':
      return new Utf8();
    case 'binary':
      return new Binary();
    case 'date':
      return new DateDay();
    case 'timestamp':
    case 'timestamp_instant':
      return timestampType(type.kind, options);
    case 'decimal':
      return new Decimal(type.scale ?? 0, type.precision ?? 38, 128);
    case 'list':
      return new List(toArrowField('element', type.children[0], options));
    case 'map': {
      const [key, value] = type.children;
      const { type: keyType, metadata } = toArrowField('key', key, options);
      const entries = new Struct([new Field('key', keyType, false, metadata), toArrowField('value', value, options)]);
      return new Map_(new Field('entries', entries as never, false));
    }
    case 'struct':
      return new Struct(type.children.map((child, i) => toArrowField(type.fieldNames[i], child, options)));
    case 'union': {
      const alternatives = type.children.map((child, i) => toArrowField(String(i), child, options));
      const all = [...alternatives, new Field(NULL_ALTERNATIVE, new Null(), true)];
      return new DenseUnion(Int32Array.from(all.keys()) as never, all);
    }
  }
}

function timestampType(kind: 'timestamp' | 'timestamp_instant', { timestamps = 'ns' }: ArrowOptions): DataType {
  if (timestamps === 'struct') {
    return new Struct([new Field('seconds', new Int64(), false), new Field('nanos', new Int32(), false)]);
  }
  const zone = kind === 'timestamp_instant' ? INSTANT_ZONE : null;
  return timestamps === 'ns' ? new TimestampNanosecond(zone) : new TimestampMicrosecond(zone);
}

/**
 * The ORC type of an Arrow schema, for tables made from it. Fields that came from here have their type back; of others the
 * narrowest that holds all values.
 */
export function toTypeDescription(schema: Schema): TypeDescription {
  return createStruct(schema.fields.map((field) => [field.name, fieldType(field, field.name)] as const));
}

function fieldType(field: Field, path: string): TypeDescription {
  const named = field.metadata.get(TYPE_KEY);
  if (named !== undefined) return parseType(named);
  const { type } = field;
  const child = (i: number) => fieldType(type.children[i], `${path}.${type.children[i].name}`);
  switch (type.typeId) {
    case Type.Null:
    case Type.Bool:
      return parseType('boolean');
    case Type.Int: {
      const { bitWidth, isSigned } = type as unknown as { bitWidth: number; isSigned: boolean };
      const bits = isSigned ? bitWidth : bitWidth * 2;
      if (bits > 64) return parseType('decimal(20,0)');
      return parseType({ 8: 'tinyint', 16: 'smallint', 32: 'int', 64: 'bigint' }[bits] ?? 'bigint');
    }
    case Type.Float:
      return parseType((type as unknown as { precision: number }).precision === 2 ? 'double' : 'float');
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return parseType('string');
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return parseType('binary');
    case Type.Date:
      return parseType('date');
    case Type.Timestamp:
      return parseType(
        (type as unknown as { timezone: string | null }).timezone ? 'timestamp with local time zone' : 'timestamp',
      );
    case Type.Decimal: {
      const { precision, scale } = type as unknown as { precision: number; scale: number };
      if (precision <= 38 && scale >= 0) return parseType(`decimal(${precision},${scale})`);
      break;
    }
    case Type.Dictionary:
      return fieldType(new Field(field.name, (type as unknown as { dictionary: DataType }).dictionary), path);
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
      return createList(child(0));
    case Type.Map: {
      const [key, value] = type.children[0].type.children as Field[];
      return createMap(fieldType(key, `${path}.key`), fieldType(value, `${path}.value`));
    }
    case Type.Struct:
      return createStruct(type.children.map((field: Field, i: number) => [field.name, child(i)] as const));
    case Type.Union: {
      const alternatives = type.children.flatMap((field: Field, i: number) =>
        field.type.typeId === Type.Null ? [] : [child(i)],
      );
      return createUnion(alternatives);
    }
  }
  throw new ArrowMappingError('TYPE_MISMATCH', `column ${path}: Hive has no type for Arrow's ${type}`);
}
