/**
 * ORC's type tree (spec: "Types"; Java: org.apache.orc.TypeDescription). `id` is the column id: the pre-order number
 * in the whole tree, 0 for the root; `maximumId` is the largest id below.
 */
export type TypeKind =
  | 'boolean'
  | 'byte'
  | 'short'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'string'
  | 'char'
  | 'varchar'
  | 'binary'
  | 'date'
  | 'timestamp'
  | 'timestamp_instant'
  | 'decimal'
  | 'list'
  | 'map'
  | 'struct'
  | 'union';

export interface TypeDescription {
  readonly kind: TypeKind;
  readonly id: number;
  readonly maximumId: number;
  /** list: [element]; map: [key, value]; struct: fields; union: alternatives; else empty. */
  readonly children: readonly TypeDescription[];
  /** struct only, parallel to children. */
  readonly fieldNames: readonly string[];
  /** char and varchar: in characters (code points). */
  readonly maximumLength?: number;
  /** decimal. */
  readonly precision?: number;
  readonly scale?: number;
  readonly attributes?: Readonly<Record<string, string>>;
}

export type SimpleKind = Exclude<TypeKind, 'char' | 'varchar' | 'decimal' | 'list' | 'map' | 'struct' | 'union'>;

/** Every type that has no parameter and no child. */
export function createPrimitive(kind: SimpleKind): TypeDescription {
  return leaf(kind, {});
}

export function createChar(maximumLength: number): TypeDescription {
  return leaf('char', { maximumLength });
}

export function createVarchar(maximumLength: number): TypeDescription {
  return leaf('varchar', { maximumLength });
}

export function createDecimal(precision: number, scale: number): TypeDescription {
  return leaf('decimal', { precision, scale });
}

export function createList(element: TypeDescription): TypeDescription {
  return numberColumns({ ...leaf('list', {}), children: [element] });
}

export function createMap(key: TypeDescription, value: TypeDescription): TypeDescription {
  return numberColumns({ ...leaf('map', {}), children: [key, value] });
}

export function createUnion(alternatives: readonly TypeDescription[]): TypeDescription {
  return numberColumns({ ...leaf('union', {}), children: alternatives });
}

/** A struct of named fields, in the order given; its columns are numbered from 0. */
export function createStruct(fields: Iterable<readonly [string, TypeDescription]>): TypeDescription {
  const entries = [...fields];
  return numberColumns({
    ...leaf('struct', {}),
    children: entries.map(([, type]) => type),
    fieldNames: entries.map(([name]) => name),
  });
}

function leaf(kind: TypeKind, parameters: Partial<TypeDescription>): TypeDescription {
  return { kind, id: 0, maximumId: 0, children: [], fieldNames: [], ...parameters };
}

/** The same tree with column ids in pre-order from `firstId`. */
export function numberColumns(type: TypeDescription, firstId = 0): TypeDescription {
  let nextId = firstId + 1;
  const children = type.children.map((child) => {
    const numbered = numberColumns(child, nextId);
    nextId = numbered.maximumId + 1;
    return numbered;
  });
  return { ...type, id: firstId, maximumId: nextId - 1, children };
}

/** The column with this id, or undefined. */
export function columnById(schema: TypeDescription, id: number): TypeDescription | undefined {
  if (id === schema.id) return schema;
  const child = schema.children.find((candidate) => id >= candidate.id && id <= candidate.maximumId);
  return child === undefined ? undefined : columnById(child, id);
}

/**
 * The column at a dotted path (`row.address.zip`; lists `_elem`, maps `_key` and `_value`, union alternatives by number).
 * A field whose own name has dots is found as well.
 */
export function columnByName(schema: TypeDescription, path: string): TypeDescription | undefined {
  for (let i = 0; i < schema.children.length; i++) {
    const name = childName(schema, i);
    if (path === name) return schema.children[i];
    if (path.startsWith(`${name}.`)) {
      const found = columnByName(schema.children[i], path.slice(name.length + 1));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The dotted path of a column, the inverse of columnByName; '' for the root. */
export function columnName(schema: TypeDescription, id: number): string {
  const at = schema.children.findIndex((child) => id >= child.id && id <= child.maximumId);
  if (at < 0) return '';
  const rest = columnName(schema.children[at], id);
  const name = childName(schema, at);
  return rest === '' ? name : `${name}.${rest}`;
}

function childName(type: TypeDescription, index: number): string {
  switch (type.kind) {
    case 'struct':
      return type.fieldNames[index];
    case 'list':
      return '_elem';
    case 'map':
      return index === 0 ? '_key' : '_value';
    default:
      return String(index);
  }
}

/** All columns in pre-order, index = id for a tree numbered from 0. */
export function flattenColumns(schema: TypeDescription): TypeDescription[] {
  return [schema, ...schema.children.flatMap(flattenColumns)];
}

/** Equal in everything but ids and attributes. */
export function typesEqual(a: TypeDescription, b: TypeDescription): boolean {
  return (
    a.kind === b.kind &&
    a.maximumLength === b.maximumLength &&
    a.precision === b.precision &&
    a.scale === b.scale &&
    a.children.length === b.children.length &&
    a.fieldNames.every((name, i) => name === b.fieldNames[i]) &&
    a.children.every((child, i) => typesEqual(child, b.children[i]))
  );
}
