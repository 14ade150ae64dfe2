import { BugError, CorruptFileError } from '@skep/core';
import {
  columnByName,
  createPrimitive,
  createStruct,
  type ReadOptions,
  type Sarg,
  type SargColumn,
  type TypeDescription,
} from '@skep/orc';

/**
 * The columns of a file of events (OrcRecordUpdater.createEventObjectInspector). User columns live under `row` only, so
 * one called `rowid` or `bucket` is no trouble.
 */
export const ACID_FIELDS = [
  'operation',
  'originalTransaction',
  'bucket',
  'rowId',
  'currentTransaction',
  'row',
] as const;

/** Column ids in every file of events. */
export const ACID_COLUMN = {
  operation: 1,
  originalTransaction: 2,
  bucket: 3,
  rowId: 4,
  currentTransaction: 5,
  row: 6,
} as const;

export const OPERATION = { insert: 0, update: 1, delete: 2 } as const;

/** OrcInputFormat.isOriginal, the other way round. */
export function isAcidSchema(schema: TypeDescription): boolean {
  const names = schema.fieldNames.map((name) => name.toLowerCase());
  return names.length === ACID_FIELDS.length && ACID_FIELDS.every((field, i) => names[i] === field.toLowerCase());
}

/** The schema of a file of events with these user columns. */
export function acidSchema(row: TypeDescription): TypeDescription {
  const types = [
    createPrimitive('int'),
    createPrimitive('long'),
    createPrimitive('int'),
    createPrimitive('long'),
    createPrimitive('long'),
    row,
  ];
  return createStruct(ACID_FIELDS.map((name, i) => [name, types[i]] as const));
}

/** The user columns of a file: of `row`, or the whole of a plain file. */
export function userSchema(fileSchema: TypeDescription, path: string): TypeDescription {
  const row = isAcidSchema(fileSchema) ? fileSchema.children[5] : fileSchema;
  if (row.kind !== 'struct') throw new CorruptFileError(path, undefined, `rows are ${row.kind}, not struct`);
  return createStruct(row.children.map((type, i) => [row.fieldNames[i], type] as const));
}

/**
 * The table's columns under the file's names, matched by position as Hive matches the columns of ACID files: a renamed column
 * keeps its values, an added one is missing and reads as NULL. Fields of nested structs keep their names.
 */
function byPosition(file: TypeDescription, table: TypeDescription): TypeDescription {
  const taken = new Set(file.fieldNames.map((name) => name.toLowerCase()));
  const unused = (name: string) => {
    let free = name.toLowerCase();
    while (taken.has(free)) free += '_';
    taken.add(free);
    return free;
  };
  return createStruct(
    table.children.map((type, i) => [file.fieldNames[i] ?? unused(table.fieldNames[i]), type] as const),
  );
}

export interface Projection {
  /** Indexes in the table's schema; all when absent. */
  readonly columns?: readonly number[] | undefined;
  readonly sarg?: Sarg | undefined;
  readonly batchSize?: number | undefined;
  readonly segmentBytes?: number | undefined;
}

/** How to read some of the columns of a file of events, with some of ACID's own columns. */
export function acidReadOptions(
  fileSchema: TypeDescription,
  table: TypeDescription,
  projection: Projection,
  own: readonly (keyof typeof ACID_COLUMN)[],
): ReadOptions {
  const readSchema = acidSchema(byPosition(fileSchema.children[5], table));
  const row = readSchema.children[5];
  const include = new Set<number>(own.map((name) => ACID_COLUMN[name]));
  for (const column of projection.columns ?? row.children.keys()) include.add(row.children[column].id);
  return { ...common(projection, table, row.id), readSchema, include, evolution: 'name' };
}

/** How to read some of the columns of a plain file. */
export function plainReadOptions(
  fileSchema: TypeDescription,
  table: TypeDescription,
  projection: Projection,
): ReadOptions {
  const readSchema = byPosition(fileSchema, table);
  const columns = projection.columns ?? [...readSchema.children.keys()];
  const include = new Set(columns.map((column) => readSchema.children[column].id));
  return { ...common(projection, table, 0), readSchema, include, evolution: 'name' };
}

function common({ sarg, batchSize, segmentBytes }: Projection, table: TypeDescription, shift: number): ReadOptions {
  return {
    ...(batchSize === undefined ? {} : { batchSize }),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
    ...(sarg === undefined || (sarg.op === 'and' && sarg.children.length === 0)
      ? {}
      : { sarg: shiftSarg(sarg, (column) => columnId(table, column) + shift) }),
  };
}

function columnId(table: TypeDescription, column: SargColumn): number {
  if (typeof column === 'number') return column;
  const found = columnByName(table, column);
  if (found === undefined) throw new BugError(`a search argument names the column '${column}', which is not there`);
  return found.id;
}

/** The same predicate on other column ids. */
export function shiftSarg(sarg: Sarg, idOf: (column: SargColumn) => number): Sarg {
  switch (sarg.op) {
    case 'and':
    case 'or':
      return { op: sarg.op, children: sarg.children.map((child) => shiftSarg(child, idOf)) };
    case 'not':
      return { op: 'not', child: shiftSarg(sarg.child, idOf) };
    default:
      return { ...sarg, column: idOf(sarg.column) };
  }
}
