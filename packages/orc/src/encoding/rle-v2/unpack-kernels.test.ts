import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputBuffer } from '../output-buffer.js';
import { RleV2Decoder } from './decoder.js';
import { RleV2Encoder } from './encoder.js';

/** Runs whose values have just these bits, so that the encoder chooses direct runs of that width. */
function encoded(width: number, signed: boolean, seed: number, count: number): { bytes: Uint8Array; values: bigint[] } {
  let state = BigInt(seed) | 1n;
  const values = Array.from({ length: count }, () => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    const bits = state >> BigInt(64 - width);
    return signed ? BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n)) : BigInt.asIntN(64, bits);
  });
  const output = new OutputBuffer();
  const encoder = new RleV2Encoder(output, signed, seed % 2 === 0);
  encoder.writeLongs(BigInt64Array.from(values), 0, count);
  encoder.flush();
  return { bytes: output.toBytes(), values };
}

describe.each([true, false])('signed: %s', (signed) => {
  test.each(Array.from({ length: 64 }, (_, i) => i + 1))('%i bits: straight into the vector and in pieces', (width) => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1700 }), fc.integer({ min: 1, max: 50 }), (...args) => {
        const [seed, count, piece] = args;
        const { bytes, values } = encoded(width, signed, seed, count);
        const whole = new BigInt64Array(count + 2);
        new RleV2Decoder(bytes, 0, signed).readLongs(whole, 1, count);
        expect([...whole]).toEqual([0n, ...values, 0n]);
        const inPieces = new RleV2Decoder(bytes, 0, signed);
        const parts = new BigInt64Array(count);
        for (let at = 0; at < count; at += piece) inPieces.readLongs(parts, at, Math.min(piece, count - at));
        expect([...parts]).toEqual(values);
        if (width > 31) return;
        const ints = new Int32Array(count + 2);
        new RleV2Decoder(bytes, 0, signed).readInts(ints, 1, count);
        expect([...ints]).toEqual([0, ...values.map(Number), 0]);
      }),
      { numRuns: 6 },
    );
  });
});
