import { join } from 'node:path';
import { typeToString } from '@skep/orc';
import { localFileSystem, memoryFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { AcidTable } from '../testing/acid-table.js';
import { goldenRoot } from '../testing/golden.js';
import { hiveText } from '../testing/hive-text.js';
import { readTableDir, type TableDirReading } from './read-table-dir.js';

async function rowsOf(reading: TableDirReading): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of reading.batches()) {
    for (let row = 0; row < batch.length; row++) {
      const values = batch.root.children.map((column) => hiveText(column, row));
      rows.push([...values, ...batch.partition.map(({ value }) => value)].join('|'));
    }
  }
  return rows.sort();
}

describe('reading a folder without a metastore', () => {
  it.skipIf(goldenRoot === undefined)('finds partitions of a recorded table', async () => {
    const dir = join(String(goldenRoot), 'hive-4.0.1/cases/partitions/inserted/p');
    const reading = await readTableDir(localFileSystem(), dir, { rowIds: true });
    expect(typeToString(reading.schema)).toBe('struct<a:int,b:string>');
    expect(reading.partitionColumns).toEqual(['ds', 'hr']);
    expect(await rowsOf(reading)).toContain('7|u|a/b:c=d e%f|4');
  });

  it('takes the newest schema', async () => {
    const fs = memoryFileSystem();
    await new AcidTable(fs, '/t', 'struct<a:int>').insert(1n, 0, [{ a: 1 }]);
    await new AcidTable(fs, '/t', 'struct<a:int,b:string>').insert(2n, 0, [{ a: 2, b: 'x' }]);
    const reading = await readTableDir(fs, '/t');
    expect(reading.insertOnly).toBe(false);
    expect(await rowsOf(reading)).toEqual(['1|NULL', '2|x']);
  });

  it('knows insert-only tables', async () => {
    const fs = memoryFileSystem();
    await new AcidTable(fs, '/t', 'struct<a:int>', { insertOnly: true }).insert(1n, 0, [{ a: 1 }]);
    const reading = await readTableDir(fs, '/t');
    expect(reading.insertOnly).toBe(true);
    expect(await rowsOf(reading)).toEqual(['1']);
  });

  it('says when there is nothing', async () => {
    const fs = memoryFileSystem();
    await fs.mkdirs('/t');
    await expect(readTableDir(fs, '/t')).rejects.toMatchObject({ code: 'NO_DATA' });
  });
});
