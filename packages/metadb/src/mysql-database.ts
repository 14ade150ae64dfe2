import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '@skep/core';
import type { Database, DatabaseLoad, RunResult, Statement, TransactionOptions, Tx } from './database.js';
import { type Dialect, mysqlDialect } from './dialect.js';
import { DatabaseError } from './errors.js';
import {
  fromMysql,
  hasMessage,
  isConnectionLost,
  isDuplicateKey,
  isRetryable,
  isUnknownDatabase,
  unknownOutcome,
} from './mysql-errors.js';
import { createDatabase, MysqlPool, type ServerFacts } from './mysql-pool.js';
import { MysqlTx } from './mysql-tx.js';
import { type MysqlAddress, parseMysqlUrl } from './mysql-url.js';
import { type MysqlWire, statement } from './mysql-wire.js';

const MAX_ATTEMPTS = 20;
/** A row that others insert is there at the second attempt. */
const MAX_DUPLICATES = 3;
const PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;
const MIGRATION_WAIT_S = 120;

const WRITE = ['START TRANSACTION'];
const READ = [
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
];

/** MySQL or MariaDB through a pool of connections. */
export class MysqlDatabase implements Database {
  readonly dialect: Dialect;
  readonly path: string;

  private constructor(
    private readonly address: MysqlAddress,
    readonly clock: Clock,
    private readonly pool: MysqlPool,
    private readonly maxHoldMs: number,
    private readonly server: ServerFacts,
    private readonly retryable: readonly RegExp[],
  ) {
    this.dialect = mysqlDialect(server.version);
    this.path = address.shown;
  }

  static async open(
    url: string,
    clock: Clock,
    maxHoldMs: number,
    retryable: readonly RegExp[] = [],
  ): Promise<MysqlDatabase> {
    const address = parseMysqlUrl(url);
    const pool = new MysqlPool(address, maxHoldMs, maxHoldMs / 3);
    try {
      const server = await pool.start().catch(async (error: unknown) => {
        if (!isUnknownDatabase(error)) throw error;
        await createDatabase(address);
        return pool.start();
      });
      return new MysqlDatabase(address, clock, pool, maxHoldMs, server, retryable);
    } catch (error) {
      await pool.close();
      throw fromMysql(address.shown, error);
    }
  }

  transaction<T>(fn: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.retried(options.signal, (wire) => this.runWrite(wire, fn));
  }

  run(statements: readonly Statement[], options: TransactionOptions = {}): Promise<RunResult[]> {
    return this.retried(options.signal, (wire) => this.runStatements(wire, statements));
  }

  read<T>(fn: (tx: Tx) => Promise<T>, options: Pick<TransactionOptions, 'signal'> = {}): Promise<T> {
    return this.retried(options.signal, (wire) => this.runRead(wire, fn));
  }

  /** Runs `fn` while no other process does, every statement committed by itself. */
  async exclusively<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const wire = await this.acquire(undefined);
    const lock = `skep:${createHash('sha256').update(this.address.database).digest('hex').slice(0, 40)}`;
    const tx = new MysqlTx(wire, this.dialect, this.path, [], this.now);
    try {
      const got = await tx.get<{ L: bigint | null }>('SELECT GET_LOCK(?, ?) AS L', [lock, MIGRATION_WAIT_S]);
      if (got?.L !== 1n) {
        const what = `another process has been changing its schema for ${MIGRATION_WAIT_S} s`;
        throw new DatabaseError('DATABASE_LOCKED', this.path, what);
      }
      const value = await fn(tx);
      await tx.get('SELECT RELEASE_LOCK(?) AS L', [lock]);
      return value;
    } catch (error) {
      // The lock goes with the connection.
      wire.destroy();
      throw error;
    } finally {
      this.pool.release(wire);
    }
  }

  load(): DatabaseLoad {
    return this.pool.load;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** The clock of the server, which all who use it share, unless a test gave its own. */
  private readonly now = async (): Promise<bigint> => {
    const aheadMs = this.clock === systemClock ? this.server.aheadMs : 0;
    return BigInt(Math.round(this.clock.now() + aheadMs));
  };

  private async acquire(signal: AbortSignal | undefined): Promise<MysqlWire> {
    try {
      return await this.pool.acquire(signal);
    } catch (error) {
      throw fromMysql(this.path, error);
    }
  }

  /** Again after a deadlock, a lost connection, a row inserted by another: within bounds of number and time. */
  private async retried<T>(signal: AbortSignal | undefined, attempt: (wire: MysqlWire) => Promise<T>): Promise<T> {
    const untilMs = systemClock.now() + this.maxHoldMs;
    let duplicates = 0;
    for (let count = 1; ; count++) {
      const wire = await this.acquire(signal);
      try {
        return await attempt(wire);
      } catch (error) {
        const cause = error instanceof DatabaseError ? error.cause : error;
        const isLost = isConnectionLost(cause) && !isOutcomeUnknown(error);
        const isDuplicate = isDuplicateKey(cause) && ++duplicates < MAX_DUPLICATES;
        const isNamed = !isOutcomeUnknown(error) && hasMessage(cause, this.retryable);
        const mayRetry = isRetryable(cause) || isLost || isDuplicate || isNamed;
        if (!mayRetry || count >= MAX_ATTEMPTS || systemClock.now() >= untilMs || this.pool.closed) throw error;
      } finally {
        this.pool.release(wire);
      }
      const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** count) * systemClock.random();
      await systemClock.sleep(
        pauseMs,
        signal === undefined ? this.pool.signal : AbortSignal.any([signal, this.pool.signal]),
      );
    }
  }

  private async runWrite<T>(wire: MysqlWire, fn: (tx: Tx) => Promise<T>): Promise<T> {
    const tx = new MysqlTx(wire, this.dialect, this.path, WRITE, this.now);
    let value: T;
    try {
      value = await fn(tx);
    } catch (error) {
      if (tx.isOpen) await rollback(wire);
      throw error;
    }
    if (tx.isOpen) await this.commit(wire);
    return value;
  }

  private async runStatements(wire: MysqlWire, statements: readonly Statement[]): Promise<RunResult[]> {
    if (statements.length === 0) return [];
    try {
      const own = statements.map(([sql, params]) => statement(sql, params ?? []));
      // One statement is a transaction by itself.
      if (own.length === 1) return (await wire.send(own)).map(({ run }) => run);
      return (await wire.send([...WRITE, ...own, 'COMMIT'])).slice(1, -1).map(({ run }) => run);
    } catch (error) {
      if (isConnectionLost(error)) throw unknownOutcome(this.path, error);
      await rollback(wire);
      throw fromMysql(this.path, error);
    }
  }

  private async commit(wire: MysqlWire): Promise<void> {
    try {
      await wire.send(['COMMIT']);
    } catch (error) {
      if (!isConnectionLost(error)) throw fromMysql(this.path, error);
      throw unknownOutcome(this.path, error);
    }
  }

  private async runRead<T>(wire: MysqlWire, fn: (tx: Tx) => Promise<T>): Promise<T> {
    const tx = new MysqlTx(wire, this.dialect, this.path, READ, this.now);
    try {
      return await fn(tx);
    } finally {
      // Nobody has to wait for it.
      if (tx.isOpen && !wire.broken) wire.post('COMMIT');
    }
  }
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === 'DATABASE_UNKNOWN_OUTCOME';
}

/** A connection on which not even that works is of no use. */
async function rollback(wire: MysqlWire): Promise<void> {
  if (wire.broken) return;
  try {
    await wire.send(['ROLLBACK']);
  } catch {
    wire.destroy();
  }
}
