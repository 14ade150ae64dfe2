import type { Clock } from '@skep/core';
import Sqlite from 'better-sqlite3';
import type { Row, RunResult, SqlValue, Statement, Tx } from './database.js';
import { isQuery, SQLITE } from './dialect.js';
import { toDatabaseError } from './errors.js';

/** How long SQLite itself waits, blocking the thread, before we wait with the event loop running. */
const BUSY_TIMEOUT_MS = 20;
const MAX_STATEMENTS = 1000;

/** The one connection to an SQLite file: prepared statements, kept. Runs synchronously. */
export class SqliteConnection implements Tx {
  readonly dialect = SQLITE;
  private readonly statements = new Map<string, Sqlite.Statement>();

  private constructor(
    private readonly driver: Sqlite.Database,
    private readonly path: string,
    private readonly clock: Clock,
  ) {}

  static open(path: string, clock: Clock): SqliteConnection {
    const driver = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      driver.defaultSafeIntegers(true);
      driver.pragma('journal_mode = WAL');
      driver.pragma('synchronous = FULL');
    } catch (error) {
      driver.close();
      throw error;
    }
    return new SqliteConnection(driver, path, clock);
  }

  get inTransaction(): boolean {
    return this.driver.inTransaction;
  }

  setDurable(durable: boolean): void {
    this.driver.pragma(durable ? 'synchronous = FULL' : 'synchronous = NORMAL');
  }

  /** A statement without parameters or rows. The driver's own error comes out, for those who retry. */
  command(sql: string): void {
    this.prepared(sql).run();
  }

  async all<R = Row>(sql: string, params: readonly SqlValue[] = []): Promise<R[]> {
    return this.guarded(sql, (statement) => statement.all(...params.map(toBinding)) as R[]);
  }

  async column<V = Row[string]>(sql: string, params: readonly SqlValue[] = []): Promise<V[]> {
    return this.guarded(sql, (statement) => {
      statement.pluck(true);
      try {
        return statement.all(...params.map(toBinding)) as V[];
      } finally {
        statement.pluck(false);
      }
    });
  }

  async get<R = Row>(sql: string, params: readonly SqlValue[] = []): Promise<R | undefined> {
    return this.guarded(sql, (statement) => statement.get(...params.map(toBinding)) as R | undefined);
  }

  async run(sql: string, params: readonly SqlValue[] = []): Promise<RunResult> {
    return this.guarded(sql, (statement) => {
      const result = statement.run(...params.map(toBinding));
      const lastId = BigInt(result.lastInsertRowid);
      return { changes: result.changes, firstId: lastId - BigInt(Math.max(0, result.changes - 1)), lastId };
    });
  }

  async runAll(statements: readonly Statement[]): Promise<RunResult[]> {
    const results: RunResult[] = [];
    for (const [sql, params] of statements) results.push(await this.run(sql, params));
    return results;
  }

  async runLast(statements: readonly Statement[]): Promise<Row[][]> {
    const results: Row[][] = [];
    for (const [sql, params] of statements) {
      if (isQuery(sql)) results.push(await this.all(sql, params));
      else {
        await this.run(sql, params);
        results.push([]);
      }
    }
    return results;
  }

  async allOf(queries: readonly Statement[]): Promise<Row[][]> {
    const results: Row[][] = [];
    for (const [sql, params] of queries) results.push(await this.all(sql, params));
    return results;
  }

  async now(): Promise<bigint> {
    return BigInt(this.clock.now());
  }

  async close(): Promise<void> {
    this.statements.clear();
    this.driver.close();
  }

  private guarded<T>(sql: string, use: (statement: Sqlite.Statement) => T): T {
    try {
      return use(this.prepared(sql));
    } catch (error) {
      throw toDatabaseError(this.path, error);
    }
  }

  private prepared(sql: string): Sqlite.Statement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.driver.prepare(sql);
      if (this.statements.size >= MAX_STATEMENTS) this.statements.clear();
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

function toBinding(value: SqlValue): bigint | number | string | Uint8Array | null {
  if (value === undefined) return null;
  // The driver would bind a whole number above 2^31 as REAL.
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return value;
}
