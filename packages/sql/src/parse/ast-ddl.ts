import type { Expression, Identifier, Node, TableName } from './ast-expression.js';
import type { PartitionSpec, Query } from './ast-query.js';
import type { TypeNode } from './ast-type.js';

/** TBLPROPERTIES, SERDEPROPERTIES, DBPROPERTIES in the order written. */
export interface Property extends Node {
  readonly key: string;
  readonly value: string;
}

/** What follows a constraint: undefined where not written (Hive then takes ENABLE for NOT NULL, DEFAULT, CHECK and demands DISABLE of keys). */
export interface ConstraintState {
  readonly name?: Identifier;
  readonly enable?: boolean;
  readonly validate?: boolean;
  readonly rely?: boolean;
}
export type ColumnConstraint = Node &
  ConstraintState &
  (
    | { readonly kind: 'not-null' }
    | { readonly kind: 'default'; readonly value: Expression }
    | { readonly kind: 'check'; readonly expression: Expression }
    | { readonly kind: 'unique' }
    | { readonly kind: 'primary-key' }
    | { readonly kind: 'foreign-key'; readonly table: TableName; readonly columns: readonly Identifier[] }
  );
export type TableConstraint = Node &
  ConstraintState &
  (
    | { readonly kind: 'primary-key' | 'unique'; readonly columns: readonly Identifier[] }
    | {
        readonly kind: 'foreign-key';
        readonly columns: readonly Identifier[];
        readonly table: TableName;
        readonly referencedColumns: readonly Identifier[];
      }
    | { readonly kind: 'check'; readonly expression: Expression }
  );
export interface ColumnDefinition extends Node {
  readonly name: Identifier;
  readonly type: TypeNode;
  readonly constraint?: ColumnConstraint;
  readonly comment?: string;
}
/** PARTITIONED BY (c type, …) or, in CTAS, (c, …) without types; PARTITIONED BY SPEC (iceberg) is refused. */
export interface PartitionColumnDefinition extends Node {
  readonly name: Identifier;
  readonly type?: TypeNode;
  readonly comment?: string;
}
export interface SortColumn extends Node {
  readonly column: Identifier;
  readonly direction: 'asc' | 'desc';
  readonly nulls?: 'first' | 'last';
}
export interface ClusteredBy extends Node {
  readonly columns: readonly Identifier[];
  readonly sortedBy: readonly SortColumn[];
  readonly buckets: number;
}
export interface SkewedBy extends Node {
  readonly columns: readonly Identifier[];
  readonly values: readonly (readonly Expression[])[];
  readonly storedAsDirectories: boolean;
}
export type RowFormat =
  | (Node & { readonly kind: 'serde'; readonly serde: string; readonly properties: readonly Property[] })
  | (Node & {
      readonly kind: 'delimited';
      readonly fieldsTerminatedBy?: string;
      readonly escapedBy?: string;
      readonly collectionItemsTerminatedBy?: string;
      readonly mapKeysTerminatedBy?: string;
      readonly linesTerminatedBy?: string;
      readonly nullDefinedAs?: string;
    });
export type StorageFormat =
  /** `STORED AS ORC`: name as written, lower case. */
  | (Node & { readonly kind: 'format'; readonly name: string })
  | (Node & {
      readonly kind: 'classes';
      readonly inputFormat: string;
      readonly outputFormat: string;
      readonly inputDriver?: string;
      readonly outputDriver?: string;
    })
  | (Node & {
      readonly kind: 'handler';
      readonly handler: string;
      readonly properties: readonly Property[];
      readonly storedAs?: string;
    });

/** With `query` CREATE TABLE AS SELECT, with `like` CREATE TABLE … LIKE; `columns` is then empty. */
export interface CreateTableStatement extends Node {
  readonly kind: 'create-table';
  readonly temporary: boolean;
  readonly external: boolean;
  readonly transactional: boolean;
  readonly managed: boolean;
  readonly ifNotExists: boolean;
  readonly table: TableName;
  readonly columns: readonly ColumnDefinition[];
  readonly constraints: readonly TableConstraint[];
  readonly comment?: string;
  readonly partitionedBy: readonly PartitionColumnDefinition[];
  readonly clusteredBy?: ClusteredBy;
  readonly skewedBy?: SkewedBy;
  readonly rowFormat?: RowFormat;
  readonly storage?: StorageFormat;
  readonly location?: string;
  readonly properties: readonly Property[];
  readonly query?: Query;
  readonly like?: TableName;
}
export interface DropTableStatement extends Node {
  readonly kind: 'drop-table';
  readonly ifExists: boolean;
  readonly table: TableName;
  readonly purge: boolean;
}
/** The view's text is `text.slice(query.position.start, query.position.end)`. */
export interface CreateViewStatement extends Node {
  readonly kind: 'create-view';
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly view: TableName;
  readonly columns: readonly { readonly name: Identifier; readonly comment?: string }[];
  readonly comment?: string;
  readonly partitionedOn: readonly Identifier[];
  readonly properties: readonly Property[];
  readonly query: Query;
}
export interface DropViewStatement extends Node {
  readonly kind: 'drop-view';
  readonly ifExists: boolean;
  readonly view: TableName;
}
export interface AlterViewStatement extends Node {
  readonly kind: 'alter-view';
  readonly view: TableName;
  readonly action:
    | { readonly kind: 'set-properties'; readonly properties: readonly Property[] }
    | { readonly kind: 'unset-properties'; readonly keys: readonly string[]; readonly ifExists: boolean }
    | { readonly kind: 'rename'; readonly to: TableName }
    | { readonly kind: 'as'; readonly query: Query }
    | { readonly kind: 'add-partitions'; readonly ifNotExists: boolean; readonly partitions: readonly PartitionSpec[] }
    | { readonly kind: 'drop-partitions'; readonly ifExists: boolean; readonly partitions: readonly PartitionFilter[] };
}
export interface CreateMaterializedViewStatement extends Node {
  readonly kind: 'create-materialized-view';
  readonly ifNotExists: boolean;
  readonly view: TableName;
  readonly rewrite: boolean;
  readonly comment?: string;
  readonly partitionedOn: readonly Identifier[];
  readonly clusteredOn: readonly Identifier[];
  readonly distributedOn: readonly Identifier[];
  readonly sortedOn: readonly Identifier[];
  readonly rowFormat?: RowFormat;
  readonly storage?: StorageFormat;
  readonly location?: string;
  readonly properties: readonly Property[];
  readonly query: Query;
}
export interface DropMaterializedViewStatement extends Node {
  readonly kind: 'drop-materialized-view';
  readonly ifExists: boolean;
  readonly view: TableName;
}
export interface AlterMaterializedViewStatement extends Node {
  readonly kind: 'alter-materialized-view';
  readonly view: TableName;
  readonly action: 'enable-rewrite' | 'disable-rewrite' | 'rebuild';
}
export interface CreateDatabaseStatement extends Node {
  readonly kind: 'create-database';
  readonly remote: boolean;
  readonly ifNotExists: boolean;
  readonly name: Identifier;
  readonly comment?: string;
  readonly location?: string;
  readonly managedLocation?: string;
  readonly connector?: Identifier;
  readonly properties: readonly Property[];
}
export interface DropDatabaseStatement extends Node {
  readonly kind: 'drop-database';
  readonly ifExists: boolean;
  readonly name: Identifier;
  readonly cascade: boolean;
}
export interface AlterDatabaseStatement extends Node {
  readonly kind: 'alter-database';
  readonly name: Identifier;
  readonly action:
    | { readonly kind: 'set-properties'; readonly properties: readonly Property[] }
    | { readonly kind: 'set-owner'; readonly owner: Principal }
    | { readonly kind: 'set-location' | 'set-managed-location'; readonly location: string };
}
export interface UseStatement extends Node {
  readonly kind: 'use';
  readonly database: Identifier;
}
export interface Principal extends Node {
  readonly type: 'user' | 'role' | 'group';
  readonly name: Identifier;
}

/** `PARTITION (ds > '2024-01-01', hr = 1)` of DROP PARTITION. */
export interface PartitionFilter extends Node {
  readonly terms: readonly PartitionFilterTerm[];
}
export interface PartitionFilterTerm extends Node {
  readonly column: Identifier;
  readonly operator: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'like';
  readonly value: Expression;
}

export type DdlStatement =
  | CreateTableStatement
  | DropTableStatement
  | CreateViewStatement
  | DropViewStatement
  | AlterViewStatement
  | CreateMaterializedViewStatement
  | DropMaterializedViewStatement
  | AlterMaterializedViewStatement
  | CreateDatabaseStatement
  | DropDatabaseStatement
  | AlterDatabaseStatement
  | UseStatement;
