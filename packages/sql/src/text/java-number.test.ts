import { describe, expect, test } from 'vitest';
import { javaDouble, javaFloat } from './java-number.js';

// Texts of a Java 17 VM.
describe('Double.toString', () => {
  test.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [100.25, '100.25'],
    [1e7, '1.0E7'],
    [9999999, '9999999.0'],
    [0.001, '0.001'],
    [0.00099, '9.9E-4'],
    [5e-324, '4.9E-324'],
    [1.7976931348623157e308, '1.7976931348623157E308'],
    [2 ** 62, '4.6116860184273879E18'],
    [5.49e21, '5.489999999999999E21'],
    [33.333333333333336, '33.333333333333336'],
    [1e23, '9.999999999999999E22'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ])('%d', (value, text) => {
    expect(javaDouble(value)).toBe(text);
  });
});

describe('Float.toString', () => {
  test.each([
    [1.17, '1.17'],
    [16777216, '1.6777216E7'],
    [3.4028234663852886e38, '3.4028235E38'],
    [1.401298464324817e-45, '1.4E-45'],
    [-0.1, '-0.1'],
  ])('%d', (value, text) => {
    expect(javaFloat(Math.fround(value))).toBe(text);
  });
  test('Java ends where its arithmetic overflows', () => {
    const bits = new DataView(new ArrayBuffer(4));
    bits.setUint32(0, 0x6a402e11);
    expect(javaFloat(bits.getFloat32(0))).toBe('5.8082824E25');
  });
});
