import { NotBegunError } from './errors.js';

interface Waiter {
  readonly go: () => void;
}

/** Tells when a call ends before its turn. */
export interface Ending {
  readonly signal: AbortSignal;
  throwIfAborted(): void;
}

/** So many calls at once, so many that wait for their turn in order; one more is refused. */
export class CallLimit {
  private running = 0;
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly what: string,
    private readonly maxRunning: number,
    private readonly maxWaiting: number,
  ) {}

  /**
   * Undefined: it is the call's turn; else resolves when it is. `leave` must follow. Throws, or rejects, with the reason if the call
   * ends before.
   */
  enter(end: Ending): Promise<void> | undefined {
    end.throwIfAborted();
    if (this.running < this.maxRunning) {
      this.running++;
      return undefined;
    }
    if (this.waiting.size >= this.maxWaiting) {
      throw new NotBegunError(
        'OVERLOADED',
        `${this.what}: ${this.running} calls are worked on and ${this.waiting.size} wait; try again later`,
      );
    }
    const { signal } = end;
    return new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      this.waiting.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The next in line takes the place over. */
  leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running--;
      return;
    }
    this.waiting.delete(next);
    next.go();
  }
}
