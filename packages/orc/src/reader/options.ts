import type { Sarg } from '../sarg/sarg.js';
import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';

/** What to read of a file, and how. */
export interface ReadOptions {
  /**
   * Column ids (of readSchema, or of the file's schema) to read; absent: all. A column's parents are read with it. A
   * nested column none of whose descendants is named is read whole. Struct vectors keep only the fields that are read,
   * with their names; lists keep their shape, a map or a union is always read whole. An empty set reads no column: batches
   * then have a length and a root without children.
   */
  readonly include?: ReadonlySet<number>;
  /** Leaves out stripes and row groups in which no row can satisfy it. Rows that do not satisfy it may remain. */
  readonly sarg?: Sarg;
  /** Stripes [first, end). */
  readonly stripeRange?: { readonly first: number; readonly end: number };
  /** Stripes that start in [start, end), which is how Hive divides a file among splits. */
  readonly byteRange?: { readonly start: number; readonly end: number };
  /** Most rows in a batch; 8192 when absent. A batch is of one stripe. */
  readonly batchSize?: number;
  /**
   * A stripe of which more bytes than this are to be read is read in parts of about this size, where it has row indexes:
   * what bounds memory. 8 MiB when absent, 4 MiB of a compressed file.
   */
  readonly segmentBytes?: number;
  /**
   * The schema to read as, where it is not the file's. Values are converted as Hive does; columns that the file does not
   * have are NULL.
   */
  readonly readSchema?: TypeDescription;
  /**
   * How readSchema's fields are matched with the file's: by `name` (ORC's default; the same letters first, then without regard
   * to case; a struct whose fields are all `_colN` in the file, as Hive before 2 wrote, by position) or by `position`.
   */
  readonly evolution?: 'name' | 'position';
  /** With evolution 'position': the levels of structs that it holds for, from the root; below, by name. 1 when absent. */
  readonly positionalLevels?: number;
  /** Reads what the mask left of encrypted columns whose key is not there (as Java does) instead of refusing them. */
  readonly masked?: boolean;
}

/** Consecutive rows of the file. */
export interface OrcBatch {
  /** The number of the first row in the file. */
  readonly rowNumber: number;
  readonly length: number;
  /** A struct in every file that Hive wrote. */
  readonly root: ColumnVector;
}
