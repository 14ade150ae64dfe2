import { createLogger } from '@skep/telemetry/log';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAJOR, World } from '../../test/world.js';
import { Cleaner } from '../cleaner.js';
import { Initiator } from '../initiator.js';
import { countObsoleteDeltas, type DeltaCountOptions, DeltaCounts } from './delta-counts.js';

let w: World;
let warned: string[];
beforeEach(async () => {
  w = await World.open();
  await w.createTable();
  warned = [];
});
afterEach(() => w.close());

function counts(options: Partial<DeltaCountOptions> = {}): DeltaCounts {
  const write = (line: string) => void warned.push(String((JSON.parse(line) as { message: string }).message));
  return new DeltaCounts({
    db: w.db,
    deltaNumThreshold: 1,
    obsoleteDeltaNumThreshold: 1,
    deltaPctThreshold: 0.01,
    maxShown: 100,
    warnAbove: { NUM_DELTAS: 200, NUM_SMALL_DELTAS: 200, NUM_OBSOLETE_DELTAS: 200 },
    log: createLogger({ now: () => w.clock.now(), write }),
    ...options,
  });
}

/** What is shown, as `active default.t 3`. */
async function shown(of: DeltaCounts): Promise<string[]> {
  return (await of.read()).flatMap(([{ name }, samples]) =>
    samples.map(({ labels, value }) => `${/num_(\w+)_deltas/.exec(name)?.[1]} ${labels?.resource} ${value}`),
  );
}

it('Initiator and Cleaner keep them up; a compaction makes obsolete what was active', async () => {
  const deltaCounts = counts();
  const services = w.with({ deltaCounts });
  for (const a of [1, 2, 3]) await w.insert([[a, 'x']]);
  await new Initiator(services).runOnce();
  expect(await shown(deltaCounts)).toEqual(['active default.t 3']);
  await w.compact(MAJOR);
  await w.worker();
  // What the metastore does when a Worker says that it is done.
  await deltaCounts.compacted({ database: 'default', table: 't' });
  expect(await shown(deltaCounts)).toEqual(['obsolete default.t 3']);
  await new Cleaner(services).runOnce();
  expect(await shown(deltaCounts)).toEqual([]);
  await w.insert([[4, 'x']]);
  await new Initiator(w.with({ deltaCounts: counts({ deltaPctThreshold: 1000 }) })).runOnce();
  expect(await shown(deltaCounts)).toEqual(['active default.t 1', 'small default.t 1']);
});

it('few are not kept, many are warned of once, and the most are shown', async () => {
  await w.createTable('u');
  for (const a of [1, 2, 3]) await w.insert([[a, 'x']]);
  for (const a of [1, 2]) await w.insert([[a, 'x']], { table: 'u' });
  const few = counts({ deltaNumThreshold: 4 });
  await new Initiator(w.with({ deltaCounts: few })).runOnce();
  expect(await shown(few)).toEqual([]);
  const many = counts({ maxShown: 1, warnAbove: { NUM_DELTAS: 2, NUM_SMALL_DELTAS: 200, NUM_OBSOLETE_DELTAS: 200 } });
  const initiator = new Initiator(w.with({ deltaCounts: many }));
  await initiator.runOnce();
  await initiator.runOnce();
  expect(await shown(many)).toEqual(['active default.t 3']);
  expect(warned).toEqual(['default.t has 3 active deltas']);
});

it('tells deltas among obsolete folders', () => {
  expect(countObsoleteDeltas(['/t/base_1', '/t/delta_1_1_0', '/t/delete_delta_1_1_0', '/t/000000_0'])).toBe(2);
});
