import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './src/sabotage.js';
import { simulate } from './src/simulate.js';

/** A broken rule must be seen within so many seeds. */
const FEW = 80;
/** Seeds that have shown rare ones, tried first; after a change of the simulation others may. */
const KNOWN: Readonly<Record<string, number>> = {
  'a rename that was killed is not finished': 34,
  'write ids are given before the locks': 23,
  'a reader says that it needs nothing of its tables': 4,
};

// Apart from sim.test.ts, beside which it runs.
describe('a broken rule of the simulation', { timeout: 600_000 }, () => {
  it.each(Object.entries(SABOTAGES))('is noticed: %s', async (name, sabotage) => {
    const seeds = [KNOWN[name] ?? 1, ...Array.from({ length: FEW }, (_, at) => at + 1)];
    for (const seed of seeds) {
      if ((await simulate(seed, { sabotage })).violations.length > 0) return;
    }
    expect.fail(`no violation in ${FEW} seeds`);
  });
});
