import { Encoder } from '@toondepauw/node-zstd';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zstdDecompress } from './decompress.js';
import { xxh64Low } from './xxh64.js';

/** A small generator: the same numbers for the same seed. */
function random(seed: number): () => number {
  let x = seed | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** Bytes of few or many symbols, even or skewed, with repetitions of any distance and length between them. */
function sample(seed: number, length: number, symbols: number, repeats: number): Uint8Array {
  const next = random(seed);
  const out = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const run = Math.min(length - at, 1 + (next() % (next() % 7 === 0 ? 5000 : 30)));
    if (at > 0 && next() % 100 < repeats) {
      const distance = 1 + (next() % Math.min(at, next() % 3 === 0 ? at : 64));
      for (let i = 0; i < run; i++, at++) out[at] = out[at - distance];
    } else {
      for (let i = 0; i < run; i++, at++) out[at] = Math.min(next() % symbols, next() % symbols, next() % symbols);
    }
  }
  return out;
}

const samples = fc.tuple(
  fc.integer({ min: 1 }),
  fc.oneof(fc.nat(40), fc.nat(3000), fc.nat(400_000)),
  fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 256 })),
  fc.nat(100),
);
const encoders = [1, 3, 9, 19].map((level) => new Encoder(level));

test('frames of every level give back their bytes', () => {
  fc.assert(
    fc.property(samples, fc.constantFrom(...encoders), ([seed, length, symbols, repeats], encoder) => {
      const original = sample(seed, length, symbols, repeats);
      const frame = encoder.encodeSync(Buffer.from(original));
      expect(Buffer.compare(zstdDecompress(frame, length), original)).toBe(0);
      if (length > 0) expect(() => zstdDecompress(frame, length - 1)).toThrow(RangeError);
    }),
    { numRuns: 150 },
  );
}, 60_000);

const FRAMES = Array.from({ length: 60 }, (_, i) => {
  const original = sample(i + 1, (i * i * 7) % 6000, 1 + ((i * 31) % 256), (i * 17) % 100);
  return encoders[i % encoders.length].encodeSync(Buffer.from(original));
});

test('damaged and cut frames are refused, or give other bytes: never a trap', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FRAMES),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      fc.option(fc.nat()),
      (original, hits, cut) => {
        const frame = Uint8Array.from(original);
        for (const [at, value] of hits) frame[at % frame.length] = value;
        try {
          const answer = zstdDecompress(cut === null ? frame : frame.subarray(0, cut % frame.length), 6000);
          expect(answer.length).toBeLessThanOrEqual(6000);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test('skippable frames are skipped, frames follow each other', () => {
  const [a, b] = ['one', 'two and two'].map((text) => encoders[0].encodeSync(Buffer.from(text)));
  const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
  expect(Buffer.from(zstdDecompress(Buffer.concat([a, skipped, b]), 100)).toString()).toBe('onetwo and two');
});

test('a checksum is checked', () => {
  // XXH64 of its specification's test vectors, lower halves.
  expect(xxh64Low(new Uint8Array(0))).toBe(0x51d8e999);
  const body = [1, 0, 0];
  const frame = (sum: number) =>
    Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x24, 0, ...body, ...[0, 8, 16, 24].map((bit) => (sum >>> bit) & 0xff)]);
  expect(zstdDecompress(frame(0x51d8e999), 10).length).toBe(0);
  expect(() => zstdDecompress(frame(0x51d8e998), 10)).toThrow(/checksum/);
});
