import { InvalidValueError } from '../errors.js';
import type { TypeDescription } from '../type-description.js';
import { typeToString } from '../type-text.js';
import type { ColumnVector } from '../vector.js';
import { type ColumnBuilder, numberBuilder } from './fixed-builders.js';
import { ListBuilder, MapBuilder, StructBuilder, UnionBuilder } from './nested-builders.js';
import type { VectorValue } from './value.js';
import { BytesBuilder, DecimalBuilder, TimestampBuilder } from './wide-builders.js';

/** What VectorBuilder takes beside VectorValue: a Map for maps, an array for structs, undefined for NULL. */
export type AppendableValue =
  | VectorValue
  | undefined
  | ReadonlyMap<AppendableValue, AppendableValue>
  | readonly AppendableValue[]
  | { readonly [field: string]: AppendableValue };

/**
 * Makes a vector of JavaScript values (the forms of VectorValue). Values are checked against the type: what does not fit
 * is an InvalidValueError and leaves the builder unusable.
 *
 *     const builder = new VectorBuilder(parseType('struct<a:int,b:string>'));
 *     builder.append({ a: 1, b: 'x' });
 *     const root = builder.build();
 */
export class VectorBuilder {
  private readonly column: ColumnBuilder;

  constructor(readonly type: TypeDescription) {
    this.column = columnBuilder(type);
  }

  get length(): number {
    return this.column.length;
  }

  append(value: AppendableValue): void {
    this.column.append(value);
  }

  /** The vector of what was appended since the start or the last build. */
  build(): ColumnVector {
    return this.column.build();
  }
}

/** A vector of these values. */
export function vectorOf(type: TypeDescription, values: Iterable<AppendableValue>): ColumnVector {
  const builder = new VectorBuilder(type);
  for (const value of values) builder.append(value);
  return builder.build();
}

function columnBuilder(type: TypeDescription): ColumnBuilder {
  switch (type.kind) {
    case 'boolean':
    case 'byte':
    case 'short':
    case 'int':
    case 'date':
    case 'long':
    case 'float':
    case 'double':
      return numberBuilder(type.kind);
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return new BytesBuilder(type.kind);
    case 'timestamp':
    case 'timestamp_instant':
      return new TimestampBuilder(type.kind);
    case 'decimal':
      return new DecimalBuilder(type.precision ?? 38, type.scale ?? 0);
    case 'list':
      return new ListBuilder(columnBuilder(type.children[0]));
    case 'map':
      return new MapBuilder(columnBuilder(type.children[0]), columnBuilder(type.children[1]));
    case 'struct':
      return new StructBuilder(type.fieldNames, type.children.map(columnBuilder));
    case 'union':
      if (type.children.length === 0) throw new InvalidValueError('a union', typeToString(type), 'no alternatives');
      return new UnionBuilder(type.children.map(columnBuilder));
  }
}
