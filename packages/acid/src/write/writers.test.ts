import { join } from 'node:path';
import { localFileSystem, memoryFileSystem, walk } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable } from '../testing/acid-table.js';
import { goldenRoot } from '../testing/golden.js';
import { dumpFolder } from '../testing/orc-dump.js';
import { InsertWriter } from './insert-writer.js';
import { writeEmptyBase } from './table-dir.js';

const AB = 'struct<a:int,b:string>';
const b0 = encodeBucketProperty(0, 0);
const b1 = encodeBucketProperty(1, 0);

async function pathsOf(table: AcidTable): Promise<string[]> {
  const paths: string[] = [];
  for await (const file of walk(table.fs, table.location)) paths.push(file.path.slice(table.location.length + 1));
  return paths;
}

describe('writers', () => {
  // The statements of golden/hive-4.0.1/cases/seed_wiki_t.sql; Hive feeds bucketed inserts sorted by the bucket columns.
  it.skipIf(goldenRoot === undefined)('write what Hive wrote', async () => {
    const bucketing = { columns: [0], buckets: 2, version: 2 } as const;
    const table = new AcidTable(memoryFileSystem(), '/wh/t', AB, { bucketing });
    await table.insert(
      1n,
      0,
      ['one', 'two', 'three', 'four', 'five'].map((b, i) => ({ a: i + 1, b })),
    );
    await table.insert(2n, 0, [{ a: 6, b: 'six' }]);
    await table.delete(3n, 0, [[1n, b0, 0n]]);
    await table.insert(3n, 1, [{ a: 2, b: 'TWO' }]);
    await table.delete(4n, 0, [
      [1n, b1, 2n],
      [1n, b1, 1n],
    ]);
    const hives = join(String(goldenRoot), 'hive-4.0.1/cases/seed_wiki_t/deltas/t');
    expect(await dumpFolder(table.fs, '/wh/t')).toEqual(await dumpFolder(localFileSystem(), hives));
  });

  it('number rows through all batches of a statement (B04)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    const { fs, location, schema } = table;
    const writer = new InsertWriter({ fs, location, schema, writeId: 1n, statementId: 0 });
    for (let batch = 0; batch < 5; batch++) {
      await writer.write(table.batch(Array.from({ length: 1000 }, (_, i) => ({ a: batch * 1000 + i }))));
    }
    expect(await writer.close()).toMatchObject({
      insertedRows: 5000,
      files: ['/t/delta_0000001_0000001_0000/bucket_00000_0'],
    });
    await table.delete(2n, 0, [[1n, b0, 1234n]]);
    const rows = await table.rows();
    expect(rows.length).toBe(4999);
    expect(new Set(rows.map((row) => row.split('|')[0])).size).toBe(4999);
    expect(rows).not.toContain(`1,${b0},1234|1234`);
  });

  it('put deletes of several statements of one bucket in one sorted file (B25)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB);
    const result = await table.delete(5n, 0, [
      [3n, b0, 7n],
      [3n, b0, 2n],
      [1n, encodeBucketProperty(0, 1), 0n],
      [1n, b1, 0n],
    ]);
    expect(result.deletedRows).toBe(4);
    const dump = await dumpFolder(table.fs, '/t/delete_delta_0000005_0000005_0000');
    expect(Object.keys(dump)).toEqual(['_orc_acid_version', 'bucket_00000_0', 'bucket_00001_0']);
    expect(dump.bucket_00000_0).toMatchObject({
      metadata: { 'hive.acid.key.index': `3,${b0},7;`, 'hive.acid.stats': '0,0,3', 'hive.acid.version': '2' },
      rows: [
        expect.stringContaining(
          `"originalTransaction": 1, "bucket": ${b0 + 1}, "rowId": 0, "currentTransaction": 5, "row": null`,
        ),
        expect.stringContaining(`"originalTransaction": 3, "bucket": ${b0}, "rowId": 2`),
        expect.stringContaining(`"originalTransaction": 3, "bucket": ${b0}, "rowId": 7`),
      ],
    });
  });

  it('write a key of every stripe', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int,s:string>', {
      orc: { stripeSizeBytes: 800_000 },
    });
    const words = Array.from({ length: 30_000 }, (_, i) => ({ a: i, s: `${(i * 7919) % 30011}-${i * i}` }));
    await table.insert(1n, 0, words);
    const dump = await dumpFolder(table.fs, '/t');
    const file = dump['delta_0000001_0000001_0000/bucket_00000_0'];
    const keys = typeof file === 'object' ? file.metadata['hive.acid.key.index'].split(';') : [];
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.at(-2)).toBe(`1,${b0},29999`);
    // B22: the last row of a late stripe
    await table.delete(2n, 0, [[1n, b0, 29_999n]]);
    expect((await table.rows({ columns: [0] })).at(-1)).toBe(`1,${b0},29998|29998`);
  });

  it('leave nothing for no rows, but a base for an overwrite', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB);
    expect(await table.insert(1n, 0, [])).toMatchObject({ files: [], bytes: 0 });
    expect(await table.delete(1n, 1, [])).toMatchObject({ files: [], deletedRows: 0 });
    expect(await table.fs.stat('/t')).toBeUndefined();
    await table.insert(2n, 0, [{ a: 1, b: 'x' }]);
    await table.insert(3n, 0, [], { overwrite: true });
    expect(await pathsOf(table)).toEqual([
      'base_0000003/bucket_00000_0',
      'delta_0000002_0000002_0000/_orc_acid_version',
      'delta_0000002_0000002_0000/bucket_00000_0',
    ]);
    expect(await table.rows()).toEqual([]);
  });

  it('write insert-only tables as plain files (B16)', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB, { insertOnly: true });
    await table.insert(1n, 0, [
      { a: 1, b: 'x' },
      { a: 2, b: null },
    ]);
    expect(await table.rows()).toEqual(['1|x', '2|NULL']);
    await table.insert(2n, 0, [{ a: 3, b: 'z' }], { overwrite: true });
    expect(await pathsOf(table)).toEqual(['base_0000002/000000_0', 'delta_0000001_0000001_0000/000000_0']);
    expect(await table.rows()).toEqual(['3|z']);
  });

  it('give every bucket of an overwrite a file', async () => {
    const bucketing = { columns: [0], buckets: 3, version: 1 } as const;
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', { bucketing });
    await table.insert(1n, 0, [{ a: 1 }], { overwrite: true });
    expect(await pathsOf(table)).toEqual([
      'base_0000001/_orc_acid_version',
      'base_0000001/bucket_00000_0',
      'base_0000001/bucket_00001_0',
      'base_0000001/bucket_00002_0',
    ]);
    expect(await table.rows({ rowIds: false })).toEqual(['1']);
    const plain = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>', { bucketing, insertOnly: true });
    await plain.insert(1n, 0, [{ a: 1 }]);
    const files = await plain.fs.list('/t/delta_0000001_0000001_0000');
    expect(files.map((file) => [file.name, file.sizeBytes > 0])).toEqual([
      ['000000_0', false],
      ['000001_0', true],
      ['000002_0', false],
    ]);
    expect(await plain.rows()).toEqual(['1']);
    await plain.insert(2n, 0, [], { overwrite: true });
    expect(await plain.rows()).toEqual([]);
  });

  it('truncate with an empty base', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB);
    await table.insert(1n, 0, [{ a: 1, b: 'x' }]);
    await writeEmptyBase(table.fs, '/t', 2n);
    expect(await table.rows()).toEqual([]);
    await table.insert(3n, 0, [{ a: 2, b: 'y' }]);
    expect(await table.rows()).toEqual([`3,${b0},0|2|y`]);
  });

  it('take an aborted write back', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB);
    const { fs, location, schema } = table;
    const writer = new InsertWriter({ fs, location, schema, writeId: 1n, statementId: 0 });
    await writer.write(table.batch([{ a: 1, b: 'x' }]));
    await writer.abort();
    expect(await pathsOf(table)).toEqual([]);
    await expect(writer.write(table.batch([{ a: 1, b: 'x' }]))).rejects.toThrow();
  });

  it('never write over a statement that is there', async () => {
    const table = new AcidTable(memoryFileSystem(), '/t', AB);
    await table.insert(1n, 0, [{ a: 1, b: 'x' }]);
    await expect(table.insert(1n, 0, [{ a: 2, b: 'y' }])).rejects.toMatchObject({ code: 'PATH_EXISTS' });
    expect(await table.rows()).toEqual([`1,${b0},0|1|x`]);
  });
});
