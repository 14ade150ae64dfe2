import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '@skep/core';
import type { Database } from './database.js';
import { DatabaseError } from './errors.js';

/** How one request of a batch ended. */
export type Settled<A> = { readonly value: A } | { readonly error: unknown };

/** What may end a caller's wait before its batch begins: an AbortSignal, or the call that it works on. */
export interface Ending {
  throwIfAborted(): void;
}

export interface BatcherOptions {
  /** Requests that are carried out together at most; default 64. */
  readonly maxSize?: number;
  /** Batches at once at most, where the one that runs is slow; default 4, with SQLite 1. */
  readonly maxRunning?: number;
  /** How long a batch may keep those that came after it waiting before another begins beside it; default 50 ms. */
  readonly patienceMs?: number;
  /** Requests that wait at most; default 10,000. */
  readonly maxWaiting?: number;
  /** Of the patience, which is for real things: only tests give another. */
  readonly clock?: Clock;
}

interface Member<Q, A> {
  readonly request: Q;
  readonly ending: Ending | undefined;
  readonly resolve: (value: A) => void;
  readonly reject: (reason: unknown) => void;
}

interface Batch {
  readonly startedMs: number;
  isLate: boolean;
}

/**
 * Carries out together, in one database transaction, what callers ask for at the same time: round trips, statements and
 * flushes are then paid once for all. Nobody is kept waiting for others to come: a request begins at once when none of its
 * kind runs, and those that come while one does make the next batch.
 *
 * `run` answers for each request, in their order. Where it throws instead, nothing has been done, and each is carried out by
 * itself, so that a request that cannot be done does not fail its neighbours; unless the failure cannot be a request's
 * fault, or what was done is not known. It runs in no caller's context: `currentCall` is nobody's.
 */
export class Batcher<Q, A> {
  private readonly waiting: Member<Q, A>[] = [];
  private readonly running = new Set<Batch>();
  private isStarting = false;
  private isWatching = false;
  private readonly options: Required<BatcherOptions>;
  private readonly inOwnContext = AsyncLocalStorage.snapshot();

  constructor(
    private readonly db: Pick<Database, 'path' | 'dialect'>,
    private readonly run: (requests: readonly Q[]) => Promise<readonly Settled<A>[]>,
    options: BatcherOptions = {},
  ) {
    // SQLite has one connection: a second batch would only wait where it can gather no more.
    const maxRunning = db.dialect.name === 'sqlite' ? 1 : 4;
    this.options = { maxSize: 64, maxRunning, patienceMs: 50, maxWaiting: 10_000, clock: systemClock, ...options };
  }

  submit(request: Q, ending?: Ending): Promise<A> {
    const { maxWaiting } = this.options;
    if (this.waiting.length >= maxWaiting) {
      return Promise.reject(new DatabaseError('DATABASE_LOCKED', this.db.path, `${maxWaiting} requests wait already`));
    }
    return new Promise<A>((resolve, reject) => {
      this.waiting.push({ request, ending, resolve, reject });
      if (this.running.size > 0) this.watch();
      else if (!this.isStarting) {
        this.isStarting = true;
        // Requests that have arrived by now join: of as many connections as were ready in this turn of the event loop.
        setImmediate(() => {
          this.isStarting = false;
          this.startNext();
        });
      }
    });
  }

  /** Begins a batch, unless one runs that is not late yet. */
  private startNext(): void {
    if (this.running.size >= this.options.maxRunning) return;
    for (const batch of this.running) if (!batch.isLate) return;
    const members = this.take();
    if (members.length > 0) void this.inOwnContext(() => this.carryOut(members));
  }

  /** Without those whose callers have given up meanwhile. */
  private take(): Member<Q, A>[] {
    const members: Member<Q, A>[] = [];
    while (members.length < this.options.maxSize) {
      const member = this.waiting.shift();
      if (member === undefined) break;
      try {
        member.ending?.throwIfAborted();
        members.push(member);
      } catch (reason) {
        member.reject(reason);
      }
    }
    return members;
  }

  private async carryOut(members: readonly Member<Q, A>[]): Promise<void> {
    const batch = { startedMs: this.options.clock.now(), isLate: false };
    this.running.add(batch);
    try {
      settleAll(members, await this.run(members.map(({ request }) => request)));
    } catch (error) {
      if (members.length > 1 && mayBeOfOne(error))
        await Promise.all(members.map((member) => this.carryOutAlone(member)));
      else for (const { reject } of members) reject(error);
    } finally {
      this.running.delete(batch);
      this.startNext();
    }
  }

  private async carryOutAlone(member: Member<Q, A>): Promise<void> {
    try {
      settleAll([member], await this.run([member.request]));
    } catch (error) {
      member.reject(error);
    }
  }

  /** While some wait: lets another batch begin beside one that takes long, as one does that waits for a locked row. */
  private watch(): void {
    const { clock, patienceMs, maxRunning } = this.options;
    if (this.isWatching || maxRunning === 1) return;
    this.isWatching = true;
    const look = async () => {
      while (this.waiting.length > 0) {
        await clock.sleep(patienceMs / 2);
        for (const batch of this.running) if (clock.now() - batch.startedMs >= patienceMs) batch.isLate = true;
        this.startNext();
      }
      this.isWatching = false;
    };
    void this.inOwnContext(look);
  }
}

function settleAll<Q, A>(members: readonly Member<Q, A>[], outcomes: readonly Settled<A>[]): void {
  for (const [i, { resolve, reject }] of members.entries()) {
    const outcome = outcomes[i];
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.value);
  }
}

/** Whether one request may have failed the whole batch: a row kept locked, a value that does not fit, a bug. */
function mayBeOfOne(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return true;
  switch (error.code) {
    case 'DATABASE_LOCKED':
    case 'DATABASE_VALUE':
    case 'DATABASE_CONSTRAINT':
    case 'DATABASE_STATEMENT':
      return true;
    default:
      return false;
  }
}

/** An outcome of what may throw. */
export function settled<A>(act: () => A): Settled<A> {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}
