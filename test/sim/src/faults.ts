import type { Random } from './random.js';

/** How rough a run is; probabilities are per call. */
export interface Faults {
  /** A call is lost on its way. */
  lostCall: number;
  /** A call is carried out, its answer is lost. */
  lostAnswer: number;
  /** The connection breaks; the call is carried out later, when its client has asked again or given up. */
  lateCall: number;
  /** How late, at most. */
  latestMs: number;
  /** A call that may be repeated comes twice, at about the same time. */
  twice: number;
  /** A file operation fails. */
  files: number;
  /** Mean time between two kill -9; Infinity: none. */
  killEveryMs: number;
  /** Of so many kills one is everybody's. */
  killsAll: number;
  /** Mean time between two jumps of a clock; Infinity: none. */
  jumpEveryMs: number;
  /** Mean time between two pauses of a process; Infinity: none. */
  pauseEveryMs: number;
  /** The longest time that a step takes. */
  latencyMs: number;
}

export const NO_FAULTS: Readonly<Faults> = {
  lostCall: 0,
  lostAnswer: 0,
  lateCall: 0,
  latestMs: 0,
  twice: 0,
  files: 0,
  killEveryMs: Number.POSITIVE_INFINITY,
  killsAll: 0,
  jumpEveryMs: Number.POSITIVE_INFINITY,
  pauseEveryMs: Number.POSITIVE_INFINITY,
  latencyMs: 10,
};

/** Some runs have no faults but races, some one kind, some all. */
export function chooseFaults(random: Random): Faults {
  const sometimes = (most: number) => (random.chance(0.5) ? random.between(0, most) : 0);
  return {
    lostCall: sometimes(0.02),
    lostAnswer: sometimes(0.03),
    lateCall: sometimes(0.02),
    latestMs: random.pick([50, 5_000, 400_000]),
    twice: sometimes(0.05),
    files: sometimes(0.01),
    killEveryMs: random.chance(0.7) ? random.between(300, 20_000) : Number.POSITIVE_INFINITY,
    killsAll: sometimes(0.1),
    jumpEveryMs: random.chance(0.3) ? random.between(2_000, 60_000) : Number.POSITIVE_INFINITY,
    pauseEveryMs: random.chance(0.4) ? random.between(1_000, 30_000) : Number.POSITIVE_INFINITY,
    latencyMs: random.pick([1, 10, 100]),
  };
}
