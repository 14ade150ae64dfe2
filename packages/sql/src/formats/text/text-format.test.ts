import { readFileSync } from 'node:fs';
import { memorySink, memorySource } from '@skep/core';
import { type AppendableValue, isNull, type StructVector, vectorOf } from '@skep/orc';
import { describe, expect, it } from 'vitest';
import { formatRow, formatValue } from '../../text/format-value.js';
import { parseTypeName } from '../../types/hive-type.js';
import { toTypeDescription } from '../../types/orc-type.js';
import type { FileColumn, RowBatch } from '../row-file.js';
import { parseShortDecimal } from './parse-text.js';
import { textFormat } from './text-format.js';
import { countTextRows, readText } from './text-reader.js';
import { TextFileWriter } from './text-writer.js';

interface Recorded {
  readonly table: string;
  readonly columns: string;
  readonly serde: Record<string, string>;
  readonly properties: Record<string, string>;
  readonly rows: readonly string[];
}
const recordedUrl = new URL('../recorded/', import.meta.url);
const recorded = JSON.parse(readFileSync(new URL('text.json', recordedUrl), 'utf8')) as Recorded[];

/** `k:int,a:array<string>`. */
function columnsOf(text: string): FileColumn[] {
  const struct = parseTypeName(`struct<${text}>`);
  return struct.kind === 'struct' ? [...struct.fields] : [];
}

const hex = (batch: RowBatch, column: number, row: number): string => {
  const vector = batch.columns[column];
  if (isNull(vector, row) || !('bytes' in vector)) return 'NULL';
  return Buffer.from(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]))
    .toString('hex')
    .toUpperCase();
};

/** As the recorded statements print: two of them ask for hex digits. */
function printed(table: string, columns: readonly FileColumn[], batch: RowBatch, row: number): string {
  const plain = (i: number) => formatValue(columns[i].type, batch.columns[i], row);
  if (table === 'lines') return `${plain(0)}\t${hex(batch, 1, row)}`;
  if (table === 'texts') {
    // concat('[', c, ']') drops a char's blanks.
    const bracketed = isNull(batch.columns[3], row) ? 'NULL' : `[${plain(3).trimEnd()}]`;
    return [plain(0), plain(1), plain(2), bracketed, hex(batch, 4, row)].join('\t');
  }
  return columns.map((_, i) => plain(i)).join('\t');
}

describe('text files as Hive 4.0.1 reads them', () => {
  it.each(recorded)('$table', ({ table, columns: names, serde, properties, rows }) => {
    const columns = columnsOf(names);
    const bytes = readFileSync(new URL(`text/${table}.bin`, recordedUrl));
    const format = textFormat(serde, properties);
    const wanted = columns.map((_, i) => i);
    const read: string[] = [];
    for (const batch of readText(table, memorySource(bytes), columns, wanted, format)) {
      for (let row = 0; row < batch.length; row++) read.push(printed(table, columns, batch, row));
    }
    // A value with a line feed is a line more in what Hive printed.
    expect(read.join('\n').replaceAll('\ufffd', '?')).toBe(rows.join('\n').replaceAll('\ufffd', '?'));
    expect(countTextRows(table, memorySource(bytes), format)).toBe(read.length);
    // Any one column alone gives the same.
    for (const i of wanted) {
      const alone = [...readText(table, memorySource(bytes), columns, [i], format)].flatMap((batch) =>
        Array.from({ length: batch.length }, (_, row) => formatValue(columns[i].type, batch.columns[0], row)),
      );
      const among = [...readText(table, memorySource(bytes), columns, wanted, format)].flatMap((batch) =>
        Array.from({ length: batch.length }, (_, row) => formatValue(columns[i].type, batch.columns[i], row)),
      );
      expect(alone).toEqual(among);
    }
  });
});

async function written(
  columns: readonly FileColumn[],
  values: readonly (readonly AppendableValue[])[],
  serde: Record<string, string> = {},
): Promise<Uint8Array> {
  const sink = memorySink();
  const writer = new TextFileWriter(sink, columns, textFormat(serde));
  const type = toTypeDescription({ kind: 'struct', fields: columns });
  await writer.write(vectorOf(type, values) as StructVector);
  await writer.close();
  return sink.bytes();
}

function readBack(columns: readonly FileColumn[], bytes: Uint8Array, serde: Record<string, string> = {}): string[] {
  const wanted = columns.map((_, i) => i);
  const rows: string[] = [];
  for (const batch of readText('f', memorySource(bytes), columns, wanted, textFormat(serde))) {
    const root: StructVector = { kind: 'struct', length: batch.length, fieldNames: [], children: batch.columns };
    for (let row = 0; row < batch.length; row++)
      rows.push(
        formatRow(
          columns.map((c) => c.type),
          root,
          row,
        ),
      );
  }
  return rows;
}

describe('text files as Hive 4.0.1 writes them', () => {
  const escaped = {
    'field.delim': ',',
    'escape.delim': '\\',
    'collection.delim': '|',
    'serialization.null.format': 'NIL',
  };

  it('escapes delimiters', async () => {
    const columns = columnsOf('k:int,a:string,b:array<string>');
    const bytes = await written(columns, [[1, 'a,b\\c|d', ['x,y', 'p|q', null, '']]], escaped);
    expect(new TextDecoder().decode(bytes)).toBe('1,a\\,b\\\\c\\|d,x\\,y|p\\|q|NIL|\n');
    expect(readBack(columns, bytes, escaped)).toEqual(['1\ta,b\\c|d\t["x,y","p|q",null,""]']);
  });

  it('keeps line ends where there is an escape', async () => {
    const columns = columnsOf('a:string,b:string');
    const bytes = await written(columns, [['x\ny\rz', 'end']], escaped);
    expect(readBack(columns, bytes, escaped)).toEqual(['x\ny\rz\tend']);
  });

  it('nests with the next separators', async () => {
    const columns = columnsOf('m:map<string,array<int>>,s:struct<x:int,y:array<array<string>>>');
    const bytes = await written(columns, [[new Map([['k', [1, 2]]]), [7, [['a', 'b'], ['c']]]]]);
    expect(new TextDecoder().decode(bytes)).toBe('k\x031\x042\x017\x02a\x04b\x03c\n');
    expect(readBack(columns, bytes)).toEqual(['{"k":[1,2]}\t{"x":7,"y":[["a","b"],["c"]]}']);
  });
});

it('reads lines across windows', () => {
  const long = 'x'.repeat((1 << 20) - 3);
  // The first line's \r ends a window, its \n starts the next.
  const bytes = new TextEncoder().encode(`1,${long}\r\n2,b\r3,c`);
  const columns = columnsOf('k:int,a:string');
  const rows = readBack(columns, bytes, { 'field.delim': ',' });
  expect(rows.map((row) => row.slice(0, 5))).toEqual(['1\txxx', '2\tb', '3\tc']);
  expect(rows[0].length).toBe(long.length + 2);
});

it('reads more rows than a batch has', () => {
  const count = 20_000;
  const lines = Array.from({ length: count }, (_, i) => (i % 7 === 0 ? `\\N,${i}` : `${i},${i}`)).join('\n');
  const rows = readBack(columnsOf('k:int,a:bigint'), new TextEncoder().encode(lines), { 'field.delim': ',' });
  expect(rows.length).toBe(count);
  expect([rows[7], rows[8], rows[19_998]]).toEqual(['NULL\t7', '8\t8', '19998\t19998']);
});

it('takes delimiters as characters or as numbers of bytes', () => {
  expect([...textFormat({ 'serialization.format': '1' }).separators]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(textFormat({ 'field.delim': '\t', 'serialization.format': '1' }).separators[0]).toBe(9);
  expect(textFormat({ 'field.delim': '-2' }).separators[0]).toBe(254);
  expect(textFormat({ 'hive.serialization.extend.nesting.levels': 'true' }).separators.length).toBe(24);
  expect(textFormat({ 'hive.serialization.extend.additional.nesting.levels': 'true' }).separators.length).toBe(154);
});

it('reads short decimals as Number does', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  for (const text of ['0', '-0.0', '1.005', '123456789012.345', '0.00000000000001', '999999999999999', '-.5', '5.']) {
    expect(Object.is(parseShortDecimal(bytes(text)), Number(text)), text).toBe(true);
  }
  for (const text of ['', '-', '.', '1e3', '1.2.3', '0.1234567890123456']) {
    expect(parseShortDecimal(bytes(text)), text).toBeUndefined();
  }
});
