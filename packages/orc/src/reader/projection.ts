import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';

/** A column as it is to be read: where it is in the file, and what becomes of it. */
export interface ReadColumn {
  /** The type that the vector has, in the schema that is read; its struct fields are all, not only those of `children`. */
  readonly target: TypeDescription;
  /** Undefined: the file does not have it, it reads as NULL. */
  readonly file: TypeDescription | undefined;
  /** struct: the fields that are read; list: the element; map: key and value; union: all alternatives. */
  readonly children: readonly ReadColumn[];
  /** struct: names of `children`. */
  readonly fieldNames: readonly string[];
  /** From the file's type to the target's. */
  readonly convert?: (vector: ColumnVector) => ColumnVector;
  /** False: the conversion moves values, statistics say nothing of the result. */
  readonly keepsOrder?: boolean;
}

/** What of a column's tree is read: all of it, or some descendants. */
export type Selected = 'whole' | 'part' | 'none';

/** See ReadOptions.include. */
export function selectionOf(type: TypeDescription, include: ReadonlySet<number> | undefined): Selected {
  if (include === undefined) return 'whole';
  if (holdsAny(include, type.id + 1, type.maximumId)) {
    return type.kind === 'map' || type.kind === 'union' ? 'whole' : 'part';
  }
  return include.has(type.id) ? 'whole' : 'none';
}

function holdsAny(include: ReadonlySet<number>, first: number, last: number): boolean {
  if (include.size < last - first) {
    for (const id of include) if (id >= first && id <= last) return true;
    return false;
  }
  for (let id = first; id <= last; id++) if (include.has(id)) return true;
  return false;
}

/** The file's columns that are read, in pre-order. */
export function fileColumns(column: ReadColumn): TypeDescription[] {
  const below = column.children.flatMap(fileColumns);
  return column.file === undefined ? below : [column.file, ...below];
}
