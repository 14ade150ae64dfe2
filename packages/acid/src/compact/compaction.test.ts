import { LONG_MIN, ValidWriteIdList } from '@skep/core';
import { OrcWriter, vectorOf } from '@skep/orc';
import { type FileSystem, memoryFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable } from '../testing/acid-table.js';
import { compactMajor, compactMinor } from './compaction.js';
import { compactRebalance } from './rebalance.js';

const b0 = encodeBucketProperty(0, 0);
const b1 = encodeBucketProperty(1, 0);

async function inputFor(table: AcidTable, list = '', visibilityTxnId = 9n) {
  const reader = ValidWriteIdList.parse(list);
  const writeIds = ValidWriteIdList.forCompactor(reader);
  return { fs: table.fs, state: await table.state(writeIds), writeIds, schema: table.schema, visibilityTxnId };
}

async function names(fs: FileSystem, dir: string): Promise<string[]> {
  return (await fs.list(dir)).map((entry) => entry.name);
}

describe('compaction', () => {
  it('keeps ROW__IDs and drops what is deleted or aborted', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }, { a: 2 }, { a: 3 }]);
    await table.insert(2n, 0, [{ a: 99 }]);
    await table.delete(3n, 0, [[1n, b0, 1n]]);
    const result = await compactMajor(await inputFor(table, 't:3:9223372036854775807::2'));
    expect(result).toMatchObject({ directories: ['/t/base_0000003_v0000009'], rows: 2 });
    expect(await table.rows()).toEqual([`1,${b0},0|1`, `1,${b0},2|3`]);
    expect(await names(table.fs, '/t/base_0000003_v0000009')).toEqual(['_orc_acid_version', 'bucket_00000']);
  });

  it('never goes beyond the first open write', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    for (const writeId of [1n, 2n, 3n, 4n]) await table.insert(writeId, 0, [{ a: Number(writeId) }]);
    const result = await compactMinor(await inputFor(table, 't:4:3:3:'));
    expect(result.directories).toEqual(['/t/delta_0000001_0000002_v0000009']);
    expect(await table.rows({ rowIds: false })).toEqual(['1', '2', '3', '4']);
  });

  it('makes one file of each bucket (B47)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', {
      bucketing: { columns: [0], buckets: 3, version: 1 },
    });
    await table.insert(
      1n,
      0,
      [0, 1, 2, 3, 4, 5].map((a) => ({ a })),
    );
    await table.insert(2n, 0, [{ a: 6 }]);
    await compactMajor(await inputFor(table));
    expect(await names(table.fs, '/t/base_0000002_v0000009')).toEqual([
      '_orc_acid_version',
      'bucket_00000',
      'bucket_00001',
      'bucket_00002',
    ]);
    expect((await table.rows({ rowIds: false })).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  });

  it('keeps the rows of a table that is only a base (B46)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }], { overwrite: true });
    const result = await compactMajor(await inputFor(table));
    expect(result.directories).toEqual(['/t/base_0000001_v0000009']);
    expect(await table.rows()).toEqual([`1,${b0},0|1`]);
  });

  it('keeps original files and their ROW__IDs (B52)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    for (const [name, a] of [
      ['000000_0', 1],
      ['000000_0_copy_1', 2],
      ['000001_0', 3],
    ] as const) {
      const writer = new OrcWriter(await table.fs.create(`/t/${name}`), table.schema);
      await writer.write(vectorOf(table.schema, [{ a }]));
      await writer.close();
    }
    const result = await compactMajor(await inputFor(table));
    expect(result.directories).toEqual([`/t/base_${LONG_MIN}_v0000009`]);
    expect(await table.rows()).toEqual([`0,${b0},0|1`, `0,${b0},1|2`, `0,${b1},0|3`]);
  });

  it('compacts deletes alone (B55)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }, { a: 2 }, { a: 3 }], { overwrite: true });
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    await table.delete(3n, 0, [[1n, b0, 2n]]);
    const result = await compactMinor(await inputFor(table));
    expect(result).toMatchObject({
      directories: ['/t/delete_delta_0000002_0000003_v0000009'],
      deleteEvents: 2,
      rows: 0,
    });
    expect(await table.rows({ rowIds: false })).toEqual(['2']);
  });

  it('leaves an empty folder where everything is gone', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    const result = await compactMajor(await inputFor(table));
    expect(result.directories).toEqual(['/t/base_0000002_v0000009']);
    expect(await names(table.fs, '/t/base_0000002_v0000009')).toEqual(['_orc_acid_version']);
    expect(await table.rows()).toEqual([]);
  });

  it('takes its folders back when it fails', async () => {
    const memory = memoryFileSystem();
    const table = new AcidTable(memory, '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.insert(2n, 0, [{ a: 2 }]);
    const aborting = AbortSignal.abort();
    await expect(compactMajor({ ...(await inputFor(table)), signal: aborting })).rejects.toThrow();
    expect(await names(memory, '/t')).toEqual(['delta_0000001_0000001_0000', 'delta_0000002_0000002_0000']);
  });

  it('interleaves files of one bucket by key (B49)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.insert(1n, 1, [{ a: 2 }]);
    await table.insert(2n, 0, [{ a: 3 }]);
    await compactMinor(await inputFor(table, '', 5n));
    expect(await table.rows()).toEqual([`1,${b0},0|1`, `1,${b0 + 1},0|2`, `2,${b0},0|3`]);
    await compactMajor(await inputFor(table, '', 6n));
    expect(await table.rows()).toEqual([`1,${b0},0|1`, `1,${b0 + 1},0|2`, `2,${b0},0|3`]);
  });

  it('merges insert-only tables', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', { insertOnly: true });
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.insert(2n, 0, [{ a: 2 }]);
    const minor = await compactMinor({ ...(await inputFor(table, 't:2')), insertOnly: true });
    expect(minor.files).toEqual(['/t/delta_0000001_0000002_v0000009/000000_0']);
    expect(await table.rows()).toEqual(['1', '2']);
    await table.insert(3n, 0, [{ a: 3 }]);
    const other = { ...(await inputFor(table, 't:3')), insertOnly: true, fileFormat: 'other' } as const;
    const major = await compactMajor(other);
    expect(major.files).toEqual(['/t/base_0000003_v0000009/000000_0', '/t/base_0000003_v0000009/000000_0_copy_1']);
    expect(await table.rows()).toEqual(['1', '2', '3']);
  });

  it('rebalances', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    await table.insert(
      1n,
      0,
      Array.from({ length: 10 }, (_, a) => ({ a })),
    );
    await table.insert(2n, 0, [{ a: 10 }]);
    await table.delete(3n, 0, [[1n, b0, 0n]]);
    const result = await compactRebalance({ ...(await inputFor(table, 't:3')), buckets: 3 });
    expect(result).toMatchObject({ directories: ['/t/base_0000003_v0000009'], rows: 10 });
    expect(await names(table.fs, '/t/base_0000003_v0000009')).toEqual([
      '_orc_acid_version',
      'bucket_00000',
      'bucket_00001',
      'bucket_00002',
    ]);
    const rows = await table.rows();
    expect(rows[0]).toBe(`1,${b0},0|1`);
    expect(rows[4]).toBe(`1,${b1},4|5`);
    expect(rows[9]).toBe(`2,${encodeBucketProperty(2, 0)},9|10`);
  });
});
