import { expect, it } from 'vitest';
import { linkedAbort } from './linked-abort.js';

it('a linked abort follows the other signal with its reason, until it is released', () => {
  const outer = new AbortController();
  const [follows, released] = [linkedAbort(outer.signal), linkedAbort(outer.signal)];
  released.release();
  outer.abort('enough');
  expect(follows.signal.reason).toBe('enough');
  expect(released.signal.aborted).toBe(false);
  expect(linkedAbort(outer.signal).signal.reason).toBe('enough');
});

it('a linked abort ends by itself without the other', () => {
  const outer = new AbortController();
  for (const link of [linkedAbort(outer.signal), linkedAbort(undefined)]) {
    link.abort('done');
    expect(link.signal.reason).toBe('done');
  }
  expect(outer.signal.aborted).toBe(false);
});
