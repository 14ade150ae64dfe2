import type { StructVector } from '@skep/orc';

/** A result column: its name and Hive's type string, e.g. `array<int>`. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** What a write did, in rows. */
export interface WriteCounts {
  readonly inserted: bigint;
  readonly updated: bigint;
  readonly deleted: bigint;
}

/**
 * What one statement answered. A statement that answers rows has `columns`, and `batches` (to be consumed once, to the
 * end or closed early: the statement's transaction ends with it). Everything else has no columns.
 */
export interface StatementResult {
  readonly columns?: readonly ResultColumn[];
  readonly batches?: AsyncIterable<StructVector>;
  readonly counts?: WriteCounts;
  /** What Hive's client prints beside rows ("Compaction enqueued with id 1"), for stderr. */
  readonly messages: readonly string[];
  /** True for SHOW TRANSACTIONS and its like, whose first row is a header for people (Hive's embedded CLI prints it). */
  readonly headerRow?: boolean;
  /** True for DESCRIBE and its like, whose texts are padded for people. */
  readonly padded?: boolean;
}
