import { deflateRawSync } from 'node:zlib';
import { CorruptFileError } from '@skep/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChunkContext, compressChunk, decompressRange } from './chunks.js';
import type { CompressionKind } from './codec.js';
import { codecOf } from './codecs.js';
import { lzoDecompress } from './lzo.js';
import { withContentSize } from './zstd/frame.js';

const KINDS: CompressionKind[] = ['zlib', 'snappy', 'lz4', 'zstd'];
const BLOCK = 300;

function context(kind: CompressionKind, more: Partial<ChunkContext> = {}): ChunkContext {
  return { path: 'file.orc', name: 'stream', fileOffset: 1000, codec: codecOf(kind), blockSize: BLOCK, ...more };
}

/** Blocks of BLOCK bytes as chunks, one after the other. */
function compressed(bytes: Uint8Array, kind: CompressionKind): Uint8Array {
  const codec = codecOf(kind);
  if (codec === undefined) return bytes;
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK) chunks.push(compressChunk(bytes.subarray(at, at + BLOCK), codec));
  return Uint8Array.from(Buffer.concat(chunks));
}

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 1000 }),
  fc.tuple(fc.uint8Array({ maxLength: 9 }), fc.nat(200)).map(([part, times]) => {
    const out = new Uint8Array(part.length * times);
    for (let i = 0; i < times; i++) out.set(part, i * part.length);
    return out;
  }),
);

describe.each(KINDS)('%s', (kind) => {
  test('chunks give back their bytes', () => {
    fc.assert(
      fc.property(bytes, (original) => {
        const range = compressed(original, kind);
        const { bytes: restored, chunkStarts, chunkTargets } = decompressRange(range, context(kind));
        expect(restored).toEqual(original);
        expect(chunkTargets).toEqual(chunkStarts.map((_, i) => i * BLOCK));
      }),
    );
  });

  test('a chunk that holds more than a block is refused before it is allocated', () => {
    const codec = codecOf(kind);
    const bomb = codec?.compress(new Uint8Array(20_000_000)) ?? new Uint8Array(0);
    const chunk = new Uint8Array(3 + bomb.length);
    chunk.set([(bomb.length * 2) & 0xff, (bomb.length * 2) >>> 8, (bomb.length * 2) >>> 16]);
    chunk.set(bomb, 3);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => decompressRange(chunk, context(kind))).toThrow(CorruptFileError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });

  test('damaged and cut chunks are refused with the offset in the file, or give other bytes', () => {
    const range = compressed(
      new Uint8Array(1000).map((_, i) => i % 7),
      kind,
    );
    fc.assert(
      fc.property(fc.nat(range.length - 1), fc.nat(255), fc.boolean(), (at, value, cut) => {
        const damaged = cut ? range.slice(0, at) : range.slice();
        if (!cut) damaged[at] = value;
        try {
          decompressRange(damaged, context(kind));
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptFileError);
          expect((error as CorruptFileError).offset).toBeGreaterThanOrEqual(1000);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('what does not become smaller is kept as it is', () => {
  const random = Uint8Array.from({ length: 100 }, (_, i) => (i * i * 31 + i * 7) & 0xff);
  for (const kind of KINDS) {
    const chunk = compressChunk(random, codecOf(kind) ?? { kind, compress: (b) => b, decompress: (b) => b });
    expect([chunk[0] & 1, chunk.length]).toEqual([1, 103]);
  }
});

test('a range may end inside a chunk when its end is not needed', () => {
  const range = compressed(new Uint8Array(900).fill(1), 'zlib');
  const cut = range.subarray(0, range.length - 1);
  expect(() => decompressRange(cut, context('zlib'))).toThrow(/goes beyond the end/);
  expect(decompressRange(cut, context('zlib', { mayEndEarly: true })).bytes.length).toBe(600);
  expect(() => decompressRange(range.subarray(0, 2), context('zlib'))).toThrow(/inside a chunk header/);
});

test('a chunk of no progress is an error, not a loop (B136)', () => {
  expect(() => decompressRange(new Uint8Array([0, 0, 0]), context('zlib'))).toThrow(CorruptFileError);
  expect(decompressRange(new Uint8Array([1, 0, 0, 1, 0, 0]), context('zlib')).bytes.length).toBe(0);
});

test('zlib of other levels and of exactly one block is read', () => {
  const block = new Uint8Array(BLOCK).fill(9);
  const body = deflateRawSync(block, { level: 9 });
  const chunk = Uint8Array.from([body.length * 2, 0, 0, ...body]);
  expect(decompressRange(chunk, context('zlib')).bytes).toEqual(block);
});

test('zstd frames say their content size', () => {
  const codec = codecOf('zstd');
  for (const length of [0, 1, 255, 256, 70_000, 300_000]) {
    const original = new Uint8Array(length).map((_, i) => (i * i) % 251);
    const frame = codec?.compress(original) ?? new Uint8Array(0);
    expect(frame[4] & 0xe0).not.toBe(0);
    expect(withContentSize(frame, length)).toBe(frame);
    expect(Buffer.compare(codec?.decompress(frame, length) ?? frame, original)).toBe(0);
    if (length > 0) expect(() => codec?.decompress(frame, length - 1)).toThrow(RangeError);
  }
});

test('lzo: literals, short and long matches, the end marker', () => {
  // 17 + 4 literals, a match of 3 + 1 bytes from distance 4, the end (distance 16384).
  const chunk = Uint8Array.from([21, 1, 2, 3, 4, 0b0110_1100, 0, 0x11, 0, 0]);
  expect([...lzoDecompress(chunk, 100)]).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  expect(() => lzoDecompress(chunk, 7)).toThrow(RangeError);
  for (let end = 0; end < chunk.length; end++)
    expect(() => lzoDecompress(chunk.subarray(0, end), 100)).toThrow(RangeError);
  expect(() => lzoDecompress(Uint8Array.from([21, 1, 2, 3, 4, 0b0111_0000, 0, 0x11, 0, 0]), 100)).toThrow(
    /before the start/,
  );
});
