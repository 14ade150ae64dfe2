import type { Clock } from '@skep/core';
import type { Knex } from 'knex';
import type { Dialect } from './dialect.js';

/** What may stand for a `?`. Whole numbers go in as 64-bit integers, booleans as 1 and 0, undefined as NULL. */
export type SqlValue = bigint | number | string | boolean | Uint8Array | null | undefined;

/** A row by column name. Every integer is a bigint. */
export type Row = Record<string, bigint | number | string | Uint8Array | null>;

export interface RunResult {
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
  /** The id an auto-increment column gave to the last row inserted. */
  readonly lastId: bigint;
}

/**
 * One database transaction. Never call another service or open another transaction while it is open: with SQLite there
 * is one connection, and the call would wait for itself (until `maxHoldMs`, when it fails).
 */
export interface Tx {
  readonly dialect: Dialect;
  all<R = Row>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
  /** The first column of every row, several times faster than rows. */
  column<V = Row[string]>(sql: string, params?: readonly SqlValue[]): Promise<V[]>;
  get<R = Row>(sql: string, params?: readonly SqlValue[]): Promise<R | undefined>;
  run(sql: string, params?: readonly SqlValue[]): Promise<RunResult>;
  /** Runs what knex builds: schema changes and statements that are not hot (loading knex takes 60 ms, building is slow). */
  build<R = Row>(make: (knex: Knex) => Knex.QueryBuilder | Knex.SchemaBuilder): Promise<R[]>;
  /** The database's clock in epoch milliseconds: what Hive writes into its time columns. */
  now(): Promise<bigint>;
}

export interface TransactionOptions {
  /**
   * False: a power cut may undo it (never a crash of the process, and never without undoing all that came later too).
   * For what means nothing after a power cut, like locks and heartbeats: spares the fsync.
   */
  readonly durable?: boolean;
}

/** The metastore's database behind a few methods; each service keeps its own tables in it. */
export interface Database {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** The file or address, without password. */
  readonly path: string;
  /** Runs `fn` in a write transaction: all or nothing, one at a time with SQLite. Concurrent ones share a commit. */
  transaction<T>(fn: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs `fn` on one consistent snapshot. `fn` must only read, and may be run again. */
  read<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A versioned change of the schema, owned by one package. */
export interface Migration {
  /** `owner/number-name`, like `txn-manager/001-transaction-tables`: applied once, in the order given. */
  readonly id: string;
  up(tx: Tx): Promise<void>;
}

export interface OpenDatabaseOptions {
  /** `sqlite:PATH` or `sqlite::memory:`. */
  readonly url: string;
  readonly clock?: Clock;
  /** Of all packages that keep tables there. */
  readonly migrations?: readonly Migration[];
  /** How long one transaction of this process may make others of it wait before these fail; default 30 s. */
  readonly maxHoldMs?: number;
}
