import { systemClock } from '@skep/core';
import type { DatabaseLoad } from './database.js';
import { DatabaseError } from './errors.js';
import { fromMysql, isConnectionLost } from './mysql-errors.js';
import type { MysqlAddress } from './mysql-url.js';
import { MysqlWire } from './mysql-wire.js';

const MAX_WAITING = 10_000;
/** How long a server that was there before is looked for before requests fail. */
const RECONNECT_MS = 10_000;
const PAUSE_MS = 100;

/** READ COMMITTED as Hive; modes under which our escapes hold and the seed row 0 of TXNS is 0; time stamps in UTC. */
function sessionSettings(lockWaitS: number): string[] {
  return [
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    `SET SESSION time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = ${lockWaitS},
      sql_mode = 'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'`,
    'SELECT @@auto_increment_increment AS STEP',
  ];
}

interface Waiter {
  readonly give: (wire: MysqlWire) => void;
  readonly refuse: (error: unknown) => void;
}

export interface ServerFacts {
  readonly version: string;
  /** What the server's clock is ahead of this machine's. */
  readonly aheadMs: number;
}

/** At most so many connections, at most so many who wait for one, each at most `maxWaitMs`. */
export class MysqlPool {
  private readonly idle: MysqlWire[] = [];
  private readonly waiters: Waiter[] = [];
  private open = 0;
  private readonly closing = new AbortController();

  constructor(
    private readonly address: MysqlAddress,
    private readonly maxWaitMs: number,
    /** How long one statement waits for a row that another keeps locked. */
    private readonly lockWaitMs: number,
  ) {}

  get closed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Aborted when the pool is closed. */
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  get load(): DatabaseLoad {
    const { open, idle, waiters } = this;
    return { most: this.address.connections, open, idle: idle.length, waiting: waiters.length };
  }

  /** A first connection: fails at once where the server cannot be reached. */
  async start(): Promise<ServerFacts> {
    const wire = await this.connect();
    try {
      const [{ rows }] = await wire.send(['SELECT VERSION() AS V, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS T']);
      this.open++;
      this.release(wire);
      return { version: String(rows[0].V), aheadMs: Number(rows[0].T) - systemClock.now() };
    } catch (error) {
      wire.destroy();
      throw error;
    }
  }

  async acquire(signal?: AbortSignal): Promise<MysqlWire> {
    if (this.closed) throw this.error('DATABASE_CLOSED', 'it is closed');
    signal?.throwIfAborted();
    for (let wire = this.idle.pop(); wire !== undefined; wire = this.idle.pop()) {
      if (!wire.broken) return wire;
      this.open--;
    }
    if (this.open >= this.address.connections) return this.wait(signal);
    this.open++;
    try {
      return await this.reconnect(signal);
    } catch (error) {
      this.open--;
      this.offerPlace();
      throw error;
    }
  }

  release(wire: MysqlWire): void {
    if (wire.broken || this.closed) {
      this.open--;
      if (!wire.broken) wire.destroy();
      this.offerPlace();
      return;
    }
    const waiter = this.waiters.shift();
    if (waiter === undefined) this.idle.push(wire);
    else waiter.give(wire);
  }

  async close(): Promise<void> {
    this.closing.abort(this.error('DATABASE_CLOSED', 'it was closed'));
    for (const waiter of this.waiters.splice(0)) waiter.refuse(this.closing.signal.reason);
    await Promise.all(this.idle.splice(0).map((wire) => wire.end()));
  }

  /** A connection went; who waits for one may make another. */
  private offerPlace(): void {
    const waiter = this.waiters.shift();
    if (waiter !== undefined) this.acquire().then(waiter.give, waiter.refuse);
  }

  private wait(signal: AbortSignal | undefined): Promise<MysqlWire> {
    if (this.waiters.length >= MAX_WAITING) {
      return Promise.reject(this.error('DATABASE_LOCKED', `${MAX_WAITING} requests wait already`));
    }
    return new Promise((resolve, reject) => {
      const done = new AbortController();
      const settle = (act: () => void) => {
        done.abort();
        const at = this.waiters.indexOf(waiter);
        if (at >= 0) this.waiters.splice(at, 1);
        act();
      };
      const waiter: Waiter = {
        give: (wire) => settle(() => resolve(wire)),
        refuse: (error) => settle(() => reject(error)),
      };
      this.waiters.push(waiter);
      const what = `all ${this.address.connections} connections have been in use for ${this.maxWaitMs} ms`;
      const late = () => waiter.refuse(this.error('DATABASE_LOCKED', what));
      systemClock.sleep(this.maxWaitMs, done.signal).then(late, () => undefined);
      signal?.addEventListener('abort', () => waiter.refuse(signal.reason), { once: true, signal: done.signal });
    });
  }

  /** A server that restarts is back soon. */
  private async reconnect(signal: AbortSignal | undefined): Promise<MysqlWire> {
    const untilMs = systemClock.now() + Math.min(RECONNECT_MS, this.maxWaitMs);
    const stop = signal === undefined ? this.signal : AbortSignal.any([signal, this.signal]);
    for (let pauseMs = PAUSE_MS; ; pauseMs *= 2) {
      try {
        return await this.connect();
      } catch (error) {
        if (!isConnectionLost(error) || systemClock.now() + pauseMs > untilMs) throw error;
      }
      await systemClock.sleep(pauseMs, stop);
    }
  }

  private async connect(): Promise<MysqlWire> {
    const wire = await MysqlWire.connect(this.address, this.address.database);
    try {
      const results = await wire.send(sessionSettings(Math.max(1, Math.round(this.lockWaitMs / 1000))));
      wire.setIdStep(BigInt(String(results[2].rows[0].STEP)));
      return wire;
    } catch (error) {
      wire.destroy();
      throw error;
    }
  }

  private error(code: 'DATABASE_CLOSED' | 'DATABASE_LOCKED', what: string): DatabaseError {
    return new DatabaseError(code, this.address.shown, what);
  }
}

/** Makes the database where it is missing and the user may make it. */
export async function createDatabase(address: MysqlAddress): Promise<void> {
  const wire = await MysqlWire.connect(address, undefined);
  try {
    await wire.send([`CREATE DATABASE IF NOT EXISTS \`${address.database}\` CHARACTER SET utf8mb4`]);
  } catch (error) {
    const cause = fromMysql(address.shown, error);
    const what = `there is no such database, and it cannot be made (${String(cause)})`;
    throw new DatabaseError('DATABASE_DENIED', address.shown, what, { cause });
  } finally {
    await wire.end();
  }
}
