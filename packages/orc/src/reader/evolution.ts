import { InvalidReadError } from '../errors.js';
import { columnName, type TypeDescription } from '../type-description.js';
import { typeToString } from '../type-text.js';
import { familyOf } from './convert/values.js';
import { conversionOf } from './convert/vectors.js';
import type { ReadOptions } from './options.js';
import { type ReadColumn, selectionOf } from './projection.js';

interface Evolution {
  readonly path: string;
  readonly fileSchema: TypeDescription;
  readonly targetSchema: TypeDescription;
  /** Levels of structs, from the root, whose fields are matched by position. */
  readonly positionalLevels: number;
}

/** How each column that is wanted comes out of the file (Java: SchemaEvolution). */
export function planColumns(fileSchema: TypeDescription, options: ReadOptions, path: string): ReadColumn {
  const targetSchema = options.readSchema ?? fileSchema;
  const positionalLevels = options.evolution === 'position' ? (options.positionalLevels ?? 1) : 0;
  const evolution = { path, fileSchema, targetSchema, positionalLevels };
  const include = options.include;
  for (const id of include ?? []) {
    if (!(id >= 0 && id <= targetSchema.maximumId)) {
      throw new InvalidReadError(`${path}: column ${id} is to be read, the last one is ${targetSchema.maximumId}`);
    }
  }
  return plan(evolution, targetSchema, fileSchema, include, 0);
}

function plan(
  evolution: Evolution,
  target: TypeDescription,
  file: TypeDescription | undefined,
  include: ReadonlySet<number> | undefined,
  level: number,
): ReadColumn {
  // Only an empty set says that nothing of the root is read.
  const below = include?.size === 0 || selectionOf(target, include) === 'part' ? include : undefined;
  const indexes = [...target.children.keys()].filter(
    (i) => target.kind !== 'struct' || selectionOf(target.children[i], below) !== 'none',
  );
  const fieldNames = target.kind === 'struct' ? indexes.map((i) => target.fieldNames[i]) : [];
  if (file === undefined) {
    const children = indexes.map((i) => plan(evolution, target.children[i], undefined, below, level + 1));
    return {
      target: { ...target, children: children.map((child) => child.target), fieldNames },
      file,
      children: [],
      fieldNames,
    };
  }
  if (familyOf(target) !== 'nested' && familyOf(file) !== 'nested') {
    const conversion = conversionOf(file, target);
    if (conversion === undefined) throw refused(evolution, target, file);
    return { target, file, children: [], fieldNames, ...conversion };
  }
  if (target.kind !== file.kind) throw refused(evolution, target, file);
  if (target.kind === 'union' && target.children.length < file.children.length) throw refused(evolution, target, file);
  const match =
    target.kind === 'struct' ? fieldMatcher(target, file, level < evolution.positionalLevels) : (i: number) => i;
  const children = indexes.map((i) => {
    const at = match(i);
    return plan(evolution, target.children[i], at === undefined ? undefined : file.children[at], below, level + 1);
  });
  return { target, file, children, fieldNames };
}

/** For each field of the target its place in the file. */
function fieldMatcher(
  target: TypeDescription,
  file: TypeDescription,
  positional: boolean,
): (index: number) => number | undefined {
  // Hive before 2 did not know the names when it wrote.
  const nameless = file.fieldNames.length > 0 && file.fieldNames.every((name) => /^_col\d+$/.test(name));
  if (positional || nameless) return (index) => (index < file.children.length ? index : undefined);
  const exact = new Map(file.fieldNames.map((name, i) => [name, i] as const));
  const anyCase = new Map(file.fieldNames.map((name, i) => [name.toLowerCase(), i] as const));
  return (index) => exact.get(target.fieldNames[index]) ?? anyCase.get(target.fieldNames[index].toLowerCase());
}

function refused({ path, fileSchema, targetSchema }: Evolution, target: TypeDescription, file: TypeDescription): Error {
  const name = columnName(targetSchema, target.id) || 'the root';
  const there = columnName(fileSchema, file.id);
  const what = `${typeToString(file)}${there === name || there === '' ? '' : ` (${there})`}`;
  return new InvalidReadError(`${path}: ${name} is ${what} in the file and cannot be read as ${typeToString(target)}`);
}
