import { memorySink, memorySource } from '@skep/core';
import { expect, test } from 'vitest';
import { encodeNanos } from '../encoding/nanos.js';
import { OutputBuffer } from '../encoding/output-buffer.js';
import { RleV2Encoder } from '../encoding/rle-v2/encoder.js';
import { gregorianDay } from '../time/calendar.js';
import { timestampText } from '../time/date-text.js';
import { timeZone } from '../time/time-zone.js';
import { parseType } from '../type-text.js';
import { vectorOf } from '../vector/builder.js';
import { OrcWriter } from '../write/orc-writer.js';
import { allRows } from './columns/rows.js';
import { timestampReader } from './columns/timestamps.js';
import { openOrcSync } from './orc-reader.js';
import { StreamKind } from './stripe.js';

/** What the reader makes of the numbers in a file: seconds since 2015-01-01 in the zone, and nanoseconds. */
function read(zone: string, seconds: bigint, nanos: number, hybrid = false): string {
  const streams = new Map<number, Uint8Array>();
  for (const [kind, value, signed] of [
    [StreamKind.data, seconds, true],
    [StreamKind.secondary, BigInt(encodeNanos(nanos)), false],
  ] as const) {
    const output = new OutputBuffer();
    const encoder = new RleV2Encoder(output, signed);
    encoder.writeLongs(BigInt64Array.of(value), 0, 1);
    encoder.flush();
    streams.set(kind, output.toBytes());
  }
  const reader = timestampReader(
    {
      type: parseType('timestamp'),
      name: 'c',
      layout: { dictionary: false, rleV2: true, dictionarySize: 0, bloomEncoding: 0, streams: new Map() },
      open: (kind) => {
        const bytes = streams.get(kind);
        return bytes && { bytes, at: 0, skipValues: 0, skipBits: 0, name: 'stream' };
      },
    },
    'timestamp',
    timeZone(zone),
    hybrid,
  );
  const vector = reader(allRows(1));
  return vector.kind === 'timestamp' ? timestampText(vector.seconds[0], vector.nanos[0]) : '';
}

const BASE = 1_420_070_400n;

test('seconds were rounded toward zero: with a millisecond or more they are one less (B113)', () => {
  expect(read('UTC', -1n - BASE, 500_000_000)).toBe('1969-12-31 23:59:58.5');
  expect(read('UTC', -2n - BASE, 500_000)).toBe('1969-12-31 23:59:58.0005');
  expect(read('UTC', 0n - BASE, 500_000_000)).toBe('1970-01-01 00:00:00.5');
});

test('corrected before the shift to the zone (B115)', () => {
  // Wall time 1970-01-01 05:00:00.5 in Shanghai is -10799.5 s UTC, rounded to -10799; the base there is 8 hours earlier.
  expect(read('Asia/Shanghai', -10_799n - (BASE - 28_800n), 500_000_000)).toBe('1970-01-01 05:00:00.5');
});

test('the base is midnight in the zone of the writer (B116)', () => {
  const instant = BigInt(Date.parse('2021-06-05T05:45:10Z') / 1000);
  expect(read('Asia/Shanghai', instant - (BASE - 28_800n), 0)).toBe('2021-06-05 13:45:10.0');
  const summer = BigInt(Date.parse('2021-06-05T05:45:10Z') / 1000);
  expect(read('America/Los_Angeles', summer - (BASE + 28_800n), 0)).toBe('2021-06-04 22:45:10.0');
});

test('the hybrid calendar keeps labels (B119)', () => {
  const day = BigInt(gregorianDay(1200, 1, 8));
  expect(read('UTC', day * 86_400n - BASE, 0, false)).toBe('1200-01-08 00:00:00.0');
  expect(read('UTC', day * 86_400n - BASE, 0, true)).toBe('1200-01-01 00:00:00.0');
});

test('seconds that no calendar holds keep their bits', () => {
  expect(() => read('America/Los_Angeles', 2n ** 62n, 0)).not.toThrow();
});

test.each(['UTC', 'America/Los_Angeles', 'Asia/Shanghai', 'Europe/London'])(
  '%s: what was written comes back',
  async (writerTimezone) => {
    const texts = [
      '0001-01-01T00:00:00',
      '1582-10-15T12:00:00',
      '1899-12-31T23:59:59',
      '1969-12-31T23:59:58',
      '2024-07-01T03:04:05',
      '2300-07-01T00:00:00',
    ];
    const rows = texts.map((text, i) => ({
      ts: { seconds: BigInt(Date.parse(`${text}Z`) / 1000), nanos: i * 1_000_001 },
    }));
    const sink = memorySink();
    const schema = parseType('struct<ts:timestamp>');
    const writer = new OrcWriter(sink, schema, { writerTimezone });
    await writer.write(vectorOf(schema, rows));
    await writer.close();
    for (const { root, length } of openOrcSync(memorySource(sink.bytes())).batchesSync()) {
      const vector = root.kind === 'struct' ? root.children[0] : root;
      if (vector.kind !== 'timestamp') throw new TypeError(vector.kind);
      expect(length).toBe(rows.length);
      expect(rows.map((_, i) => ({ ts: { seconds: vector.seconds[i], nanos: vector.nanos[i] } }))).toEqual(rows);
    }
  },
);
