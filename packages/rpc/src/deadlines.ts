import { type Clock, idle } from '@skep/core';

/** What ends at a time, in milliseconds since the epoch. */
export interface Limited {
  readonly deadline: number;
}

/** Node's timers wait no longer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * The deadlines of many calls with one timer, which is set again only for a deadline that is earlier than all before: nearly all
 * calls end long before theirs, and a timer for each costs more than all else about it. Keeps no process alive.
 */
export class Deadlines<T extends Limited> {
  private readonly waiting = new Set<T>();
  private readonly wakers = new Set<() => void>();
  private readonly never = new AbortController().signal;
  private wakesAtMs = Number.POSITIVE_INFINITY;
  private isWatching = false;

  constructor(
    private readonly clock: Clock,
    private readonly isLate: (late: T) => void,
  ) {}

  add(limited: T): void {
    if (limited.deadline === Number.POSITIVE_INFINITY) return;
    this.waiting.add(limited);
    if (limited.deadline >= this.wakesAtMs) return;
    this.wakesAtMs = limited.deadline;
    if (this.isWatching) for (const wake of this.wakers) wake();
    else void this.watch();
  }

  remove(limited: T): void {
    this.waiting.delete(limited);
  }

  private async watch(): Promise<void> {
    this.isWatching = true;
    while (this.waiting.size > 0) {
      const restMs = this.wakesAtMs - this.clock.now();
      if (restMs > 0) await idle(Math.min(restMs, LONGEST_MS), this.never, this.wakers);
      const nowMs = this.clock.now();
      if (nowMs < this.wakesAtMs) continue;
      this.wakesAtMs = Number.POSITIVE_INFINITY;
      for (const limited of this.waiting) {
        if (limited.deadline > nowMs) this.wakesAtMs = Math.min(this.wakesAtMs, limited.deadline);
        else {
          this.waiting.delete(limited);
          this.isLate(limited);
        }
      }
    }
    this.isWatching = false;
    this.wakesAtMs = Number.POSITIVE_INFINITY;
  }
}
