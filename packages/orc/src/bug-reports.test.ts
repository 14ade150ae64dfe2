import { memorySink, memorySource } from '@skep/core';
import { describe, expect, it } from 'vitest';
import { openOrcSync } from './reader/orc-reader.js';
import { parseType } from './type-text.js';
import { type AppendableValue, vectorOf } from './vector/builder.js';
import { type VectorValue, vectorValue } from './vector/value.js';
import type { OrcWriterOptions } from './write/options.js';
import { OrcWriter } from './write/orc-writer.js';

/** A file with one batch of each array. */
async function fileOf(type: string, batches: readonly (readonly AppendableValue[])[], options: OrcWriterOptions = {}) {
  const schema = parseType(type);
  const sink = memorySink();
  const writer = new OrcWriter(sink, schema, options);
  for (const rows of batches) await writer.write(vectorOf(schema, rows));
  await writer.close();
  return openOrcSync(memorySource(sink.bytes()));
}

/** Row number → value of the only column. */
function columnOf(
  reader: ReturnType<typeof openOrcSync>,
  options: Parameters<typeof reader.batchesSync>[0] = {},
): Map<number, VectorValue> {
  const values = new Map<number, VectorValue>();
  for (const { rowNumber, length, root } of reader.batchesSync(options)) {
    for (let row = 0; row < length; row++) {
      const value = vectorValue(root, row) as Record<string, VectorValue>;
      values.set(rowNumber + row, value.a);
    }
  }
  return values;
}

/** Situations that broke other ORC libraries (shared/reference/bug-reports.md). */
describe('bug reports', () => {
  it('B130 a stripe without NULLs leaves nothing in the next one’s PRESENT stream', async () => {
    const full = Array.from({ length: 3000 }, (_, i) => ({ a: i }));
    const gaps = Array.from({ length: 3000 }, (_, i) => ({ a: i % 7 === 3 ? null : -1 - i }));
    const reader = await fileOf('struct<a:int>', [full, gaps, full, gaps], {
      stripeSizeBytes: 1000,
      rowIndexStride: 1000,
      compression: 'none',
    });
    expect(reader.stripes.length).toBeGreaterThan(2);
    const expected = [...full, ...gaps, ...full, ...gaps].map(({ a }) => a);
    expect([...columnOf(reader).values()]).toEqual(expected);
  });

  it.each([
    ['without NULLs', (i: number) => i % 3 === 0],
    ['with NULLs', (i: number) => (i % 5 === 2 ? null : i % 3 === 0)],
    ['with NULLs in the first group only', (i: number) => (i < 500 ? null : i % 3 === 0)],
  ])('B131 booleans %s are the same from a later row group on as in a full scan', async (_, at) => {
    // The column that the search argument names tells the groups apart; strides that are no multiple of 8 leave bit offsets.
    const rows = Array.from({ length: 25_000 }, (_, i) => ({ a: at(i), n: i }));
    for (const rowIndexStride of [1001, 10_000]) {
      for (const compression of ['none', 'zlib'] as const) {
        const reader = await fileOf('struct<a:boolean,n:int>', [rows], { rowIndexStride, compression });
        const all = columnOf(reader);
        const some = columnOf(reader, { sarg: { op: 'between', column: 'n', low: 20_000, high: 24_999 } });
        expect(some.size).toBeGreaterThan(4000);
        expect(some.size).toBeLessThan(25_000);
        for (const [row, value] of some) expect(value).toBe(all.get(row));
        expect([...all.values()]).toEqual(rows.map(({ a }) => a));
      }
    }
  });

  it('B133 a sum that does not fit is left out; the other statistics are right', async () => {
    const most = (1n << 63n) - 1n;
    const reader = await fileOf('struct<a:bigint>', [[{ a: most }, { a: most }, { a: null }]]);
    const { numberOfValues, hasNull, intStatistics } = reader.statistics[1];
    expect({ numberOfValues, hasNull }).toEqual({ numberOfValues: 2n, hasNull: true });
    expect(intStatistics).toMatchObject({ minimum: most, maximum: most });
    expect(intStatistics?.sum).toBeUndefined();
    const small = await fileOf('struct<a:bigint>', [[{ a: most }, { a: -1n }]]);
    expect(small.statistics[1].intStatistics?.sum).toBe(most - 1n);
  });
});
