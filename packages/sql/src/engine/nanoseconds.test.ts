import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packNanoseconds, unpackNanoseconds } from './nanoseconds.js';

const YEAR_1 = -62135596800n;
const YEAR_9999 = 253402300799n;

test('seconds and nanoseconds become a 128-bit number and come back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: YEAR_1, max: YEAR_9999 }), fc.integer({ min: 0, max: 999999999 }), (second, nano) => {
      const seconds = BigInt64Array.of(second);
      const out = new BigInt64Array(2);
      packNanoseconds(new Int32Array(seconds.buffer), Int32Array.of(nano), 1, new Int32Array(out.buffer));
      expect((out[1] << 64n) | BigInt.asUintN(64, out[0])).toBe(second * 1_000_000_000n + BigInt(nano));
      const backSeconds = new BigInt64Array(1);
      const backNanos = new Int32Array(1);
      unpackNanoseconds(new Int32Array(out.buffer), 1, new Int32Array(backSeconds.buffer), backNanos);
      expect([backSeconds[0], backNanos[0]]).toEqual([second, nano]);
    }),
  );
});
