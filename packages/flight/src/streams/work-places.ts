/** So many pieces of work at once; others wait in order. Whoever waits holds an open stream, of which the server has a limit. */
export class WorkPlaces {
  private free: number;
  private readonly waiting = new Set<() => void>();

  constructor(places: number) {
    this.free = places;
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.waiting.delete(go);
        reject(signal.reason);
      };
      this.waiting.add(go);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  private leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free++;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
