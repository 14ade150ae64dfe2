import { parseType, typeToString } from '@skep/orc';
import {
  type DataType,
  Dictionary,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import type { TableShape } from './data-source.js';
import { incomingColumns, missingColumns } from './incoming.js';

const shapeOf = (type: string, partitionColumns: readonly string[] = []): TableShape => {
  const struct = parseType(type);
  const columns = struct.children.map((child, i) => ({ name: struct.fieldNames[i], type: child }));
  return { database: 'default', table: 't', columns, partitionColumns, hasRowIds: true };
};

const list = (type: DataType) => new List(new Field('item', type, true));
const map = (key: DataType, value: DataType) =>
  new Map_(new Field('entries', new Struct([new Field('key', key), new Field('value', value, true)]) as never, false));

/** As which type a column of a client is read, of a table with that one. */
function readAs(type: DataType, target: string): string {
  const [column] = incomingColumns(new Schema([new Field('A', type, true)]), shapeOf(`struct<a:${target}>`), new Set());
  return typeToString(column.type);
}

describe('columns of a client', () => {
  it.each<readonly [DataType, string, string]>([
    // Integers are looked at one by one, where they may not fit.
    [new Int64(), 'tinyint', 'tinyint'],
    [new Uint64(), 'int', 'int'],
    [list(new Int64()), 'array<int>', 'array<int>'],
    [map(new Utf8(), new Int64()), 'map<string,int>', 'map<string,int>'],
    [new Dictionary(new Utf8(), new Int32()), 'string', 'string'],
    // A list of nothing is a list of anything.
    [new Null(), 'array<int>', 'array<int>'],
    [list(new Null()), 'array<struct<x:int>>', 'array<struct<x:int>>'],
    // Fields go by name.
    [
      new Struct([new Field('Y', new Utf8(), true), new Field('X', new Int64(), true)]),
      'struct<x:int,y:string>',
      'struct<x:int,y:string>',
    ],
    // What INSERT has to convert comes as it is.
    [new Utf8(), 'char(3)', 'string'],
    [new Utf8(), 'int', 'string'],
    [list(new Utf8()), 'array<int>', 'array<string>'],
    [new Struct([new Field('z', new Int32(), true)]), 'struct<x:int>', 'struct<z:int>'],
  ])('%s for %s is read as %s', (type, target, expected) => {
    expect(readAs(type, target)).toBe(expected);
  });

  it('tell what the table has beyond them', () => {
    const shape = shapeOf('struct<a:int,b:int,k:int>', ['k']);
    const columns = incomingColumns(new Schema([new Field('B', new Int32(), true)]), shape, new Set());
    expect(missingColumns(columns, shape)).toEqual(['a']);
  });
});
