import { expect, test } from 'vitest';
import { OutputBuffer } from '../output-buffer.js';
import { RleV2Decoder } from './decoder.js';
import { RleV2Encoder } from './encoder.js';
import { decodeRuns, usedBytes } from './run-kernels.js';

const COUNT = 5000;

function stream(values: bigint[], signed: boolean): Uint8Array {
  const output = new OutputBuffer();
  const encoder = new RleV2Encoder(output, signed, true);
  encoder.writeLongs(BigInt64Array.from(values), 0, values.length);
  encoder.flush();
  return output.toBytes();
}

/** Values of up to `bits` bits, of both signs when signed. */
function values(bits: number, signed: boolean): bigint[] {
  let state = 1n;
  return Array.from({ length: COUNT }, () => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1n);
    const value = state >> BigInt(64 - bits);
    return BigInt.asIntN(64, signed ? (value >> 1n) ^ -(value & 1n) : value);
  });
}

test.each([8, 16, 24, 32, 40, 48, 56, 64])('runs of %i bits, all of them in one call', (bits) => {
  const expected = values(bits, true);
  const bytes = stream(expected, true);
  const halves = decodeRuns('longs', bytes, 0, COUNT, 1);
  expect([...new BigInt64Array(halves?.slice().buffer ?? new ArrayBuffer(0))]).toEqual(expected);
  expect(usedBytes()).toBe(bytes.length);
  if (bits > 32) expect(decodeRuns('ints', bytes, 0, COUNT, 1)).toBeUndefined();
  else expect([...(decodeRuns('ints', bytes, 0, COUNT, 1) ?? [])]).toEqual(expected.map(Number));
});

test('unsigned values of 32 bits are left to the decoder, which checks them', () => {
  const small = values(24, false);
  const bytes = stream([...small, ...values(32, false)], false);
  const decoded = decodeRuns('ints', bytes, 0, 2 * COUNT, 0);
  expect([...(decoded ?? [])]).toEqual(small.slice(0, decoded?.length).map(Number));
  expect(decoded?.length).toBeGreaterThan(COUNT - 512);
  expect(() => new RleV2Decoder(bytes, 0, false).readInts(new Int32Array(2 * COUNT), 0, 2 * COUNT)).toThrow(/32 bits/);
});

test('only whole runs that there is room for, and whose bytes are all there', () => {
  const bytes = stream(values(16, true), true);
  expect(decodeRuns('longs', bytes, 0, 600, 1)?.length).toBe(2 * 512);
  expect(decodeRuns('longs', bytes, 0, 511, 1)).toBeUndefined();
  expect(decodeRuns('longs', bytes.subarray(0, 1500), 0, COUNT, 1)?.length).toBe(2 * 512);
  expect(decodeRuns('longs', bytes.subarray(0, 1000), 0, COUNT, 1)).toBeUndefined();
  expect(decodeRuns('longs', bytes, bytes.length, COUNT, 1)).toBeUndefined();
});
