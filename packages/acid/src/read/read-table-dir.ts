import { BugError, type PartitionValue, type ValidTxnList, type ValidWriteIdList } from '@skep/core';
import type { TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import type { AcidBatch } from './scan-types.js';

export interface ReadTableDirOptions {
  /** Absent: everything is committed. */
  readonly writeIds?: ValidWriteIdList;
  readonly txns?: ValidTxnList;
  readonly rowIds?: boolean;
  readonly includeDeleted?: boolean;
  readonly batchSize?: number;
}

export interface TableDirReading {
  /** Of the newest data file: the columns without the partition columns. */
  readonly schema: TypeDescription;
  /** From folder names, in order. */
  readonly partitionColumns: readonly string[];
  readonly insertOnly: boolean;
  /** Rows partition by partition. */
  batches(): AsyncGenerator<AcidBatch & { readonly partition: readonly PartitionValue[] }>;
}

/** Reads a table's or partition's folder without any metastore. */
export async function readTableDir(
  _fs: FileSystem,
  _dir: string,
  _options: ReadTableDirOptions = {},
): Promise<TableDirReading> {
  throw new BugError('readTableDir is not written yet');
}
