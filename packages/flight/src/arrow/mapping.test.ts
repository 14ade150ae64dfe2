import { decimalUnscaled, parseType, type StructVector, vectorOf, vectorValue } from '@skep/orc';
import {
  type Data,
  type DataType,
  Decimal,
  Dictionary,
  Field,
  Float16,
  Int32,
  List,
  makeData,
  makeVector,
  Table,
  tableFromArrays,
  Uint64,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTable } from '../../../orc/src/testing/arbitrary.js';
import { toArrowSchema, toTypeDescription } from './arrow-type.js';
import { fromRecordBatch, toVector } from './from-arrow.js';
import { batchMessage, type IpcMessage, readIpc, schemaMessage } from './ipc.js';
import type { ArrowOptions } from './options.js';
import { toRecordBatch } from './to-arrow.js';

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Vectors through Arrow's IPC format and back. */
async function roundTrip(root: StructVector, type: ReturnType<typeof parseType>, options: ArrowOptions = {}) {
  const schema = toArrowSchema(type, options);
  const messages: IpcMessage[] = [schemaMessage(schema), batchMessage(toRecordBatch(schema, root))];
  const stream = await readIpc(each(messages));
  expect(toTypeDescription(stream.schema)).toEqual(type);
  const batches: StructVector[] = [];
  for await (const batch of stream.batches) batches.push(fromRecordBatch(batch, type));
  expect(batches).toHaveLength(1);
  return batches[0];
}

const valuesOf = (root: StructVector) => Array.from({ length: root.length }, (_, row) => vectorValue(root, row));

describe('every type there and back', () => {
  it('equal, for any schema and any values', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryTable(40), async ({ schema, rows }) => {
        const present = rows.filter((row) => row !== null);
        const root = vectorOf(schema, present) as StructVector;
        expect(valuesOf(await roundTrip(root, schema, { timestamps: 'struct' }))).toEqual(valuesOf(root));
      }),
      { numRuns: 300 },
    );
  });

  it('rows from the middle of a batch', async () => {
    const type = parseType('struct<s:string,l:array<int>,m:map<string,int>,b:boolean>');
    const rows = Array.from({ length: 20 }, (_, i) => ({
      s: i % 3 === 0 ? null : `t${i}`,
      l: i % 4 === 0 ? null : Array.from({ length: i % 3 }, (_, k) => k),
      m: new Map([[`k${i}`, i]]),
      b: i % 2 === 0,
    }));
    const root = vectorOf(type, rows) as StructVector;
    expect(valuesOf(await roundTrip(root, type))).toEqual(valuesOf(root));
  });
});

describe('timestamps', () => {
  const type = parseType('struct<t:timestamp>');
  const of = (seconds: bigint, nanos: number) => vectorOf(type, [{ t: { seconds, nanos } }]) as StructVector;
  it.each([
    [0n, 1, 'ns'],
    [-1n, 999_999_999, 'ns'],
    [253402300799n, 999_999_000, 'us'],
    [-62135596800n, 0, 'us'],
    [253402300799n, 999_999_999, 'struct'],
  ] as const)('%s s %s ns as %s', async (seconds, nanos, timestamps) => {
    const root = of(seconds, nanos);
    expect(valuesOf(await roundTrip(root, type, { timestamps }))).toEqual(valuesOf(root));
  });
  it('that do not fit are refused with what to do', async () => {
    await expect(roundTrip(of(253402300799n, 0), type)).rejects.toThrow(
      /column t: .* outside of timestamp\[ns\].*"us"/,
    );
    await expect(roundTrip(of(0n, 1), type, { timestamps: 'us' })).rejects.toThrow(/column t: .* has nanoseconds/);
  });
});

describe('Arrow data of others', () => {
  const batchOf = (table: Table) => table.batches[0];
  it('narrower integers, dictionaries, and names in other case', () => {
    const table = tableFromArrays({ A: Int8Array.of(1, -1), b: Float32Array.of(0.5, 2) });
    const type = parseType('struct<a:bigint,b:double>');
    expect(valuesOf(fromRecordBatch(batchOf(table), type))).toEqual([
      { a: 1n, b: 0.5 },
      { a: -1n, b: 2 },
    ]);
    const words = vectorFromArray(['x', null, 'y', 'x'], new Dictionary(new Utf8(), new Int32()));
    const dictionary = new Table({ s: words });
    expect(valuesOf(fromRecordBatch(batchOf(dictionary), parseType('struct<s:string>'))).map((row) => row)).toEqual([
      { s: 'x' },
      { s: null },
      { s: 'y' },
      { s: 'x' },
    ]);
  });

  it.each([
    ['too large', Int32Array.of(1, 300), 'struct<a:tinyint>', /column a, row 1 of the batch: 300 is no tinyint/],
    ['of another kind', Float64Array.of(1), 'struct<a:int>', /column a is int, not Arrow's Float64/],
    ['missing', Int32Array.of(1), 'struct<a:int,z:int>', /column z is missing: there are a/],
  ])('%s is refused by name', (_, values, type, message) => {
    const batch = batchOf(new Table({ a: makeVector(values) }));
    expect(() => fromRecordBatch(batch, parseType(type))).toThrow(message);
  });

  it('decimals of other widths, integers as decimals, decimals as integers, half floats', () => {
    const read = (type: DataType, values: ArrayLike<number | bigint>, target: string) => {
      const data = makeData({ type, length: 2, nullCount: 0, data: values } as never) as Data;
      const vector = toVector(data, parseType(target), 'a');
      return [0, 1].map((row) =>
        String(vector.kind === 'decimal' ? decimalUnscaled(vector, row) : vectorValue(vector, row)),
      );
    };
    const words = (...values: bigint[]) => new Uint32Array(BigInt64Array.from(values).buffer);
    const minus = -1n;
    const wide = words(15n, 0n, 0n, 0n, -15n, minus, minus, minus);
    const numbers = ['1500', '-1500'];
    expect(read(new Decimal(1, 5, 32), new Uint32Array(Int32Array.of(15, -15).buffer), 'decimal(10,3)')).toEqual(
      numbers,
    );
    expect(read(new Decimal(1, 9, 64), words(15n, -15n), 'decimal(20,3)')).toEqual(numbers);
    expect(read(new Decimal(1, 30, 256), wide, 'decimal(38,3)')).toEqual(numbers);
    expect(() => read(new Decimal(1, 30, 256), words(1n, 0n, 1n, 0n, 0n, 0n, 0n, 0n), 'decimal(38,1)')).toThrow(
      'column a, row 0',
    );
    const large = BigUint64Array.of(2n ** 64n - 1n, 7n);
    expect(read(new Uint64(), large, 'decimal(20,0)')).toEqual(['18446744073709551615', '7']);
    expect(() => read(new Uint64(), large, 'bigint')).toThrow('18446744073709551615 is no bigint');
    expect(read(new Decimal(0, 20, 128), words(300n, 0n, -7n, minus), 'int')).toEqual(['300', '-7']);
    expect(() => read(new Decimal(0, 38, 128), words(0n, 1n, 0n, 0n), 'bigint')).toThrow(
      '18446744073709551616 is no bigint',
    );
    expect(read(new Float16(), Uint16Array.of(0x3e00, 0x8001), 'double')).toEqual(['1.5', String(-(2 ** -24))]);
    expect(read(new Float16(), Uint16Array.of(0xfc00, 0x7e00), 'float')).toEqual(['-Infinity', 'NaN']);
  });

  it('that is no Arrow data is one typed error', async () => {
    const bad = { header: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), body: new Uint8Array(0) };
    await expect(readIpc(each([bad]))).rejects.toMatchObject({ code: 'BAD_ARROW_DATA' });
    await expect(readIpc(each([]))).rejects.toMatchObject({ code: 'BAD_ARROW_DATA' });
  });

  it('with buffers shorter than its counts, or offsets outside of them, is refused', () => {
    const type = parseType('struct<a:string,b:array<int>,c:int>');
    const good = batchOf(
      new Table({
        a: vectorFromArray(['x', 'yz'], new Utf8()),
        b: vectorFromArray([[1], [2, 3]], new List(new Field('element', new Int32(), true))),
        c: makeVector(Int32Array.of(1, 2)),
      }),
    );
    expect(valuesOf(fromRecordBatch(good, type))).toHaveLength(2);
    const broken = (at: number, spoil: (data: Data) => void, message: RegExp) => {
      const copy = good.data.children[at].clone();
      spoil(copy);
      expect(() => toVector(copy, type.children[at], type.fieldNames[at])).toThrow(message);
    };
    const set = (data: Data, name: string, value: unknown) => Object.defineProperty(data, name, { value });
    broken(0, (data) => set(data, 'valueOffsets', Int32Array.of(0, 1, 9999)), /column a: the offset 9999 after 1/);
    broken(0, (data) => set(data, 'valueOffsets', Int32Array.of(0, 2, 1)), /column a: the offset 1 after 2/);
    broken(1, (data) => set(data, 'valueOffsets', Int32Array.of(-1, 1, 2)), /column b: the offset -1 after 0/);
    broken(2, (data) => set(data, 'values', Int32Array.of(1)), /column c: its values have 1 entries, 2 are needed/);
  });

  it('what the source throws comes through', async () => {
    const failing = async function* (): AsyncGenerator<IpcMessage> {
      yield schemaMessage(toArrowSchema(parseType('struct<a:int>')));
      throw new RangeError('cut');
    };
    const read = async () => {
      for await (const batch of (await readIpc(failing())).batches) throw new TypeError(`a batch of ${batch.numRows}`);
    };
    await expect(read()).rejects.toThrow('cut');
  });
});
