import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinTime, splitTime } from './int64-time.js';

const always = () => true;

it.each([1_000_000_000, 1_000_000] as const)('joins and splits as BigInt arithmetic does, %i a second', (perSecond) => {
  const per = BigInt(perSecond);
  const most = perSecond === 1_000_000_000 ? 9_223_372_035n : 253_402_300_799n;
  fc.assert(
    fc.property(
      fc.bigInt(-most, most),
      fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 999_999_000)),
      (second, anyNanos) => {
        const nano = perSecond === 1_000_000 ? anyNanos - (anyNanos % 1000) : anyNanos;
        const out = new BigInt64Array(1);
        expect(joinTime(BigInt64Array.of(second), Int32Array.of(nano), 1, perSecond, out, always)).toBe(-1);
        expect(out[0]).toBe(second * per + BigInt(nano) / (1_000_000_000n / per));
        const [seconds, nanos] = [new BigInt64Array(1), new Int32Array(1)];
        splitTime(out, 1, perSecond, seconds, nanos);
        expect([seconds[0], nanos[0]]).toEqual([second, nano]);
      },
    ),
    { numRuns: 2000 },
  );
});

it.each([1_000_000_000, 1_000_000, 1000, 1] as const)('splits every int64, %i a second', (perSecond) => {
  const per = BigInt(perSecond);
  const [least, most] = [-(1n << 63n), (1n << 63n) - 1n];
  fc.assert(
    fc.property(fc.oneof(fc.bigInt(least, most), fc.constantFrom(least, most, -1n, 0n, 1n)), (value) => {
      const [seconds, nanos] = [new BigInt64Array(1), new Int32Array(1)];
      splitTime(BigInt64Array.of(value), 1, perSecond, seconds, nanos);
      const rest = ((value % per) + per) % per;
      expect([seconds[0], nanos[0]]).toEqual([(value - rest) / per, Number(rest * (1_000_000_000n / per))]);
    }),
    { numRuns: 2000 },
  );
});

it('names the first row that does not fit, but for those without a value', () => {
  const out = new BigInt64Array(3);
  const seconds = BigInt64Array.of(0n, 9_300_000_000n, 9_300_000_000n);
  const nanos = Int32Array.of(1, 0, 0);
  expect(joinTime(seconds, nanos, 3, 1_000_000_000, out, (row) => row !== 1)).toBe(2);
  expect(joinTime(seconds, nanos, 3, 1_000_000, out, always)).toBe(0);
});
