import { UnreachableError } from '@skep/rpc';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAJOR, World } from '../test/world.js';
import { Takes } from './takes.js';
import { Worker } from './worker.js';

let w: World;
beforeEach(async () => {
  w = await World.open();
  for (const name of ['t', 'u']) {
    await w.createTable(name);
    await w.insert([[1, 'a']], { table: name });
    await w.insert([[2, 'b']], { table: name });
    await w.compact(MAJOR, { table: name });
  }
});
afterEach(() => w.close());

it('a request whose answer got lost is given back, and what another Worker of the process has is not', async () => {
  let isLosing = false;
  const compactions = Object.create(w.compactions, {
    findNextCompact: {
      async value(request: Parameters<typeof w.compactions.findNextCompact>[0]) {
        const answer = await w.compactions.findNextCompact(request);
        if (isLosing) throw new UnreachableError('there', 'the connection broke');
        return answer;
      },
    },
  });
  const services = w.with({ compactions });
  const takes = new Takes(services, 'here-1');
  const busy = await takes.next('');
  expect(busy?.table).toBe('t');
  isLosing = true;
  const worker = new Worker(services, 'here-1', '', takes);
  await expect(worker.runOnce()).rejects.toThrow('the connection broke');
  expect((await w.states()).sort()).toEqual(['1 working', '2 working']);
  isLosing = false;
  expect(await worker.runOnce()).toBe(true);
  expect((await w.states()).sort()).toEqual(['1 working', '2 ready for cleaning']);
});
