import type { TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';

/** How rows are spread over bucket files (CLUSTERED BY). */
export interface Bucketing {
  /** Indexes in the schema of the bucket columns. */
  readonly columns: readonly number[];
  readonly buckets: number;
  /** Table property `bucketing_version`: 2 Murmur3, 1 (also when the property is missing) Java's hash codes. */
  readonly version: 1 | 2;
}

/** What ORC is told, as table properties name it; absent: Hive's defaults. */
export interface OrcFileOptions {
  readonly compress?: string;
  readonly compressSizeBytes?: number;
  readonly stripeSizeBytes?: number;
  readonly rowIndexStride?: number;
  readonly bloomFilterColumns?: readonly string[];
  readonly bloomFilterFpp?: number;
  /** IANA name of the session's time zone, written into stripes; UTC when absent. */
  readonly writerTimezone?: string;
  /** hive.exec.orc.base.delta.ratio: by how much stripes and buffers of deltas are smaller; default 8. */
  readonly baseDeltaRatio?: number;
  /** hive.txn.write.acid.version.file: whether folders get `_orc_acid_version`; default true. Files tell their version, too. */
  readonly versionFile?: boolean;
  /** Table properties `orc.*`; the fields above come first. */
  readonly tableProperties?: Readonly<Record<string, string>>;
}

/** One statement's write into one folder (an unpartitioned table's or a partition's). */
export interface WriteTarget {
  readonly fs: FileSystem;
  /** The table's or partition's folder; made when missing. */
  readonly location: string;
  readonly writeId: bigint;
  /** Every leg of a statement has its own, from 0. Not used by overwrites' folder names. */
  readonly statementId: number;
  /** The table's columns (not partition columns) as a struct. */
  readonly schema: TypeDescription;
  readonly bucketing?: Bucketing;
  readonly orc?: OrcFileOptions;
}

export interface InsertTarget extends WriteTarget {
  /** INSERT OVERWRITE: base_W instead of delta_W_W_S, written even without rows. */
  readonly overwrite?: boolean;
  /** Plain rows in files named 000000_0. */
  readonly insertOnly?: boolean;
  /**
   * Of insert-only tables: an earlier statement of the transaction has written base_W, beside which readers take no delta_W_W_S.
   * The rows go into the base, in files 000000_0_copy_N of this N.
   */
  readonly copyInBase?: number | undefined;
}

export interface WriteResult {
  /** Paths of the data files. */
  readonly files: readonly string[];
  readonly insertedRows: number;
  readonly deletedRows: number;
  readonly bytes: number;
}
