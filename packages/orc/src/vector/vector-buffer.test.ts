import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryTable } from '../testing/arbitrary.js';
import { parseType } from '../type-text.js';
import type { ColumnVector } from '../vector.js';
import { vectorOf } from './builder.js';
import { sliceVector } from './rearrange.js';
import { vectorValue } from './value.js';
import { vectorBuffer } from './vector-buffer.js';

const valuesOf = (vector: ColumnVector) => Array.from({ length: vector.length }, (_, row) => vectorValue(vector, row));

test('runs of vectors and of their slices come out as they went in, again and again', () => {
  fc.assert(
    fc.property(arbitraryTable(), fc.infiniteStream(fc.nat()), ({ schema, rows }, numbers) => {
      const next = (below: number) => Number(numbers.next().value) % below;
      const whole = vectorOf(schema, rows);
      const from = next(rows.length + 1);
      const slice = sliceVector(whole, from, rows.length);
      const buffer = vectorBuffer(whole);
      for (let round = 0; round < 3; round++) {
        const expected: unknown[] = [];
        for (let run = next(6); run > 0; run--) {
          const [vector, values] = next(2) === 0 ? [whole, rows] : [slice, rows.slice(from)];
          const start = next(vector.length + 1);
          const end = start + next(vector.length - start + 1);
          buffer.add(vector, start, end);
          expected.push(...values.slice(start, end));
        }
        expect(buffer.length).toBe(expected.length);
        expect(valuesOf(buffer.vector())).toEqual(expected);
        buffer.clear();
      }
    }),
    { numRuns: 400 },
  );
});

test('long runs grow it', () => {
  const values = Array.from({ length: 5000 }, (_, i) => ({ a: i % 7 === 0 ? null : i, b: `text ${i}` }));
  const vector = vectorOf(parseType('struct<a:int,b:string>'), values);
  const buffer = vectorBuffer(vector);
  for (let i = 0; i < 3; i++) buffer.add(vector, 10 * i, 5000 - i);
  expect(valuesOf(buffer.vector())).toEqual([0, 1, 2].flatMap((i) => values.slice(10 * i, 5000 - i)));
});
