import { BugError } from '@skep/core';
import {
  createChar,
  createDecimal,
  createList,
  createMap,
  createPrimitive,
  createStruct,
  createUnion,
  createVarchar,
  type SimpleKind,
  type TypeDescription,
} from '@skep/orc';
import { arrayOf, decimal, type HiveType, mapOf, type SimpleTypeKind, structOf } from './hive-type.js';

const KIND_OF: Readonly<Record<SimpleTypeKind, SimpleKind>> = {
  // A NULL without a type travels as a boolean column without values.
  void: 'boolean',
  boolean: 'boolean',
  tinyint: 'byte',
  smallint: 'short',
  int: 'int',
  bigint: 'long',
  float: 'float',
  double: 'double',
  string: 'string',
  binary: 'binary',
  date: 'date',
  timestamp: 'timestamp',
  'timestamp with local time zone': 'timestamp_instant',
  // Intervals are no column types: as results they travel as months, and as a timestamp's seconds and nanoseconds.
  interval_year_month: 'int',
  interval_day_time: 'timestamp',
};

/** The ORC type whose vectors hold values of a Hive type (org.apache.hadoop.hive.ql.io.orc.OrcInputFormat). */
export function toTypeDescription(type: HiveType): TypeDescription {
  switch (type.kind) {
    case 'decimal':
      return createDecimal(type.precision, type.scale);
    case 'char':
      return createChar(type.length);
    case 'varchar':
      return createVarchar(type.length);
    case 'array':
      return createList(toTypeDescription(type.element));
    case 'map':
      return createMap(toTypeDescription(type.key), toTypeDescription(type.value));
    case 'struct':
      return createStruct(type.fields.map((field) => [field.name, toTypeDescription(field.type)] as const));
    case 'uniontype':
      return createUnion(type.alternatives.map(toTypeDescription));
    default:
      return createPrimitive(KIND_OF[type.kind]);
  }
}

const NAME_OF = new Map<string, SimpleTypeKind>(
  (Object.entries(KIND_OF) as [SimpleTypeKind, SimpleKind][])
    .filter(([name]) => name !== 'void' && !name.startsWith('interval'))
    .map(([name, kind]) => [kind, name]),
);

/** The Hive type of an ORC type. */
export function fromTypeDescription(type: TypeDescription): HiveType {
  switch (type.kind) {
    case 'decimal':
      return decimal(type.precision ?? 38, type.scale ?? 10);
    case 'char':
    case 'varchar':
      return { kind: type.kind, length: type.maximumLength ?? 0 };
    case 'list':
      return arrayOf(fromTypeDescription(type.children[0]));
    case 'map':
      return mapOf(fromTypeDescription(type.children[0]), fromTypeDescription(type.children[1]));
    case 'struct':
      return structOf(type.children.map((c, i) => ({ name: type.fieldNames[i], type: fromTypeDescription(c) })));
    case 'union':
      return { kind: 'uniontype', alternatives: type.children.map(fromTypeDescription) };
    default: {
      const kind = NAME_OF.get(type.kind);
      if (kind === undefined) throw new BugError(`no Hive type for ${type.kind}`);
      return { kind };
    }
  }
}
