import type { Clock } from '@skep/core';
import { AccessDeniedError } from '@skep/rpc';
import type { TableSession } from '@skep/sql';
import type { Logger } from '@skep/telemetry/log';
import { TooManyHeldError } from './errors.js';

/** A transaction that outlives the call that began it. */
export interface Held {
  readonly txnId: bigint;
  readonly user: string;
  readonly session: TableSession;
  expiresMs: number;
  /** Calls that use it now: it stays for them, however late it is. */
  uses: number;
}

interface Entry extends Held {
  readonly timer: AbortController;
}

export interface HeldOptions {
  readonly what: string;
  readonly most: number;
  readonly clock: Clock;
  /** How one that nobody wants any more ends. */
  readonly end: (held: Held) => Promise<void>;
  readonly log: Logger;
}

/** Transactions by their ids, each until it is ended or its time is over. Bounded in number. */
export class HeldTransactions {
  private readonly entries = new Map<bigint, Entry>();
  private opening = 0;

  constructor(private readonly options: HeldOptions) {}

  /** Makes room before a transaction is begun, so that none has to be given up again. */
  async add(open: () => Promise<Omit<Held, 'uses'>>): Promise<Held> {
    const { most, what } = this.options;
    if (this.entries.size + this.opening >= most) {
      throw new TooManyHeldError(`${most} ${what} are kept already: release some, or wait until they expire`);
    }
    this.opening++;
    try {
      const entry: Entry = { ...(await open()), uses: 0, timer: new AbortController() };
      this.entries.set(entry.txnId, entry);
      void this.expire(entry);
      return entry;
    } finally {
      this.opening--;
    }
  }

  get what(): string {
    return this.options.what;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Of that user's own; undefined: none of those kept here. */
  get(txnId: bigint, user: string): Held | undefined {
    const entry = this.entries.get(txnId);
    if (entry === undefined || entry.user === user) return entry;
    throw new AccessDeniedError(user, entry.user, `transaction txnid:${txnId} is not of user '${user}'`);
  }

  /** For as long as `run` takes the transaction stays. */
  async using<T>(held: Held, run: () => Promise<T>): Promise<T> {
    held.uses++;
    try {
      return await run();
    } finally {
      held.uses--;
    }
  }

  /** It is the caller's to end now. */
  take(txnId: bigint, user: string): Held | undefined {
    const held = this.get(txnId, user);
    if (held !== undefined) this.forget(txnId);
    return held;
  }

  async close(): Promise<void> {
    const entries = [...this.entries.values()];
    for (const { txnId } of entries) this.forget(txnId);
    for (const entry of entries) await this.endQuietly(entry);
  }

  private forget(txnId: bigint): void {
    this.entries.get(txnId)?.timer.abort();
    this.entries.delete(txnId);
  }

  private async expire(entry: Entry): Promise<void> {
    const { clock } = this.options;
    const { signal } = entry.timer;
    for (let restMs = entry.expiresMs - clock.now(); restMs > 0 || entry.uses > 0; ) {
      try {
        await clock.sleep(Math.max(restMs, IN_USE_POLL_MS), signal);
      } catch {
        return;
      }
      restMs = entry.expiresMs - clock.now();
    }
    this.forget(entry.txnId);
    const { txnId, user } = entry;
    this.options.log.info({ txnId, user }, `${this.options.what}: one that nobody wanted any more has ended`);
    await this.endQuietly(entry);
  }

  /** Nobody waits for it. */
  private async endQuietly(entry: Held): Promise<void> {
    try {
      await this.options.end(entry);
    } catch (error) {
      const { txnId, user } = entry;
      this.options.log.warn({ txnId, user, error }, `${this.options.what}: one could not be ended`);
    }
  }
}

const IN_USE_POLL_MS = 1000;
