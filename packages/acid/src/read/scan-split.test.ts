import { ValidWriteIdList } from '@skep/core';
import { OrcWriter, vectorOf } from '@skep/orc';
import { type FileSystem, memoryFileSystem, readFile, writeFile } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable } from '../testing/acid-table.js';
import { DeleteCache } from './delete-cache.js';
import { planSplits } from './plan-splits.js';
import { scanSplit, scanSplitSync } from './scan-split.js';

const b0 = encodeBucketProperty(0, 0);
const b1 = encodeBucketProperty(1, 0);

/** The same file system, with a list of what was opened. */
function watched(fs: FileSystem): { fs: FileSystem; opened: string[] } {
  const opened: string[] = [];
  const open = (path: string) => {
    opened.push(path);
    return fs.open(path);
  };
  return { opened, fs: { ...fs, open } };
}

async function writePlain(table: AcidTable, path: string, values: readonly number[]): Promise<void> {
  const writer = new OrcWriter(await table.fs.create(`${table.location}/${path}`), table.schema, {
    rowIndexStride: 1000,
  });
  await writer.write(
    vectorOf(
      table.schema,
      values.map((a) => ({ a })),
    ),
  );
  await writer.close();
}
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

describe('scanning', () => {
  it('opens no delete file that is older than the rows (B28)', async () => {
    const { fs, opened } = watched(memoryFileSystem());
    const table = new AcidTable(fs, '/t', 'struct<a:int>');
    for (let i = 0; i < 20; i++) {
      await table.insert(BigInt(2 * i + 1), 0, [{ a: i }, { a: -i }]);
      await table.delete(BigInt(2 * i + 2), 0, [[BigInt(2 * i + 1), b0, 1n]]);
    }
    opened.length = 0;
    expect((await table.rows()).length).toBe(20);
    const deletes = opened.filter((path) => path.includes('delete_delta'));
    expect(deletes.length).toBe((20 * 21) / 2);
    opened.length = 0;
    expect((await table.rows({ deleteCache: new DeleteCache() })).length).toBe(20);
    expect(opened.filter((path) => path.includes('delete_delta')).length).toBe(20);
  });

  it('gives a column that is asked for twice twice, without the deleted rows', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int,b:double,c:bigint>');
    await table.insert(
      1n,
      0,
      upTo(9).map((a) => ({ a, b: a / 2, c: BigInt(a) })),
    );
    await table.delete(2n, 0, [
      [1n, b0, 1n],
      [1n, b0, 4n],
      [1n, b0, 5n],
    ]);
    const writeIds = ValidWriteIdList.allValid();
    const [split] = await planSplits(table.fs, await table.state(writeIds));
    const options = { schema: table.schema, writeIds, columns: [1, 0, 0, 2, 1, 2] };
    const [{ root }] = [...scanSplitSync(table.fs, split, options)];
    const left = [0, 2, 3, 6, 7, 8];
    const [ints, doubles, longs] = [left, left.map((a) => a / 2), left.map(BigInt)];
    expect(root.children.map((child) => ('values' in child ? [...child.values] : child.kind))).toEqual([
      ...[doubles, ints, ints],
      ...[longs, doubles, longs],
    ]);
  });

  it('gives the same with delete events merged instead of kept in memory', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    for (let writeId = 1n; writeId <= 3n; writeId++)
      await table.insert(
        writeId,
        0,
        upTo(3000).map((a) => ({ a })),
      );
    for (let n = 0n; n < 3n; n++) {
      const ids = upTo(3000).filter((i) => i % 3 === Number(n) && i > 100);
      await table.delete(4n + n, 0, ids.map((i) => [n + 1n, b0, BigInt(i)] as const).reverse());
    }
    const rows = await table.rows();
    expect(rows.length).toBe(3 * 3000 - 2899);
    expect(await table.rows({ deleteEventsInMemory: 10, batchSize: 77 })).toEqual(rows);
  });

  it('flags deleted rows when asked for them', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(
      1n,
      0,
      upTo(3).map((a) => ({ a })),
    );
    await table.delete(2n, 0, [[1n, b0, 1n]]);
    const [batch] = await table.batches({ includeDeleted: true });
    expect([...(batch.isDeleted?.values ?? [])]).toEqual([0, 1, 0]);
    expect(batch.length).toBe(3);
  });

  it('leaves out rows and deletes of writes that are not valid', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }, { a: 2 }]);
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    await table.delete(3n, 0, [[1n, b0, 1n]]);
    await table.insert(4n, 0, [{ a: 4 }]);
    const writeIds = ValidWriteIdList.parse('t:3:2:2:');
    expect(await table.rows({ writeIds })).toEqual([`1,${b0},0|1`]);
  });

  it('reads no column but counts rows', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(
      1n,
      0,
      upTo(10).map((a) => ({ a })),
    );
    await table.delete(2n, 0, [[1n, b0, 3n]]);
    const batches = await table.batches({ columns: [], rowIds: false });
    expect(batches.map((batch) => [batch.length, batch.root.children.length])).toEqual([[9, 0]]);
  });

  it('hands out columns in the order asked for', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int,b:string,c:int>');
    await table.insert(1n, 0, [{ a: 1, b: 'x', c: 3 }]);
    expect(await table.rows({ columns: [2, 0], rowIds: false })).toEqual(['3|1']);
  });

  it('finds user columns that are called like ACID columns (B17)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<rowid:int,bucket:int,operation:string,row:int>');
    await table.insert(1n, 0, [{ rowid: 7, bucket: 8, operation: 'x', row: 9 }]);
    expect(await table.rows()).toEqual([`1,${b0},0|7|8|x|9`]);
    expect(await table.rows({ columns: [2], rowIds: false })).toEqual(['x']);
  });

  it('numbers original files through the copies of a bucket (B19)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await writePlain(table, '000000_0', [1, 2, 3]);
    await writePlain(table, '000000_0_copy_1', [4, 5]);
    await writePlain(table, '000001_0', [6]);
    await table.delete(10_000_001n, 0, [[0n, b0, 3n]]);
    expect((await table.rows()).sort()).toEqual([
      `0,${b0},0|1`,
      `0,${b0},1|2`,
      `0,${b0},2|3`,
      `0,${b0},4|5`,
      `0,${b1},0|6`,
    ]);
  });

  it('keeps row numbers right where row groups are left out (B23)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await writePlain(table, '000000_0', upTo(30_000));
    await table.delete(10_000_001n, 0, [[0n, b0, 25_000n]]);
    const sarg = { op: 'not', child: { op: 'lessThan', column: 'a', literal: 25_000 } } as const;
    const rows = await table.rows({ sarg });
    expect(rows.length).toBe(4999);
    expect(rows[0]).toBe(`0,${b0},25001|25001`);
    // The same in a file of events, whose column has another number.
    await table.insert(
      10_000_002n,
      0,
      upTo(30_000).map((a) => ({ a })),
    );
    const events = (await table.rows({ sarg })).filter((row) => row.startsWith('10000002'));
    expect(events.length).toBeLessThan(11_000);
    expect(events.at(-1)).toBe(`10000002,${b0},29999|29999`);
  });

  it('numbers loaded files by their folder', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await writePlain(table, 'delta_0000004_0000004_0002/000000_0', [1, 2]);
    await writePlain(table, 'delta_0000004_0000004_0002/000001_0', [3]);
    const [first, second] = [encodeBucketProperty(0, 2), encodeBucketProperty(1, 2)];
    expect(await table.rows()).toEqual([`4,${first},0|1`, `4,${first},1|2`, `4,${second},0|3`]);
    await table.delete(5n, 0, [[4n, first, 1n]]);
    expect(await table.rows()).toEqual([`4,${first},0|1`, `4,${second},0|3`]);
  });

  it('reads a file up to its flushed length (B14)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }]);
    const whole = await readFile(table.fs, '/t/delta_0000001_0000001_0000/bucket_00000_0');
    await table.fs.delete('/t/delta_0000001_0000001_0000', { recursive: true });
    const longer = new Uint8Array(whole.length + 100);
    longer.set(whole);
    await writeFile(table.fs, '/t/delta_0000001_0000002/bucket_00000', longer);
    const side = new DataView(new ArrayBuffer(19));
    side.setBigInt64(8, BigInt(whole.length));
    const sidePath = '/t/delta_0000001_0000002/bucket_00000_flush_length';
    await writeFile(table.fs, sidePath, new Uint8Array(side.buffer));
    expect(await table.rows()).toEqual([`1,${b0},0|1`]);
    await table.fs.delete(sidePath);
    await writeFile(table.fs, sidePath, new Uint8Array(0));
    expect(await table.rows()).toEqual([]);
    side.setBigInt64(8, BigInt(longer.length + 1));
    await table.fs.delete(sidePath);
    await writeFile(table.fs, sidePath, new Uint8Array(side.buffer));
    await expect(table.rows()).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('matches columns by position (B106, B107)', async () => {
    const fs = memoryFileSystem();
    const before = new AcidTable(fs, '/t', 'struct<a:int,b:string>');
    await before.insert(1n, 0, [{ a: 41, b: 'x' }]);
    const after = new AcidTable(fs, '/t', 'struct<x:bigint,b:string,c:int>');
    await after.insert(2n, 0, [{ x: 5n, b: 'y', c: 5 }]);
    expect(await after.rows()).toEqual([`1,${b0},0|41|x|NULL`, `2,${b0},0|5|y|5`]);
    expect(await after.rows({ columns: [2, 0], rowIds: false })).toEqual(['NULL|41', '5|5']);
    const isNull = { op: 'isNull', column: 'c' } as const;
    expect(await after.rows({ sarg: isNull, rowIds: false })).toContain('41|x|NULL');
    const five = { op: 'equals', column: 'c', literal: 5 } as const;
    expect(await after.rows({ sarg: five, rowIds: false })).toContain('5|y|5');
  });

  it('prunes buckets', async () => {
    const bucketing = { columns: [0], buckets: 4, version: 1 } as const;
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', { bucketing });
    await table.insert(
      1n,
      0,
      upTo(8).map((a) => ({ a })),
    );
    expect(await table.rows({ rowIds: false }, { buckets: new Set([1]) })).toEqual(['1', '5']);
  });

  it('refuses a delete in the file of another bucket', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.delete(2n, 0, [[1n, b1, 0n]]);
    const dir = '/t/delete_delta_0000002_0000002_0000';
    await table.fs.rename(`${dir}/bucket_00001_0`, `${dir}/bucket_00000_0`);
    await expect(table.rows()).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('closes files when the reader stops early', async () => {
    const memory = memoryFileSystem();
    const table = new AcidTable(memory, '/t', 'struct<a:int>');
    await table.insert(
      1n,
      0,
      upTo(100).map((a) => ({ a })),
    );
    let open = 0;
    const fs: FileSystem = {
      ...memory,
      async open(path) {
        const source = await memory.open(path);
        open++;
        return { ...source, close: () => void open-- };
      },
    };
    const writeIds = ValidWriteIdList.allValid();
    const [split] = await planSplits(fs, await table.state());
    for await (const batch of scanSplit(fs, split, { schema: table.schema, writeIds, batchSize: 10 })) {
      expect(batch.length).toBe(10);
      break;
    }
    expect(open).toBe(0);
    expect(() => [...scanSplitSync(fs, split, { schema: table.schema, writeIds })]).toThrow(/without waiting/);
  });
});
