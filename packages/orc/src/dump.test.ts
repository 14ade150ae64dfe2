import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { memorySource } from '@skep/core';
import { expect, test } from 'vitest';
import { dumpOrc, statisticsText } from './dump.js';

test('a dump tells what orcfiledump tells', async () => {
  const path = fileURLToPath(new URL('../test-files/hive-4.0.1-types-1.orc', import.meta.url));
  const lines = (await dumpOrc(memorySource(readFileSync(path), 'f.orc'))).split('\n');
  for (const line of [
    'Structure for f.orc',
    'File Version: 0.12 with ORC_14 by 1.8.5',
    'Rows: 1',
    'Compression: ZLIB',
    'Compression size: 16384',
    'Calendar: Julian/Gregorian',
    '  Stripe 1:',
    '    Column 3: count: 1 hasNull: false bytesOnDisk: 9 min: 536870912 max: 536870912 sum: 536870912',
    '  Column 20: count: 1 hasNull: false bytesOnDisk: 7 min: 2024-02-29 max: 2024-02-29',
    '  Stripe: offset: 3 data: 294 rows: 1 tail: 244 index: 911 timezone: UTC',
    '    Stream: column 1 section ROW_INDEX start: 14 length 24',
    '    Encoding column 15: DIRECT_V2',
    'Padding length: 0 bytes',
    '  hive.acid.key.index=1,536870912,0;',
    '  hive.acid.stats=1,0,0',
  ]) {
    expect(lines).toContain(line);
  }
});

test('statistics of every kind have words', () => {
  expect(statisticsText({})).toBe('count: 0 hasNull: true');
  expect(statisticsText({ numberOfValues: 2n, hasNull: false, bucketStatistics: { count: [1n] } })).toBe(
    'count: 2 hasNull: false true: 1',
  );
  expect(statisticsText({ numberOfValues: 1n, stringStatistics: { lowerBound: 'a', upperBound: 'b', sum: 9n } })).toBe(
    'count: 1 hasNull: true lower: a upper: b sum: 9',
  );
  const timestampStatistics = { minimumUtc: -1n, maximumUtc: 0n, minimumNanos: 500_001, maximumNanos: 1 };
  expect(statisticsText({ numberOfValues: 1n, hasNull: false, timestampStatistics })).toBe(
    'count: 1 hasNull: false min UTC: 1969-12-31 23:59:59.9995 max UTC: 1970-01-01 00:00:00.0',
  );
});
