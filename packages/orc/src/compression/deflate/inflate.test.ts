import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inflate } from './inflate.js';

/** Noise, text of few letters, repetitions near and far, and skewed frequencies whose codes get long. */
const data = fc
  .array(
    fc.record({
      literals: fc.oneof(
        fc.uint8Array({ maxLength: 400 }),
        fc.string({ maxLength: 400 }).map((text) => new TextEncoder().encode(text)),
        fc.nat(20).map((n) => Uint8Array.from({ length: 2 ** Math.min(n, 13) }, (_, i) => Math.clz32(i * 2654435761))),
      ),
      distance: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 32768 })),
      times: fc.nat(700),
    }),
    { maxLength: 14 },
  )
  .map((parts) => {
    const out: number[] = [];
    for (const { literals, distance, times } of parts) {
      for (const literal of literals) out.push(literal);
      for (let i = 0; i < times; i++) out.push(out[out.length - distance] ?? i & 1);
    }
    return Uint8Array.from(out);
  });

const options = fc.record({
  level: fc.constantFrom(0, 1, 6, 9),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_FIXED,
    constants.Z_RLE,
    constants.Z_FILTERED,
  ),
  memLevel: fc.integer({ min: 1, max: 9 }),
});

describe('inflate', () => {
  test('reads what zlib writes', () => {
    fc.assert(
      fc.property(data, options, (original, how) => {
        const chunk = deflateRawSync(original, how);
        const answer = inflate(chunk, original.length);
        expect(Buffer.compare(answer ?? Buffer.of(1), original)).toBe(0);
      }),
      { numRuns: 600 },
    );
  });

  test('a byte too little room is left to zlib', () => {
    fc.assert(
      fc.property(
        data.filter(({ length }) => length > 0),
        options,
        (original, how) => {
          expect(inflate(deflateRawSync(original, how), original.length - 1)).toBeUndefined();
        },
      ),
    );
  });

  test('what is damaged is left to zlib, or read as zlib reads it', () => {
    let read = 0;
    fc.assert(
      fc.property(
        data,
        options,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.option(fc.nat()),
        (original, how, hits, cut) => {
          const chunk = Uint8Array.from(deflateRawSync(original, how));
          for (const [at, value] of hits) chunk[at % chunk.length] = value;
          const damaged = cut === null ? chunk : chunk.subarray(0, cut % (chunk.length + 1));
          const limit = original.length + 100;
          const answer = inflate(damaged, limit);
          if (answer === undefined) return;
          read++;
          const expected = inflateRawSync(damaged, { maxOutputLength: limit });
          expect(Buffer.compare(answer, expected)).toBe(0);
        },
      ),
      { numRuns: 4000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  test('noise is left to zlib, or read as zlib reads it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        const answer = inflate(noise, 5000);
        if (answer === undefined) return;
        expect(Buffer.compare(answer, inflateRawSync(noise, { maxOutputLength: 5000 }))).toBe(0);
      }),
      { numRuns: 4000 },
    );
  });

  test('a chunk longer than the memory grows it', () => {
    const original = new Uint8Array(5_000_000).map((_, i) => (i * i) % 251);
    const answer = inflate(deflateRawSync(original), original.length);
    expect(Buffer.compare(answer ?? Buffer.of(1), original)).toBe(0);
  });
});
