import type { Clock } from '@skep/core';
import type { Dialect } from './dialect.js';

/** What may stand for a `?`. Whole numbers go in as 64-bit integers, booleans as 1 and 0, undefined as NULL. */
export type SqlValue = bigint | number | string | boolean | Uint8Array | null | undefined;

/** A row by column name. Every integer is a bigint. */
export type Row = Record<string, bigint | number | string | Uint8Array | null>;

export interface RunResult {
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
  /** The ids an auto-increment column gave to the first and the last row inserted; those between lie evenly between. */
  readonly firstId: bigint;
  readonly lastId: bigint;
}

/** A statement and what stands for its `?`. */
export type Statement = readonly [sql: string, params?: readonly SqlValue[]];

/**
 * One database transaction. With MySQL it reads what others have committed by each statement (READ COMMITTED, as Hive):
 * what must not change until the end is read with `dialect.forUpdate`. Never call another service or open another transaction while it is open: with SQLite there
 * is one connection, and the call would wait for itself (until `maxHoldMs`, when it fails).
 */
export interface Tx {
  readonly dialect: Dialect;
  all<R = Row>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
  /** The first column of every row, several times faster than rows. */
  column<V = Row[string]>(sql: string, params?: readonly SqlValue[]): Promise<V[]>;
  get<R = Row>(sql: string, params?: readonly SqlValue[]): Promise<R | undefined>;
  run(sql: string, params?: readonly SqlValue[]): Promise<RunResult>;
  /** Statements of which none needs another's answer: one round trip to a server. */
  runAll(statements: readonly Statement[]): Promise<RunResult[]>;
  /**
   * The same as the end of the transaction: a server commits in the same round trip. Nothing may follow. Answers the rows of the
   * queries among them (which begin with SELECT), nothing of others.
   */
  runLast(statements: readonly Statement[]): Promise<Row[][]>;
  /** Queries of which none needs another's answer: one round trip to a server. */
  allOf(queries: readonly Statement[]): Promise<Row[][]>;
  /** The database's clock in epoch milliseconds: what Hive writes into its time columns. */
  now(): Promise<bigint>;
}

export interface TransactionOptions {
  /**
   * False: a power cut may undo it (never a crash of the process, and never without undoing all that came later too).
   * For what means nothing after a power cut, like locks and heartbeats: spares SQLite's fsync.
   */
  readonly durable?: boolean;
  /** Ends the wait for the database, and what is tried again. A commit under way is waited for. */
  readonly signal?: AbortSignal;
}

/** The metastore's database behind a few methods; each service keeps its own tables in it. */
export interface Database {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** The file or address, without password. */
  readonly path: string;
  /**
   * Runs `fn` in a write transaction: all or nothing. One at a time with SQLite, where concurrent ones share a commit; at
   * the same time with MySQL, where `fn` may be run again after a deadlock or a lost connection: it must do nothing that
   * is not undone with the transaction.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A write transaction of statements that are known beforehand: one round trip to a server. */
  run(statements: readonly Statement[], options?: TransactionOptions): Promise<RunResult[]>;
  /** Runs `fn` on one consistent snapshot. `fn` must only read, and may be run again. */
  read<T>(fn: (tx: Tx) => Promise<T>, options?: Pick<TransactionOptions, 'signal'>): Promise<T>;
  /** How busy it is at the moment. */
  load(): DatabaseLoad;
  close(): Promise<void>;
}

/** Connections of this process to its database, and what waits for one. */
export interface DatabaseLoad {
  /** As many as there may be. */
  readonly most: number;
  readonly open: number;
  /** Open ones that do nothing. */
  readonly idle: number;
  /** Transactions that wait for one. */
  readonly waiting: number;
}

/** A versioned change of the schema, owned by one package. */
export interface Migration {
  /** `owner/number-name`, like `txn-manager/001-transaction-tables`: applied once, in the order given. */
  readonly id: string;
  /**
   * MySQL commits every change of schema by itself. A process that dies half-way leaves a half, and Hive's tables may be
   * there already: it must be able to start over on what it finds (`createTables`, `insertMissing`).
   */
  up(tx: Tx): Promise<void>;
}

export interface OpenDatabaseOptions {
  /** `sqlite:PATH`, `sqlite::memory:` or `mysql://USER:PASSWORD@HOST:PORT/DB` (MariaDB too). */
  readonly url: string;
  readonly clock?: Clock;
  /** Of all packages that keep tables there. */
  readonly migrations?: readonly Migration[];
  /** How long one transaction of this process may make others of it wait before these fail; default 30 s. */
  readonly maxHoldMs?: number;
  /** Of a server: further messages, as `MESSAGE (SQLState=S, ErrorCode=N)`, after which a transaction is tried again. */
  readonly retryable?: readonly RegExp[];
}
