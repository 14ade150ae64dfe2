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

it('SHOW FUNCTIONS takes a pattern of LIKE', async () => {
  const session = home.newSession();
  expect(await rows(session, 'show functions')).toContain('xpath_string');
  expect(await rows(session, "show functions like 'xpath%'")).toHaveLength(9);
  expect(await rows(session, 'show functions like "A_S"')).toEqual(['abs']);
});

it('DESCRIBE FUNCTION names functions and operators', async () => {
  const session = home.newSession();
  expect(await rows(session, 'describe function abs')).toEqual(['abs(number) - the absolute value']);
  expect(await rows(session, 'desc function extended =')).toEqual([
    'a = b - whether both are equal',
    'Synonyms: ==',
    'Function type:BUILTIN',
  ]);
  expect(await rows(session, 'describe function nosuch')).toEqual(["Function 'nosuch' does not exist."]);
});

it('a function that is missing is named, and why', async () => {
  const session = home.newSession();
  await expect(rows(session, "select reflect('java.lang.Math','max',2,3)")).rejects.toMatchObject({
    hiveCode: 10011,
    message: expect.stringMatching(/reflect.*without Java/),
  });
  await expect(rows(session, 'select ds_hll_sketch(1)')).rejects.toThrow(/ds_hll_sketch.*DataSketches/);
  await expect(rows(session, 'select nosuch(1)')).rejects.toThrow('Invalid function nosuch');
});
