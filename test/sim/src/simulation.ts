import { createHash } from 'node:crypto';
import { SkepError } from '@skep/core';
import { OutsideWork } from './outside-work.js';
import { Random } from './random.js';

/** What a run must not show. */
export class Violation extends SkepError {
  constructor(what: string, cause?: unknown) {
    super('VIOLATION', 'bug', what, { cause });
  }
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly resolve: () => void;
  isCancelled: boolean;
}

/** Seeds in which clients that wait for the locks of killed ones take turns, with beats and loops all the while, need 750,000. */
const MAX_EVENTS = 1_000_000;
/** Turns of the event loop in which nothing happens before a run counts as stuck: a writer of ORC files yields now and then. */
const MAX_IDLE_TURNS = 1000;

/**
 * Time and order of a run. Whatever takes time waits here for its turn; one event happens at a time, and all that follows
 * from it without further waiting is done before the next. So a seed decides everything.
 */
export class Simulation {
  nowMs = 1_700_000_000_000;
  readonly random: Random;
  readonly violations: string[] = [];
  /** Time went on by itself, or clocks were set. */
  hasLeapt = false;
  /** How far the database server's clock is off. */
  databaseOffsetMs = 0;
  readonly outside = new OutsideWork(() => this.nowMs);
  private readonly events: Event[] = [];
  private count = 0;
  private lines: string[] = [];
  private readonly hash = createHash('sha256');

  constructor(
    readonly seed: number,
    private readonly echo?: (line: string) => void,
  ) {
    this.random = new Random(seed);
  }

  /** A line of the trace. */
  note(who: string, what: string): void {
    const line = `${(this.nowMs - 1_700_000_000_000).toFixed(1).padStart(10)} ${who.padEnd(12)} ${what}`;
    this.hash.update(line);
    this.echo?.(line);
    this.lines.push(line);
    if (this.lines.length > 20_000) this.lines = this.lines.slice(-10_000);
  }

  /** The last lines of the trace. */
  lastLines(count: number): string[] {
    return this.lines.slice(-count);
  }

  /** Two runs with the same digest went the same way. Only once, at the end. */
  digest(): string {
    return this.hash.digest('hex').slice(0, 16);
  }

  get eventCount(): number {
    return this.count;
  }

  violated(what: string): void {
    if (this.violations.length >= 20) return;
    this.violations.push(what);
    this.note('CHECK', `VIOLATION ${what}`);
  }

  delay(ms: number): Promise<void> {
    return this.wait(ms).done;
  }

  wait(ms: number): { readonly done: Promise<void>; cancel(): void } {
    let event: Event | undefined;
    const done = new Promise<void>((resolve) => {
      event = { atMs: this.nowMs + Math.max(0, ms), order: this.random.next(), resolve, isCancelled: false };
      this.push(event);
    });
    return {
      done,
      cancel: () => {
        if (event) event.isCancelled = true;
      },
    };
  }

  /** Lets events happen until `main` is done. */
  async run<T>(main: Promise<T>): Promise<T> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    main.then(end, end);
    for (let idleTurns = 0; ; ) {
      await turn();
      if (isDone) return await main;
      if (this.outside.isBefore(this.nextMs())) {
        await this.outside.oneEnds();
        continue;
      }
      const event = this.pop();
      if (event === undefined) {
        if (++idleTurns > MAX_IDLE_TURNS) throw new Violation('stuck: nothing will happen any more');
        continue;
      }
      idleTurns = 0;
      if (++this.count > MAX_EVENTS) throw new Violation(`no end after ${MAX_EVENTS} events`);
      this.nowMs = Math.max(this.nowMs, event.atMs);
      event.resolve();
    }
  }

  private push(event: Event): void {
    // A binary heap by time.
    const { events } = this;
    let at = events.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(events[at], events[parent])) break;
      [events[at], events[parent]] = [events[parent], events[at]];
      at = parent;
    }
  }

  private nextMs(): number | undefined {
    while (this.events[0]?.isCancelled) this.popFirst();
    return this.events[0]?.atMs;
  }

  private pop(): Event | undefined {
    for (;;) {
      const first = this.popFirst();
      if (first === undefined || !first.isCancelled) return first;
    }
  }

  private popFirst(): Event | undefined {
    const { events } = this;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    events[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < events.length && isBefore(events[child], events[least])) least = child;
      }
      if (least === at) return first;
      [events[at], events[least]] = [events[least], events[at]];
      at = least;
    }
  }
}

const isBefore = (a: Event, b: Event): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** All microtasks are done when it resolves. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
