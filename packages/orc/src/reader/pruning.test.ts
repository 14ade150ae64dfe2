import { memorySink, memorySource } from '@skep/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidReadError } from '../errors.js';
import type { Sarg, SargLiteral } from '../sarg/sarg.js';
import { type Comparable, comparable } from '../sarg/value-range.js';
import { arbitrarySchema, arbitraryValue } from '../testing/arbitrary.js';
import { flattenColumns, type TypeDescription } from '../type-description.js';
import { parseType } from '../type-text.js';
import { type AppendableValue, vectorOf } from '../vector/builder.js';
import { type VectorValue, vectorValue } from '../vector/value.js';
import type { OrcWriterOptions } from '../write/options.js';
import { OrcWriter } from '../write/orc-writer.js';
import type { ReadOptions } from './options.js';
import { openOrcSync } from './orc-reader.js';

async function fileOf(schema: TypeDescription, rows: readonly AppendableValue[], options: OrcWriterOptions) {
  const sink = memorySink();
  const writer = new OrcWriter(sink, schema, options);
  await writer.write(vectorOf(schema, rows));
  await writer.close();
  return openOrcSync(memorySource(sink.bytes()));
}

function readAll(reader: ReturnType<typeof openOrcSync>, options: ReadOptions): Map<number, VectorValue> {
  const rows = new Map<number, VectorValue>();
  for (const { rowNumber, length, root } of reader.batchesSync(options)) {
    for (let row = 0; row < length; row++) rows.set(rowNumber + row, vectorValue(root, row));
  }
  return rows;
}

const options: fc.Arbitrary<OrcWriterOptions> = fc.record({
  compression: fc.constantFrom('none', 'zlib', 'snappy', 'lz4', 'zstd'),
  rowIndexStride: fc.constantFrom(0, 7, 16, 40),
  stripeSizeBytes: fc.constantFrom(200, 2000, 1 << 20),
  compressionBlockSizeBytes: fc.constantFrom(64, 1000, 1 << 18),
  enforceCompressionBlockSize: fc.constant(true),
  dictionaryKeySizeThreshold: fc.constantFrom(0, 0.8, 1),
  encodingStrategy: fc.constantFrom('speed', 'compression'),
  prolepticGregorian: fc.boolean(),
  writerTimezone: fc.constantFrom('UTC', 'America/Los_Angeles', 'Asia/Shanghai', 'Europe/Berlin'),
});

/** Labels between 1582-10-05 and 1582-10-14 are not in the hybrid calendar, wall times in a zone's gaps are in no zone. */
function isExact(type: TypeDescription): boolean {
  return !flattenColumns(type).some(
    ({ kind }) => kind === 'timestamp' || kind === 'timestamp_instant' || kind === 'date',
  );
}

const tables = arbitrarySchema(1).chain((schema) =>
  fc
    .array(arbitraryValue(schema, false), { minLength: 0, maxLength: 15 })
    .chain((few) =>
      fc.array(fc.constantFrom(...(few.length === 0 ? [null] : few)), { maxLength: few.length === 0 ? 0 : 150 }),
    )
    .map((rows) => ({ schema, rows })),
);

describe('reading by row groups', () => {
  test('in parts, projected and in any batch size gives the rows of the whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        tables.filter(({ schema }) => isExact(schema)),
        options,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 3 }),
        async ({ schema, rows }, writing, batchSize, field) => {
          const reader = await fileOf(schema, rows, writing);
          expect([...readAll(reader, { batchSize, segmentBytes: 1 }).values()]).toEqual(rows);
          const column = schema.children[field % schema.children.length];
          const name = schema.fieldNames[field % schema.children.length];
          const projected = readAll(reader, { include: new Set([column.id]), segmentBytes: 1, batchSize });
          expect([...projected.values()]).toEqual(
            rows.map((row) => ({ [name]: (row as Record<string, unknown>)[name] })),
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});

type Case = { sarg: Sarg; holds: (row: Record<string, VectorValue>) => boolean };

/** A comparison of a top-level column with a value that may be in it. */
function comparisons(schema: TypeDescription, rows: readonly AppendableValue[]): fc.Arbitrary<Case> {
  return fc
    .record({
      field: fc.nat({ max: schema.children.length - 1 }),
      row: fc.nat({ max: Math.max(0, rows.length - 1) }),
      op: fc.constantFrom('equals', 'nullSafeEquals', 'lessThan', 'lessThanEquals', 'in', 'isNull'),
      negated: fc.boolean(),
    })
    .map(({ field, row, op, negated }) => {
      const type = schema.children[field];
      const name = schema.fieldNames[field];
      const literal = ((rows[row] as Record<string, unknown> | undefined)?.[name] ?? null) as SargLiteral;
      const key = literal === null ? undefined : comparable(literal, type);
      const compare = (value: VectorValue, test: (a: Comparable, b: Comparable) => boolean): boolean | null => {
        const own = value === null ? undefined : comparable(value as SargLiteral, type);
        return own === undefined || key === undefined ? null : test(own, key);
      };
      const answer = (value: VectorValue): boolean | null => {
        switch (op) {
          case 'isNull':
            return value === null;
          case 'nullSafeEquals':
            return literal === null || value === null ? value === literal : compare(value, (a, b) => a === b);
          case 'lessThan':
            return compare(value, (a, b) => a < b);
          case 'lessThanEquals':
            return compare(value, (a, b) => a <= b);
          default:
            return compare(value, (a, b) => a === b);
        }
      };
      const leaf = (op === 'in' ? { op, column: name, literals: [literal] } : { op, column: type.id, literal }) as Sarg;
      return {
        sarg: negated ? ({ op: 'not', child: leaf } as const) : leaf,
        holds: (values: Record<string, VectorValue>) => answer(values[name]) === !negated,
      };
    });
}

describe('search arguments', () => {
  test('no row that satisfies one is left out, and those read have their numbers', async () => {
    await fc.assert(
      fc.asyncProperty(
        tables.chain((table) => comparisons(table.schema, table.rows).map((chosen) => ({ ...table, chosen }))),
        options,
        fc.boolean(),
        async ({ schema, rows, chosen }, writing, bloom) => {
          const reader = await fileOf(schema, rows, {
            ...writing,
            bloomFilterColumns: bloom ? schema.children.map(({ id }) => id) : [],
          });
          const all = readAll(reader, {});
          const found = readAll(reader, { sarg: chosen.sarg, batchSize: 10 });
          for (const [number, row] of found) expect(row).toEqual(all.get(number));
          for (const [number, row] of all) {
            if (chosen.holds(row as Record<string, VectorValue>)) expect(found.has(number)).toBe(true);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  const schema = parseType('struct<id:bigint,name:string,row:struct<flag:boolean,x:double>>');
  const rows = Array.from({ length: 50_000 }, (_, i) => ({
    id: BigInt(i),
    name: `name ${(i * 7919) % 50_000}`,
    row: i % 1000 === 999 ? null : { flag: i >= 25_000, x: i / 3 },
  }));

  test('read only the row groups that can match: fewer bytes', async () => {
    const reader = await fileOf(schema, rows, {
      rowIndexStride: 1000,
      compressionBlockSizeBytes: 1024,
      enforceCompressionBlockSize: true,
    });
    const bytesOf = (options: ReadOptions): [number[], number] => {
      const before = reader.bytesRead;
      const numbers = [...readAll(reader, options).keys()];
      return [numbers, reader.bytesRead - before];
    };
    const [everything, full] = bytesOf({});
    expect(everything.length).toBe(50_000);
    const [oneGroup, few] = bytesOf({ sarg: { op: 'equals', column: 'id', literal: 4321n } });
    expect([oneGroup[0], oneGroup.length]).toEqual([4000, 1000]);
    expect(few).toBeLessThan(full / 10);
    const [none, nothing] = bytesOf({ sarg: { op: 'lessThan', column: 'id', literal: 0 } });
    expect(none).toEqual([]);
    // The stripe statistics tell; a file's tail of 16 KiB is not read again.
    expect(nothing).toBeLessThan(1000);
    const [column, projected] = bytesOf({
      include: new Set([1]),
      sarg: { op: 'between', column: 1, low: 2500, high: 3500 },
    });
    expect([column[0], column.length]).toEqual([2000, 2000]);
    expect(projected).toBeLessThan(few);
    const [nested] = bytesOf({ sarg: { op: 'equals', column: 'row.flag', literal: true } });
    expect([nested[0], nested.length]).toEqual([25_000, 25_000]);
    // A NULL struct has NULL fields: every group has one.
    expect(bytesOf({ sarg: { op: 'isNull', column: 'row.x' } })[0].length).toBe(50_000);
  });

  test('in parts hardly more bytes are read than as a whole', async () => {
    const reader = await fileOf(schema, rows, { rowIndexStride: 1000, stripeSizeBytes: 100_000 });
    const bytesOf = (options: ReadOptions) => {
      const before = reader.bytesRead;
      expect(readAll(reader, options).size).toBe(rows.length);
      return reader.bytesRead - before;
    };
    const indexes = reader.stripes.reduce((sum, { indexLength }) => sum + indexLength, 0);
    expect(bytesOf({ segmentBytes: 1 })).toBeLessThan(bytesOf({}) * 1.1 + indexes);
  });

  test('bloom filters find the group of a value that ranges do not', async () => {
    const reader = await fileOf(schema, rows, {
      rowIndexStride: 1000,
      bloomFilterColumns: ['name'],
      bloomFilterFpp: 0.01,
    });
    const sarg: Sarg = { op: 'equals', column: 'name', literal: 'name 7919' };
    const numbers = [...readAll(reader, { sarg }).keys()];
    expect(numbers).toContain(1);
    expect(numbers.length).toBeLessThan(10_000);
  });

  test('an unknown column is refused', async () => {
    const reader = await fileOf(schema, rows.slice(0, 10), {});
    expect(() => reader.batchesSync({ sarg: { op: 'isNull', column: 'nobody' } })).toThrow(InvalidReadError);
    expect(() => reader.batchesSync({ include: new Set([99]) })).toThrow(InvalidReadError);
  });
});
