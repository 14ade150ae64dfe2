import { expect, test } from 'vitest';
import { codecOf } from './codecs.js';
import { avoidNative } from './native-memory.js';

const BLOCK = 1 << 18;

const kinds = ['snappy', 'lz4', 'zstd'] as const;
test.each(kinds)('%s: many chunks in one turn of the event loop do not pile up', async (kind) => {
  await new Promise(setImmediate);
  const codec = codecOf(kind);
  const block = Uint8Array.from({ length: BLOCK }, (_, i) => (i * i) >>> 5);
  const chunk = codec?.compress(block) ?? block;
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 1600; i++) expect(codec?.decompress(chunk, BLOCK).length).toBe(BLOCK);
  expect(avoidNative()).toBe(kind === 'zstd');
  expect(Buffer.compare(codec?.decompress(chunk, BLOCK) ?? block, block)).toBe(0);
  // 400 MiB were decompressed.
  expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
  expect(() => codec?.decompress(chunk.subarray(0, chunk.length - 20), BLOCK)).toThrow();
  await new Promise(setImmediate);
  expect(avoidNative()).toBe(false);
});
