import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deflateLiterals } from './deflate-literals.js';
import { codeLengths, reversedCodes } from './huffman-code.js';

/** Bytes of few values, of all, of skewed frequencies; up to some blocks long. */
const data = fc
  .record({
    length: fc.oneof(fc.nat(300), fc.nat(400_000)),
    values: fc.integer({ min: 1, max: 256 }),
    skew: fc.integer({ min: 1, max: 12 }),
    seed: fc.integer(),
  })
  .map(({ length, values, skew, seed }) => {
    let state = seed;
    return Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1103515245) + 12345) | 0;
      return Math.floor(((state >>> 8) / 2 ** 24) ** skew * values);
    });
  });

test('zlib reads it, and it is hardly longer than what zlib makes', () => {
  let made = 0;
  fc.assert(
    fc.property(data, (bytes) => {
      const own = deflateLiterals(bytes);
      const other = deflateRawSync(bytes, { strategy: constants.Z_HUFFMAN_ONLY, level: 1 });
      if (own === undefined) {
        expect(other.length).toBeGreaterThanOrEqual(bytes.length * 0.9 - 100);
        return;
      }
      made++;
      expect(own.length).toBeLessThanOrEqual(bytes.length + 300);
      expect(own.length).toBeLessThanOrEqual(other.length * 1.02 + 100);
      expect(Buffer.compare(inflateRawSync(own), bytes)).toBe(0);
    }),
    { numRuns: 300 },
  );
  expect(made).toBeGreaterThan(100);
});

test('codes are whole and none is longer than allowed', () => {
  const frequencies = fc.array(
    fc.oneof(
      fc.nat(3),
      fc.nat(30).map((n) => 2 ** n),
    ),
    { minLength: 2, maxLength: 286 },
  );
  fc.assert(
    fc.property(frequencies, fc.integer({ min: 9, max: 15 }), (of, longest) => {
      const lengths = codeLengths(Uint32Array.from(of), longest);
      const used = lengths.filter((length) => length > 0);
      expect(lengths.map((length) => Number(length > 0))).toEqual(Uint8Array.from(of, (n) => Number(n > 0)));
      expect(Math.max(0, ...used)).toBeLessThanOrEqual(longest);
      if (used.length < 2) return;
      expect(used.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
      expect(new Set(reversedCodes(lengths).filter((_, i) => lengths[i] > 0)).size).toBeGreaterThan(1);
    }),
    { numRuns: 500 },
  );
});
