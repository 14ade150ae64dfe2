import { ValidWriteIdList } from '@skep/core';
import { memoryFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable } from '../testing/acid-table.js';
import { compactRebalance } from './rebalance.js';
import type { SortKey } from './row-order.js';

const key = (column: number, fields: Partial<SortKey> = {}): SortKey => ({
  column,
  isDescending: false,
  nullsFirst: false,
  ...fields,
});

async function rebalanced(
  type: string,
  rows: readonly (readonly object[])[],
  orderBy: readonly SortKey[],
  buckets?: number,
) {
  const table = new AcidTable(memoryFileSystem(), '/t', type);
  for (const [i, part] of rows.entries()) await table.insert(BigInt(i + 1), 0, part as never);
  const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(`t:${rows.length}`));
  const state = await table.state(writeIds);
  const common = { fs: table.fs, state, writeIds, schema: table.schema, visibilityTxnId: 9n };
  const result = await compactRebalance({ ...common, orderBy, ...(buckets === undefined ? {} : { buckets }) });
  return { table, result };
}

describe('a rebalance with ORDER BY', () => {
  it('sorts all rows, spreads them evenly and numbers them through, all with the highest write id', async () => {
    const { table, result } = await rebalanced(
      'struct<a:int,b:string>',
      [
        [
          { a: 3, b: 'x' },
          { a: 1, b: 'y' },
          { a: 5, b: 'z' },
        ],
        [
          { a: 4, b: 'u' },
          { a: 2, b: 'v' },
        ],
      ],
      [key(0, { isDescending: true })],
      2,
    );
    expect(result).toMatchObject({ directories: ['/t/base_0000002_v0000009'], rows: 5 });
    const [b0, b1] = [encodeBucketProperty(0, 0), encodeBucketProperty(1, 0)];
    expect(await table.rows()).toEqual([
      `2,${b0},0|5|z`,
      `2,${b0},1|4|u`,
      `2,${b0},2|3|x`,
      `2,${b1},3|2|v`,
      `2,${b1},4|1|y`,
    ]);
    expect((await table.fs.list('/t/base_0000002_v0000009')).map(({ name }) => name)).toEqual([
      '_orc_acid_version',
      'bucket_00000',
      'bucket_00001',
    ]);
  });

  it.each([
    ['NULLs last', [key(0), key(1)], ['1|é', '1|NULL', '2|a', 'NULL|b']],
    ['NULLs first', [key(0, { nullsFirst: true }), key(1)], ['NULL|b', '1|é', '1|NULL', '2|a']],
    ['bytes of text', [key(1, { isDescending: true, nullsFirst: true })], ['1|NULL', '1|é', 'NULL|b', '2|a']],
  ] as const)('puts %s', async (_, orderBy, expected) => {
    const rows = [
      { a: 2, b: 'a' },
      { a: 1, b: null },
      { a: null, b: 'b' },
      { a: 1, b: 'é' },
    ];
    const { table } = await rebalanced('struct<a:int,b:string>', [rows], orderBy);
    expect(await table.rows({ rowIds: false })).toEqual(expected);
  });

  it('leaves equal rows in the order of their ROW__IDs, and sorts more than one part', async () => {
    const count = 140_000;
    const rows = Array.from({ length: count }, (_, i) => ({ a: (i * 7919) % 1000, n: i }));
    const { table } = await rebalanced('struct<a:int,n:int>', [rows], [key(0)], 3);
    const read = (await table.rows({ rowIds: false })).map((row) => row.split('|').map(Number));
    expect(read).toHaveLength(count);
    const isSorted = read.every(
      ([a, n], i) => i === 0 || read[i - 1][0] < a || (read[i - 1][0] === a && read[i - 1][1] < n),
    );
    expect(isSorted).toBe(true);
  });

  it('refuses types that have no order, and leaves nothing', async () => {
    const sorted = rebalanced('struct<a:array<int>>', [[{ a: [1] }]], [key(0)]);
    await expect(sorted).rejects.toThrow(/column of type list/);
  });
});
