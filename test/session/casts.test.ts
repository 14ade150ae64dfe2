import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Home } from '../../apps/cli/src/home.js';
import { freshHome, rows } from './harness.js';

let home: Home;
beforeAll(async () => {
  home = await freshHome();
});
afterAll(async () => {
  await home.close();
});

it("a constant double beyond int takes int's limit, as in Java", async () => {
  expect(
    await rows(home.newSession(), 'select cast(2663681374.0D as int), cast(-1e300 as int), cast(1e300 as bigint)'),
  ).toEqual(['2147483647\t-2147483648\t9223372036854775807']);
});
