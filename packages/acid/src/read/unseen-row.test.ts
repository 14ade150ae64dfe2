import { ValidWriteIdList } from '@skep/core';
import { memoryFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable, type RowId } from '../testing/acid-table.js';
import { DeleteSet } from './delete-set.js';
import { planSplits } from './plan-splits.js';
import { unseenRow } from './unseen-row.js';

const b0 = encodeBucketProperty(0, 0);
const upTo = (count: number) => Array.from({ length: count }, (_, a) => ({ a }));

async function unseen(table: AcidTable, ids: readonly RowId[], writeIds = ValidWriteIdList.allValid()) {
  const keys = new DeleteSet();
  const { length } = ids;
  keys.add({
    length,
    writeIds: BigInt64Array.from(ids, ([writeId]) => writeId),
    buckets: Int32Array.from(ids, ([, bucket]) => bucket),
    rowIds: BigInt64Array.from(ids, ([, , rowId]) => rowId),
  });
  const splits = await planSplits(table.fs, await table.state(writeIds));
  return await unseenRow(table.fs, splits, keys, { schema: table.schema, writeIds });
}

describe('rows to delete', () => {
  it('are each one that is there', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', { orc: { rowIndexStride: 1000 } });
    await table.insert(1n, 0, upTo(30_000));
    await table.insert(2n, 0, upTo(3));
    await table.delete(3n, 0, [
      [1n, b0, 17n],
      [2n, b0, 1n],
    ]);
    const ids = (...rows: (readonly [bigint, bigint])[]): RowId[] => rows.map(([w, row]) => [w, b0, row]);
    expect(await unseen(table, ids([1n, 0n], [1n, 16n], [1n, 29_999n], [2n, 2n]))).toBeUndefined();
    expect(await unseen(table, ids([2n, 2n], [1n, 29_999n]))).toBeUndefined();
    const deleted = { why: 'unseen', writeId: 1n, bucket: b0, rowId: 17n };
    expect(await unseen(table, ids([1n, 18n], [1n, 17n], [2n, 0n]))).toEqual(deleted);
    expect(await unseen(table, ids([2n, 0n], [2n, 1n]))).toMatchObject({ writeId: 2n, rowId: 1n });
    // Beyond the file, of a write that never was, and of a bucket without files.
    expect(await unseen(table, ids([1n, 30_000n]))).toMatchObject({ why: 'unseen', rowId: 30_000n });
    expect(await unseen(table, ids([2n, 0n], [9n, 0n]))).toMatchObject({ writeId: 9n });
    const other = encodeBucketProperty(1, 0);
    expect(await unseen(table, [[1n, other, 0n]])).toMatchObject({ bucket: other });
    expect(await unseen(table, ids([1n, 5n], [2n, 0n], [1n, 5n]))).toMatchObject({ why: 'twice', rowId: 5n });
  });

  it('are of the snapshot, also within a file of many writes', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, upTo(5));
    await table.insert(2n, 0, upTo(5));
    const first = ValidWriteIdList.parse('t:1:9223372036854775807::');
    expect(await unseen(table, [[1n, b0, 4n]], first)).toBeUndefined();
    expect(await unseen(table, [[2n, b0, 4n]], first)).toMatchObject({ writeId: 2n });
  });
});
