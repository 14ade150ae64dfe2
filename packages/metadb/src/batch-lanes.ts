import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '@skep/core';
import { carryOutParts, type Part } from './batch.js';
import type { Database } from './database.js';

export type { Part } from './batch.js';

/** What has requests waiting for a lane. */
export interface Queued {
  /**
   * Those of the next batch that wait; undefined where none does any more, or can be in it: `subjects` are what others in it are
   * about.
   */
  take(subjects: Map<unknown, unknown>): Part | undefined;
  hasMore(): boolean;
}

interface Running {
  readonly queued: readonly Queued[];
  readonly startedMs: number;
  isLate: boolean;
}

/** How batches of a database are made. */
interface Kind {
  readonly lanes: number;
  /** A batch has requests of all kinds that wait. */
  readonly isMixed: boolean;
}

/** A second one would do the same work in smaller pieces, on the same processors: two make the batches of 8 clients half as large. */
const SERVER: Kind = { lanes: 1, isMixed: true };
/** It runs one after the other, and commits together what waits together, of every kind. */
const SQLITE: Kind = { lanes: 8, isMixed: false };

/**
 * Batches that run on one database at the same time: few, in the order in which their first requests came. Each costs round
 * trips and a flush, however many requests it has. One that takes long, as it does while it waits for a row that another process
 * keeps locked, holds up nobody else.
 */
export class BatchLanes {
  private static readonly known = new WeakMap<object, BatchLanes>();
  private readonly queue = new Set<Queued>();
  private readonly running = new Set<Running>();
  private readonly inOwnContext = AsyncLocalStorage.snapshot();
  private isStarting = false;
  private isWatching = false;

  private constructor(
    private readonly db: Database,
    private readonly kind: Kind,
    private readonly clock: Clock = systemClock,
    private readonly patienceMs = 50,
    private readonly maxRunning = 8,
  ) {}

  /** Those of a database: all its batchers share them. `clock`: theirs, where nobody has asked before; a simulation has its own. */
  static of(db: Database, clock?: Clock): BatchLanes {
    let lanes = BatchLanes.known.get(db);
    if (lanes === undefined) {
      lanes = new BatchLanes(db, db.dialect.name === 'sqlite' ? SQLITE : SERVER, clock);
      BatchLanes.known.set(db, lanes);
    }
    return lanes;
  }

  /** It is started when it is its turn; asked again meanwhile it keeps its place. */
  enqueue(queued: Queued): void {
    this.queue.add(queued);
    if (this.isFull) this.watch();
    else if (!this.isStarting) {
      this.isStarting = true;
      // Requests that have arrived by now join: of as many connections as were ready in this turn of the event loop.
      setImmediate(() => {
        this.isStarting = false;
        this.startNext();
      });
    }
  }

  private get isFull(): boolean {
    let inTime = 0;
    for (const { isLate } of this.running) if (!isLate) inTime++;
    return inTime >= this.kind.lanes || this.running.size >= this.maxRunning;
  }

  private startNext(): void {
    while (this.queue.size > 0 && !this.isFull) {
      const { parts, queued } = this.takeBatch();
      if (parts.length === 0) break;
      const running = { queued, startedMs: this.clock.now(), isLate: false };
      this.running.add(running);
      void this.inOwnContext(() => carryOutParts(this.db, parts)).then(() => {
        this.running.delete(running);
        this.startNext();
      });
    }
    if (this.queue.size > 0) this.watch();
  }

  private takeBatch(): { readonly parts: Part[]; readonly queued: Queued[] } {
    const parts: Part[] = [];
    const taken: Queued[] = [];
    const subjects = new Map<unknown, unknown>();
    for (const queued of [...this.queue]) {
      if (!this.kind.isMixed && (parts.length > 0 || this.hasLane(queued))) continue;
      const part = queued.take(subjects);
      if (part !== undefined) {
        parts.push(part);
        taken.push(queued);
        this.queue.delete(queued);
      }
      // What a batch leaves waits behind the others; what cannot be in this one stays the first.
      if (!queued.hasMore()) this.queue.delete(queued);
      else if (part !== undefined) this.queue.add(queued);
    }
    return { parts: parts.sort((a, b) => a.rank - b.rank), queued: taken };
  }

  private hasLane(queued: Queued): boolean {
    for (const running of this.running) if (running.queued.includes(queued) && !running.isLate) return true;
    return false;
  }

  /** While some wait: notices that a batch takes long. */
  private watch(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    const look = async () => {
      while (this.queue.size > 0) {
        await this.clock.sleep(this.patienceMs / 2);
        for (const running of this.running) {
          if (this.clock.now() - running.startedMs >= this.patienceMs) running.isLate = true;
        }
        this.startNext();
      }
      this.isWatching = false;
    };
    void look();
  }
}
