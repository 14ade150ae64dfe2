import { type ColumnVector, parseType, type StructVector, type TypeDescription } from '@skep/orc';

/** Data of one line of the benchmark: the same every time. */
export interface Shape {
  readonly name: string;
  readonly type: TypeDescription;
  /** Rows [from, from + length). */
  batch(from: number, length: number): StructVector;
}

/** A small generator whose numbers only depend on the row (xorshift of a hashed row number). */
function noise(row: number, salt: number): number {
  let x = (Math.imul(row + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)) | 0;
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return x >>> 0;
}

type Column = (from: number, length: number) => ColumnVector;

const ints =
  (of: (row: number) => number, kind: 'int' | 'date' = 'int'): Column =>
  (from, length) => ({ kind, length, values: Int32Array.from({ length }, (_, i) => of(from + i)) });

const longs =
  (of: (row: number) => bigint): Column =>
  (from, length) => ({ kind: 'long', length, values: BigInt64Array.from({ length }, (_, i) => of(from + i)) });

const doubles =
  (of: (row: number) => number): Column =>
  (from, length) => ({ kind: 'double', length, values: Float64Array.from({ length }, (_, i) => of(from + i)) });

const strings =
  (of: (row: number) => string): Column =>
  (from, length) => {
    const parts = Array.from({ length }, (_, i) => Buffer.from(of(from + i)));
    const offsets = new Int32Array(length + 1);
    parts.forEach((part, i) => {
      offsets[i + 1] = offsets[i] + part.length;
    });
    return { kind: 'string', length, bytes: Buffer.concat(parts), offsets };
  };

const timestamps =
  (of: (row: number) => number): Column =>
  (from, length) => ({
    kind: 'timestamp',
    length,
    seconds: BigInt64Array.from({ length }, (_, i) => BigInt(1_600_000_000 + of(from + i))),
    nanos: Int32Array.from({ length }, (_, i) => (noise(from + i, 9) % 1000) * 1_000_000),
  });

const decimals =
  (of: (row: number) => number): Column =>
  (from, length) => {
    const words = new BigInt64Array(2 * length);
    for (let i = 0; i < length; i++) words[2 * i] = BigInt(of(from + i));
    return { kind: 'decimal', length, precision: 18, scale: 2, words };
  };

const lists: Column = (from, length) => {
  const offsets = new Int32Array(length + 1);
  for (let i = 0; i < length; i++) offsets[i + 1] = offsets[i] + (noise(from + i, 3) % 6);
  const count = offsets[length];
  return {
    kind: 'list',
    length,
    offsets,
    child: { kind: 'int', length: count, values: Int32Array.from({ length: count }, (_, i) => noise(i, from) % 1000) },
  };
};

function shape(name: string, fields: Record<string, readonly [type: string, column: Column]>): Shape {
  const names = Object.keys(fields);
  return {
    name,
    type: parseType(`struct<${names.map((field) => `${field}:${fields[field][0]}`).join(',')}>`),
    batch: (from, length) => ({
      kind: 'struct',
      length,
      fieldNames: names,
      children: names.map((field) => fields[field][1](from, length)),
    }),
  };
}

const words = [
  'carefully',
  'final',
  'deposits',
  'sleep',
  'furiously',
  'regular',
  'ideas',
  'haggle',
  'quick',
  'packages',
];
const comment = (row: number): string =>
  Array.from({ length: 3 + (noise(row, 1) % 5) }, (_, i) => words[noise(row, 2 + i) % words.length]).join(' ');

export const SHAPES: readonly Shape[] = [
  shape('int', { a: ['int', ints((row) => noise(row, 0) % 1_000_000)] }),
  shape('bigint', { a: ['bigint', longs((row) => BigInt(noise(row, 0)) * 65_537n)] }),
  shape('double', { a: ['double', doubles((row) => noise(row, 0) / 1024)] }),
  shape('dictionary string', { a: ['string', strings((row) => `${words[noise(row, 0) % 10]}-${noise(row, 1) % 20}`)] }),
  shape('direct string', {
    a: ['string', strings((row) => `${noise(row, 0).toString(36)}${noise(row, 1).toString(36)}`)],
  }),
  shape('timestamp', { a: ['timestamp', timestamps((row) => row * 7 + (noise(row, 0) % 60))] }),
  shape('decimal(18,2)', { a: ['decimal(18,2)', decimals((row) => noise(row, 0) % 100_000_000)] }),
  shape('list<int>', { a: ['array<int>', lists] }),
  shape('lineitem', {
    l_orderkey: ['bigint', longs((row) => BigInt(row >> 2))],
    l_partkey: ['bigint', longs((row) => BigInt(noise(row, 1) % 200_000))],
    l_suppkey: ['bigint', longs((row) => BigInt(noise(row, 2) % 10_000))],
    l_linenumber: ['int', ints((row) => row & 3)],
    l_quantity: ['decimal(18,2)', decimals((row) => 100 * (1 + (noise(row, 4) % 50)))],
    l_extendedprice: ['decimal(18,2)', decimals((row) => 90_000 + (noise(row, 5) % 10_000_000))],
    l_discount: ['decimal(18,2)', decimals((row) => noise(row, 6) % 11)],
    l_tax: ['decimal(18,2)', decimals((row) => noise(row, 7) % 9)],
    l_returnflag: ['string', strings((row) => 'ANR'[noise(row, 8) % 3])],
    l_linestatus: ['string', strings((row) => 'OF'[noise(row, 9) % 2])],
    l_shipdate: ['date', ints((row) => 8000 + (noise(row, 10) % 2500), 'date')],
    l_commitdate: ['date', ints((row) => 8000 + (noise(row, 11) % 2500), 'date')],
    l_receiptdate: ['date', ints((row) => 8000 + (noise(row, 12) % 2500), 'date')],
    l_shipinstruct: ['string', strings((row) => ['NONE', 'COLLECT COD', 'TAKE BACK RETURN'][noise(row, 13) % 3])],
    l_shipmode: ['string', strings((row) => ['AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL'][noise(row, 14) % 5])],
    l_comment: ['string', strings(comment)],
  }),
];

const twentyFields = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [
    `c${i}`,
    ['bigint', longs((row) => BigInt(i === 0 ? row : noise(row, i)))] as const,
  ]),
);

/** Twenty columns, the first one ascending: for reading one of them, and for a search argument. */
export const TWENTY: Shape = shape('20 bigint columns', twentyFields);
