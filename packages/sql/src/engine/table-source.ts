import type { ColumnVector, Sarg } from '@skep/orc';

/** Rows of a scan: `columns` in the order of the request's, each of `length` rows. */
export interface ColumnBatch {
  readonly length: number;
  readonly columns: readonly ColumnVector[];
}

export interface ScanRequest {
  /** Lower-case names: table columns, partition columns and virtual columns (row__id, row__is__deleted, input__file__name, …). May be empty: only the number of rows is wanted. */
  readonly columns: readonly string[];
  /**
   * Conditions of which each must be true for a row to matter (columns by name, top-level or dotted into structs). The
   * source may leave out rows that do not satisfy them, in part or not at all: DuckDB checks them again.
   */
  readonly predicate: readonly Sarg[];
}

/** A scan under way. All calls are synchronous: DuckDB calls them from inside a query (toolchain.md §3). */
export interface ScanHandle {
  /** The next rows, any number of them, or undefined at the end. */
  next(): ColumnBatch | undefined;
  close?(): void;
}

/** A table (its snapshot already decided) as a query reads it. `scan` may be called more than once. */
export interface TableSource {
  /** About how many rows there are, if that is known: for the join order. */
  readonly estimatedRows?: number;
  scan(request: ScanRequest): ScanHandle;
}
