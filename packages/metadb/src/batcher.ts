import { BatchLanes, type Part } from './batch-lanes.js';
import type { Step } from './batch-step.js';
import type { Database, Tx } from './database.js';
import { DatabaseError } from './errors.js';

/** How one request of a batch ended. */
export type Settled<A> = { readonly value: A } | { readonly error: unknown };

/** What may end a caller's wait before its batch begins: an AbortSignal, or the call that it works on. */
export interface Ending {
  throwIfAborted(): void;
}

export interface BatcherOptions<Q> {
  /** Requests that are carried out together at most; default 64. */
  readonly maxSize?: number;
  /** Requests that wait at most; default 10,000. */
  readonly maxWaiting?: number;
  /** Smaller ones read and write first in a batch: the order in which every process takes its row locks. */
  readonly rank?: number;
  /** What a request is about. Two kinds of requests about the same are never in one batch: each sees what the other wrote. */
  subjectsOf?(request: Q): readonly unknown[];
  /** Whether a power cut must not take the requests back; asked with SQLite only. Default: yes. */
  isDurable?(requests: readonly Q[]): boolean | Promise<boolean>;
}

interface Member<Q, A> {
  readonly request: Q;
  readonly ending: Ending | undefined;
  readonly resolve: (value: A) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Carries out together, in one database transaction, what callers ask for at the same time, requests of other kinds
 * included (but with SQLite, see BatchLanes): round trips, statements and flushes are then paid once for all. Nobody is kept waiting for others
 * to come: a request begins at once when nothing else runs, and those that come while batches do make the next ones.
 *
 * `begin` makes the step of the requests, which answers for each, in their order; it may be run again, and runs in no caller's
 * context: `currentCall` is nobody's. Where the whole fails nothing has been done, and each is carried out by itself, so that one that cannot be done does not fail its neighbours; unless the failure cannot be a request's fault, or
 * what was done is not known.
 */
export class Batcher<Q, A> {
  private readonly waiting: Member<Q, A>[] = [];
  private readonly maxSize: number;
  private readonly maxWaiting: number;
  private readonly lanes: BatchLanes;
  private readonly queued = {
    take: (subjects: Map<unknown, unknown>): Part | undefined => {
      const members = this.take(subjects);
      return members.length === 0 ? undefined : this.partOf(members);
    },
    hasMore: () => this.waiting.length > 0,
  };

  constructor(
    private readonly db: Database,
    private readonly begin: (tx: Tx, requests: readonly Q[]) => Step<A> | Promise<Step<A>>,
    private readonly options: BatcherOptions<Q> = {},
  ) {
    this.maxSize = options.maxSize ?? 64;
    this.maxWaiting = options.maxWaiting ?? 10_000;
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

  /** Without those whose callers have given up meanwhile, up to one that has to be in another batch. */
  private take(subjects: Map<unknown, unknown>): Member<Q, A>[] {
    const members: Member<Q, A>[] = [];
    while (members.length < this.maxSize) {
      const member = this.waiting[0];
      if (member === undefined) break;
      const own = this.options.subjectsOf?.(member.request) ?? [];
      if (own.some((subject) => (subjects.get(subject) ?? this) !== this)) break;
      this.waiting.shift();
      try {
        member.ending?.throwIfAborted();
        members.push(member);
        for (const subject of own) subjects.set(subject, this);
      } catch (reason) {
        member.reject(reason);
      }
    }
    return members;
  }

  private partOf(members: readonly Member<Q, A>[]): Part {
    const requests = members.map(({ request }) => request);
    return {
      rank: this.options.rank ?? 0,
      begin: async (tx) => this.begin(tx, requests),
      isDurable: async () => (await this.options.isDurable?.(requests)) ?? true,
      settle: (outcomes) => settleAll(members, outcomes as readonly Settled<A>[]),
      reject: (error) => {
        for (const { reject } of members) reject(error);
      },
      split: () => members.map((member) => this.partOf([member])),
    };
  }
}

function settleAll<Q, A>(members: readonly Member<Q, A>[], outcomes: readonly Settled<A>[]): void {
  for (const [i, { resolve, reject }] of members.entries()) {
    const outcome = outcomes[i];
    if ('error' in outcome) reject(outcome.error);
    else resolve(outcome.value);
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
