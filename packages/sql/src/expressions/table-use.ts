import type { Sarg } from '@skep/orc';
import type { Position } from '../parse/ast-expression.js';
import type { HiveType } from '../types/hive-type.js';
import type { Constant } from './constant.js';

/** A column of a table. Names in lower case; `virtual` ones (ROW__ID, partition-independent ones) are not in `*`. */
export interface ColumnInfo {
  readonly name: string;
  readonly type: HiveType;
  readonly virtual?: boolean;
}

/** One reading of a table in a query. */
export interface TableUse {
  readonly database: string;
  readonly name: string;
  readonly alias: string;
  /** What the resolver gave with the table: the caller's own. */
  readonly handle: unknown;
  /** The columns that the query needs. */
  readonly columns: readonly ColumnInfo[];
  /** Conditions that every row that matters satisfies; see ScanRequest. */
  readonly predicate: readonly Sarg[];
  readonly position: Position;
}

/** A TableUse while its query is analysed. */
export class TableUseBuilder {
  private readonly used = new Set<string>();
  /** Undefined: a condition that says nothing of the files. Asked when the constants are known. */
  readonly predicate: (() => Sarg | undefined)[] = [];
  /** What the predicate's conditions wait for. */
  readonly constants: Constant[] = [];

  constructor(
    readonly index: number,
    readonly database: string,
    readonly name: string,
    readonly alias: string,
    readonly handle: unknown,
    readonly allColumns: readonly ColumnInfo[],
    readonly position: Position,
  ) {}

  need(column: string): void {
    this.used.add(column);
  }

  build(): TableUse {
    return {
      database: this.database,
      name: this.name,
      alias: this.alias,
      handle: this.handle,
      columns: this.allColumns.filter((column) => this.used.has(column.name)),
      predicate: this.predicate.flatMap((condition) => condition() ?? []),
      position: this.position,
    };
  }
}
