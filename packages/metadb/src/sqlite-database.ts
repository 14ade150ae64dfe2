import { type Clock, systemClock } from '@skep/core';
import type { DatabaseLoad, RunResult, Statement, TransactionOptions, Tx } from './database.js';
import { SQLITE } from './dialect.js';
import { DatabaseError, isBusy, toDatabaseError } from './errors.js';
import type { MigratableDatabase } from './migrate.js';
import { SqliteConnection } from './sqlite-connection.js';

/** About half a minute of waiting for another process, in slices of the busy time-out and a pause. */
const MAX_ATTEMPTS = 600;
const PAUSE_MS = 30;
/** Write transactions that share one commit. */
const MAX_GROUP = 64;
const MAX_QUEUE = 10_000;

interface Job {
  readonly kind: 'read' | 'write';
  readonly durable: boolean;
  readonly fn: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * SQLite through one connection. Jobs run one after the other; write transactions take the file's write lock at once
 * (BEGIN IMMEDIATE), so another process can make them wait but never fail half-way. Write jobs that wait together are
 * committed together, each under its own savepoint: one fsync for all.
 */
export class SqliteDatabase implements MigratableDatabase {
  readonly dialect = SQLITE;
  private readonly queue: Job[] = [];
  /** When the job that runs was started, by real time. */
  private startedAtMs = 0;
  private watch: AbortController | undefined;
  private running: Promise<void> | undefined;
  private durable = true;
  private closed = false;

  private constructor(
    readonly path: string,
    readonly clock: Clock,
    private readonly connection: SqliteConnection,
    private readonly maxHoldMs: number,
  ) {}

  static async open(path: string, clock: Clock, maxHoldMs: number): Promise<SqliteDatabase> {
    const connection = await retryBusy(path, async () => SqliteConnection.open(path, clock));
    return new SqliteDatabase(path, clock, connection, maxHoldMs);
  }

  transaction<T>(fn: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.enqueue('write', options.durable ?? true, fn, options.signal);
  }

  run(statements: readonly Statement[], options?: TransactionOptions): Promise<RunResult[]> {
    return this.transaction((tx) => tx.runAll(statements), options);
  }

  /** One connection does everything, in turn. */
  load(): DatabaseLoad {
    const idle = this.running === undefined ? 1 : 0;
    return { most: 1, open: this.closed ? 0 : 1, idle: this.closed ? 0 : idle, waiting: this.queue.length };
  }

  read<T>(fn: (tx: Tx) => Promise<T>, options: Pick<TransactionOptions, 'signal'> = {}): Promise<T> {
    return this.enqueue('read', false, fn, options.signal);
  }

  exclusively<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.transaction(fn);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.running;
    await this.connection.close();
  }

  private enqueue<T>(
    kind: Job['kind'],
    durable: boolean,
    fn: (tx: Tx) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.closed) return Promise.reject(new DatabaseError('DATABASE_CLOSED', this.path, 'it is closed'));
    if (this.queue.length >= MAX_QUEUE) {
      return Promise.reject(new DatabaseError('DATABASE_LOCKED', this.path, `${MAX_QUEUE} requests wait already`));
    }
    return new Promise<T>((resolve, reject) => {
      const done = signal === undefined ? undefined : new AbortController();
      const settled = (act: () => void) => {
        done?.abort();
        act();
      };
      const job: Job = {
        kind,
        durable,
        fn,
        resolve: (value) => settled(() => resolve(value as T)),
        reject: (reason) => settled(() => reject(reason)),
      };
      this.queue.push(job);
      signal?.addEventListener('abort', () => this.withdraw(job, signal), { once: true, signal: done?.signal });
      if (this.running === undefined) this.running = this.drain();
      else this.watchHolder();
    });
  }

  /** A job that waits is not begun any more. One that runs is soon done. */
  private withdraw(job: Job, signal: AbortSignal): void {
    const at = this.queue.indexOf(job);
    if (at < 0) return;
    this.queue.splice(at, 1);
    job.reject(signal.reason);
  }

  /**
   * Whoever opens a transaction inside another waits for itself. All who wait are then told, so that the outer one fails
   * too and lets go. (Telling callers apart would take async hooks, which slow every promise of the process.)
   */
  private watchHolder(): void {
    if (this.watch !== undefined) return;
    this.watch = new AbortController();
    const { signal } = this.watch;
    const look = async () => {
      for (;;) {
        await systemClock.sleep(this.maxHoldMs / 4, signal);
        if (systemClock.now() - this.startedAtMs < this.maxHoldMs) continue;
        const what = `a transaction has kept it for ${this.maxHoldMs} ms (does it open another inside?)`;
        for (const job of this.queue.splice(0)) job.reject(new DatabaseError('DATABASE_LOCKED', this.path, what));
      }
    };
    look().catch(() => undefined);
  }

  private async drain(): Promise<void> {
    // Lets callers of the same tick join the first group.
    await Promise.resolve();
    try {
      for (let job = this.queue.shift(); job !== undefined; job = this.queue.shift()) {
        if (job.kind === 'read') {
          await this.runRead(job);
          continue;
        }
        const group = [job];
        while (group.length < MAX_GROUP && this.queue[0]?.kind === 'write') group.push(...this.queue.splice(0, 1));
        await this.runGroup(group);
      }
    } finally {
      this.running = undefined;
      this.watch?.abort();
      this.watch = undefined;
    }
  }

  private async runRead(job: Job): Promise<void> {
    try {
      job.resolve(
        await retryBusy(this.path, async () => {
          this.connection.command('BEGIN');
          try {
            return await this.call(job);
          } finally {
            this.rollback();
          }
        }),
      );
    } catch (error) {
      job.reject(error);
    }
  }

  /** Results are handed out after the commit only. */
  private async runGroup(group: readonly Job[]): Promise<void> {
    const settle: (() => void)[] = [];
    try {
      this.setDurable(group.some((job) => job.durable));
      await retryBusy(this.path, async () => this.connection.command('BEGIN IMMEDIATE'));
      for (const job of group) settle.push(await this.runInGroup(job, group.length > 1));
      this.connection.command('COMMIT');
      for (const done of settle) done();
    } catch (cause) {
      this.rollback();
      const error = toDatabaseError(this.path, cause);
      for (const job of group) job.reject(error);
    }
  }

  private async runInGroup(job: Job, shared: boolean): Promise<() => void> {
    if (shared) this.connection.command('SAVEPOINT JOB');
    try {
      const value = await this.call(job);
      if (shared) this.connection.command('RELEASE JOB');
      return () => job.resolve(value);
    } catch (error) {
      // A full disk or a failed read ends the whole transaction, and all of the group with it.
      if (!this.connection.inTransaction) throw error;
      if (shared) {
        this.connection.command('ROLLBACK TO JOB');
        this.connection.command('RELEASE JOB');
        return () => job.reject(error);
      }
      throw error;
    }
  }

  private call(job: Job): Promise<unknown> {
    this.startedAtMs = systemClock.now();
    return job.fn(this.connection);
  }

  private setDurable(durable: boolean): void {
    if (durable === this.durable) return;
    this.connection.setDurable(durable);
    this.durable = durable;
  }

  private rollback(): void {
    if (this.connection.inTransaction) this.connection.command('ROLLBACK');
  }
}

/** The wait is for another process, which an injected clock does not move: always real time. */
async function retryBusy<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      const busy = isBusy(error) || (error instanceof DatabaseError && isBusy(error.cause));
      if (!busy || count >= MAX_ATTEMPTS) throw toDatabaseError(path, error);
      await systemClock.sleep(systemClock.random() * PAUSE_MS);
    }
  }
}
