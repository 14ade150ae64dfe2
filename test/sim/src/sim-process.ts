import type { Clock } from '@skep/core';
import type { Simulation } from './simulation.js';

const never = <T>(): Promise<T> => new Promise(() => {});

/** So long an answer is waited for: the deadline of a call. */
const PATIENCE_MS = 60_000;

/** One process of a run. After kill -9 nothing that it began goes on: its promises never settle. */
export class SimProcess {
  isAlive = true;
  /** Steps until it is killed. */
  fuse = Number.POSITIVE_INFINITY;
  /** How far its clock is off. */
  clockOffsetMs = 0;
  readonly died: Promise<void>;
  readonly agentInfo: string;
  readonly clock: Clock;
  private tellDead: () => void = () => {};
  /** kill -STOP until then. */
  private pausedUntilMs = 0;
  private tellSilent: () => void = () => {};
  private silence: Promise<void> = Promise.resolve();

  constructor(
    readonly sim: Simulation,
    readonly name: string,
    readonly pid: number,
    /** The longest time between two steps. */
    private readonly latencyMs: number,
  ) {
    this.agentInfo = `skep:${pid}:${pid}`;
    this.died = new Promise((resolve) => {
      this.tellDead = resolve;
    });
    this.renewSilence();
    this.clock = {
      now: () => Math.floor(sim.nowMs + this.clockOffsetMs),
      random: () => sim.random.next(),
      sleep: (delayMs, signal) => this.sleep(delayMs, signal),
    };
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.sim.note(this.name, 'KILLED');
    this.tellDead();
  }

  /** kill -STOP: it hears of nothing and does nothing for so long, while time goes on for the others. */
  pause(ms: number): void {
    this.sim.note(this.name, `PAUSED for ${ms}`);
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.sim.nowMs + ms);
    if (ms <= PATIENCE_MS) return;
    void this.sim.delay(PATIENCE_MS).then(() => {
      this.tellSilent();
      this.renewSilence();
    });
  }

  get isPaused(): boolean {
    return this.pausedUntilMs > this.sim.nowMs;
  }

  private renewSilence(): void {
    this.silence = new Promise((resolve) => {
      this.tellSilent = resolve;
    });
  }

  /** Somebody begins to wait for its answer: resolves when nothing more is to be expected, as it is dead or long silent. */
  get gone(): Promise<void> {
    const died = Promise.race([this.died, this.silence]);
    if (this.pausedUntilMs <= this.sim.nowMs + PATIENCE_MS) return died;
    return Promise.race([died, this.sim.delay(PATIENCE_MS)]);
  }

  private async awake(): Promise<void> {
    while (this.isPaused) await this.sim.delay(this.pausedUntilMs - this.sim.nowMs);
  }

  private soon(act: () => void): void {
    if (this.isPaused) void this.awake().then(() => this.soon(act));
    else if (this.isAlive) act();
  }

  /** The process is about to call, read or write something: it takes a moment, and here it may be killed. */
  async step(what: string): Promise<void> {
    if (!this.isAlive) return await never();
    this.sim.note(this.name, what);
    this.burn();
    if (this.isAlive) await this.sim.delay(this.sim.random.between(0, this.latencyMs));
    if (this.isPaused) await this.awake();
    if (!this.isAlive) await never();
  }

  /** A point at which it may be killed without that time passes. */
  burn(): void {
    if (--this.fuse <= 0) this.kill();
  }

  /** What the process is to hear of, if it still lives then. */
  hear<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.soon(() => resolve(value)),
        (reason) => this.soon(() => reject(reason)),
      );
    });
  }

  private sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.isAlive) return never();
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const wait = this.sim.wait(delayMs);
      const onAbort = () => {
        wait.cancel();
        this.soon(() => reject(signal?.reason));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      wait.done.then(() => {
        this.soon(() => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        });
      });
    });
  }
}
