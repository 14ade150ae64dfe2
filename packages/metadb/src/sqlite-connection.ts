import { BugError, type Clock } from '@skep/core';
import Sqlite from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Row, RunResult, SqlValue, Tx } from './database.js';
import { SQLITE } from './dialect.js';
import { toDatabaseError } from './errors.js';

/** How long SQLite itself waits, blocking the thread, before we wait with the event loop running. */
const BUSY_TIMEOUT_MS = 20;
const MAX_STATEMENTS = 500;

/** The one connection to an SQLite file: prepared statements, kept, and knex for what is built. Runs synchronously. */
export class SqliteConnection implements Tx {
  readonly dialect = SQLITE;
  private readonly statements = new Map<string, Sqlite.Statement>();
  private knex: Knex | undefined;

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
      return { changes: result.changes, lastId: BigInt(result.lastInsertRowid) };
    });
  }

  async build<R = Row>(make: (knex: Knex) => Knex.QueryBuilder | Knex.SchemaBuilder): Promise<R[]> {
    this.knex ??= await loadKnex();
    const built: unknown = make(this.knex).toSQL();
    let rows: R[] = [];
    for (const part of Array.isArray(built) ? built : [built]) {
      const { sql, bindings, output } = part as { sql: string; bindings?: SqlValue[]; output?: unknown };
      // knex rebuilds whole SQLite tables for some ALTERs by a callback of its own, which needs its own connection.
      if (output !== undefined && sql === '') throw new BugError('this change of schema needs plain SQL in SQLite');
      if (this.prepared(sql).reader) rows = await this.all<R>(sql, bindings);
      else await this.run(sql, bindings);
    }
    return rows;
  }

  async now(): Promise<bigint> {
    return BigInt(this.clock.now());
  }

  async close(): Promise<void> {
    this.statements.clear();
    this.driver.close();
    await this.knex?.destroy();
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

/** Loaded when first needed: it costs a third of a cold start's budget, and an existing database needs none of it. */
async function loadKnex(): Promise<Knex> {
  const { default: knex } = await import('knex');
  return knex({ client: 'better-sqlite3', connection: { filename: ':memory:' }, useNullAsDefault: true });
}
