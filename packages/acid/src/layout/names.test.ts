import { describe, expect, it } from 'vitest';
import { parseBucketFileName } from './bucket-file-name.js';
import { bucketOf, decodeBucketProperty, encodeBucketProperty } from './bucket-property.js';
import { formatAcidDirectoryName, parseAcidDirectoryName } from './directory-name.js';

describe('directory names', () => {
  it.each([
    'base_0000005',
    'base_0000006_v0000057',
    'base_-9223372036854775808_v0000012',
    'delta_0000001_0000001',
    'delta_0000001_0000001_0000',
    'delta_10000001_10000003_v0000105',
    'delete_delta_0000002_0000002_0001',
    'delete_delta_0000001_0000004_v0000391',
    'delta_0000001_0000100_0003_v12345678',
  ])('%s', (name) => {
    const parsed = parseAcidDirectoryName(name);
    expect(parsed && formatAcidDirectoryName(parsed)).toBe(name);
  });

  it.each(['delta_1', 'base_', 'base_5_x', '_tmp_5', 'mydelta_1_1', 'base_5_v'])('%s is none', (name) => {
    expect(parseAcidDirectoryName(name)).toBeUndefined();
  });
});

describe('file names', () => {
  it.each([
    ['bucket_00000', { kind: 'acid', bucket: 0 }],
    ['bucket_00012_3', { kind: 'acid', bucket: 12, attempt: 3 }],
    ['000001_0', { kind: 'original', bucket: 1 }],
    ['000001_0_copy_12', { kind: 'original', bucket: 1, copy: 12 }],
    ['000000_1299781434908811705912272637238353677284', { kind: 'original', bucket: 0 }],
    ['part-0.orc', { kind: 'original' }],
  ])('%s', (name, expected) => {
    expect(parseBucketFileName(name)).toEqual(expected);
  });
});

describe('bucket property', () => {
  it('is Hive V1', () => {
    expect(encodeBucketProperty(0, 0)).toBe(536870912);
    expect(encodeBucketProperty(1, 0)).toBe(536936448);
    expect(encodeBucketProperty(0, 1)).toBe(536870913);
    expect(decodeBucketProperty(encodeBucketProperty(4095, 4095))).toEqual({
      version: 1,
      bucket: 4095,
      statementId: 4095,
    });
    expect(() => encodeBucketProperty(4096, 0)).toThrow();
    expect(() => encodeBucketProperty(0, 4096)).toThrow();
  });

  it('reads V0', () => {
    expect(decodeBucketProperty(7)).toEqual({ version: 0, bucket: 7, statementId: 0 });
    expect(bucketOf(7)).toBe(7);
    expect(() => decodeBucketProperty(-1)).toThrow();
  });
});
