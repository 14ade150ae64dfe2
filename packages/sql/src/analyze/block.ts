import type { SargLiteral } from '@skep/orc';
import type { Expr } from '../expressions/expr.js';
import type { TableUseBuilder } from '../expressions/table-use.js';
import type { HiveType } from '../types/hive-type.js';

/** A query's output column. `label` is its name in a result that a user sees (`t.c` for a column of a table). */
export interface BlockColumn {
  readonly name: string;
  readonly type: HiveType;
  readonly label: string;
  readonly literal?: SargLiteral | undefined;
  /** Of a plain column of a table. */
  readonly origin?: Expr['column'];
}

/** A query as SQL whose columns are c0, c1, …. */
export interface Block {
  readonly sql: string;
  readonly columns: readonly BlockColumn[];
  /** Table uses that a condition on the block's columns may prune: there where a row in is a row out. */
  readonly prunable?: ReadonlySet<TableUseBuilder> | undefined;
}
