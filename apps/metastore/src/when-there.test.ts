import { type Clock, SkepError } from '@skep/core';
import { expect, it } from 'vitest';
import { whenThere } from './when-there.js';

/** Time passes only while somebody waits. */
function waiting(): { clock: Clock; rests: number[]; log: { warn(): void } } {
  let now = 0;
  const rests: number[] = [];
  const sleep = async (ms: number) => {
    rests.push(ms);
    now += ms;
  };
  return { clock: { now: () => now, random: () => 0, sleep }, rests, log: { warn: () => {} } };
}

const away = new SkepError('UNREACHABLE', 'unavailable', 'nobody there');

it('asks again until somebody is there', async () => {
  const { clock, rests, log } = waiting();
  let asked = 0;
  const ask = async () => {
    if (++asked < 6) throw away;
    return 'there';
  };
  expect(await whenThere(ask, { clock, log })).toBe('there');
  expect(rests).toEqual([1000, 2000, 4000, 8000, 10_000]);
});

it('gives up after a minute, and at once where waiting is no help', async () => {
  const { clock, log } = waiting();
  const never = async () => {
    throw away;
  };
  await expect(whenThere(never, { clock, log })).rejects.toBe(away);
  expect(clock.now()).toBeLessThanOrEqual(60_000);
  expect(clock.now()).toBeGreaterThan(50_000);
  const refused = new SkepError('UNAUTHENTICATED', 'invalid', 'no');
  const later = waiting();
  const refuse = async () => {
    throw refused;
  };
  await expect(whenThere(refuse, later)).rejects.toBe(refused);
  expect(later.rests).toEqual([]);
});
