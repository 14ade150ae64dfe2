import { expect, it } from 'vitest';
import { sideBySide } from './side-by-side.js';

/** Works on `a1 a2 b1 …`, whose first letter is the key; says how many ran at once, and in which order they began. */
async function run(items: string[], atATime: number, fail?: string, signal?: AbortSignal) {
  const seen: string[] = [];
  const busy = new Set<string>();
  let most = 0;
  const keyOf = (item: string) => item[0];
  const work = async (item: string) => {
    expect(busy.has(keyOf(item))).toBe(false);
    busy.add(keyOf(item));
    most = Math.max(most, busy.size);
    seen.push(item);
    for (let i = 0; i < 3; i++) await Promise.resolve();
    busy.delete(keyOf(item));
    if (item === fail) throw new TypeError(item);
  };
  const error = await sideBySide(items, atATime, keyOf, work, signal).catch((thrown: unknown) => thrown);
  return { seen, most, error, left: busy.size };
}

it('works on all, so many at a time, and in order where the key is the same', async () => {
  const items = ['a1', 'b1', 'a2', 'c1', 'd1', 'b2', 'a3'];
  for (const [atATime, most] of [
    [1, 1],
    [3, 3],
    [99, 4],
    [0, 1],
  ]) {
    const { seen, ...rest } = await run(items, atATime);
    expect(rest).toEqual({ most, error: undefined, left: 0 });
    expect([...seen].sort()).toEqual([...items].sort());
    expect(seen.filter((item) => item.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
  }
  expect(await run([], 3)).toEqual({ seen: [], most: 0, error: undefined, left: 0 });
});

it('begins nothing more after a failure, and leaves nothing running', async () => {
  const { seen, error, left } = await run(['a1', 'b1', 'c1', 'd1', 'e1'], 2, 'a1');
  expect(error).toBeInstanceOf(TypeError);
  // What the other was about to begin is the last.
  expect(seen.slice(0, 2)).toEqual(['a1', 'b1']);
  expect(seen.length).toBeLessThan(4);
  expect(left).toBe(0);
});

it('ends when it is told to', async () => {
  const { seen, error } = await run(['a1', 'b1'], 1, undefined, AbortSignal.abort());
  expect(seen).toEqual([]);
  expect(error).toMatchObject({ name: 'AbortError' });
});
