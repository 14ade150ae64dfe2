import { parseType, vectorOf } from '@skep/orc';
import { describe, expect, it } from 'vitest';
import { bucketNumbers, hashColumn } from './bucket-hash.js';
import { decimalBytes, timestampBytes } from './java-values.js';

/** What the real Hive 4.0.1 put where: golden/hive-4.0.1/cases/buckets.json. */
const recorded: [type: string, buckets: number, rows: [value: never, bucket: number][]][] = [
  [
    'int',
    4,
    [
      [0, 1],
      [1, 1],
      [2, 0],
      [3, 2],
      [4, 1],
      [-1, 1],
      [-2147483648, 0],
      [null, 0],
    ] as never,
  ],
  [
    'string',
    4,
    [
      [null, 0],
      ['b', 0],
      ['日本', 3],
      ['', 2],
      ['a', 2],
      ['héllo', 2],
      ['a longer string than sixteen bytes', 1],
      ['hello', 1],
    ] as never,
  ],
  [
    'bigint',
    8,
    [
      [-9999999999n, 2],
      [-1n, 3],
      [0n, 3],
      [1n, 4],
      [4294967296n, 2],
      [9223372036854775807n, 4],
      [9999999999n, 3],
    ] as never,
  ],
  [
    'decimal(10,2)',
    8,
    [
      [{ unscaled: -125n, scale: 2 }, 0],
      [{ unscaled: 0n, scale: 2 }, 5],
      [{ unscaled: 100n, scale: 2 }, 3],
      [{ unscaled: 150n, scale: 2 }, 3],
      [{ unscaled: 10000n, scale: 2 }, 5],
      [{ unscaled: 1234567891n, scale: 2 }, 7],
    ] as never,
  ],
  [
    'date',
    8,
    [
      [-1, 5],
      [0, 1],
      [11016, 0],
      [19723, 1],
    ] as never,
  ],
];

describe('bucket numbers, version 2', () => {
  it.each(recorded)('%s', (type, buckets, rows) => {
    const vector = vectorOf(
      parseType(type),
      rows.map(([value]) => value),
    );
    expect([...bucketNumbers([vector], rows.length, buckets, 2)]).toEqual(rows.map(([, bucket]) => bucket));
  });

  it('of several columns', () => {
    const columns: [string, unknown[]][] = [
      ['bigint', [1n, 9999999999n, null, 42n]],
      ['date', [19723, -1, null, 11016]],
      [
        'timestamp',
        [
          { seconds: 1704103200n, nanos: 123000000 },
          { seconds: -1n, nanos: 0 },
          null,
          { seconds: -2208988800n, nanos: 0 },
        ],
      ],
      ['decimal(10,2)', [150n, -125n, null, 150n].map((unscaled) => unscaled && { unscaled, scale: 2 })],
      ['double', [2.5, 0, null, 1e100]],
      ['boolean', [true, false, null, true]],
      ['smallint', [3, -3, null, 0]],
    ];
    const vectors = columns.map(([type, values]) => vectorOf(parseType(type), values as never));
    expect([...bucketNumbers(vectors, 4, 8, 2)]).toEqual([1, 1, 0, 4]);
  });
});

const at = (text: string, nanos = 0) => ({ seconds: BigInt(Date.parse(`${text}Z`)) / 1000n, nanos });
const dec = (unscaled: bigint, scale: number) => ({ unscaled, scale });

/** `murmur_hash(x)` and `hash(x)` of the real Hive 4.0.1, in UTC. */
const hashes: [type: string, value: unknown, version2: number | undefined, version1: number | undefined][] = [
  ['tinyint', 7, 7, 7],
  ['smallint', -300, 1916445903, -300],
  ['int', 12345678, -1674736020, 12345678],
  ['bigint', -9999999999n, -1921832078, 1410065404],
  ['boolean', true, 1, 1],
  ['float', 1.5, -1009260869, 1069547520],
  ['float', 0, 1362653161, undefined],
  ['double', 2.5, -1791779249, 1074003968],
  ['double', 1e100, -2011577434, undefined],
  ['double', -1.25, undefined, -1074528256],
  ['char(5)', 'ab   ', 398604456, 4066],
  ['varchar(10)', 'héé', 1922978301, 122772499],
  ['string', 'héé', 1922978301, 94143348],
  ['binary', new TextEncoder().encode('日本x'), 1392836594, 1346543989],
  ['timestamp', at('2024-01-01T10:00:00', 123456789), 711781712, 507473501],
  ['timestamp', at('1969-12-31T23:59:59', 500_000_000), 171279716, 573741823],
  ['timestamp', at('2500-01-01T00:00:00'), -774379145, -113660896],
  ['timestamp', at('1900-06-01T12:00:00'), -1073857696, -548974800],
  ['date', 11016, -1090878360, 11016],
  ['decimal(10,2)', dec(150n, 2), 864210675, 466],
  ['decimal(30,3)', dec(-12345678901234567890123n, 3), 894658616, -647166411],
  ['decimal(10,2)', dec(10000n, 2), 275017581, 3100],
  ['decimal(10,2)', dec(0n, 2), undefined, 0],
  ['decimal(38,0)', dec(10n ** 38n - 1n, 0), undefined, -427198386],
  ['array<int>', [1, 2, 3], 343387359, 1026],
  [
    'map<string,int>',
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
    1048431053,
    192,
  ],
  ['struct<x:int,y:string>', { x: 1, y: 'z' }, -1949801330, 153],
  ['array<string>', ['x', null], 1978337958, 3720],
];

describe('hashes', () => {
  it.each(hashes)('%s %o', (type, value, version2, version1) => {
    const vector = vectorOf(parseType(type), [null, value as never]);
    if (version2 !== undefined) expect([...hashColumn(vector, 2)]).toEqual([0, version2]);
    if (version1 !== undefined) expect([...hashColumn(vector, 1)]).toEqual([0, version1]);
  });
});

describe('Java values', () => {
  it('have Java bytes', () => {
    expect([...decimalBytes(0n)]).toEqual([0]);
    expect([...decimalBytes(-125n)]).toEqual([0x83]);
    expect([...decimalBytes(128n)]).toEqual([0, 128]);
    expect([...timestampBytes(5n, 0)]).toEqual([0, 0, 0, 5]);
    expect([...timestampBytes(5n, 120_000_000)]).toEqual([0x80, 0, 0, 5, 21]);
  });
});
