import { ValidWriteIdList } from '@skep/core';
import { memoryFileSystem } from '@skep/storage';
import { describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable } from '../testing/acid-table.js';
import { DeleteCache } from './delete-cache.js';
import { ScanCounts } from './scan-counts.js';
import { keepSmallFiles } from './small-file-cache.js';

const b0 = encodeBucketProperty(0, 0);

describe('delete events kept from one statement to the next', () => {
  it('are read once, and only count in snapshots that see all of their writes', async () => {
    const fs = memoryFileSystem();
    keepSmallFiles(fs);
    const table = new AcidTable(fs, '/t', 'struct<a:int>');
    await table.insert(
      1n,
      0,
      [1, 2, 3, 4].map((a) => ({ a })),
    );
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    await table.delete(3n, 0, [[1n, b0, 1n]]);
    const scan = async (writeIds: ValidWriteIdList) => {
      const counts = new ScanCounts();
      const rows = await table.rows({ writeIds, counts, deleteCache: new DeleteCache(), rowIds: false });
      return { rows, opened: counts.deleteFiles };
    };
    const all = ValidWriteIdList.parse('t:3:9223372036854775807::');
    expect(await scan(all)).toEqual({ rows: ['3', '4'], opened: 2 });
    expect(await scan(all)).toEqual({ rows: ['3', '4'], opened: 0 });
    // Write 3 was aborted, or is open, in another snapshot.
    expect((await scan(ValidWriteIdList.parse('t:3:9223372036854775807::3'))).rows).toEqual(['2', '3', '4']);
    expect((await scan(ValidWriteIdList.parse('t:3:2:2,3:'))).rows).toEqual(['1', '2', '3', '4']);
    expect(await scan(all)).toEqual({ rows: ['3', '4'], opened: 0 });
  });
});
