import fc from 'fast-check';
import { compressSync as lz4Compress } from 'lz4-napi';
import { compressSync as snappyCompress } from 'snappy';
import { describe, expect, test } from 'vitest';
import { decompressBlock } from './block-kernels.js';

/** Repetitions of all small distances, long and short literals between them. */
const data = fc
  .array(
    fc.record({
      literals: fc.uint8Array({ maxLength: 300 }),
      distance: fc.integer({ min: 1, max: 40 }),
      times: fc.nat(400),
    }),
    { maxLength: 12 },
  )
  .map((parts) => {
    const out: number[] = [];
    for (const { literals, distance, times } of parts) {
      out.push(...literals);
      for (let i = 0; i < times; i++) out.push(out[out.length - distance] ?? i & 1);
    }
    return Uint8Array.from(out);
  });

const KINDS = [
  { kind: 'lz4', compress: (bytes: Uint8Array) => lz4Compress(Buffer.from(bytes)).subarray(4) },
  {
    kind: 'snappy',
    compress: (bytes: Uint8Array) => {
      const block = snappyCompress(bytes);
      return block.subarray(block.findIndex((byte) => byte < 0x80) + 1);
    },
  },
] as const;

describe.each(KINDS)('$kind', ({ kind, compress }) => {
  test('blocks of the native compressor give back their bytes', () => {
    fc.assert(
      fc.property(data, (original) => {
        expect(decompressBlock(kind, compress(original), original.length)).toEqual(original);
      }),
      { numRuns: 300 },
    );
  });

  test('a byte too little room is refused', () => {
    fc.assert(
      fc.property(
        data.filter(({ length }) => length > 0),
        (original) => {
          expect(decompressBlock(kind, compress(original), original.length - 1)).toBeUndefined();
        },
      ),
    );
  });

  test('damaged blocks are refused or give other bytes, never more than allowed, never a trap', () => {
    fc.assert(
      fc.property(
        data,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(),
        (original, hits, cut) => {
          const block = Uint8Array.from(compress(original));
          for (const [at, value] of hits) if (block.length > 0) block[at % block.length] = value;
          const damaged = block.subarray(0, cut % (block.length + 1));
          const answer = decompressBlock(kind, damaged, original.length);
          expect(answer?.length ?? 0).toBeLessThanOrEqual(original.length);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test('every form of snappy: literals with lengths of 1 to 4 bytes, distances of 4 bytes', () => {
  const text = Uint8Array.from({ length: 100 }, (_, i) => i);
  for (const bytes of [1, 2, 3, 4]) {
    const length = [99, 0, 0, 0].slice(0, bytes);
    const block = Uint8Array.from([((59 + bytes) << 2) | 0, ...length, ...text, (9 << 2) | 3, 100, 0, 0, 0]);
    expect(decompressBlock('snappy', block, 200)).toEqual(Uint8Array.from([...text, ...text.subarray(0, 10)]));
  }
  expect(decompressBlock('snappy', Uint8Array.from([0, 7, (3 << 2) | 3, 2, 0, 0, 0]), 200)).toBeUndefined();
  expect(decompressBlock('snappy', Uint8Array.from([0, 7, (3 << 2) | 3, 0, 0, 0, 0]), 200)).toBeUndefined();
});

test('a block longer than the memory grows it', () => {
  const zeros = new Uint8Array(5_000_000);
  for (const { kind, compress } of KINDS) {
    const answer = decompressBlock(kind, compress(zeros), zeros.length);
    expect(Buffer.compare(answer ?? new Uint8Array(0), zeros)).toBe(0);
  }
});
