import { describe, expect, test } from 'vitest';
import { parseTypeName, typeName } from './hive-type.js';
import { fromTypeDescription, toTypeDescription } from './orc-type.js';
import { commonType, decimalResult } from './type-rules.js';

const decimal = (precision: number, scale: number) => ({ kind: 'decimal' as const, precision, scale });

test.each([
  'int',
  'decimal(10,2)',
  'char(5)',
  'timestamp with local time zone',
  'map<string,array<struct<a:int,b:uniontype<int,varchar(7)>>>>',
])('%s is read and written, also as an ORC type', (text) => {
  expect(typeName(parseTypeName(text))).toBe(text);
  expect(typeName(fromTypeDescription(toTypeDescription(parseTypeName(text))))).toBe(text);
});

test('what is no type is refused with the place', () => {
  expect(() => parseTypeName('array<strin>')).toThrow("at 6: no type 'strin'");
  expect(() => parseTypeName('int int')).toThrow('the type ends before this');
});

describe('decimal arithmetic', () => {
  test.each([
    ['+', decimal(38, 10), decimal(38, 10), 'decimal(38,9)'],
    ['*', decimal(38, 10), decimal(38, 10), 'decimal(38,6)'],
    ['/', decimal(10, 2), decimal(10, 2), 'decimal(23,13)'],
    ['%', decimal(20, 5), decimal(10, 2), 'decimal(13,5)'],
  ] as const)('%s', (operator, a, b, type) => {
    expect(typeName(decimalResult(operator, a, b))).toBe(type);
  });
});

test('common types', () => {
  const common = (a: string, b: string) => {
    const type = commonType(parseTypeName(a), parseTypeName(b));
    return type && typeName(type);
  };
  expect(common('int', 'decimal(2,1)')).toBe('decimal(11,1)');
  expect(common('char(5)', 'char(7)')).toBe('char(7)');
  expect(common('char(5)', 'varchar(7)')).toBe('string');
  expect(common('date', 'timestamp')).toBe('timestamp');
  expect(common('boolean', 'int')).toBeUndefined();
});
