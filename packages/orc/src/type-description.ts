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
