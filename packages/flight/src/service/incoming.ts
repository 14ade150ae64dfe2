import { type StructVector, type TypeDescription, typeToString } from '@skep/orc';
import type { RecordBatch, Schema } from 'apache-arrow';
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
    return [{ name, at, type: target !== undefined && widens(source, target) ? target : source }];
  });
}

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

/** Whether every value of the first type is one of the second. */
function widens(source: TypeDescription, target: TypeDescription): boolean {
  const [from, to] = [INTEGERS.indexOf(source.kind), INTEGERS.indexOf(target.kind)];
  if (from >= 0 && to >= 0) return from <= to;
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
    case 'union':
      if (source.kind !== target.kind || source.children.length !== target.children.length) return false;
      if (target.kind === 'struct' && source.fieldNames.some((name, i) => !sameName(name, target.fieldNames[i]))) {
        return false;
      }
      return source.children.every(
        (child, i) => widens(child, target.children[i]) || sameType(child, target.children[i]),
      );
    default:
      return source.kind === target.kind;
  }
}

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const sameType = (a: TypeDescription, b: TypeDescription): boolean => typeToString(a) === typeToString(b);
