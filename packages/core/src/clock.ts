/** Time and chance, injected everywhere: the only module that touches Date.now, setTimeout and Math.random. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `delayMs`; rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep(delayMs, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};

/** A clock for tests: time moves only by `advance` and by sleeping, which returns at once. */
export class ManualClock implements Clock {
  constructor(
    private timeMs = 1_700_000_000_000,
    private readonly chance: () => number = () => 0.5,
  ) {}
  now(): number {
    return this.timeMs;
  }
  advance(byMs: number): void {
    this.timeMs += byMs;
  }
  random(): number {
    return this.chance();
  }
  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.timeMs += delayMs;
  }
}

/**
 * The rest of a background loop: resolves after `delayMs`, at once when one of `wakers` is called meanwhile, or when the
 * signal is aborted. Its timer keeps no process alive.
 */
export function idle(delayMs: number, signal: AbortSignal, wakers?: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      wakers?.delete(end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    timer.unref();
    signal.addEventListener('abort', end, { once: true });
    wakers?.add(end);
    if (signal.aborted) end();
  });
}
