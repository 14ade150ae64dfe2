import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeleteSet } from './delete-set.js';
import { keyRuns } from './key-runs.js';
import type { RowKeys } from './row-keys.js';

type Key = [writeId: bigint, bucket: number, rowId: bigint];
const keysOf = (keys: readonly Key[]): RowKeys => ({
  length: keys.length,
  writeIds: BigInt64Array.from(keys, (key) => key[0]),
  buckets: Int32Array.from(keys, (key) => key[1]),
  rowIds: BigInt64Array.from(keys, (key) => key[2]),
});
const near = (middle: bigint) => fc.bigInt(middle - 20n, middle + 20n);
// RowIds around the places where the halves of an int64 carry, and beyond 2^53.
const rowId = fc.oneof(...[20n, 1n << 31n, 1n << 32n, 1n << 53n, (1n << 63n) - 21n].map(near));
const key = fc.tuple(fc.bigInt(1n, 3n), fc.integer({ min: 0, max: 2 }), rowId);
const dense = fc.tuple(fc.bigInt(1n, 2n), fc.constant(0), near(1n << 32n));

const compare = (a: Key, b: Key) =>
  a[0] !== b[0] ? Number(a[0] - b[0]) : a[1] !== b[1] ? a[1] - b[1] : a[2] < b[2] ? -1 : Number(a[2] > b[2]);

describe('DeleteSet', () => {
  it('marks exactly the rows that are in it, whatever the order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.oneof(key, dense))),
        fc.array(fc.oneof(key, dense)),
        fc.boolean(),
        (deleted, unsorted, isSorted) => {
          const rows = isSorted ? [...unsorted].sort(compare) : unsorted;
          const set = new DeleteSet();
          for (const batch of deleted) set.add(keysOf(batch));
          const names = new Set(deleted.flat().map((parts) => parts.join(':')));
          const marks = new Uint8Array(rows.length);
          const count = set.mark(keyRuns(keysOf(rows)), marks);
          const expected = rows.map((parts) => (names.has(parts.join(':')) ? 1 : 0));
          expect([...marks]).toEqual(expected);
          expect(count).toBe(expected.filter((mark) => mark === 1).length);
        },
      ),
    );
  });

  it('leaves out events that are not valid', () => {
    const set = new DeleteSet();
    set.add(
      keysOf([
        [1n, 0, 0n],
        [1n, 0, 1n],
        [1n, 0, 2n],
      ]),
      Uint8Array.of(1, 0, 1),
    );
    const marks = new Uint8Array(3);
    const rows = keysOf([
      [1n, 0, 0n],
      [1n, 0, 1n],
      [1n, 0, 2n],
    ]);
    set.mark(keyRuns(rows), marks);
    expect([...marks]).toEqual([1, 0, 1]);
    expect(set.size).toBe(2);
  });
});
