import type { RowIdVectors } from '@skep/acid';
import type { Sarg, StructVector, TypeDescription } from '@skep/orc';

/** A table as clients see it. */
export interface TableShape {
  readonly database: string;
  readonly table: string;
  /** Those of the files, then the partition columns. */
  readonly columns: readonly { readonly name: string; readonly type: TypeDescription }[];
  readonly partitionColumns: readonly string[];
  /** Full ACID: rows have ROW__IDs and can be changed. */
  readonly hasRowIds: boolean;
}

/** Which rows a read sees. */
export type Snapshot =
  | { readonly kind: 'latest' }
  | { readonly kind: 'writeIds'; readonly writeIds: string }
  | { readonly kind: 'transaction'; readonly txnId: bigint };

export interface ReadRequest {
  readonly database: string;
  readonly table: string;
  readonly predicate: readonly Sarg[];
  readonly snapshot: Snapshot;
}

/** A piece of a table that can be read on its own. */
export interface PlannedSplit {
  /** What `read` needs to know, as plain data (bigints too); goes into the ticket. */
  readonly handle: unknown;
  readonly sizeBytes: number;
  /** Where that is known without reading it. */
  readonly rows?: number;
  /** k1=v1/k2=v2; empty: none. */
  readonly partition: string;
}

/** A snapshot of a table, kept until `expiresMs` by the transaction `txnId`. */
export interface ReadPlan {
  readonly txnId: bigint;
  readonly validTxns: string;
  readonly writeIds?: string;
  readonly expiresMs: number;
  readonly splits: readonly PlannedSplit[];
}

export interface SplitRequest {
  readonly handle: unknown;
  /** The transaction that keeps the snapshot. */
  readonly txnId: bigint;
  readonly columns: readonly string[];
  readonly predicate: readonly Sarg[];
  readonly rowIds: boolean;
  /** About so many bytes in a batch; so many of a file are read at once. */
  readonly batchBytes: number;
  readonly segmentBytes: number;
}

export interface WriteRequest {
  readonly database: string;
  readonly table: string;
  /** Partition columns with one value for all rows. */
  readonly partition: Readonly<Record<string, string | null>>;
  /** The rows' columns, with the type of their vectors. */
  readonly given: readonly { readonly name: string; readonly type: string }[];
  /** Absent: a transaction of its own, which commits at the end. */
  readonly txnId?: bigint;
  /** The snapshot by which rows to change were read. */
  readonly validTxns?: string;
  /** The same, as the rows themselves say it: no more than that their ROW__IDs have to be those of then. */
  readonly readBy?: string;
}

/** Events of a write: rows that go with their partition columns, and rows that come. */
export interface RowChanges {
  readonly deleted?: { readonly rowIds: RowIdVectors; readonly length: number; readonly keys: StructVector };
  readonly written?: StructVector;
}

export interface WriteReport {
  readonly txnId: bigint;
  readonly writeId?: bigint;
  readonly inserted: bigint;
  readonly deleted: bigint;
}

export interface OpenTxn {
  readonly txnId: bigint;
  readonly user: string;
  readonly startedMs: bigint;
}

export interface Snapshots {
  readonly validTxns: string;
  readonly writeIds?: string;
  readonly openTxns: readonly OpenTxn[];
}

/** On whose behalf and how long something is done. */
export interface Caller {
  /** Empty: nobody said. */
  readonly user: string;
  readonly signal: AbortSignal;
}

/** The tables that a Flight service offers; everything about snapshots, locks and files is behind it. */
export interface DataSource {
  tables(names: (database: string, table: string) => boolean, caller: Caller): AsyncIterable<TableShape>;
  table(database: string, table: string, caller: Caller): Promise<TableShape>;
  plan(request: ReadRequest, caller: Caller): Promise<ReadPlan>;
  /** Rows of the columns asked for, then `row__id`. Rows that the predicate rules out may be among them. */
  read(request: SplitRequest, caller: Caller): AsyncIterable<StructVector>;
  /** The snapshot of a plan, and with it its tickets, is given up. */
  release(txnId: bigint, caller: Caller): Promise<void>;
  append(
    request: WriteRequest,
    overwrite: boolean,
    batches: AsyncIterable<StructVector>,
    caller: Caller,
  ): Promise<WriteReport>;
  change(request: WriteRequest, changes: AsyncIterable<RowChanges>, caller: Caller): Promise<WriteReport>;
  begin(caller: Caller): Promise<bigint>;
  commit(txnId: bigint, caller: Caller): Promise<void>;
  abort(txnId: bigint, caller: Caller): Promise<void>;
  heartbeat(txnId: bigint, caller: Caller): Promise<void>;
  compact(
    request: {
      readonly database: string;
      readonly table: string;
      readonly type: string;
      readonly partition: Readonly<Record<string, string>>;
      readonly wait: boolean;
    },
    caller: Caller,
  ): Promise<readonly string[]>;
  snapshots(
    table: { readonly database: string; readonly table: string } | undefined,
    caller: Caller,
  ): Promise<Snapshots>;
}
