import { describe, expect, it } from 'vitest';
import { BloomFilter } from './bloom-filter.js';

/** Filters that pyorc 0.12 (liborc) made of the hundred values below, with 5 % false positives. */
const LIBORC = {
  bigint:
    '7c029c03844ff95503531ae6973cc31e1ec215ff8b7018e6be03b880971c41e268060ad19d89066a266c99e64ec2f5328378ca0147d6a1b04cbb9c83bd29430c69fbff8ade81600e8e046cb80f43a4f8',
  string:
    '012430084c80e20324196234b124203c00a0026a8bb7a73c87cc1fd5ba338417ee83d1611241604b0582a84131901d885500e980af194e120d28140056817b472d0a22b94a65e8532e0f3d83541702a0',
  double:
    '4920433ab6e1798cb82c685a77cc6bb09ace53338a1ad1ddc2ad891d14d664b81974db7090ab418f13b3455a097868f101f5e43f94141f09da48706c12f004a605f03e67254e4cd4c1e5549213eb7c01',
};
const LONGS = Array.from({ length: 100 }, (_, i) => BigInt(i * i * i) * 1234567n - 5_000_000_000_000_000n);
const TEXTS = Array.from({ length: 100 }, (_, i) => Buffer.from(`abc${i}é`.repeat(i % 5)));
const DOUBLES = Array.from({ length: 100 }, (_, i) => i / 3 - 10);

describe('BloomFilter', () => {
  it('sets the bits that liborc sets for integers', () => {
    const filter = BloomFilter.forEntries(100, 0.05);
    for (const value of LONGS) filter.addLong(Number(BigInt.asIntN(32, value)), Number(value >> 32n));
    expect(filter.hashFunctions).toBe(4);
    expect(Buffer.from(filter.bytes).toString('hex')).toBe(LIBORC.bigint);
    expect(LONGS.every((value) => filter.mightContainLong(value))).toBe(true);
  });
  it('sets the bits that liborc sets for text', () => {
    const filter = BloomFilter.forEntries(100, 0.05);
    for (const text of TEXTS) filter.addBytes(text, 0, text.length);
    expect(Buffer.from(filter.bytes).toString('hex')).toBe(LIBORC.string);
    expect(TEXTS.every((text) => filter.mightContainBytes(text))).toBe(true);
  });
  it('sets the bits that liborc sets for doubles', () => {
    const filter = BloomFilter.forEntries(100, 0.05);
    for (const value of DOUBLES) filter.addDouble(value);
    expect(Buffer.from(filter.bytes).toString('hex')).toBe(LIBORC.double);
    expect(DOUBLES.every((value) => filter.mightContainDouble(value))).toBe(true);
  });
  it('answers no for most of what was not added', () => {
    const filter = BloomFilter.forEntries(1000, 0.01);
    for (let i = 0; i < 1000; i++) filter.addLong(i, 0);
    let wrong = 0;
    for (let i = 1000; i < 11_000; i++) if (filter.mightContainLong(BigInt(i))) wrong++;
    expect(wrong).toBeLessThan(200);
    filter.clear();
    expect(filter.mightContainLong(1n)).toBe(false);
  });
});
