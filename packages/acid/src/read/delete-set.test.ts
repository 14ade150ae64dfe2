import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeleteSet } from './delete-set.js';
import type { RowKeys } from './row-keys.js';

type Key = [writeId: bigint, bucket: number, rowId: bigint];
const keysOf = (keys: readonly Key[]): RowKeys => ({
  length: keys.length,
  writeIds: BigInt64Array.from(keys, (key) => key[0]),
  buckets: Int32Array.from(keys, (key) => key[1]),
  rowIds: BigInt64Array.from(keys, (key) => key[2]),
});
const key = fc.tuple(fc.bigInt(1n, 3n), fc.integer({ min: 0, max: 2 }), fc.bigInt(0n, 40n));

describe('DeleteSet', () => {
  it('marks exactly the rows that are in it, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.array(key)), fc.array(key), (deleted, rows) => {
        const set = new DeleteSet();
        for (const batch of deleted) set.add(keysOf(batch));
        const names = new Set(deleted.flat().map((parts) => parts.join(':')));
        const marks = new Uint8Array(rows.length);
        const count = set.mark(keysOf(rows), marks);
        const expected = rows.map((parts) => (names.has(parts.join(':')) ? 1 : 0));
        expect([...marks]).toEqual(expected);
        expect(count).toBe(expected.filter((mark) => mark === 1).length);
      }),
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
    set.mark(
      keysOf([
        [1n, 0, 0n],
        [1n, 0, 1n],
        [1n, 0, 2n],
      ]),
      marks,
    );
    expect([...marks]).toEqual([1, 0, 1]);
    expect(set.size).toBe(2);
  });
});
