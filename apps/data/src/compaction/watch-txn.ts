import { type Clock, linkedAbort, SkepError } from '@skep/core';

export interface WatchOptions {
  /** Throws where the transaction is not open, or where that cannot be learned (kind `unavailable`). */
  readonly isOpen: () => Promise<void>;
  /** Where it cannot be learned for so long, it has timed out. */
  readonly patienceMs: number;
  readonly clock: Clock;
  /** Ends what is watched. */
  readonly signal: AbortSignal;
}

export interface Watched {
  /** Aborted with the other, and when the transaction is found to have ended. */
  readonly signal: AbortSignal;
  stop(): void;
}

const EVERY_MS = 10_000;

/** Looks from time to time whether a transaction is open still: its Worker's heartbeats are not seen here. */
export function watchTxn({ isOpen, patienceMs, clock, signal }: WatchOptions): Watched {
  const work = linkedAbort(signal);
  const rounds = new AbortController();
  const watch = async (): Promise<void> => {
    let sureMs = clock.now();
    for (;;) {
      try {
        await clock.sleep(Math.min(EVERY_MS, Math.max(1, patienceMs / 4)), rounds.signal);
      } catch {
        return;
      }
      try {
        await isOpen();
        sureMs = clock.now();
      } catch (error) {
        const isUnsure = error instanceof SkepError && error.kind === 'unavailable';
        if (isUnsure && clock.now() - sureMs < patienceMs) continue;
        work.abort(error);
        return;
      }
    }
  };
  void watch();
  return {
    signal: work.signal,
    stop() {
      rounds.abort();
      work.release();
    },
  };
}
