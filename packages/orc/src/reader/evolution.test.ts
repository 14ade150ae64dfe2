import { memorySink, memorySource } from '@skep/core';
import { describe, expect, test } from 'vitest';
import { InvalidReadError } from '../errors.js';
import { parseType } from '../type-text.js';
import { type AppendableValue, vectorOf } from '../vector/builder.js';
import { type VectorValue, vectorValue } from '../vector/value.js';
import { OrcWriter } from '../write/orc-writer.js';
import type { ReadOptions } from './options.js';
import { openOrcSync } from './orc-reader.js';

async function readAs(
  from: string,
  rows: AppendableValue[],
  to: string,
  options: ReadOptions = {},
): Promise<VectorValue[]> {
  const schema = parseType(from);
  const sink = memorySink();
  const writer = new OrcWriter(sink, schema, { rowIndexStride: 2 });
  await writer.write(vectorOf(schema, rows));
  await writer.close();
  const values: VectorValue[] = [];
  const reader = openOrcSync(memorySource(sink.bytes(), 'file'));
  for (const { root, length } of reader.batchesSync({ ...options, readSchema: parseType(to) })) {
    for (let row = 0; row < length; row++) values.push(vectorValue(root, row));
  }
  return values;
}

describe('matching of columns', () => {
  const row = { a: 1, b: 'x' };

  test('by name: any order, any case, added columns are NULL, others are left out', async () => {
    expect(await readAs('struct<a:int,b:string>', [row], 'struct<B:string,c:array<int>,a:int>')).toEqual([
      { B: 'x', c: null, a: 1 },
    ]);
    expect(await readAs('struct<a:int,b:string>', [row], 'struct<>')).toEqual([{}]);
  });

  test('by position: renamed and added columns', async () => {
    const options = { evolution: 'position' } as const;
    expect(await readAs('struct<a:int,b:string>', [row], 'struct<x:int,y:string,z:int>', options)).toEqual([
      { x: 1, y: 'x', z: null },
    ]);
    expect(await readAs('struct<a:int,b:string>', [row], 'struct<x:int>', options)).toEqual([{ x: 1 }]);
  });

  test('nested fields by name, or by position to the level that is told (B112)', async () => {
    const from = 'struct<k:int,row:struct<x:int,y:string>>';
    const rows = [{ k: 1, row: { x: 2, y: 'y' } }];
    expect(await readAs(from, rows, 'struct<k:int,row:struct<y:string,x:int,z:int>>')).toEqual([
      { k: 1, row: { y: 'y', x: 2, z: null } },
    ]);
    const options = { evolution: 'position', positionalLevels: 2 } as const;
    expect(await readAs(from, rows, 'struct<k:int,row:struct<p:int,q:string,r:int>>', options)).toEqual([
      { k: 1, row: { p: 2, q: 'y', r: null } },
    ]);
    expect(await readAs(from, rows, 'struct<k:int,r:struct<p:int,y:string>>', { evolution: 'position' })).toEqual([
      { k: 1, r: { p: null, y: 'y' } },
    ]);
  });

  test('names that Hive did not know (_colN) are matched by position', async () => {
    expect(await readAs('struct<_col0:int,_col1:string>', [[1, 'x']], 'struct<id:bigint,v:string>')).toEqual([
      { id: 1n, v: 'x' },
    ]);
  });

  test('a projection is of the schema that is read', async () => {
    const options = { include: new Set([3]) };
    expect(await readAs('struct<a:int,b:string>', [row], 'struct<b:string,c:int,a:bigint>', options)).toEqual([
      { a: 1n },
    ]);
  });

  test('elements are converted, also where the first lists are empty (B110)', async () => {
    const rows = [...Array.from({ length: 1500 }, () => ({ l: [] })), { l: [1, 2, null] }];
    const read = await readAs('struct<l:array<int>>', rows, 'struct<l:array<string>>');
    expect(read[0]).toEqual({ l: [] });
    expect(read[1500]).toEqual({ l: ['1', '2', null] });
    expect(await readAs('struct<m:map<int,float>>', [{ m: [[1, 1.5]] }], 'struct<m:map<bigint,double>>')).toEqual([
      { m: [[1n, 1.5]] },
    ]);
    expect(
      await readAs(
        'struct<u:uniontype<int,string>>',
        [{ u: { tag: 0, value: 1 } }],
        'struct<u:uniontype<bigint,string,int>>',
      ),
    ).toEqual([{ u: { tag: 0, value: 1n } }]);
  });

  test('a predicate on an added or a converted column leaves nothing out wrongly (B107)', async () => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ a: i, b: String(i) }));
    const read = (sarg: ReadOptions['sarg']) =>
      readAs('struct<a:int,b:string>', rows, 'struct<a:bigint,b:int,c:int>', { sarg });
    expect((await read({ op: 'isNull', column: 'c' })).length).toBe(10);
    expect((await read({ op: 'equals', column: 'c', literal: 5 })).length).toBe(0);
    expect((await read({ op: 'equals', column: 'a', literal: 5n })).length).toBe(2);
    expect((await read({ op: 'equals', column: 'b', literal: 5 })).length).toBe(10);
  });
});

const timestamp = (seconds: number | bigint, nanos = 0) => ({ seconds: BigInt(seconds), nanos });

describe('conversions', () => {
  test.each<[string, string, [AppendableValue, VectorValue][]]>([
    [
      'tinyint',
      'bigint',
      [
        [-128, -128n],
        [127, 127n],
      ],
    ],
    ['smallint', 'int', [[-32768, -32768]]],
    [
      'int',
      'tinyint',
      [
        [127, 127],
        [128, null],
      ],
    ],
    [
      'bigint',
      'int',
      [
        [2n ** 31n, null],
        [-5n, -5],
      ],
    ],
    [
      'bigint',
      'boolean',
      [
        [0n, false],
        [7n, true],
      ],
    ],
    [
      'boolean',
      'int',
      [
        [true, 1],
        [false, 0],
      ],
    ],
    [
      'boolean',
      'string',
      [
        [true, 'TRUE'],
        [false, 'FALSE'],
      ],
    ],
    ['int', 'double', [[3, 3]]],
    [
      'bigint',
      'decimal(3,1)',
      [
        [99n, { unscaled: 990n, scale: 1 }],
        [100n, null],
      ],
    ],
    ['bigint', 'string', [[-9223372036854775808n, '-9223372036854775808']]],
    ['int', 'varchar(2)', [[12345, '12']]],
    ['int', 'timestamp', [[-1, timestamp(-1)]]],
    [
      'float',
      'double',
      [
        [0.5, 0.5],
        [Number.NaN, Number.NaN],
      ],
    ],
    ['double', 'float', [[0.1, Math.fround(0.1)]]],
    [
      'double',
      'bigint',
      [
        [1.9, 1n],
        [-1.9, -1n],
        [1e19, null],
        [Number.NaN, null],
      ],
    ],
    [
      'double',
      'string',
      [
        [1, '1.0'],
        [1e10, '1.0E10'],
        [1.5e-7, '1.5E-7'],
        [0.001, '0.001'],
        [Number.NaN, null],
      ],
    ],
    [
      'double',
      'decimal(5,2)',
      [
        [1.005, { unscaled: 101n, scale: 2 }],
        [1e9, null],
        [Number.NaN, null],
      ],
    ],
    [
      'double',
      'timestamp',
      [
        [1.25, timestamp(1, 250_000_000)],
        [-0.5, timestamp(-1, 500_000_000)],
      ],
    ],
    [
      'decimal(10,2)',
      'int',
      [
        [{ unscaled: 199n, scale: 2 }, 1],
        [{ unscaled: -199n, scale: 2 }, -1],
      ],
    ],
    ['decimal(10,2)', 'double', [[{ unscaled: 125n, scale: 2 }, 1.25]]],
    [
      'decimal(10,2)',
      'string',
      [
        [{ unscaled: 150n, scale: 2 }, '1.5'],
        [{ unscaled: -5n, scale: 2 }, '-0.05'],
      ],
    ],
    [
      'decimal(10,2)',
      'decimal(4,1)',
      [
        [
          { unscaled: 125n, scale: 2 },
          { unscaled: 13n, scale: 1 },
        ],
        [{ unscaled: 100000n, scale: 2 }, null],
      ],
    ],
    [
      'decimal(10,2)',
      'boolean',
      [
        [{ unscaled: -8n, scale: 2 }, true],
        [{ unscaled: 0n, scale: 2 }, false],
      ],
    ],
    ['timestamp with local time zone', 'string', [[timestamp(1, 5), '1970-01-01 00:00:01.000000005 UTC']]],
    [
      'string',
      'timestamp with local time zone',
      [
        ['1970-01-01 00:00:00 America/New_York', timestamp(18_000)],
        ['1970-01-01 00:00:00', null],
        ['1970-01-01 00:00:00 Mars/Olympus', null],
      ],
    ],
    ['decimal(10,2)', 'timestamp', [[{ unscaled: -50n, scale: 2 }, timestamp(-1, 500_000_000)]]],
    [
      'string',
      'int',
      [
        ['12', 12],
        ['-7', -7],
        ['1.5', null],
        ['x', null],
        ['9999999999', null],
      ],
    ],
    [
      'string',
      'double',
      [
        ['1e3', 1000],
        ['NaN', Number.NaN],
        ['', null],
      ],
    ],
    [
      'string',
      'decimal(5,2)',
      [
        [' 1.005 ', { unscaled: 101n, scale: 2 }],
        ['1e2', { unscaled: 10000n, scale: 2 }],
        ['x', null],
      ],
    ],
    [
      'string',
      'date',
      [
        ['2024-02-29', 19782],
        ['2023-02-29', null],
      ],
    ],
    [
      'string',
      'timestamp',
      [
        ['1970-01-01 00:00:01.5', timestamp(1, 500_000_000)],
        ['1970-01-02 00:00', timestamp(86400)],
        // What Java's ORC takes for no timestamps.
        ['1970-01-02', null],
        ['1970-1-2 00:00:00', null],
        ['soon', null],
      ],
    ],
    [
      'string',
      'char(2)',
      [
        ['a  ', 'a'],
        ['日本語', '日本'],
      ],
    ],
    ['string', 'binary', [['é', new Uint8Array([0xc3, 0xa9])]]],
    ['varchar(5)', 'string', [['ab ', 'ab ']]],
    ['char(5)', 'string', [['ab', 'ab']]],
    ['binary', 'string', [[new Uint8Array([0, 255]), '00 ff']]],
    [
      'timestamp',
      'string',
      [
        [timestamp(1, 500_000_000), '1970-01-01 00:00:01.5'],
        [timestamp(0), '1970-01-01 00:00:00'],
      ],
    ],
    [
      'timestamp',
      'date',
      [
        [timestamp(-2, 5), -1],
        [timestamp(86400), 1],
        [timestamp(-86400), -1],
      ],
    ],
    ['timestamp', 'bigint', [[timestamp(-2, 500_000_000), -2n]]],
    ['timestamp', 'double', [[timestamp(1, 500_000_000), 1.5]]],
    ['timestamp', 'decimal(12,3)', [[timestamp(-2, 500_000_000), { unscaled: -1500n, scale: 3 }]]],
    [
      'date',
      'string',
      [
        [-719162, '0001-01-01'],
        [0, '1970-01-01'],
      ],
    ],
    ['date', 'timestamp', [[-1, timestamp(-86400)]]],
  ])('%s as %s', async (from, to, cases) => {
    const rows = [...cases.map(([value]) => ({ c: value })), { c: null }];
    const expected = [...cases.map(([, value]) => ({ c: value })), { c: null }];
    expect(await readAs(`struct<c:${from}>`, rows, `struct<c:${to}>`)).toEqual(expected);
  });

  test.each([
    ['int', 'date'],
    ['int', 'binary'],
    ['date', 'int'],
    ['binary', 'int'],
    ['int', 'array<int>'],
    ['array<int>', 'int'],
    ['array<int>', 'map<int,int>'],
    ['uniontype<int,string>', 'uniontype<int>'],
  ])('%s as %s is refused by name', async (from, to) => {
    const read = readAs(`struct<outer:struct<c:${from}>>`, [{ outer: null }], `struct<outer:struct<c:${to}>>`);
    await expect(read).rejects.toThrow(InvalidReadError);
    await expect(read).rejects.toThrow(/outer\.c/);
  });
});
