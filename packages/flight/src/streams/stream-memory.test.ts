import { describe, expect, it } from 'vitest';
import { StreamMemory } from './stream-memory.js';

const MB = 1 << 20;
const never = new AbortController().signal;

describe('memory of streams', () => {
  it('is shared in the order they came, and always enough for one', async () => {
    const memory = new StreamMemory(110 * MB);
    const order: string[] = [];
    const enter = async (name: string, signal = never) => {
      const { leave } = await memory.enter(1, 1000 * MB, signal);
      order.push(name);
      return leave;
    };
    const first = await enter('first');
    const second = await enter('second');
    const third = enter('third');
    const gone = new AbortController();
    const fourth = enter('fourth', gone.signal);
    const fifth = enter('fifth');
    gone.abort(new TypeError('gave up'));
    await expect(fourth).rejects.toThrow('gave up');
    expect(order).toEqual(['first', 'second']);
    first();
    await third;
    expect(order).toEqual(['first', 'second', 'third']);
    second();
    await fifth;
    expect(order).toEqual(['first', 'second', 'third', 'fifth']);
    const tiny = new StreamMemory(1);
    const { leave } = await tiny.enter(1, MB, never);
    const next = tiny.enter(1, MB, never);
    leave();
    (await next).leave();
  });

  it('is the less for each, the more there are', async () => {
    const memory = new StreamMemory(1000 * MB);
    const sizes = await Promise.all([1, 17, 129, 2000].map((open) => memory.enter(open, MB, never)));
    const bytes = sizes.map(({ batchBytes }) => batchBytes);
    expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
    expect(bytes[3]).toBeLessThan(bytes[0]);
  });

  it('is little for small files, so that thousands of them are read at once', async () => {
    const memory = new StreamMemory(MB);
    for (let open = 1; open <= 1000; open++) await memory.enter(open, 50, never);
  });
});
