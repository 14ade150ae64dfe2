import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidTypeError } from './errors.js';
import { arbitrarySchema } from './testing/arbitrary.js';
import {
  columnById,
  columnByName,
  columnName,
  createPrimitive,
  createStruct,
  flattenColumns,
} from './type-description.js';
import { parseType, typeToString } from './type-text.js';

describe('type text', () => {
  test('of every type reads back as the same tree', () => {
    fc.assert(
      fc.property(arbitrarySchema(3), (schema) => void expect(parseType(typeToString(schema))).toEqual(schema)),
    );
  });

  test.each([
    ['STRUCT< a : Int , b : DECIMAL( 5 , 2 ) >', 'struct<a:int,b:decimal(5,2)>'],
    ['timestamp  with local  time zone', 'timestamp with local time zone'],
    ['decimal', 'decimal(38,10)'],
    ['decimal(7)', 'decimal(7,0)'],
    ['double precision', 'double'],
    ['struct<>', 'struct<>'],
    ['struct<`a b`:int,`c``d`:uniontype<int,array<string>>>', 'struct<`a b`:int,`c``d`:uniontype<int,array<string>>>'],
    ['struct<größe:int>', 'struct<`größe`:int>'],
  ])('%s', (text, normal) => {
    expect(typeToString(parseType(text))).toBe(normal);
  });

  test.each([
    ['', 0],
    ['struct<a:int', 12],
    ['struct<a int>', 12],
    ['array<int,int>', 9],
    ['decimal(39,1)', 8],
    ['decimal(5,6)', 7],
    ['char(256)', 5],
    ['varchar', 7],
    ['int>', 3],
    ['strnig', 0],
    ['struct<`a:int>', 7],
  ])('%s is refused at %d', (text, position) => {
    expect(() => parseType(text)).toThrow(expect.objectContaining({ position }));
    expect(() => parseType(text)).toThrow(InvalidTypeError);
  });

  test('a text nested without end is refused, not followed', () => {
    expect(() => parseType('array<'.repeat(100_000))).toThrow(InvalidTypeError);
  });
});

describe('columns', () => {
  const schema = parseType('struct<a:int,row:struct<b:array<struct<c:map<string,int>>>,d.e:int>>');

  test('are numbered in pre-order', () => {
    expect(flattenColumns(schema).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(
      createStruct([
        ['x', schema],
        ['y', createPrimitive('int')],
      ]).children[1].id,
    ).toBe(10);
  });

  test('have names and are found by them', () => {
    for (const { id } of flattenColumns(schema).slice(1)) {
      expect(columnByName(schema, columnName(schema, id))?.id).toBe(id);
      expect(columnById(schema, id)?.id).toBe(id);
    }
    expect(columnName(schema, 7)).toBe('row.b._elem.c._value');
    expect(columnByName(schema, 'row.d.e')?.id).toBe(8);
    expect(columnByName(schema, 'row.x')).toBeUndefined();
    expect(columnById(schema, 9)).toBeUndefined();
  });
});
