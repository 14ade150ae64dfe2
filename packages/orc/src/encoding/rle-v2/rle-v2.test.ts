import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputBuffer } from '../output-buffer.js';
import { RleV2Decoder } from './decoder.js';
import { RleV2Encoder } from './encoder.js';

const LONG_MAX = (1n << 63n) - 1n;
const LONG_MIN = -(1n << 63n);

function encode(values: bigint[], signed: boolean, aligned: boolean): Uint8Array {
  const output = new OutputBuffer();
  const encoder = new RleV2Encoder(output, signed, aligned);
  encoder.writeLongs(BigInt64Array.from(values), 0, values.length);
  encoder.flush();
  return output.toBytes();
}

function decode(bytes: Uint8Array, signed: boolean, count: number): bigint[] {
  const out = new BigInt64Array(count);
  const decoder = new RleV2Decoder(bytes, 0, signed);
  decoder.readLongs(out, 0, count);
  return [...out];
}

const big = (values: number[]) => values.map(BigInt);

/** The examples of the ORC specification, section "Integer Run Length Encoding, version 2". */
const SPEC: [name: string, values: bigint[], bytes: number[]][] = [
  ['short repeat', big(Array(5).fill(10000)), [0x0a, 0x27, 0x10]],
  ['direct', big([23713, 43806, 57005, 48879]), [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef]],
  [
    'patched base',
    big([
      2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160, 2170,
      2180, 2190,
    ]),
    [
      0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78,
      0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
    ],
  ],
  ['delta', big([2, 3, 5, 7, 11, 13, 17, 19, 23, 29]), [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46]],
];

describe('RLE v2', () => {
  it.each(SPEC)('%s as in the specification', (_, values, bytes) => {
    expect(decode(Uint8Array.from(bytes), false, values.length)).toEqual(values);
    expect([...encode(values, false, true)]).toEqual(bytes);
  });

  it('round trips runs of every shape', () => {
    const width = fc.integer({ min: 1, max: 63 });
    const run = fc.oneof(
      fc.tuple(fc.bigInt({ min: LONG_MIN, max: LONG_MAX }), fc.integer({ min: 1, max: 1100 })).map(repeat),
      width.chain((bits) =>
        fc.array(fc.bigInt({ min: -(1n << BigInt(bits - 1)), max: (1n << BigInt(bits - 1)) - 1n }), { maxLength: 700 }),
      ),
      fc
        .tuple(width, fc.bigInt({ min: LONG_MIN, max: LONG_MAX }), fc.boolean())
        .chain(([bits, base, down]) =>
          fc
            .array(fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }), { maxLength: 600 })
            .map((steps) => walk(base, steps, down)),
        ),
      fc
        .tuple(width, fc.bigInt({ min: -(1n << 58n), max: 1n << 58n }))
        .chain(([bits, base]) =>
          fc
            .array(
              fc.oneof(
                { weight: 24, arbitrary: fc.bigInt({ min: 0n, max: 255n }) },
                { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }) },
              ),
              { minLength: 20, maxLength: 600 },
            )
            .map((offsets) => offsets.map((offset) => BigInt.asIntN(64, base + offset))),
        ),
    );
    fc.assert(
      fc.property(fc.array(run, { maxLength: 4 }), fc.boolean(), fc.boolean(), (runs, signed, aligned) => {
        const values = runs.flat();
        const bytes = encode(values, signed, aligned);
        expect(decode(bytes, signed, values.length)).toEqual(values);
        if (values.length > 10) {
          const decoder = new RleV2Decoder(bytes, 0, signed);
          const skipped = values.length >> 1;
          decoder.skip(skipped);
          const out = new BigInt64Array(3);
          decoder.readLongs(out, 1, 2);
          expect([...out]).toEqual([0n, ...values.slice(skipped, skipped + 2)]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reads ints as the longs it wrote, and refuses those that do not fit', () => {
    const bytes = encode([1n, -5n, 2147483647n, -2147483648n, 7n], true, true);
    const out = new Int32Array(5);
    new RleV2Decoder(bytes, 0, true).readInts(out, 0, 5);
    expect([...out]).toEqual([1, -5, 2147483647, -2147483648, 7]);
    expect(() => new RleV2Decoder(encode([1n << 31n], true, true), 0, true).readInts(out, 0, 1)).toThrow(/32 bits/);
    expect(() => new RleV2Decoder(encode([1n << 31n], false, true), 0, false).readInts(out, 0, 1)).toThrow(/32 bits/);
  });

  it('ends in a typed error on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, signed) => {
        try {
          decode(bytes, signed, 2000);
        } catch (error) {
          expect(error).toMatchObject({ code: 'CORRUPT_FILE' });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('cuts a tail of three equal values off a variable run, as Java does', () => {
    // 1 2 | 5 5 5 5 5: direct of two values, then a short repeat.
    expect([...encode(big([1, 2, 5, 5, 5, 5, 5]), false, true)]).toEqual([0x42, 0x01, 0x60, 0x02, 0x05]);
  });
});

function repeat([value, count]: [bigint, number]): bigint[] {
  return Array<bigint>(count).fill(value);
}

function walk(base: bigint, steps: bigint[], down: boolean): bigint[] {
  let value = base;
  return steps.map((step) => {
    value = BigInt.asIntN(64, down ? value - step : value + step);
    return value;
  });
}
