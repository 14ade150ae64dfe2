import type { Clock } from '@skep/core';
import { type Compaction, CompactionType } from '@skep/rpc';
import { counter, type Figure, type FigureSource, gauge, one, type Reading } from '@skep/telemetry/figure';

export type CycleRole = 'initiator' | 'cleaner';

/** How often something was done and how long all of it took: Prometheus's summary without quantiles. */
interface Timer {
  readonly count: Figure;
  readonly sum: Figure;
  done: number;
  ms: number;
}

interface Cycle {
  readonly duration: Figure;
  readonly failures: Figure;
  /** Of the cycle that runs, else of the last. */
  startedMs: number | undefined;
  lastMs: number;
  failed: number;
}

const timer = (name: string, help: string): Timer => ({
  count: counter(`${name}_count`, `${help}: how many.`),
  sum: counter(`${name}_sum`, `${help}: seconds in all.`),
  done: 0,
  ms: 0,
});

const cycle = (role: CycleRole): Cycle => ({
  duration: gauge(
    `compaction_${role}_cycle_duration`,
    `Seconds that the ${role}'s cycle takes so far, or the last took.`,
  ),
  failures: counter(
    `compaction_${role}_failure_counter`,
    `Cycles of the ${role} that failed, and tables and partitions that one failed at.`,
  ),
  startedMs: undefined,
  lastMs: 0,
  failed: 0,
});

const TYPES: readonly (readonly [CompactionType, string])[] = [
  [CompactionType.COMPACTION_TYPE_MAJOR, 'major'],
  [CompactionType.COMPACTION_TYPE_MINOR, 'minor'],
  [CompactionType.COMPACTION_TYPE_REBALANCE, 'rebalance'],
];

/**
 * What Initiator, Workers and Cleaner of this process do, timed and counted under the names of Hive's MetricsConstants and
 * PerfLogger; durations in seconds.
 */
export class CompactorMeter implements FigureSource {
  readonly name = 'compactor';
  private readonly cycles = { initiator: cycle('initiator'), cleaner: cycle('cleaner') };
  private readonly initiations = timer('compaction_initiator_cycle', 'Cycles of the Initiator');
  private readonly work = byType('worker', 'Compactions carried out');
  private readonly cleaning = byType('cleaner', 'Compactions cleaned up after');

  constructor(private readonly clock: Clock) {}

  /** One round of the Initiator or the Cleaner. */
  async cycle<T>(role: CycleRole, run: () => Promise<T>): Promise<T> {
    const state = this.cycles[role];
    const startedMs = this.clock.now();
    state.startedMs = startedMs;
    try {
      return await run();
    } catch (error) {
      state.failed++;
      throw error;
    } finally {
      state.lastMs = this.clock.now() - startedMs;
      state.startedMs = undefined;
      if (role === 'initiator') add(this.initiations, state.lastMs);
    }
  }

  /** A table or partition that a cycle could do nothing about, and left behind. */
  failure(role: CycleRole): void {
    this.cycles[role].failed++;
  }

  /** One request, carried out or cleaned up after. */
  job(step: 'worker' | 'cleaner', { type }: Pick<Compaction, 'type'>, ms: number): void {
    const found = (step === 'worker' ? this.work : this.cleaning).get(type);
    if (found !== undefined) add(found, ms);
  }

  get figures(): Figure[] {
    const cycles = Object.values(this.cycles).flatMap(({ duration, failures }) => [duration, failures]);
    return [...cycles, ...this.timers().flatMap(({ count, sum }) => [count, sum])];
  }

  async read(): Promise<Reading[]> {
    const now = this.clock.now();
    return [
      ...Object.values(this.cycles).flatMap(({ duration, failures, startedMs, lastMs, failed }) => [
        one(duration, (startedMs === undefined ? lastMs : now - startedMs) / 1000),
        one(failures, failed),
      ]),
      ...this.timers().flatMap(({ count, sum, done, ms }) => [one(count, done), one(sum, ms / 1000)]),
    ];
  }

  private timers(): Timer[] {
    return [this.initiations, ...this.work.values(), ...this.cleaning.values()];
  }
}

const byType = (step: 'worker' | 'cleaner', help: string): ReadonlyMap<CompactionType, Timer> =>
  new Map(TYPES.map(([type, word]) => [type, timer(`compaction_${step}_cycle_${word}`, `${help}, ${word}`)]));

function add(to: Timer, ms: number): void {
  to.done++;
  to.ms += ms;
}
