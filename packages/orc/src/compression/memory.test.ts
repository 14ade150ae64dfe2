import { expect, test } from 'vitest';
import { codecOf } from './codecs.js';

const BLOCK = 1 << 18;

/** What a codec answers must not need a turn of the event loop to be freed: synchronous readers never give one. */
test.each(['zlib', 'snappy', 'lz4', 'zstd'] as const)('%s: many chunks in one turn do not pile up', (kind) => {
  const codec = codecOf(kind);
  const block = Uint8Array.from({ length: BLOCK }, (_, i) => (i * i) >>> 5);
  const chunk = codec?.compress(block) ?? block;
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 1600; i++) expect(codec?.decompress(chunk, BLOCK).length).toBe(BLOCK);
  expect(Buffer.compare(codec?.decompress(chunk, BLOCK) ?? block, block)).toBe(0);
  // 400 MiB were decompressed.
  expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20);
  expect(() => codec?.decompress(chunk.subarray(0, chunk.length - 20), BLOCK)).toThrow();
});
