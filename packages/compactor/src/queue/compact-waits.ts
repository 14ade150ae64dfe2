import { type Clock, idle, linkedAbort } from '@skep/core';

/** Longer than this nobody waits in one call: deadlines of calls are 60 s unless they say otherwise. */
const MOST_WAIT_MS = 60_000;
/** More are told to rest by themselves. */
const MOST_WAITERS = 4096;
/** Requests that came in by another metastore on this database, or by a Hive, are seen after so long at the latest. */
const POLL_MS = 1000;

/** Of the requests that wait for a Worker: their pool (null: none) and when the oldest of it was made. */
export interface WaitingPool {
  readonly pool: string | null;
  readonly oldestMs: bigint;
}

export interface CompactWaitsOptions {
  readonly clock: Clock;
  /** hive.compactor.worker.pool.timeout */
  readonly poolTimeoutMs: number;
  readonly waitingPools: () => Promise<readonly WaitingPool[]>;
}

interface Waiter {
  readonly poolName: string;
  settle(found: boolean): void;
  fail(error: unknown): void;
}

/** Whether a Worker of a pool would get one of the requests that wait (CompactionQueue.findNextCompact). Pure. */
export function hasWork(poolName: string, waiting: readonly WaitingPool[], overdueBeforeMs: bigint): boolean {
  return waiting.some(({ pool, oldestMs }) =>
    poolName === '' ? pool === null || oldestMs < overdueBeforeMs : pool === poolName,
  );
}

/**
 * Idle Workers that wait for a request (WaitForCompact). Whatever makes one in this process wakes them at once; for what others
 * put into the database it is looked at once a second, by one query for all of them, and not at all while nobody waits.
 */
export class CompactWaits {
  private readonly waiters = new Set<Waiter>();
  private readonly pollers = new Set<() => void>();
  private looking: Promise<void> | undefined;
  private mustLookAgain = false;
  private isPolling = false;

  constructor(private readonly options: CompactWaitsOptions) {}

  /** Resolves when there is work for a Worker of the pool; false: not within `waitMs`, or the signal was aborted. */
  async wait(poolName: string, waitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (waitMs <= 0 || signal?.aborted || this.waiters.size >= MOST_WAITERS) return false;
    const over = linkedAbort(signal);
    try {
      return await new Promise<boolean>((settle, fail) => {
        const waiter = { poolName, settle, fail };
        this.waiters.add(waiter);
        over.signal.addEventListener('abort', () => this.waiters.delete(waiter), { once: true });
        void idle(Math.min(waitMs, MOST_WAIT_MS), over.signal).then(() => settle(false));
        this.look();
        if (!this.isPolling) void this.poll();
      });
    } finally {
      over.abort();
      over.release();
      if (this.waiters.size === 0) for (const end of [...this.pollers]) end();
    }
  }

  /** There may be work now. */
  notify(): void {
    if (this.waiters.size > 0) this.look();
  }

  private async poll(): Promise<void> {
    this.isPolling = true;
    const never = new AbortController().signal;
    while (this.waiters.size > 0) {
      await idle(POLL_MS, never, this.pollers);
      if (this.waiters.size > 0) this.look();
    }
    this.isPolling = false;
  }

  /** One query at a time; what came during one is seen by another after it. */
  private look(): void {
    if (this.looking !== undefined) {
      this.mustLookAgain = true;
      return;
    }
    this.looking = this.settleThoseWithWork().finally(() => {
      this.looking = undefined;
      if (!this.mustLookAgain) return;
      this.mustLookAgain = false;
      this.notify();
    });
  }

  private async settleThoseWithWork(): Promise<void> {
    try {
      const { clock, poolTimeoutMs, waitingPools } = this.options;
      const waiting = await waitingPools();
      const overdueBeforeMs = BigInt(clock.now() - poolTimeoutMs);
      for (const { poolName, settle } of this.waiters) {
        if (hasWork(poolName, waiting, overdueBeforeMs)) settle(true);
      }
    } catch (error) {
      for (const { fail } of this.waiters) fail(error);
    }
  }
}
