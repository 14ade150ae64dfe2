import { memorySink, memorySource } from '@skep/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openOrcSync } from '../reader/orc-reader.js';
import { parseType, typeToString } from '../type-text.js';
import { type AppendableValue, vectorOf } from '../vector/builder.js';
import { type VectorValue, vectorValue } from '../vector/value.js';
import type { ColumnVector } from '../vector.js';
import type { OrcWriterOptions } from './options.js';
import { OrcWriter } from './orc-writer.js';

async function write(type: string, batches: ColumnVector[], options: OrcWriterOptions = {}): Promise<Uint8Array> {
  const sink = memorySink();
  const writer = new OrcWriter(sink, parseType(type), options);
  for (const batch of batches) await writer.write(batch);
  await writer.close();
  return sink.bytes();
}

function read(bytes: Uint8Array): VectorValue[] {
  const rows: VectorValue[] = [];
  for (const batch of openOrcSync(memorySource(bytes)).batchesSync()) {
    for (let i = 0; i < batch.length; i++) rows.push(vectorValue(batch.root, i));
  }
  return rows;
}

/** A column of any type, and values for it as vectorValue gives them. */
interface Column {
  readonly type: string;
  readonly value: fc.Arbitrary<VectorValue>;
}

const TEXT = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('a', 'b', 'été', ''));
const PRIMITIVES: Column[] = [
  { type: 'boolean', value: fc.boolean() },
  { type: 'tinyint', value: fc.integer({ min: -128, max: 127 }) },
  { type: 'smallint', value: fc.integer({ min: -32768, max: 32767 }) },
  { type: 'int', value: fc.oneof(fc.integer(), fc.integer({ min: 0, max: 9 })) },
  { type: 'bigint', value: fc.oneof(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), fc.bigInt(0n, 99n)) },
  { type: 'float', value: fc.float() },
  { type: 'double', value: fc.double() },
  { type: 'string', value: TEXT },
  { type: 'varchar(12)', value: TEXT },
  { type: 'binary', value: fc.uint8Array({ maxLength: 20 }) },
  { type: 'date', value: fc.integer({ min: -719162, max: 2932896 }).filter((day) => day < -141437 || day >= -141427) },
  {
    type: 'timestamp',
    value: fc
      .record({
        seconds: fc.bigInt(-62135596800n, 253402300799n),
        nanos: fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 500_000_000)),
      })
      .filter(({ seconds }) => seconds !== -1n && (seconds < -141438n * 86400n || seconds >= -141427n * 86400n)),
  },
  {
    type: 'decimal(18,2)',
    value: fc.record({ unscaled: fc.bigInt(-(10n ** 18n) + 1n, 10n ** 18n - 1n), scale: fc.constant(2) }),
  },
  {
    type: 'decimal(38,10)',
    value: fc.record({ unscaled: fc.bigInt(-(10n ** 38n) + 1n, 10n ** 38n - 1n), scale: fc.constant(10) }),
  },
];

function columnOf(depth: number): fc.Arbitrary<Column> {
  const leaf = fc.constantFrom(...PRIMITIVES);
  if (depth === 0) return leaf;
  const inner = columnOf(depth - 1);
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: inner.map(listOf) },
    { weight: 1, arbitrary: fc.tuple(leaf, inner).map(([key, value]) => mapOf(key, value)) },
    { weight: 1, arbitrary: fc.array(inner, { minLength: 1, maxLength: 3 }).map(structOf) },
    { weight: 1, arbitrary: fc.array(inner, { minLength: 1, maxLength: 3 }).map(unionOf) },
  );
}

const nullable = (value: fc.Arbitrary<VectorValue>) => fc.option(value, { freq: 5 });

function listOf(element: Column): Column {
  return { type: `array<${element.type}>`, value: fc.array(nullable(element.value), { maxLength: 5 }) };
}
function mapOf(key: Column, value: Column): Column {
  const entry = fc.tuple(key.value, nullable(value.value)).map((pair): VectorValue => pair);
  return { type: `map<${key.type},${value.type}>`, value: fc.array(entry, { maxLength: 4 }) };
}
function structOf(fields: Column[]): Column {
  return {
    type: `struct<${fields.map(({ type }, i) => `f${i}:${type}`).join(',')}>`,
    value: fc.record(Object.fromEntries(fields.map(({ value }, i) => [`f${i}`, nullable(value)]))),
  };
}
function unionOf(alternatives: Column[]): Column {
  return {
    type: `uniontype<${alternatives.map(({ type }) => type).join(',')}>`,
    value: fc.oneof(
      ...alternatives.map(({ value }, tag) => nullable(value).map((inner): VectorValue => ({ tag, value: inner }))),
    ),
  };
}

const OPTIONS: fc.Arbitrary<OrcWriterOptions> = fc.record({
  compression: fc.constantFrom('none', 'zlib', 'snappy', 'lz4', 'zstd'),
  rowIndexStride: fc.constantFrom(0, 7, 50, 10_000),
  stripeSizeBytes: fc.constantFrom(300, 3000, 1 << 26),
  compressionBlockSizeBytes: fc.constantFrom(16, 100, 1 << 18),
  enforceCompressionBlockSize: fc.boolean(),
  dictionaryKeySizeThreshold: fc.constantFrom(0, 0.5, 0.8, 1),
  encodingStrategy: fc.constantFrom('speed', 'compression'),
  prolepticGregorian: fc.boolean(),
  bloomFilterColumns: fc.constantFrom([], [0]),
  writerTimezone: fc.constantFrom('UTC', 'Asia/Kolkata'),
});

describe('OrcWriter', () => {
  it('round trips any schema, data and options', async () => {
    const file = fc.array(columnOf(2), { minLength: 1, maxLength: 4 }).chain((fields) => {
      const root = structOf(fields);
      return fc.tuple(
        fc.constant(root.type),
        fc.array(fc.array(root.value, { maxLength: 60 }), { maxLength: 4 }),
        OPTIONS,
      );
    });
    await fc.assert(
      fc.asyncProperty(file, async ([type, batches, options]) => {
        const vectors = batches.map((rows) => vectorOf(parseType(type), rows as AppendableValue[]));
        const bytes = await write(type, vectors, options);
        expect(typeToString(openOrcSync(memorySource(bytes)).schema)).toBe(type);
        expect(read(bytes)).toEqual(
          vectors.flatMap((vector) => Array.from({ length: vector.length }, (_, i) => vectorValue(vector, i))),
        );
        expect(await write(type, vectors, options)).toEqual(bytes);
      }),
      { numRuns: 150 },
    );
  });

  it('tells of each stripe and takes metadata until the end', async () => {
    const sink = memorySink();
    const stripes: [number, number, number, VectorValue][] = [];
    const writer: OrcWriter = new OrcWriter(sink, parseType('struct<a:int>'), {
      stripeSizeBytes: 5000,
      rowIndexStride: 1000,
      compression: 'none',
      userMetadata: new Map([['first', Uint8Array.of(1)]]),
      onStripe: ({ stripe, rows, totalRows, root, lastRow }) =>
        stripes.push([stripe, rows, totalRows, vectorValue(root, lastRow)]),
      beforeFooter: () => writer.addUserMetadata('last', Buffer.from('bye')),
    });
    const values = Array.from({ length: 10_000 }, (_, i) => ({ a: (i * 7919) % 65_537 }));
    for (let i = 0; i < values.length; i += 700) {
      await writer.write(vectorOf(parseType('struct<a:int>'), values.slice(i, i + 700)));
    }
    await writer.close();
    const reader = openOrcSync(memorySource(sink.bytes()));
    expect(reader.stripes.length).toBeGreaterThan(2);
    expect(stripes.map(([stripe]) => stripe)).toEqual(reader.stripes.map((_, i) => i));
    expect(stripes.map(([, rows]) => rows)).toEqual(reader.stripes.map(({ numberOfRows }) => Number(numberOfRows)));
    for (const [, , totalRows, last] of stripes) expect(last).toEqual(values[totalRows - 1]);
    expect([...reader.userMetadata]).toEqual([
      ['first', Uint8Array.of(1)],
      ['last', new Uint8Array(Buffer.from('bye'))],
    ]);
    expect([writer.numberOfRows, writer.bytesWritten]).toEqual([10_000, sink.bytes().length]);
  });

  it('leaves rows under a NULL struct, list or map out of the file', async () => {
    const type = 'struct<s:struct<x:int,y:string>,l:array<int>>';
    const full = vectorOf(parseType(type), [
      { s: { x: 1, y: 'one' }, l: [1] },
      { s: { x: 2, y: 'two' }, l: [2, 2] },
      { s: { x: 3, y: 'three' }, l: [3, 3, 3] },
    ]);
    if (full.kind !== 'struct') throw new TypeError('a struct');
    const hidden = { ...full, children: full.children.map((child) => ({ ...child, validity: Uint8Array.of(0b101) })) };
    const bytes = await write(type, [hidden]);
    expect(read(bytes)).toEqual([
      { s: { x: 1, y: 'one' }, l: [1] },
      { s: null, l: null },
      { s: { x: 3, y: 'three' }, l: [3, 3, 3] },
    ]);
    const { statistics } = openOrcSync(memorySource(bytes));
    expect(statistics.map(({ numberOfValues, hasNull }) => [Number(numberOfValues), hasNull])).toEqual([
      [3, false],
      [2, true],
      [2, false],
      [2, false],
      [2, true],
      [4, false],
    ]);
    expect(statistics[2].intStatistics).toEqual({ minimum: 1n, maximum: 3n, sum: 4n });
    expect(statistics[4].collectionStatistics).toEqual({ minChildren: 1n, maxChildren: 3n, totalChildren: 4n });
  });

  it('keeps PRESENT of one stripe out of the next (ORC-1525)', async () => {
    const type = 'struct<a:int>';
    const sink = memorySink();
    const writer = new OrcWriter(sink, parseType(type));
    const rows = [[{ a: null }, { a: 1 }], [{ a: 2 }, { a: 3 }], [{ a: null }, { a: null }], [{ a: 4 }]];
    for (const stripe of rows) {
      await writer.write(vectorOf(parseType(type), stripe));
      await writer.flushStripe();
    }
    await writer.close();
    expect(read(sink.bytes())).toEqual(rows.flat());
  });

  it('refuses what does not fit the schema', async () => {
    const type = parseType('struct<a:int,b:decimal(10,2)>');
    const writer = () => new OrcWriter(memorySink(), type);
    const vector = (text: string) => vectorOf(parseType(text), [{}]);
    await expect(writer().write(vector('struct<a:bigint,b:decimal(10,2)>'))).rejects.toThrow(/column 1 is int/);
    const wrongScale = vectorOf(parseType('struct<a:int,b:decimal(10,3)>'), [{ b: { unscaled: 1n, scale: 3 } }]);
    await expect(writer().write(wrongScale)).rejects.toThrow(/scale 2, the vector 3/);
    await expect(writer().write(vector('struct<a:int>'))).rejects.toThrow(/2 children, the vector 1/);
    await expect(writer().write(vectorOf(parseType('int'), [1]))).rejects.toThrow(/column 0 is struct/);
    expect(() => new OrcWriter(memorySink(), type, { bloomFilterColumns: ['c'] })).toThrow(/no column c/);
    expect(() => new OrcWriter(memorySink(), type, { stripeSizeBytes: 0 })).toThrow(/stripeSizeBytes/);
    const closed = writer();
    await closed.close();
    await expect(closed.write(vector('struct<a:int,b:decimal(10,2)>'))).rejects.toThrow(/closed/);
  });
});
