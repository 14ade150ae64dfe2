import { type StructVector, type TypeDescription, typeToString } from '@skep/orc';
import { type DataType, type Field, type RecordBatch, type Schema, Type } from 'apache-arrow';
import { toTypeDescription } from '../arrow/arrow-type.js';
import { toVector } from '../arrow/from-arrow.js';
import type { TableShape } from './data-source.js';

/** A column of a DoPut: where it is in the client's schema, and as which type its vectors are read. */
export interface IncomingColumn {
  readonly name: string;
  readonly at: number;
  readonly type: TypeDescription;
}

/**
 * The client's columns, by name without regard to case. A column is read as the table's type where Arrow's loses nothing by
 * that; otherwise as its own, and INSERT's rules convert it.
 */
export function incomingColumns(schema: Schema, shape: TableShape, leftOut: ReadonlySet<string>): IncomingColumn[] {
  const own = toTypeDescription(schema);
  return own.fieldNames.flatMap((given, at) => {
    const name = given.toLowerCase();
    if (leftOut.has(name)) return [];
    const target = shape.columns.find((column) => column.name === name)?.type;
    const source = own.children[at];
    return [{ name, at, type: target !== undefined && isReadAs(schema.fields[at], source, target) ? target : source }];
  });
}

/** Columns of the files that the rows do not have. */
export const missingColumns = (columns: readonly IncomingColumn[], shape: TableShape): string[] =>
  shape.columns
    .map(({ name }) => name)
    .filter((name) => !shape.partitionColumns.includes(name) && !columns.some((column) => column.name === name));

export const givenOf = (columns: readonly IncomingColumn[]) =>
  columns.map(({ name, type }) => ({ name, type: typeToString(type) }));

/** The rows of those columns. */
export function incomingRows(batch: RecordBatch, columns: readonly IncomingColumn[]): StructVector {
  return {
    kind: 'struct',
    length: batch.numRows,
    fieldNames: columns.map(({ name }) => name),
    children: columns.map(({ at, type, name }) => toVector(batch.data.children[at], type, name)),
  };
}

const INTEGERS = ['byte', 'short', 'int', 'long'];

/**
 * Whether vectors of a field, which is the first type by itself, can be read as the second: every value is one of it, or (integers)
 * it is looked at whether it is. INSERT's own conversion would cut integers off.
 */
function isReadAs(field: Field, source: TypeDescription, target: TypeDescription): boolean {
  if (field.type.typeId === Type.Null || sameType(source, target)) return true;
  // An Arrow uint64 is such a decimal (toTypeDescription).
  const isWhole = INTEGERS.includes(source.kind) || (source.kind === 'decimal' && source.scale === 0);
  if (INTEGERS.includes(target.kind)) return isWhole;
  switch (target.kind) {
    case 'string':
      return source.kind === 'string' || source.kind === 'varchar';
    case 'char':
    case 'varchar':
      return false;
    case 'double':
      return source.kind === 'double' || source.kind === 'float';
    case 'decimal': {
      if (source.kind !== 'decimal') return false;
      const whole = ({ precision = 38, scale = 0 }: TypeDescription) => precision - scale;
      return whole(source) <= whole(target) && (source.scale ?? 0) <= (target.scale ?? 0);
    }
    case 'list':
    case 'map':
    case 'struct':
    case 'union': {
      if (source.kind !== target.kind || source.children.length !== target.children.length) return false;
      const fields = childFields(field.type);
      return target.children.every((child, i) => {
        const at = target.kind === 'struct' ? indexOfField(source, target.fieldNames[i]) : i;
        return at >= 0 && isReadAs(fields[at], source.children[at], child);
      });
    }
    default:
      return source.kind === target.kind;
  }
}

/** Fields as toTypeDescription has them: of a map its key and value, of a union those with values. */
function childFields(type: DataType): readonly Field[] {
  switch (type.typeId) {
    case Type.Dictionary:
      return childFields((type as unknown as { dictionary: DataType }).dictionary);
    case Type.Map:
      return type.children[0].type.children;
    case Type.Union:
      return type.children.filter((field: Field) => field.type.typeId !== Type.Null);
    default:
      return type.children;
  }
}

const indexOfField = ({ fieldNames }: TypeDescription, name: string): number =>
  fieldNames.findIndex((candidate) => sameName(candidate, name));

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const sameType = (a: TypeDescription, b: TypeDescription): boolean => typeToString(a) === typeToString(b);
