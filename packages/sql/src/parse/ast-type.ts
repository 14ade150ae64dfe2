import type { Node } from './ast-expression.js';

export type PrimitiveTypeName =
  | 'boolean'
  | 'tinyint'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'float'
  | 'double'
  | 'string'
  | 'binary'
  | 'date'
  | 'timestamp'
  | 'timestamp with local time zone'
  | 'interval_year_month'
  | 'interval_day_time'
  | 'void';

/** Synonyms are resolved: INTEGER int, DOUBLE PRECISION and REAL double (float), NUMERIC and DEC decimal. */
export interface PrimitiveType extends Node {
  readonly kind: 'primitive';
  readonly name: PrimitiveTypeName;
}
/** Hive's defaults are filled in: `decimal` is (10,0), `decimal(p)` is (p,0). */
export interface DecimalType extends Node {
  readonly kind: 'decimal';
  readonly precision: number;
  readonly scale: number;
}
export interface CharacterType extends Node {
  readonly kind: 'char' | 'varchar';
  readonly length: number;
}
export interface ArrayType extends Node {
  readonly kind: 'array';
  readonly element: TypeNode;
}
export interface MapType extends Node {
  readonly kind: 'map';
  readonly key: TypeNode;
  readonly value: TypeNode;
}
export interface StructType extends Node {
  readonly kind: 'struct';
  readonly fields: readonly { readonly name: string; readonly type: TypeNode; readonly comment?: string }[];
}
export interface UnionType extends Node {
  readonly kind: 'uniontype';
  readonly alternatives: readonly TypeNode[];
}

export type TypeNode = PrimitiveType | DecimalType | CharacterType | ArrayType | MapType | StructType | UnionType;
