import type { BaseName, DeltaName } from '../layout/directory-name.js';

/** A data file of a table's folder. */
export interface DataFile {
  readonly path: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly kind: 'acid' | 'original';
  /** Undefined where the name has no bucket number. */
  readonly bucket: number | undefined;
  /** The side file that tells how much of this file is valid, where there is one. */
  readonly flushLengthPath?: string | undefined;
}

interface DirectoryContent {
  readonly path: string;
  readonly name: string;
  /** Sorted by path; filled in for the current folders only. */
  readonly files: readonly DataFile[];
  /** Plain rows without ACID columns: LOAD DATA put the files there. */
  readonly isRaw: boolean;
  /** `_orc_acid_version` is there: Hive 3 or later wrote it. */
  readonly hasVersionFile: boolean;
}

export interface BaseDirectory extends BaseName, DirectoryContent {
  /** Made by a compaction, not by an overwrite. */
  readonly isCompacted: boolean;
}
export interface DeltaDirectory extends DeltaName, DirectoryContent {}

/** The answer of getAcidState (org.apache.hadoop.hive.ql.io.AcidDirectory). */
export interface AcidState {
  readonly dir: string;
  readonly base: BaseDirectory | undefined;
  /** What to read beside the base, deltas and delete deltas, in Hive's order. */
  readonly deltas: readonly DeltaDirectory[];
  /** Files from before the table was transactional, ordered by path; empty where a base replaces them. */
  readonly originals: readonly DataFile[];
  /** Folders and original files that newer folders replace. */
  readonly obsolete: readonly string[];
  /** Folders whose writes are all aborted. */
  readonly aborted: readonly string[];
  /** A current delta holds rows of aborted writes beside valid ones. */
  readonly uncompactedAborts: boolean;
  /** Write ids of `aborted`. */
  readonly abortedWriteIds: readonly bigint[];
}
