// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Hive's references look like JavaScript's
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TypeNode } from './ast.js';
import {
  parseExpression,
  parseTypeText,
  printType,
  quoteString,
  SubstitutionDepthError,
  substitute,
  unquoteString,
} from './index.js';

describe('unquoteString, as BaseSemanticAnalyzer.unescapeSQLString of Hive 4.0.1 answered', () => {
  it.each([
    [`'it''s'`, 'its'],
    [`"a""b"`, 'ab'],
    [`'a""b'`, 'a""b'],
    ["'\\u00e9\\u4E2D'", 'é中'],
    ["'\\101\\001\\777\\08\\0'", 'A\x01777\x008\x00'],
    [`'\\n\\t\\r\\b\\Z\\\\\\%\\_\\q\\'\\"'`, `\n\t\r\b\x1a\\\\%\\_q'"`],
    ["'\\u12'", 'u12'],
    ["'\\18x'", '18x'],
    ["'\\177\\200'", '\x7f200'],
    [`''`, ''],
    [`''''`, ''],
  ])('%s', (literal, value) => {
    expect(unquoteString(literal)).toBe(value);
  });

  it('is undone by quoteString', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\\', "'", '"', '%', '_', '\n', '\0', '1', 'u', '中', '\x1a') }),
        (value) => {
          // \% and \_ come out as they went in, so a value has no way to say "backslash, then a percent sign" but that.
          expect(unquoteString(quoteString(value))).toBe(value);
          expect(parseExpression(quoteString(value))).toMatchObject({ kind: 'string', value });
        },
      ),
    );
  });
});

describe('types', () => {
  it.each([
    ['INTEGER', 'int'],
    ['double precision', 'double'],
    ['real', 'float'],
    ['decimal', 'decimal(10,0)'],
    ['numeric(5)', 'decimal(5,0)'],
    ['dec(5, 2)', 'decimal(5,2)'],
    ['timestamp with local time zone', 'timestamp with local time zone'],
    ['timestamplocaltz', 'timestamp with local time zone'],
    ["struct<X:int comment 'c', `y z`:string>", 'struct<x:int,y z:string>'],
    ['array<map<string,array<array<int>>>>', 'array<map<string,array<array<int>>>>'],
    ['uniontype<int,char(3),varchar(4)>', 'uniontype<int,char(3),varchar(4)>'],
  ])('%s is %s', (text, printed) => {
    expect(printType(parseTypeText(text))).toBe(printed);
  });

  const position = { line: 1, column: 0, start: 0, end: 0 };
  const { type } = fc.letrec<{ type: TypeNode }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 4 },
      fc
        .constantFrom('int', 'string', 'date', 'timestamp with local time zone')
        .map((name): TypeNode => ({ kind: 'primitive', name: name as 'int', position })),
      fc.nat(38).map((precision): TypeNode => ({ kind: 'decimal', precision, scale: 0, position })),
      tie('type').map((element): TypeNode => ({ kind: 'array', element, position })),
      fc.tuple(tie('type'), tie('type')).map(([key, value]): TypeNode => ({ kind: 'map', key, value, position })),
      fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map(
        (types): TypeNode => ({
          kind: 'struct',
          fields: types.map((t, i) => ({ name: `f${i}`, type: t })),
          position,
        }),
      ),
      fc
        .array(tie('type'), { minLength: 1, maxLength: 3 })
        .map((alternatives): TypeNode => ({ kind: 'uniontype', alternatives, position })),
    ),
  }));

  it('come back from their printed form', () => {
    const bare = (t: TypeNode): unknown =>
      JSON.parse(JSON.stringify(t, (key, v) => (key === 'position' ? undefined : v)));
    fc.assert(
      fc.property(type, (t) => {
        expect(bare(parseTypeText(printType(t)))).toEqual(bare(t));
      }),
    );
  });
});

describe('substitute', () => {
  const values: Record<string, string> = {
    'hiveconf:a': '1',
    x: 'y',
    y: '${x}',
    'env:HOME': '/h',
    n: '${hiveconf:a}',
    part: 'a',
  };
  const lookup = (name: string): string | undefined => values[name];

  it.each([
    ['select ${hiveconf:a}', 'select 1'],
    ['${env:HOME}/${hiveconf:a}', '/h/1'],
    ['${n}', '1'],
    ['${nosuch}', '${nosuch}'],
    ['${nosuch} ${hiveconf:a}', '${nosuch} 1'],
    ['$x {x} ${', '$x {x} ${'],
    ['${hiveconf:${part}}', '1'],
  ])('%s is %s', (text, value) => {
    expect(substitute(text, lookup)).toBe(value);
  });

  it('refuses a circle', () => {
    expect(() => substitute('${a}', () => '${a}x')).toThrow(SubstitutionDepthError);
  });
});
