import type { PrimitiveTypeName, StructType, TypeNode } from './ast.js';
import type { Cursor } from './cursor.js';

const PRIMITIVES: Readonly<Record<string, PrimitiveTypeName>> = {
  boolean: 'boolean',
  tinyint: 'tinyint',
  smallint: 'smallint',
  int: 'int',
  integer: 'int',
  bigint: 'bigint',
  float: 'float',
  real: 'float',
  double: 'double',
  string: 'string',
  binary: 'binary',
  date: 'date',
  timestamp: 'timestamp',
  timestamplocaltz: 'timestamp with local time zone',
  void: 'void',
  interval_year_month: 'interval_year_month',
  interval_day_time: 'interval_day_time',
};

/** A type, Hive's `colType`: the scalar ones with their synonyms, and array, map, struct and uniontype of any depth. */
export function parseType(cursor: Cursor, rule = 'column type'): TypeNode {
  return cursor.nested(() => parseAnyType(cursor, rule));
}

function parseAnyType(cursor: Cursor, rule: string): TypeNode {
  const start = cursor.index;
  const word = cursor.word();
  const primitive = Object.hasOwn(PRIMITIVES, word) ? PRIMITIVES[word] : undefined;
  if (primitive !== undefined) {
    cursor.index++;
    if (word === 'double') cursor.accept('precision');
    const zoned = word === 'timestamp' && cursor.accept('with', 'local', 'time', 'zone');
    const name = zoned ? 'timestamp with local time zone' : primitive;
    return { kind: 'primitive', name, position: cursor.position(start) };
  }
  switch (word) {
    case 'decimal':
    case 'dec':
    case 'numeric': {
      cursor.index++;
      let precision = 10;
      let scale = 0;
      if (cursor.accept('(')) {
        precision = cursor.integer(rule);
        if (cursor.accept(',')) scale = cursor.integer(rule);
        cursor.expect(rule, ')');
      }
      return { kind: 'decimal', precision, scale, position: cursor.position(start) };
    }
    case 'char':
    case 'varchar': {
      cursor.index++;
      cursor.expect(rule, '(');
      const length = cursor.integer(rule);
      cursor.expect(rule, ')');
      return { kind: word, length, position: cursor.position(start) };
    }
    case 'array': {
      cursor.index++;
      cursor.expect('list type', '<');
      const element = parseType(cursor);
      closeAngle(cursor, 'list type');
      return { kind: 'array', element, position: cursor.position(start) };
    }
    case 'map': {
      cursor.index++;
      cursor.expect('map type', '<');
      const key = parseType(cursor);
      cursor.expect('map type', ',');
      const value = parseType(cursor);
      closeAngle(cursor, 'map type');
      return { kind: 'map', key, value, position: cursor.position(start) };
    }
    case 'struct': {
      cursor.index++;
      cursor.expect('struct type', '<');
      const fields = cursor.list(() => parseField(cursor));
      closeAngle(cursor, 'struct type');
      return { kind: 'struct', fields, position: cursor.position(start) };
    }
    case 'uniontype': {
      cursor.index++;
      cursor.expect('uniontype type', '<');
      const alternatives = cursor.list(() => parseType(cursor));
      closeAngle(cursor, 'uniontype type');
      return { kind: 'uniontype', alternatives, position: cursor.position(start) };
    }
    default:
      return cursor.fail(rule);
  }
}

function parseField(cursor: Cursor): StructType['fields'][number] {
  const name = cursor.identifier('column specification').name;
  cursor.expect('column specification', ':');
  const type = parseType(cursor);
  const comment = cursor.accept('comment') ? cursor.string('column specification') : undefined;
  return comment === undefined ? { name, type } : { name, type, comment };
}

function closeAngle(cursor: Cursor, rule: string): void {
  cursor.expect(rule, '>');
}

/** The type as Hive prints and stores it: `decimal(10,0)`, `map<string,int>`, `struct<x:int,y:string>`; field names in lower case. */
export function printType(type: TypeNode): string {
  switch (type.kind) {
    case 'primitive':
      return type.name;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'char':
    case 'varchar':
      return `${type.kind}(${type.length})`;
    case 'array':
      return `array<${printType(type.element)}>`;
    case 'map':
      return `map<${printType(type.key)},${printType(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map((f) => `${f.name.toLowerCase()}:${printType(f.type)}`).join(',')}>`;
    case 'uniontype':
      return `uniontype<${type.alternatives.map(printType).join(',')}>`;
  }
}
