import { type Clock, systemClock } from '@skep/core';
import type { Database } from './database.js';

/** What has requests waiting for a lane. */
export interface Queued {
  /** Begins a batch of those that wait; undefined where none does any more. It never rejects. */
  start(): Promise<void> | undefined;
  hasMore(): boolean;
}

interface Running {
  readonly queued: Queued;
  readonly startedMs: number;
  isLate: boolean;
}

/** Of a server: more would do the same work in smaller pieces, on the same processors. */
const SERVER_LANES = 2;
/** SQLite runs one after the other, and commits together what waits together: of every kind. */
const SQLITE_LANES = 8;

/**
 * Batches that run on one database at the same time: few, one of a kind, in the order in which their first requests came.
 * Each costs round trips and a flush, however many requests it has. One that takes long, as it does while it waits for a row that another process keeps locked, holds
 * up nobody else.
 */
export class BatchLanes {
  private static readonly known = new WeakMap<object, BatchLanes>();
  private readonly queue = new Set<Queued>();
  private readonly running = new Set<Running>();
  private isStarting = false;
  private isWatching = false;

  private constructor(
    private readonly lanes: number,
    private readonly clock: Clock = systemClock,
    private readonly patienceMs = 50,
    private readonly maxRunning = 8,
  ) {}

  /** Those of a database: all its batchers share them. `clock`: theirs, where nobody has asked before; a simulation has its own. */
  static of(db: Pick<Database, 'dialect'>, clock?: Clock): BatchLanes {
    let lanes = BatchLanes.known.get(db);
    if (lanes === undefined) {
      lanes = new BatchLanes(db.dialect.name === 'sqlite' ? SQLITE_LANES : SERVER_LANES, clock);
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
    return inTime >= this.lanes || this.running.size >= this.maxRunning;
  }

  private startNext(): void {
    for (const queued of this.queue) {
      if (this.isFull) break;
      if (this.hasLane(queued)) continue;
      this.queue.delete(queued);
      const batch = queued.start();
      if (batch === undefined) continue;
      // More than one batch may hold wait behind the others.
      if (queued.hasMore()) this.queue.add(queued);
      const running = { queued, startedMs: this.clock.now(), isLate: false };
      this.running.add(running);
      void batch.then(() => {
        this.running.delete(running);
        this.startNext();
      });
    }
    if (this.queue.size > 0) this.watch();
  }

  private hasLane(queued: Queued): boolean {
    for (const running of this.running) if (running.queued === queued && !running.isLate) return true;
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
