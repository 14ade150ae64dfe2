import { InvalidTypeError } from './errors.js';
import {
  createChar,
  createDecimal,
  createList,
  createMap,
  createPrimitive,
  createStruct,
  createUnion,
  createVarchar,
  type SimpleKind,
  type TypeDescription,
} from './type-description.js';

const NAME_OF_KIND: Record<SimpleKind, string> = {
  boolean: 'boolean',
  byte: 'tinyint',
  short: 'smallint',
  int: 'int',
  long: 'bigint',
  float: 'float',
  double: 'double',
  string: 'string',
  binary: 'binary',
  date: 'date',
  timestamp: 'timestamp',
  timestamp_instant: 'timestamp with local time zone',
};
const KIND_OF_NAME = new Map<string, SimpleKind>([
  ...(Object.entries(NAME_OF_KIND) as [SimpleKind, string][]).map(([kind, name]) => [name, kind] as const),
  ['integer', 'int'],
  ['timestamplocaltz', 'timestamp_instant'],
]);
const DEEPEST = 500;

/** ORC's text of a type, which is Hive's (Java: TypeDescription.toString). */
export function typeToString(type: TypeDescription): string {
  const children = type.children.map(typeToString);
  switch (type.kind) {
    case 'char':
    case 'varchar':
      return `${type.kind}(${type.maximumLength})`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'list':
      return `array<${children[0]}>`;
    case 'map':
      return `map<${children.join(',')}>`;
    case 'union':
      return `uniontype<${children.join(',')}>`;
    case 'struct':
      return `struct<${children.map((child, i) => `${quoteName(type.fieldNames[i])}:${child}`).join(',')}>`;
    default:
      return NAME_OF_KIND[type.kind];
  }
}

function quoteName(name: string): string {
  return /^[A-Za-z0-9_]+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

/**
 * Reads ORC's and Hive's text of a type; keywords in any case, field names kept as they are written, backticks around
 * names with other characters (doubled inside). `decimal` without parameters is decimal(38,10), as in ORC.
 */
export function parseType(text: string): TypeDescription {
  const cursor = { text, at: 0 };
  const type = parse(cursor, 0);
  skipBlanks(cursor);
  if (cursor.at < text.length) throw new InvalidTypeError(text, cursor.at, 'the type ends before this');
  return type;
}

interface Cursor {
  readonly text: string;
  at: number;
}

function parse(cursor: Cursor, depth: number): TypeDescription {
  if (depth > DEEPEST) throw new InvalidTypeError(cursor.text, cursor.at, 'nested too deep');
  skipBlanks(cursor);
  const start = cursor.at;
  const name = word(cursor);
  switch (name) {
    case 'char':
      return createChar(parameters(cursor, 1, 1, 255)[0]);
    case 'varchar':
      return createVarchar(parameters(cursor, 1, 1, 65535)[0]);
    case 'decimal':
    case 'dec':
    case 'numeric': {
      if (!peek(cursor, '(')) return createDecimal(38, 10);
      const at = cursor.at;
      const [precision, scale = 0] = parameters(cursor, 2, 0, 38);
      if (precision < 1 || scale > precision) throw new InvalidTypeError(cursor.text, at, 'scale above precision');
      return createDecimal(precision, scale);
    }
    case 'array': {
      expect(cursor, '<');
      const element = parse(cursor, depth + 1);
      expect(cursor, '>');
      return createList(element);
    }
    case 'map': {
      expect(cursor, '<');
      const key = parse(cursor, depth + 1);
      expect(cursor, ',');
      const value = parse(cursor, depth + 1);
      expect(cursor, '>');
      return createMap(key, value);
    }
    case 'uniontype': {
      return createUnion(sequence(cursor, () => parse(cursor, depth + 1)));
    }
    case 'struct': {
      return createStruct(
        sequence(cursor, () => {
          const field = fieldName(cursor);
          expect(cursor, ':');
          return [field, parse(cursor, depth + 1)] as const;
        }),
      );
    }
    case 'timestamp': {
      const zone = /^\s+with\s+local\s+time\s+zone\b/i.exec(cursor.text.slice(cursor.at));
      if (zone === null) return createPrimitive('timestamp');
      cursor.at += zone[0].length;
      return createPrimitive('timestamp_instant');
    }
    case 'double': {
      const precision = /^\s+precision\b/i.exec(cursor.text.slice(cursor.at));
      if (precision !== null) cursor.at += precision[0].length;
      return createPrimitive('double');
    }
    default: {
      const kind = KIND_OF_NAME.get(name);
      if (kind === undefined) throw new InvalidTypeError(cursor.text, start, `no type '${name}'`);
      return createPrimitive(kind);
    }
  }
}

function skipBlanks(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && /\s/.test(cursor.text[cursor.at])) cursor.at++;
}

function word(cursor: Cursor): string {
  const match = /^[A-Za-z_0-9]+/.exec(cursor.text.slice(cursor.at, cursor.at + 64));
  if (match === null) throw new InvalidTypeError(cursor.text, cursor.at, 'a type name is missing');
  cursor.at += match[0].length;
  return match[0].toLowerCase();
}

function peek(cursor: Cursor, character: string): boolean {
  skipBlanks(cursor);
  return cursor.text[cursor.at] === character;
}

function expect(cursor: Cursor, character: string): void {
  if (!peek(cursor, character)) throw new InvalidTypeError(cursor.text, cursor.at, `'${character}' is missing`);
  cursor.at++;
}

/** `<item,item,…>`, possibly empty. */
function sequence<T>(cursor: Cursor, item: () => T): T[] {
  expect(cursor, '<');
  const items: T[] = [];
  if (peek(cursor, '>')) {
    cursor.at++;
    return items;
  }
  for (;;) {
    items.push(item());
    if (peek(cursor, ',')) {
      cursor.at++;
      continue;
    }
    expect(cursor, '>');
    return items;
  }
}

function parameters(cursor: Cursor, most: number, low: number, high: number): number[] {
  expect(cursor, '(');
  const values: number[] = [];
  do {
    skipBlanks(cursor);
    const digits = /^\d{1,9}/.exec(cursor.text.slice(cursor.at, cursor.at + 9));
    const value = digits === null ? Number.NaN : Number(digits[0]);
    if (!(value >= low && value <= high)) {
      throw new InvalidTypeError(cursor.text, cursor.at, `a number from ${low} to ${high} is missing`);
    }
    values.push(value);
    cursor.at += digits === null ? 0 : digits[0].length;
  } while (values.length < most && peek(cursor, ',') && cursor.at++ >= 0);
  expect(cursor, ')');
  return values;
}

function fieldName(cursor: Cursor): string {
  if (peek(cursor, '`')) {
    const start = cursor.at;
    let name = '';
    for (cursor.at++; ; cursor.at++) {
      if (cursor.at >= cursor.text.length) throw new InvalidTypeError(cursor.text, start, 'the name is not closed');
      if (cursor.text[cursor.at] !== '`') name += cursor.text[cursor.at];
      else if (cursor.text[cursor.at + 1] === '`') name += cursor.text[cursor.at++];
      else break;
    }
    cursor.at++;
    return name;
  }
  const match = /^[^:<>,`()]+/.exec(cursor.text.slice(cursor.at));
  if (match === null) throw new InvalidTypeError(cursor.text, cursor.at, 'a field name is missing');
  cursor.at += match[0].length;
  return match[0].trimEnd();
}
