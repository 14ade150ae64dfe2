import type { TypeDescription } from '../type-description.js';
import type { ReadOptions } from './options.js';
import { type ReadColumn, selectionOf } from './projection.js';

/** How each column that is wanted comes out of the file (Java: SchemaEvolution). */
export function planColumns(fileSchema: TypeDescription, options: ReadOptions): ReadColumn {
  return planSame(fileSchema, options.include, true);
}

/** Reads the file's own types. */
function planSame(type: TypeDescription, include: ReadonlySet<number> | undefined, root: boolean): ReadColumn {
  const selected = root && include?.size === 0 ? 'part' : selectionOf(type, include);
  const below = selected === 'whole' ? undefined : include;
  const fields = type.children
    .map((child, i) => ({ child, name: type.fieldNames[i] ?? '' }))
    .filter(({ child }) => type.kind !== 'struct' || selectionOf(child, below) !== 'none');
  return {
    target: type,
    file: type,
    children: fields.map(({ child }) =>
      planSame(child, type.kind === 'struct' || type.kind === 'list' ? below : undefined, false),
    ),
    fieldNames: fields.map(({ name }) => name),
  };
}
