import { Encoder } from '@toondepauw/node-zstd';
import { describe, expect, it } from 'vitest';
import { decompressInThread } from './zstd-thread.js';

describe('zstd in a thread', () => {
  it('answers many chunks one after the other, and goes on after a damaged one', () => {
    const encoder = new Encoder(3);
    const text = new TextEncoder().encode('the same words, again and again. '.repeat(500));
    const chunk = encoder.encodeSync(Buffer.from(text));
    for (let i = 0; i < 20; i++) {
      expect(Buffer.from(decompressInThread(chunk, 1 << 18)).equals(Buffer.from(text))).toBe(true);
    }
    expect(() => decompressInThread(chunk.subarray(0, chunk.length - 9), 1 << 18)).toThrow();
    expect(Buffer.from(decompressInThread(chunk, 1 << 18)).equals(Buffer.from(text))).toBe(true);
  });
});
