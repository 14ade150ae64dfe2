import type { Expression, Identifier, Node, TableName } from './ast-expression.js';
import type { CommonTableExpression, InsertTarget, PartitionSpec, Query, TableReference } from './ast-query.js';

/** INSERT INTO | OVERWRITE … with one source; the body of `query` is `values` for INSERT … VALUES. */
export interface InsertStatement extends Node {
  readonly kind: 'insert';
  readonly target: InsertTarget;
  readonly query: Query;
}
/** `FROM s INSERT … SELECT … INSERT … SELECT …`: every branch's select has `from` already set to the shared source. */
export interface MultiInsertStatement extends Node {
  readonly kind: 'multi-insert';
  readonly with: readonly CommonTableExpression[];
  readonly from: TableReference;
  readonly branches: readonly InsertBranch[];
}
export interface InsertBranch extends Node {
  readonly target: InsertTarget;
  readonly query: Query;
}
export interface Assignment extends Node {
  readonly column: Identifier;
  readonly value: Expression;
}
export interface UpdateStatement extends Node {
  readonly kind: 'update';
  readonly table: TableName;
  readonly assignments: readonly Assignment[];
  readonly where?: Expression;
}
export interface DeleteStatement extends Node {
  readonly kind: 'delete';
  readonly table: TableName;
  readonly where?: Expression;
}
/** `clauses` in the order written (Hive: first match wins). */
export interface MergeStatement extends Node {
  readonly kind: 'merge';
  readonly with: readonly CommonTableExpression[];
  readonly table: TableName;
  readonly alias?: Identifier;
  readonly source: TableReference;
  readonly on: Expression;
  readonly clauses: readonly MergeClause[];
}
export type MergeClause = MergeUpdate | MergeDelete | MergeInsert;
export interface MergeUpdate extends Node {
  readonly kind: 'update';
  readonly condition?: Expression;
  readonly assignments: readonly Assignment[];
}
export interface MergeDelete extends Node {
  readonly kind: 'delete';
  readonly condition?: Expression;
}
export interface MergeInsert extends Node {
  readonly kind: 'insert';
  readonly condition?: Expression;
  readonly columns?: readonly Identifier[];
  readonly values: readonly Expression[];
}
export interface LoadStatement extends Node {
  readonly kind: 'load';
  readonly local: boolean;
  readonly path: string;
  readonly overwrite: boolean;
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly inputFormat?: string;
  readonly serde?: string;
}
export interface TruncateStatement extends Node {
  readonly kind: 'truncate';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly columns?: readonly Identifier[];
  readonly force: boolean;
}
export interface ExportStatement extends Node {
  readonly kind: 'export';
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly path: string;
}
export interface ImportStatement extends Node {
  readonly kind: 'import';
  readonly external: boolean;
  readonly table?: TableName;
  readonly partition?: PartitionSpec;
  readonly path: string;
  readonly location?: string;
}

export type DmlStatement =
  | InsertStatement
  | MultiInsertStatement
  | UpdateStatement
  | DeleteStatement
  | MergeStatement
  | LoadStatement
  | TruncateStatement
  | ExportStatement
  | ImportStatement;
