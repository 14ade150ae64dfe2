import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './src/sabotage.js';
import { simulate } from './src/simulate.js';

/** A broken rule must be seen within so many seeds. */
const FEW = 80;

// Apart from sim.test.ts, beside which it runs.
describe('a broken rule of the simulation', { timeout: 600_000 }, () => {
  it.each(Object.entries(SABOTAGES))('is noticed: %s', async (_, sabotage) => {
    for (let seed = 1; seed <= FEW; seed++) {
      if ((await simulate(seed, { sabotage })).violations.length > 0) return;
    }
    expect.fail(`no violation in ${FEW} seeds`);
  });
});
