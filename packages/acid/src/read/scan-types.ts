import type { ValidWriteIdList } from '@skep/core';
import type { BooleanVector, IntVector, LongVector, Sarg, StructVector, TypeDescription } from '@skep/orc';
import type { DataFile } from '../state/acid-directory.js';
import type { DeleteCache } from './delete-cache.js';
import type { KeyRange } from './key-runs.js';
import type { ScanCounts } from './scan-counts.js';

/** The identity of rows: (writeId, bucket property, rowId), which Hive shows as ROW__ID. Columns of equal length. */
export interface RowIdVectors {
  readonly writeId: LongVector;
  /** The bucket property (layout/bucket-property.ts), not the bucket number. */
  readonly bucket: IntVector;
  readonly rowId: LongVector;
}

/** Rows of a table's folder, deleted and invisible ones left out. */
export interface AcidBatch {
  readonly length: number;
  /** A struct of the columns asked for, in the order asked for. */
  readonly root: StructVector;
  /** With `rowIds`; never for insert-only tables. */
  readonly rowIds?: RowIdVectors | undefined;
  /** With `includeDeleted`: 1 where the row is deleted (ROW__IS__DELETED). */
  readonly isDeleted?: BooleanVector | undefined;
}

/** Where the rows of a file get their ROW__IDs where the file has none (originals, LOAD DATA). */
export interface SyntheticRowIds {
  readonly writeId: bigint;
  readonly bucket: number;
  /** Files of the same logical bucket before this one by path: their rows are counted first. */
  readonly filesBefore: readonly DataFile[];
}

/** A delete file that may hold deletes of a split's rows. */
export interface DeleteFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly bucket: number | undefined;
  readonly flushLengthPath?: string | undefined;
  /** Of the folder's name: the deletes are of these writes. */
  readonly writeIdRange?: readonly [min: bigint, max: bigint];
}

interface SplitBase {
  /** Of the table's or partition's folder. */
  readonly dir: string;
  /** undefined where the file's name has no bucket number. */
  readonly bucket: number | undefined;
  readonly sizeBytes: number;
}

/**
 * A piece of a folder that is read on its own; together the splits of a state hold every row once.
 * `acid`: one file of events. `original`: one file of plain rows of a full ACID table. `plain`: one file of an insert-only
 * table (any format: look at the table's). `events`: a bucket of an ACID version 1 table, whose files are merged.
 */
export type AcidSplit =
  | (SplitBase & {
      readonly kind: 'acid';
      readonly file: DataFile;
      /** Of the folder's name: all rows are of these writes. A base's first is unknown: undefined. */
      readonly writeIdRange: readonly [min: bigint, max: bigint] | undefined;
      readonly deletes: readonly DeleteFile[];
    })
  | (SplitBase & {
      readonly kind: 'original';
      readonly file: DataFile;
      readonly rowIds: SyntheticRowIds;
      readonly deletes: readonly DeleteFile[];
    })
  | (SplitBase & { readonly kind: 'plain'; readonly file: DataFile })
  | (SplitBase & { readonly kind: 'events'; readonly files: readonly EventFile[] });

/** A file with events (or plain rows that count as inserts), for merging. */
export interface EventFile {
  readonly file: DataFile;
  /** Plain rows: where their ROW__IDs come from. */
  readonly rowIds?: SyntheticRowIds | undefined;
  /** Of the folder, orders the events of one transaction; 0 where the folder's name has none. */
  readonly statementId: number;
  /** Of a delete delta: of deletes alone. */
  readonly isOfDeletes?: boolean;
}

export interface ScanOptions {
  /** The table's columns (not partition columns) as a struct; files are read as this schema, matched by position. */
  readonly schema: TypeDescription;
  /** Which rows count: those whose write id is valid. The list the state was made with. */
  readonly writeIds: ValidWriteIdList;
  /** Indexes in `schema` of the columns to read; all when absent. Empty: no column, only counts. */
  readonly columns?: readonly number[];
  /**
   * Leaves out stripes and row groups. Columns are column ids of `schema` or its names (dotted paths inside structs). Rows that do not satisfy it may remain.
   */
  readonly sarg?: Sarg;
  /** Leaves out files, stripes and row groups without a ROW__ID between these. Others may remain. */
  readonly keyRange?: KeyRange;
  /** Most rows in a batch, 8192 when absent. */
  readonly batchSize?: number;
  /** So many rows in a batch that it has about so many bytes; not of ACID version 1. */
  readonly batchBytes?: number;
  /** About so many bytes of a stripe are read at once, as they are decompressed. */
  readonly segmentBytes?: number;
  readonly rowIds?: boolean;
  /** Hands out deleted rows too, flagged. */
  readonly includeDeleted?: boolean;
  /** Delete events kept in memory per split before files are merged instead (hive.transactional.events.mem). */
  readonly deleteEventsInMemory?: number;
  /** Shared by the splits of one scan, so that they read a delete file once. */
  readonly deleteCache?: DeleteCache;
  /** Is told what the scan reads. */
  readonly counts?: ScanCounts;
}
