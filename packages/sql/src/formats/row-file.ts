import type { ColumnVector, StructVector } from '@skep/orc';
import type { HiveType } from '../types/hive-type.js';

/** A column of a table's files: name in lower case. */
export interface FileColumn {
  readonly name: string;
  readonly type: HiveType;
}

/** Rows of a file: the columns asked for, in the order asked for. */
export interface RowBatch {
  readonly length: number;
  readonly columns: readonly ColumnVector[];
}

/** Writes rows into one file, front to back. */
export interface RowFileWriter {
  /** `rows` has the table's columns (not the partition columns). */
  write(rows: StructVector): Promise<void>;
  /** Ends the file and makes it durable. */
  close(): Promise<void>;
  abort(): Promise<void>;
}
