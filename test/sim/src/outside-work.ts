import type { Database } from '@skep/metadb';

/** So much time of the simulation a statement of a real server takes at most; others go on meanwhile. */
const LONGEST_MS = 50;

/** Calls that take real time, those of a database server: the simulation waits for them where they would take too long. */
export class OutsideWork {
  private readonly beganMs = new Map<symbol, number>();
  private wakers: (() => void)[] = [];

  constructor(private readonly nowMs: () => number) {}

  /** Whether what happens at `atMs` must wait for a call that is under way. Undefined: nothing will happen else. */
  isBefore(atMs: number | undefined): boolean {
    if (this.beganMs.size === 0) return false;
    const first = Math.min(...this.beganMs.values());
    return atMs === undefined || atMs > first + LONGEST_MS;
  }

  /** Resolves when a call ends. */
  oneEnds(): Promise<void> {
    return new Promise((resolve) => {
      this.wakers.push(resolve);
    });
  }

  /** The database, whose calls are counted. */
  watch(database: Database): Database {
    const during = async <T>(run: () => Promise<T>): Promise<T> => {
      const call = Symbol('call');
      this.beganMs.set(call, this.nowMs());
      try {
        return await run();
      } finally {
        this.beganMs.delete(call);
        for (const wake of this.wakers.splice(0)) wake();
      }
    };
    return {
      dialect: database.dialect,
      clock: database.clock,
      path: database.path,
      transaction: (fn, options) => during(() => database.transaction(fn, options)),
      run: (statements, options) => during(() => database.run(statements, options)),
      read: (fn, options) => during(() => database.read(fn, options)),
      load: () => database.load(),
      close: () => database.close(),
    };
  }
}
