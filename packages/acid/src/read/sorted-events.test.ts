import { ValidWriteIdList } from '@skep/core';
import { memoryFileSystem } from '@skep/storage';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { AcidTable, type RowId } from '../testing/acid-table.js';
import { mergeEvents } from './merge-events.js';
import { eventFiles } from './plan-splits.js';
import { runAsync } from './steps.js';

const ROWS = 40;
const bucket = encodeBucketProperty(0, 0);

/** Of each delete statement which rows of which write, and whether its write was aborted. Rows may be deleted again and again. */
const statements = fc.array(
  fc.record({
    rows: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(ROWS - 1)), {
      minLength: 1,
      maxLength: 25,
      selector: ([write, row]) => write * ROWS + row,
    }),
    sameWrite: fc.boolean(),
    aborted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 7 },
);

test('a merge hands out the same events whether deletes were put in order before or not', async () => {
  await fc.assert(
    fc.asyncProperty(statements, fc.constantFrom('newest' as const, 'all' as const), async (deletes, keep) => {
      const table = new AcidTable(memoryFileSystem(), '/t', 'struct<a:int>');
      for (const writeId of [1n, 2n, 3n]) {
        await table.insert(
          writeId,
          0,
          Array.from({ length: ROWS }, (_, a) => ({ a })),
        );
      }
      let writeId = 3n;
      const aborted: bigint[] = [];
      for (const [statement, { rows, sameWrite, aborted: isAborted }] of deletes.entries()) {
        if (!sameWrite || writeId === 3n) writeId++;
        if (isAborted && !aborted.includes(writeId)) aborted.push(writeId);
        const ids = rows.map(([write, row]): RowId => [BigInt(write), bucket, BigInt(row)]);
        const sorted = ids.sort((x, y) => Number(x[0] - y[0]) || Number(x[2] - y[2]));
        await table.delete(writeId, statement, sorted);
      }
      const writeIds = ValidWriteIdList.parse(`t:${writeId}:9223372036854775807::${aborted.join(',')}`);
      const files = eventFiles(await table.state(writeIds));
      const events = async (more: { deletesAhead?: number; withoutDeletes?: boolean }) => {
        const { fs, schema } = table;
        const out: string[] = [];
        const options = { schema, writeIds, projection: {}, keep, ...more };
        for await (const { batch, start, end } of runAsync(mergeEvents(fs, files, options))) {
          for (let i = start; i < end; i++) {
            const { keys, operations, currentWriteIds } = batch;
            out.push(`${keys.writeIds[i]},${keys.rowIds[i]} ${operations[i]} ${currentWriteIds[i]}`);
          }
        }
        return out;
      };
      const expected = await events({ deletesAhead: 0 });
      expect(await events({ deletesAhead: 1000 })).toEqual(expected);
      const inserts = expected.filter((event) => event.split(' ')[1] === '0');
      expect(await events({ deletesAhead: 1000, withoutDeletes: true })).toEqual(inserts);
      expect(await events({ deletesAhead: 1, withoutDeletes: true })).toEqual(inserts);
    }),
    { numRuns: 120 },
  );
});
