import { ManualClock } from '@skep/core';
import { type Database, openDatabase } from '@skep/metadb';
import { silentLogger } from '@skep/telemetry/log';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Lease, leaseMigrations } from './lease.js';

let db: Database;
let clock: ManualClock;
const dead = new Set<string>();
beforeEach(async () => {
  clock = new ManualClock();
  db = await openDatabase({ url: 'sqlite::memory:', clock, migrations: leaseMigrations });
});
afterEach(() => db.close());

const leaseOf = (agentInfo: string, host = 'here', name = 'Cleaner') =>
  new Lease({ db, clock, name, host, agentInfo, isAlive: (agent) => !dead.has(agent), log: silentLogger });

it('is held by one, until it is released', async () => {
  const [one, two, other] = [leaseOf('skep:1:1'), leaseOf('skep:2:1'), leaseOf('skep:2:1', 'here', 'Initiator')];
  expect([await one.hold(), await two.hold(), await other.hold()]).toEqual([true, false, true]);
  expect([await one.hold(), await two.hold()]).toEqual([true, false]);
  await one.release();
  expect([await one.hold(), await two.hold()]).toEqual([false, true]);
  await two.release();
  await other.release();
});

it('asked for by many at once is held by one', async () => {
  const leases = Array.from({ length: 8 }, (_, i) => leaseOf(`skep:${i}:1`));
  const held = await Promise.all(leases.map((lease) => lease.hold()));
  expect(held.filter(Boolean)).toHaveLength(1);
  for (const lease of leases) await lease.release();
});

it('of a holder that is gone is free: at once on its host, elsewhere after its time', async () => {
  const gone = leaseOf('skep:7:1');
  expect(await gone.hold()).toBe(true);
  const elsewhere = leaseOf('skep:7:1', 'there');
  expect(await elsewhere.hold()).toBe(false);
  dead.add('skep:7:1');
  const here = leaseOf('skep:8:1');
  expect(await elsewhere.hold()).toBe(false);
  expect(await here.hold()).toBe(true);
  clock.advance(30_001);
  expect(await elsewhere.hold()).toBe(true);
  // What was held is not taken for held any more.
  expect(await here.hold()).toBe(false);
  for (const lease of [gone, elsewhere, here]) await lease.release();
});
