import { ValidWriteIdList } from '@skep/core';
import type { AppendableValue } from '@skep/orc';
import { memoryFileSystem } from '@skep/storage';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AcidTable, type RowId } from '../testing/acid-table.js';
import { compactMajor, compactMinor } from './compaction.js';

const TYPE =
  'struct<id:int,few:string,many:string,c:char(5),v:varchar(9),bin:binary,t:timestamp,d:date,dec:decimal(20,3),' +
  'small:decimal(9,2),b:boolean,ti:tinyint,si:smallint,bi:bigint,f:float,do:double,' +
  'list:array<string>,m:map<string,bigint>,s:struct<x:int,y:array<struct<z:string>>>,u:uniontype<int,string>>';

/** Every type; of every third row all but the id is NULL, elements are NULL now and then. */
function row(id: number): AppendableValue {
  if (id % 3 === 2) return { id };
  const text = `text ${(id * 7919) % 1009}`;
  return {
    id,
    few: `few ${id % 5}`,
    many: text,
    c: `c${id % 100}`,
    v: `v${id % 1000}`,
    bin: new TextEncoder().encode(text.repeat(id % 4)),
    t: { seconds: BigInt(id * 86_399 - 1_000_000), nanos: (id % 900) * 1000 },
    d: 18_000 + id,
    dec: { unscaled: BigInt(id) * 10n ** 15n + 125n, scale: 3 },
    small: { unscaled: BigInt(id % 9000) * 100n + 25n, scale: 2 },
    b: id % 2 === 0,
    ti: id % 100,
    si: id % 30_000,
    bi: BigInt(id) ** 4n,
    f: id / 4,
    do: id / 3,
    list: id % 5 === 0 ? [] : [text, null, `${id}`],
    m: new Map([[`k${id % 7}`, id % 4 === 0 ? null : BigInt(id)]]),
    s: { x: id % 4 === 0 ? null : id, y: [{ z: text }, null] },
    u: id % 2 === 0 ? { tag: 0, value: id } : { tag: 1, value: text },
  };
}

const history = fc.record({
  inserts: fc.array(fc.nat(700), { minLength: 1, maxLength: 5 }),
  /** Where a run of deletes begins and how long it is, by statement; each is cut at the end of the rows. */
  deletes: fc.array(fc.array(fc.tuple(fc.nat(3000), fc.nat(300)), { minLength: 1, maxLength: 6 }), { maxLength: 4 }),
  buckets: fc.constantFrom(1, 3),
  minorFirst: fc.boolean(),
  aborted: fc.constantFrom(false, false, true),
});

test('rows of every type stay what they are, wherever deletes cut them', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ inserts, deletes, buckets, minorFirst, aborted }) => {
      const orc = {
        rowIndexStride: 100,
        bloomFilterColumns: ['few', 'id'],
        baseDeltaRatio: 1,
        stripeSizeBytes: 60_000,
      };
      const bucketing = { columns: [0], buckets, version: 2 } as const;
      const table = new AcidTable(memoryFileSystem(), '/t', TYPE, { orc, bucketing });
      let [writeId, next] = [0n, 0];
      for (const count of inserts) {
        const rows = Array.from({ length: count }, () => row(next++));
        await table.insert(++writeId, 0, rows);
      }
      const ids = (await table.rows()).map((text): RowId => {
        const [write, bucket, rowId] = text.split('|')[0].split(',');
        return [BigInt(write), Number(bucket), BigInt(rowId)];
      });
      for (const runs of deletes) {
        const chosen = new Set(runs.flatMap(([from, count]) => ids.slice(from % (ids.length + 1)).slice(0, count)));
        if (chosen.size > 0) await table.delete(++writeId, 0, [...chosen]);
      }
      const exceptions = aborted ? `${writeId}` : '';
      const writeIds = ValidWriteIdList.parse(`t:${writeId}:9223372036854775807::${exceptions}`);
      const before = (await table.rows({ writeIds })).sort();
      const compactor = ValidWriteIdList.forCompactor(writeIds);
      for (const [i, compact] of (minorFirst ? [compactMinor, compactMajor] : [compactMajor]).entries()) {
        const { fs, schema } = table;
        const state = await table.state(compactor);
        if (state.deltas.length < 2) continue;
        const input = { fs, state, writeIds: compactor, schema, visibilityTxnId: BigInt(100 + i), orc };
        const { rows } = await compact(input);
        expect((await table.rows({ writeIds })).sort()).toEqual(before);
        if (compact === compactMajor) expect(rows).toBe(before.length);
      }
    }),
    { numRuns: 12 },
  );
});
