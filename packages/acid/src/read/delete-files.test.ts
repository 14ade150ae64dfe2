import type { ByteSource } from '@skep/core';
import { ValidWriteIdList } from '@skep/core';
import { type FileSystem, memoryFileSystem } from '@skep/storage';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable, type RowId } from '../testing/acid-table.js';
import { DeleteCache } from './delete-cache.js';
import { planSplits } from './plan-splits.js';
import { ScanCounts } from './scan-counts.js';
import { scanSplit } from './scan-split.js';

const b0 = encodeBucketProperty(0, 0);
const b1 = encodeBucketProperty(1, 0);
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);
/** Bits of i mixed up. */
function scattered(i: number): number {
  const mixed = Math.imul(i ^ (i >>> 7), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
const isDelete = (path: string) => path.includes('delete_delta');

/** Counts opens and bytes by path. */
class CountingFileSystem {
  readonly opened: string[] = [];
  readonly bytes = new Map<string, number>();
  readonly fs: FileSystem;

  constructor(inner: FileSystem) {
    this.fs = { ...inner, open: (path) => this.open(path, inner.open(path) as ByteSource) };
  }

  private open(path: string, source: ByteSource): ByteSource {
    this.opened.push(path);
    return {
      path: source.path,
      size: source.size,
      slice: (start, end) => {
        this.bytes.set(path, (this.bytes.get(path) ?? 0) + end - start);
        return source.slice(start, end);
      },
    };
  }

  reset(): void {
    this.opened.length = 0;
    this.bytes.clear();
  }

  get deleteOpens(): string[] {
    return this.opened.filter(isDelete);
  }

  get deleteBytes(): number {
    return [...this.bytes].filter(([path]) => isDelete(path)).reduce((sum, [, bytes]) => sum + bytes, 0);
  }
}

describe('delete files are opened', () => {
  let counting: CountingFileSystem;
  let table: AcidTable;
  beforeEach(() => {
    counting = new CountingFileSystem(memoryFileSystem());
    table = new AcidTable(counting.fs, '/t', 'struct<a:int>', { orc: { rowIndexStride: 1000 } });
  });

  it('of the split’s own bucket only', async () => {
    const bucketing = { columns: [0], buckets: 2, version: 2 } as const;
    table = new AcidTable(counting.fs, '/t', 'struct<a:int>', { bucketing });
    await table.insert(
      1n,
      0,
      upTo(20).map((a) => ({ a })),
    );
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    await table.delete(3n, 0, [[1n, b1, 0n]]);
    const state = await table.state();
    for (const split of await planSplits(counting.fs, state)) {
      counting.reset();
      for await (const _ of scanSplit(counting.fs, split, {
        schema: table.schema,
        writeIds: ValidWriteIdList.allValid(),
      }));
      expect(counting.deleteOpens.map((path) => path.slice(-'bucket_00000_0'.length))).toEqual([
        `bucket_0000${split.bucket}_0`,
      ]);
    }
    expect((await table.rows()).length).toBe(18);
  });

  it('once a scan, and not again for splits whose keys are elsewhere', async () => {
    for (let writeId = 1n; writeId <= 20n; writeId++) {
      await table.insert(
        writeId,
        0,
        upTo(10).map((a) => ({ a })),
      );
    }
    // Each statement deletes rows of one write only.
    for (let n = 1n; n <= 20n; n++) await table.delete(20n + n, 0, [[n, b0, 3n]]);
    counting.reset();
    expect((await table.rows({ deleteCache: new DeleteCache() })).length).toBe(180);
    expect(counting.deleteOpens.length).toBe(20);
    expect(new Set(counting.deleteOpens).size).toBe(20);
  });

  it('never for a split none of whose rows is left by the search argument', async () => {
    await table.insert(
      1n,
      0,
      upTo(5000).map((a) => ({ a })),
    );
    await table.delete(
      2n,
      0,
      upTo(50).map((i) => [1n, b0, BigInt(100 * i)] as const),
    );
    counting.reset();
    const sarg = { op: 'equals', column: 'a', literal: 99_999n } as const;
    expect(await table.rows({ sarg })).toEqual([]);
    expect(counting.deleteOpens).toEqual([]);
    expect((await table.rows({ sarg: { ...sarg, literal: 4100n } })).length).toBe(990);
    expect(counting.deleteOpens.length).toBe(1);
  });

  it('never of a write that is not in the snapshot', async () => {
    await table.insert(1n, 0, [{ a: 1 }]);
    await table.insert(3n, 0, [{ a: 3 }]);
    await table.delete(2n, 0, [[1n, b0, 0n]]);
    counting.reset();
    // Write 2 is open in this snapshot: its folder is not in the state.
    expect(await table.rows({ writeIds: ValidWriteIdList.parse('t:3:2:2:') })).toEqual([`1,${b0},0|1`, `3,${b0},0|3`]);
    expect(counting.deleteOpens).toEqual([]);
  });

  it('in part where few rows are asked for', async () => {
    // Large enough that the file's tail is not most of it.
    const rows = 300_000;
    table = new AcidTable(counting.fs, '/t', 'struct<a:int>', { orc: { rowIndexStride: 1000, compress: 'NONE' } });
    await table.insert(
      1n,
      0,
      upTo(rows).map((a) => ({ a })),
    );
    // Without a pattern that compresses.
    const ids = upTo(rows).filter((i) => scattered(i) % 10 < 4);
    await table.delete(
      2n,
      0,
      ids.map((i): RowId => [1n, b0, BigInt(i)]),
    );
    const deleted = new Set(ids);
    counting.reset();
    const deleteCache = new DeleteCache();
    const sarg = { op: 'equals', column: 'a', literal: 50_000n } as const;
    const found = await table.rows({ sarg, deleteCache });
    expect(found.length).toBe(upTo(1000, 50_000).filter((i) => !deleted.has(i)).length);
    const part = counting.deleteBytes;
    counting.reset();
    expect((await table.rows({ deleteCache })).length).toBe(rows - ids.length);
    expect(part).toBeLessThan(0.6 * counting.deleteBytes);
    // What was read in part is not taken for the whole.
    counting.reset();
    expect((await table.rows({ deleteCache })).length).toBe(rows - ids.length);
    expect(counting.deleteOpens).toEqual([]);
  });

  it('is told in the counts of a scan', async () => {
    await table.insert(
      1n,
      0,
      upTo(5000).map((a) => ({ a })),
    );
    await table.delete(2n, 0, [[1n, b0, 10n]]);
    const counts = new ScanCounts();
    await table.rows({ sarg: { op: 'lessThan', column: 'a', literal: 100n }, counts });
    expect(counts).toMatchObject({
      files: 1,
      rows: 1000,
      skippedRows: 4000,
      hiddenRows: 1,
      deleteFiles: 1,
      deleteEvents: 1,
    });
    expect(counts.bytes).toBeGreaterThan(0);
  });
});

describe('delete events that do not fit in memory', () => {
  it.each([0, 10, 3000, 1_000_000])('are walked in step with the rows: at most %i in memory', async (most) => {
    const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
    const deleted = new Set<string>();
    for (let writeId = 1n; writeId <= 3n; writeId++) {
      await table.insert(
        writeId,
        0,
        upTo(4000).map((a) => ({ a })),
      );
    }
    for (let n = 0; n < 4; n++) {
      const ids = upTo(12_000)
        .filter((i) => (i * 7919) % 23 === n || (n === 3 && i > 9000))
        .map((i): RowId => [BigInt(1 + Math.floor(i / 4000)), b0, BigInt(i % 4000)]);
      for (const [writeId, , rowId] of ids) deleted.add(`${writeId}:${rowId}`);
      await table.delete(BigInt(4 + n), 0, ids);
    }
    const scan = { deleteEventsInMemory: most, deleteCache: new DeleteCache(most), batchSize: 500 };
    const rows = await table.rows(scan);
    expect(rows.length).toBe(12_000 - deleted.size);
    expect(rows).toEqual(await table.rows());
    const counts = new ScanCounts();
    await table.rows({ ...scan, counts });
    // Beyond the bound each of the three splits walks the four files itself.
    expect(counts.deleteFiles).toBe(most >= 1_000_000 ? 0 : 12);
  });
});
