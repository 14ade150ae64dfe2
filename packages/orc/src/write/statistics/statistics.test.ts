import { describe, expect, it } from 'vitest';
import { BinaryStatistics, StringStatistics } from './bytes-statistics.js';
import { DecimalStatistics } from './decimal-statistics.js';
import { DoubleStatistics, IntegerStatistics } from './number-statistics.js';
import { lowerBound, upperBound } from './string-bounds.js';
import { TimestampStatistics } from './timestamp-statistics.js';

const LONG_MAX = (1n << 63n) - 1n;

describe('statistics', () => {
  it('leaves out a sum of integers that passed 64 bits (ORC-1008)', () => {
    const statistics = new IntegerStatistics();
    statistics.addLongs(BigInt64Array.of(LONG_MAX, -3n), 0, 2);
    statistics.count = 2;
    expect(statistics.toMessage().intStatistics).toEqual({ minimum: -3n, maximum: LONG_MAX, sum: LONG_MAX - 3n });
    const both = new IntegerStatistics();
    both.addLongs(BigInt64Array.of(4n), 0, 1);
    both.count = 1;
    both.merge(statistics);
    expect(both.toMessage().intStatistics).toEqual({ minimum: -3n, maximum: LONG_MAX, sum: undefined });
  });

  it('keeps NaN out of minimum and maximum unless it comes first', () => {
    const later = new DoubleStatistics();
    later.addNumbers(Float64Array.of(1, Number.NaN, -2), 0, 3);
    expect(later.toMessage().doubleStatistics).toEqual({ minimum: -2, maximum: 1, sum: Number.NaN });
    const first = new DoubleStatistics();
    first.addNumbers(Float64Array.of(Number.NaN, 1), 0, 2);
    expect(first.toMessage().doubleStatistics).toEqual({ minimum: Number.NaN, maximum: Number.NaN, sum: Number.NaN });
  });

  it('records bounds of long texts', () => {
    const text = Buffer.from(`${'a'.repeat(1023)}éz`);
    expect(Buffer.from(lowerBound(text, 0, text.length)).toString()).toBe('a'.repeat(1023));
    expect(Buffer.from(upperBound(text, 0, text.length) ?? []).toString()).toBe(`${'a'.repeat(1022)}b`);
    const last = Buffer.from('\u{10ffff}'.repeat(300));
    expect(upperBound(last, 0, last.length)).toBeUndefined();
    const beforeSurrogates = Buffer.from(`${'b'.repeat(1021)}\ud7ffxx`);
    expect(Buffer.from(upperBound(beforeSurrogates, 0, beforeSurrogates.length) ?? []).toString()).toBe(
      `${'b'.repeat(1021)}\ue000`,
    );
    const statistics = new StringStatistics();
    statistics.addRange(text, 0, text.length);
    statistics.addRange(Buffer.from('b'), 0, 1);
    statistics.addLength(text.length + 1);
    expect(statistics.toMessage().stringStatistics).toEqual({
      lowerBound: 'a'.repeat(1023),
      maximum: 'b',
      sum: BigInt(text.length + 1),
    });
    const other = new StringStatistics();
    other.addRange(last, 0, last.length);
    statistics.merge(other);
    expect(statistics.toMessage().stringStatistics).toMatchObject({
      lowerBound: 'a'.repeat(1023),
      upperBound: undefined,
    });
  });

  it('writes decimals as HiveDecimal prints them, and no sum of more than 38 digits', () => {
    const statistics = new DecimalStatistics(4);
    statistics.addDecimals(BigInt64Array.of(-12500n, -1n, 100n, 0n), 0, 2);
    expect(statistics.toMessage().decimalStatistics).toEqual({ minimum: '-1.25', maximum: '0.01', sum: '-1.24' });
    const large = 10n ** 38n - 1n;
    const words = BigInt64Array.of(BigInt.asIntN(64, large), large >> 64n, 1n, 0n);
    const wide = new DecimalStatistics(0);
    wide.addDecimals(words, 0, 2);
    expect(wide.toMessage().decimalStatistics).toEqual({ minimum: '1', maximum: String(large), sum: undefined });
  });

  it('leaves out the nanoseconds that are the default', () => {
    const statistics = new TimestampStatistics();
    statistics.count = 2;
    statistics.add(5, 0);
    statistics.add(7, 999_999);
    expect(statistics.toMessage().timestampStatistics).toEqual({
      minimumUtc: 5n,
      maximumUtc: 7n,
      minimumNanos: undefined,
      maximumNanos: undefined,
    });
    statistics.add(7, 1);
    statistics.add(5, 3);
    expect(statistics.toMessage().timestampStatistics).toMatchObject({ minimumNanos: undefined });
  });

  it('counts bytes', () => {
    const statistics = new BinaryStatistics();
    statistics.addLength(5);
    statistics.merge(statistics);
    expect(statistics.toMessage()).toMatchObject({
      numberOfValues: 0n,
      hasNull: false,
      binaryStatistics: { sum: 10n },
    });
  });
});
