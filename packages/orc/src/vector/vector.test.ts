import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidValueError } from '../errors.js';
import { arbitraryTable } from '../testing/arbitrary.js';
import { parseType } from '../type-text.js';
import type { ColumnVector } from '../vector.js';
import { copyBits, countSet, getBit, sliceBitmap } from './bitmap.js';
import { VectorBuilder, vectorOf } from './builder.js';
import { nullVector } from './constant.js';
import { concatVectors, filterVector, sliceVector } from './rearrange.js';
import { isNull, vectorValue } from './value.js';

const valuesOf = (vector: ColumnVector) => Array.from({ length: vector.length }, (_, row) => vectorValue(vector, row));

describe('vectors', () => {
  test('give back what was appended', () => {
    fc.assert(
      fc.property(arbitraryTable(), ({ schema, rows }) => {
        expect(valuesOf(vectorOf(schema, rows))).toEqual(rows);
      }),
    );
  });

  test('slice, filter and concatenate as arrays do', () => {
    fc.assert(
      fc.property(arbitraryTable(), fc.infiniteStream(fc.nat()), ({ schema, rows }, numbers) => {
        const next = (below: number) => Number(numbers.next().value) % below;
        const vector = vectorOf(schema, rows);
        const start = next(rows.length + 1);
        const end = start + next(rows.length - start + 1);
        const slice = sliceVector(vector, start, end);
        expect(valuesOf(slice)).toEqual(rows.slice(start, end));
        const selection = rows.length === 0 ? [] : Array.from({ length: next(20) }, () => next(rows.length));
        const filtered = filterVector(vector, Int32Array.from(selection));
        expect(valuesOf(filtered)).toEqual(selection.map((row) => rows[row]));
        const joined = concatVectors([slice, filtered, vector]);
        expect(valuesOf(joined)).toEqual([...rows.slice(start, end), ...selection.map((row) => rows[row]), ...rows]);
        const sliceOfJoined = sliceVector(joined, 0, joined.length);
        expect(valuesOf(filterVector(sliceOfJoined, new Int32Array(0)))).toEqual([]);
      }),
    );
  });

  test('nullVector is all NULL', () => {
    fc.assert(
      fc.property(arbitraryTable(1), fc.nat(20), ({ schema }, length) => {
        const vector = nullVector(schema, length);
        expect(valuesOf(vector)).toEqual(Array.from({ length }, () => null));
      }),
    );
  });

  test('a builder can be used again after build', () => {
    const builder = new VectorBuilder(parseType('struct<a:int,b:array<string>>'));
    builder.append({ a: 1, b: ['x'] });
    const first = builder.build();
    builder.append([2, ['y', null]]);
    builder.append({ a: 3 });
    expect(valuesOf(first)).toEqual([{ a: 1, b: ['x'] }]);
    expect(valuesOf(builder.build())).toEqual([
      { a: 2, b: ['y', null] },
      { a: 3, b: null },
    ]);
  });

  test('a NULL struct has rows in its children', () => {
    const vector = vectorOf(parseType('struct<a:int>'), [null, { a: 1 }]);
    expect(isNull(vector, 0)).toBe(true);
    expect(vector.kind === 'struct' && vector.children[0].length).toBe(2);
  });

  test('maps take a Map, __proto__ is a field like any other', () => {
    expect(valuesOf(vectorOf(parseType('map<string,int>'), [new Map([['k', 1]])]))).toEqual([[['k', 1]]]);
    const odd = vectorValue(vectorOf(parseType('struct<`__proto__`:int>'), [[7]]), 0);
    expect(Object.entries(odd as object)).toEqual([['__proto__', 7]]);
  });

  test.each([
    ['tinyint', 128],
    ['smallint', -32769],
    ['int', 2 ** 31],
    ['int', 1.5],
    ['bigint', 2n ** 63n],
    ['boolean', 1],
    ['string', 1],
    ['binary', 'text'],
    ['timestamp', { seconds: 1n, nanos: 1e9 }],
    ['decimal(3,1)', { unscaled: 1000n, scale: 1 }],
    ['decimal(3,1)', { unscaled: 1n, scale: 2 }],
    ['struct<a:int>', { b: 1 }],
    ['struct<a:int>', [1, 2]],
    ['uniontype<int>', { tag: 1, value: 1 }],
    ['array<int>', 'x'],
    ['map<int,int>', [[1]]],
  ])('%s does not take %s', (type, value) => {
    expect(() => vectorOf(parseType(type), [value as never])).toThrow(InvalidValueError);
  });

  test('a decimal of another scale is taken when no digit is lost', () => {
    const vector = vectorOf(parseType('decimal(5,2)'), [
      { unscaled: 5n, scale: 0 },
      { unscaled: -1230n, scale: 3 },
    ]);
    expect(valuesOf(vector)).toEqual([
      { unscaled: 500n, scale: 2 },
      { unscaled: -123n, scale: 2 },
    ]);
  });
});

describe('bitmaps', () => {
  const bitmap = fc.array(fc.boolean(), { maxLength: 70 });
  const pack = (bits: boolean[]) => {
    const out = new Uint8Array((bits.length + 7) >>> 3);
    bits.forEach((bit, i) => {
      if (bit) out[i >>> 3] |= 1 << (i & 7);
    });
    return out;
  };
  const unpack = (bytes: Uint8Array, length: number) => Array.from({ length }, (_, i) => getBit(bytes, i));

  test('slice, count and copy', () => {
    fc.assert(
      fc.property(bitmap, bitmap, fc.nat(70), fc.nat(70), (bits, other, a, b) => {
        const packed = pack(bits);
        const start = Math.min(a, bits.length);
        const end = Math.min(bits.length, start + b);
        expect(unpack(sliceBitmap(packed, start, end), end - start)).toEqual(bits.slice(start, end));
        expect(countSet(packed, end)).toBe(bits.slice(0, end).filter(Boolean).length);
        const joined = new Uint8Array((bits.length + other.length + 7) >>> 3).fill(0xaa);
        copyBits(joined, 0, packed, bits.length);
        copyBits(joined, bits.length, pack(other), other.length);
        expect(unpack(joined, bits.length + other.length)).toEqual([...bits, ...other]);
      }),
    );
  });
});
