import type {
  ClusteredBy,
  ColumnConstraint,
  ColumnDefinition,
  PartitionFilter,
  Principal,
  Property,
  SkewedBy,
  StorageFormat,
  TableConstraint,
} from './ast-ddl.js';
import type { Identifier, Node, OrderItem, TableName } from './ast-expression.js';
import type { PartitionSpec } from './ast-query.js';
import type { TypeNode } from './ast-type.js';

/** `partition` is the one between the table name and the action: `ALTER TABLE t PARTITION (…) COMPACT …`. */
export interface AlterTableStatement extends Node {
  readonly kind: 'alter-table';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly action: AlterTableAction;
}

export type AlterTableAction = Node &
  (
    | { readonly kind: 'rename'; readonly to: TableName }
    | { readonly kind: 'rename-partition'; readonly to: PartitionSpec }
    | { readonly kind: 'add-columns'; readonly columns: readonly ColumnDefinition[]; readonly cascade: boolean }
    | { readonly kind: 'replace-columns'; readonly columns: readonly ColumnDefinition[]; readonly cascade: boolean }
    | {
        readonly kind: 'change-column';
        readonly column: Identifier;
        readonly newName: Identifier;
        readonly type: TypeNode;
        readonly constraint?: ColumnConstraint;
        readonly comment?: string;
        /** `{ after }` or FIRST. */
        readonly placement?: 'first' | { readonly after: Identifier };
        readonly cascade: boolean;
      }
    | {
        readonly kind: 'drop-column';
        readonly column: Identifier;
        readonly ifExists: boolean;
        readonly cascade: boolean;
      }
    | {
        readonly kind: 'add-partitions';
        readonly ifNotExists: boolean;
        readonly partitions: readonly { readonly partition: PartitionSpec; readonly location?: string }[];
      }
    | {
        readonly kind: 'drop-partitions';
        readonly ifExists: boolean;
        readonly partitions: readonly PartitionFilter[];
        readonly purge: boolean;
      }
    | { readonly kind: 'exchange-partition'; readonly partition: PartitionSpec; readonly from: TableName }
    | { readonly kind: 'partition-column'; readonly column: Identifier; readonly type: TypeNode }
    | { readonly kind: 'set-properties'; readonly properties: readonly Property[] }
    | { readonly kind: 'unset-properties'; readonly ifExists: boolean; readonly keys: readonly string[] }
    | { readonly kind: 'set-serde'; readonly serde: string; readonly properties: readonly Property[] }
    | { readonly kind: 'set-serde-properties'; readonly properties: readonly Property[] }
    | { readonly kind: 'unset-serde-properties'; readonly keys: readonly string[] }
    | { readonly kind: 'set-file-format'; readonly storage: StorageFormat }
    | { readonly kind: 'set-location'; readonly location: string }
    | { readonly kind: 'clustered-by'; readonly clusteredBy: ClusteredBy }
    | { readonly kind: 'not-clustered' | 'not-sorted' | 'not-skewed' | 'not-stored-as-directories' }
    | { readonly kind: 'into-buckets'; readonly buckets: number }
    | { readonly kind: 'skewed-by'; readonly skewedBy: SkewedBy }
    | { readonly kind: 'concatenate' }
    | {
        readonly kind: 'compact';
        /** As written: the executor refuses an unknown one with Hive's [Error 10282]. */
        readonly type: string;
        readonly buckets?: number;
        readonly wait: boolean;
        readonly pool?: string;
        readonly properties: readonly Property[];
        readonly orderBy: readonly OrderItem[];
        /** The text after ORDER BY, as Hive queues it (CQ_ORDER_BY). */
        readonly orderByText?: string;
      }
    | { readonly kind: 'add-constraint'; readonly constraint: TableConstraint }
    | { readonly kind: 'drop-constraint'; readonly name: Identifier }
    | { readonly kind: 'update-statistics'; readonly column?: Identifier; readonly properties: readonly Property[] }
    | { readonly kind: 'update-columns'; readonly cascade: boolean }
    | { readonly kind: 'touch'; readonly partitions: readonly PartitionSpec[] }
    | { readonly kind: 'archive' | 'unarchive'; readonly partitions: readonly PartitionSpec[] }
    | { readonly kind: 'set-owner'; readonly owner: Principal }
    | { readonly kind: 'recover-partitions' }
    | {
        readonly kind: 'protection';
        readonly enable: boolean;
        readonly what: 'offline' | 'no_drop' | 'readonly';
        readonly cascade: boolean;
      }
    /** A form skep parses but cannot do (EXECUTE, CONVERT TO ICEBERG, CREATE BRANCH …): `name` in lower case. */
    | { readonly kind: 'unsupported'; readonly name: string }
  );

/** MSCK [REPAIR] TABLE t [ADD | DROP | SYNC PARTITIONS [(filter)]]. */
export interface MsckStatement extends Node {
  readonly kind: 'msck';
  readonly repair: boolean;
  readonly table: TableName;
  readonly action: 'add' | 'drop' | 'sync';
  readonly filter?: PartitionFilter;
}

/** ANALYZE TABLE t [PARTITION (…)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS …] | DROP STATISTICS. */
export interface AnalyzeStatement extends Node {
  readonly kind: 'analyze';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly action: 'compute' | 'drop' | 'cache-metadata';
  readonly noScan: boolean;
  readonly forColumns: boolean;
  readonly columns: readonly Identifier[];
}

export type AlterStatement = AlterTableStatement | MsckStatement | AnalyzeStatement;
