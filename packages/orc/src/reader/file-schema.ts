import { CorruptFileError } from '@skep/core';
import { UnsupportedFileError } from '../errors.js';
import type { Type } from '../proto/gen/orc_proto.js';
import type { TypeDescription, TypeKind } from '../type-description.js';

/** By Type.Kind of the footer. */
const KINDS: readonly TypeKind[] = [
  'boolean',
  'byte',
  'short',
  'int',
  'long',
  'float',
  'double',
  'string',
  'binary',
  'timestamp',
  'list',
  'map',
  'struct',
  'union',
  'decimal',
  'date',
  'varchar',
  'char',
  'timestamp_instant',
];
const DEEPEST = 1000;
/** What Java assumes where a file says nothing: TypeDescription's defaults. */
const DEFAULT_PRECISION = 38;
const DEFAULT_LENGTH = 256;

/** The footer's list of types as a tree (spec: "Type Information"): pre-order, index = column id. */
export function fileSchema(
  types: readonly Type[],
  path: string,
  offset: number,
  hive11DecimalScale: number,
): TypeDescription {
  if (types.length === 0) throw new CorruptFileError(path, offset, 'the footer has no types');
  const corrupt = (id: number, what: string) => new CorruptFileError(path, offset, `type of column ${id}: ${what}`);

  const build = (id: number, depth: number): TypeDescription => {
    const type = types[id];
    if (depth > DEEPEST) throw corrupt(id, 'nested too deep');
    const kind = KINDS[type.kind ?? 0];
    if (kind === undefined) throw new UnsupportedFileError(path, `column ${id} is of the unknown type ${type.kind}`);
    const children: TypeDescription[] = [];
    let nextId = id + 1;
    for (const subtype of type.subtypes ?? []) {
      if (subtype !== nextId || subtype >= types.length) {
        throw corrupt(id, `its child is column ${subtype} where ${nextId} of ${types.length} is due`);
      }
      const child = build(subtype, depth + 1);
      children.push(child);
      nextId = child.maximumId + 1;
    }
    const expected = CHILDREN[kind] ?? (kind === 'struct' || kind === 'union' ? children.length : 0);
    if (children.length !== expected) throw corrupt(id, `a ${kind} with ${children.length} children`);
    const fieldNames = kind === 'struct' ? (type.fieldNames ?? []) : [];
    if (kind === 'struct' && fieldNames.length !== children.length) {
      throw corrupt(id, `${children.length} fields with ${fieldNames.length} names`);
    }
    if (kind === 'union' && (children.length === 0 || children.length > 256)) {
      throw corrupt(id, `a union of ${children.length} alternatives`);
    }
    const base = { kind, id, maximumId: nextId - 1, children, fieldNames, ...attributesOf(type) };
    if (kind === 'char' || kind === 'varchar') return { ...base, maximumLength: type.maximumLength ?? DEFAULT_LENGTH };
    if (kind !== 'decimal') return base;
    const precision = type.precision || DEFAULT_PRECISION;
    const scale = type.precision ? (type.scale ?? 0) : hive11DecimalScale;
    if (precision > 38 || scale > precision) throw corrupt(id, `decimal(${precision},${scale})`);
    return { ...base, precision, scale };
  };

  const root = build(0, 0);
  if (root.maximumId !== types.length - 1) {
    throw corrupt(0, `${types.length} types, of which ${root.maximumId + 1} are in the tree`);
  }
  return root;
}

const CHILDREN: Partial<Record<TypeKind, number>> = { list: 1, map: 2 };

function attributesOf(type: Type): { attributes?: Record<string, string> } {
  if (type.attributes === undefined || type.attributes.length === 0) return {};
  return { attributes: Object.fromEntries(type.attributes.map(({ key = '', value = '' }) => [key, value])) };
}
