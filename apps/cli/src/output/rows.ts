import type { ColumnVector, StructVector } from '@skep/orc';
import { formatValue, type HiveType, parseTypeName, type StatementResult } from '@skep/sql';

/** How rows are shown. */
export type OutputFormat = 'table' | 'tsv' | 'csv' | 'json';

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['table', 'tsv', 'csv', 'json'];

/** A column of a result. */
export interface OutputColumn {
  readonly name: string;
  readonly type: HiveType;
}

export interface OutputCell {
  readonly vector: ColumnVector;
  readonly row: number;
  readonly type: HiveType;
}

/** What writes rows in one format: text pieces in order. */
export interface RowFormatter {
  begin(): string;
  rows(batch: StructVector, from: number): string;
  end(): string;
}

export const columnsOf = (result: StatementResult): OutputColumn[] =>
  (result.columns ?? []).map((column) => ({ name: column.name, type: parseTypeName(column.type) }));

/** Hive's own text of a value. */
export const cellText = (cell: OutputCell): string => formatValue(cell.type, cell.vector, cell.row);

export function cellsOf(batch: StructVector, row: number, columns: readonly OutputColumn[]): OutputCell[] {
  return columns.map((column, i) => ({ vector: batch.children[i], row, type: column.type }));
}
