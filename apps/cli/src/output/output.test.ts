import { PassThrough } from 'node:stream';
import { parseType, type StructVector, vectorOf } from '@skep/orc';
import type { StatementResult } from '@skep/sql';
import { describe, expect, it } from 'vitest';
import type { OutputFormat } from './rows.js';
import { textWidth } from './text-width.js';
import { writeResult } from './write-result.js';

/** A result of rows given as JavaScript values. */
function result(columns: Record<string, string>, rows: unknown[][], headerRow = false): StatementResult {
  const names = Object.keys(columns);
  const type = parseType(`struct<${names.map((name) => `${name}:${columns[name]}`).join(',')}>`);
  const batch = (part: unknown[][]) => vectorOf(type, part as never) as StructVector;
  async function* batches() {
    yield batch(rows.slice(0, 1));
    yield batch(rows.slice(1));
  }
  const described = names.map((name) => ({ name, type: columns[name] }));
  return { columns: described, batches: batches(), messages: [], ...(headerRow ? { headerRow } : {}) };
}

async function shown(of: StatementResult, format: OutputFormat, header = false): Promise<string> {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await writeResult(of, stream, { format, header });
  return Buffer.concat(chunks).toString('utf8');
}

const sample = () =>
  result({ id: 'int', name: 'string', big: 'bigint' }, [
    [1, 'Jerry', 9007199254740993n],
    [2, null, -1n],
    [3, 'a,"b"\tc\nd', null],
    [4, '', 0n],
  ]);

describe('formats', () => {
  it("tsv is Hive's text", async () => {
    const text = '1\tJerry\t9007199254740993\n2\tNULL\t-1\n3\ta,"b"\tc\nd\tNULL\n4\t\t0\n';
    expect(await shown(sample(), 'tsv')).toBe(text);
    expect(await shown(sample(), 'tsv', true)).toBe(`id\tname\tbig\n${text}`);
  });

  it('csv is RFC 4180', async () => {
    expect(await shown(sample(), 'csv')).toBe(
      'id,name,big\r\n1,Jerry,9007199254740993\r\n2,,-1\r\n3,"a,""b""\tc\nd",\r\n4,"",0\r\n',
    );
  });

  it('json keeps types and digits', async () => {
    const lines = (await shown(sample(), 'json')).trimEnd().split('\n');
    expect(lines[0]).toBe('{"id":1,"name":"Jerry","big":9007199254740993}');
    expect(lines[1]).toBe('{"id":2,"name":null,"big":-1}');
    expect(JSON.parse(lines[2])).toEqual({ id: 3, name: 'a,"b"\tc\nd', big: null });
  });

  it('json has nested values, decimals, dates and what JSON has no form for', async () => {
    const types = {
      a: 'array<int>',
      m: 'map<int,bigint>',
      s: 'struct<x:boolean,y:double>',
      d: 'decimal(20,4)',
      t: 'date',
      b: 'binary',
      f: 'double',
    };
    const row = [
      [1, null],
      [[7, 9007199254740993n]],
      { x: true, y: 0.5 },
      '12345678901234.5',
      0,
      Buffer.from([255]),
      Number.NaN,
    ];
    const values = [...row];
    values[3] = { unscaled: 123456789012345000n, scale: 4 };
    expect(await shown(result(types, [values]), 'json')).toBe(
      '{"a":[1,null],"m":{"7":9007199254740993},"s":{"x":true,"y":0.5},"d":12345678901234.5000,"t":"1970-01-01","b":"/w==","f":"NaN"}\n',
    );
  });

  it('table draws a box, numbers to the right', async () => {
    expect(
      await shown(
        result({ id: 'int', s: 'string' }, [
          [1, '日本'],
          [10, 'a\nb'],
        ]),
        'table',
      ),
    ).toBe(
      ['+----+------+', '| id | s    |', '+----+------+', '|  1 | 日本 |', '| 10 | a\\nb |', '+----+------+', ''].join(
        '\n',
      ),
    );
  });

  it('a heading row is a row in tsv, the heading in a table, and no row elsewhere', async () => {
    const show = () => result({ txnid: 'string' }, [['Transaction ID'], ['7']], true);
    expect(await shown(show(), 'tsv')).toBe('Transaction ID\n7\n');
    expect(await shown(show(), 'csv')).toBe('txnid\r\n7\r\n');
    expect(await shown(show(), 'json')).toBe('{"txnid":"7"}\n');
    expect(await shown(show(), 'table')).toContain('| Transaction ID |');
  });

  it('shows columns where there are no rows', async () => {
    expect(await shown(result({ id: 'int' }, []), 'csv')).toBe('id\r\n');
    expect(await shown(result({ id: 'int' }, []), 'table')).toContain('| id |');
    expect(await shown(result({ id: 'int' }, []), 'tsv')).toBe('');
  });
});

describe('textWidth', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['🐝', 2],
  ])('%s', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });
});
