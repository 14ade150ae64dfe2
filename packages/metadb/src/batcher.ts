import { AsyncLocalStorage } from 'node:async_hooks';
import { BatchLanes } from './batch-lanes.js';
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
  /** Requests that wait at most; default 10,000. */
  readonly maxWaiting?: number;
}

interface Member<Q, A> {
  readonly request: Q;
  readonly ending: Ending | undefined;
  readonly resolve: (value: A) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Carries out together, in one database transaction, what callers ask for at the same time: round trips, statements and
 * flushes are then paid once for all. Nobody is kept waiting for others to come: a request begins at once when nothing else
 * runs, and those that come while batches do make the next ones (BatchLanes).
 *
 * `run` answers for each request, in their order. Where it throws instead, nothing has been done, and each is carried out by
 * itself, so that a request that cannot be done does not fail its neighbours; unless the failure cannot be a request's
 * fault, or what was done is not known. It runs in no caller's context: `currentCall` is nobody's.
 */
export class Batcher<Q, A> {
  private readonly waiting: Member<Q, A>[] = [];
  private readonly maxSize: number;
  private readonly maxWaiting: number;
  private readonly lanes: BatchLanes;
  private readonly inOwnContext = AsyncLocalStorage.snapshot();
  private readonly queued = {
    start: (): Promise<void> | undefined => {
      const members = this.take();
      return members.length === 0 ? undefined : this.inOwnContext(() => this.carryOut(members));
    },
    hasMore: () => this.waiting.length > 0,
  };

  constructor(
    private readonly db: Pick<Database, 'path' | 'dialect'>,
    private readonly run: (requests: readonly Q[]) => Promise<readonly Settled<A>[]>,
    { maxSize = 64, maxWaiting = 10_000 }: BatcherOptions = {},
  ) {
    this.maxSize = maxSize;
    this.maxWaiting = maxWaiting;
    this.lanes = BatchLanes.of(db);
  }

  /** `ending` is asked once, when the batch begins. */
  submit(request: Q, ending?: Ending): Promise<A> {
    const { maxWaiting } = this;
    if (this.waiting.length >= maxWaiting) {
      return Promise.reject(new DatabaseError('DATABASE_LOCKED', this.db.path, `${maxWaiting} requests wait already`));
    }
    return new Promise<A>((resolve, reject) => {
      this.waiting.push({ request, ending, resolve, reject });
      this.lanes.enqueue(this.queued);
    });
  }

  /** Without those whose callers have given up meanwhile. */
  private take(): Member<Q, A>[] {
    const members: Member<Q, A>[] = [];
    while (members.length < this.maxSize) {
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
    try {
      settleAll(members, await this.run(members.map(({ request }) => request)));
    } catch (error) {
      if (members.length > 1 && mayBeOfOne(error))
        await Promise.all(members.map((member) => this.carryOutAlone(member)));
      else for (const { reject } of members) reject(error);
    }
  }

  private async carryOutAlone(member: Member<Q, A>): Promise<void> {
    try {
      settleAll([member], await this.run([member.request]));
    } catch (error) {
      member.reject(error);
    }
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
