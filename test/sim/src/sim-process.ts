import type { Clock } from '@skep/core';
import type { Simulation } from './simulation.js';

const never = <T>(): Promise<T> => new Promise(() => {});

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

  /** The process is about to call, read or write something: it takes a moment, and here it may be killed. */
  async step(what: string): Promise<void> {
    if (!this.isAlive) return await never();
    this.sim.note(this.name, what);
    this.burn();
    if (this.isAlive) await this.sim.delay(this.sim.random.between(0, this.latencyMs));
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
        (value) => this.isAlive && resolve(value),
        (reason) => this.isAlive && reject(reason),
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
        if (this.isAlive) reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      wait.done.then(() => {
        signal?.removeEventListener('abort', onAbort);
        if (this.isAlive) resolve();
      });
    });
  }
}
