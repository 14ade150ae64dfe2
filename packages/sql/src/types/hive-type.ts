import { SkepError } from '@skep/core';
import type { TypeNode } from '../parse/ast-type.js';

/** Hive's simple types (org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector.PrimitiveCategory). */
export type SimpleTypeKind =
  | 'void'
  | 'boolean'
  | 'tinyint'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'float'
  | 'double'
  | 'string'
  | 'binary'
  | 'date'
  | 'timestamp'
  | 'timestamp with local time zone'
  | 'interval_year_month'
  | 'interval_day_time';

export interface SimpleType {
  readonly kind: SimpleTypeKind;
}
export interface DecimalHiveType {
  readonly kind: 'decimal';
  readonly precision: number;
  readonly scale: number;
}
/** char and varchar: in characters (code points). */
export interface CharacterHiveType {
  readonly kind: 'char' | 'varchar';
  readonly length: number;
}
export interface ArrayHiveType {
  readonly kind: 'array';
  readonly element: HiveType;
}
export interface MapHiveType {
  readonly kind: 'map';
  readonly key: HiveType;
  readonly value: HiveType;
}
export interface StructField {
  readonly name: string;
  readonly type: HiveType;
}
export interface StructHiveType {
  readonly kind: 'struct';
  readonly fields: readonly StructField[];
}
export interface UnionHiveType {
  readonly kind: 'uniontype';
  readonly alternatives: readonly HiveType[];
}

/** A HiveQL type; plain data, compare with `sameType`. */
export type HiveType =
  | SimpleType
  | DecimalHiveType
  | CharacterHiveType
  | ArrayHiveType
  | MapHiveType
  | StructHiveType
  | UnionHiveType;

const simple = (kind: SimpleTypeKind): SimpleType => Object.freeze({ kind });

export const VOID = simple('void');
export const BOOLEAN = simple('boolean');
export const TINYINT = simple('tinyint');
export const SMALLINT = simple('smallint');
export const INT = simple('int');
export const BIGINT = simple('bigint');
export const FLOAT = simple('float');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BINARY = simple('binary');
export const DATE = simple('date');
export const TIMESTAMP = simple('timestamp');
export const TIMESTAMPLOCALTZ = simple('timestamp with local time zone');
export const INTERVAL_YEAR_MONTH = simple('interval_year_month');
export const INTERVAL_DAY_TIME = simple('interval_day_time');
export const decimal = (precision: number, scale: number): DecimalHiveType => ({ kind: 'decimal', precision, scale });
export const arrayOf = (element: HiveType): ArrayHiveType => ({ kind: 'array', element });
export const mapOf = (key: HiveType, value: HiveType): MapHiveType => ({ kind: 'map', key, value });
export const structOf = (fields: readonly StructField[]): StructHiveType => ({ kind: 'struct', fields });

/** The type of ROW__ID (org.apache.hadoop.hive.ql.io.RecordIdentifier.StructInfo). */
export const ROW_ID_TYPE: StructHiveType = structOf([
  { name: 'writeid', type: BIGINT },
  { name: 'bucketid', type: INT },
  { name: 'rowid', type: BIGINT },
]);

export class TypeLengthError extends SkepError {
  constructor(kind: string, length: number, limit: number) {
    super(
      'SEMANTIC_ERROR',
      'invalid',
      `${kind[0].toUpperCase()}${kind.slice(1)} length ${length} out of allowed range [1, ${limit}]`,
      {
        sqlState: '42000',
      },
    );
  }
}

export class TypeTextError extends SkepError {
  constructor(text: string, at: number, what: string) {
    super('TYPE_TEXT', 'invalid', `type '${text}' at ${at}: ${what}`, { sqlState: '42000' });
  }
}

/** Hive's text of a type (TypeInfo.getTypeName), as DESCRIBE and the metastore have it. */
export function typeName(type: HiveType): string {
  switch (type.kind) {
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'char':
    case 'varchar':
      return `${type.kind}(${type.length})`;
    case 'array':
      return `array<${typeName(type.element)}>`;
    case 'map':
      return `map<${typeName(type.key)},${typeName(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.name}:${typeName(field.type)}`).join(',')}>`;
    case 'uniontype':
      return `uniontype<${type.alternatives.map(typeName).join(',')}>`;
    default:
      return type.kind;
  }
}

export const sameType = (a: HiveType, b: HiveType): boolean => a === b || typeName(a) === typeName(b);

/** The type that a parsed type node means. Struct field names are folded to lower case, as Hive's. */
export function typeOfNode(node: TypeNode): HiveType {
  switch (node.kind) {
    case 'primitive':
      return simple(node.name);
    case 'decimal':
      return decimal(node.precision, node.scale);
    case 'char':
    case 'varchar': {
      const limit = node.kind === 'char' ? 255 : 65535;
      if (node.length >= 1 && node.length <= limit) return { kind: node.kind, length: node.length };
      throw new TypeLengthError(node.kind, node.length, limit);
    }
    case 'array':
      return arrayOf(typeOfNode(node.element));
    case 'map':
      return mapOf(typeOfNode(node.key), typeOfNode(node.value));
    case 'struct':
      return structOf(node.fields.map((f) => ({ name: f.name.toLowerCase(), type: typeOfNode(f.type) })));
    case 'uniontype':
      return { kind: 'uniontype', alternatives: node.alternatives.map(typeOfNode) };
  }
}

const SYNONYMS: Readonly<Record<string, SimpleTypeKind>> = {
  integer: 'int',
  real: 'double',
  timestamplocaltz: 'timestamp with local time zone',
};
const SIMPLE_NAMES = new Set<string>([
  'void',
  'boolean',
  'tinyint',
  'smallint',
  'int',
  'bigint',
  'float',
  'double',
  'string',
  'binary',
  'date',
  'timestamp',
  'interval_year_month',
  'interval_day_time',
]);

/** Reads a metastore type string (TypeInfoUtils.getTypeInfoFromTypeString). */
export function parseTypeName(text: string): HiveType {
  const reader = new TypeReader(text);
  const type = reader.type();
  reader.end();
  return type;
}

class TypeReader {
  private at = 0;

  constructor(private readonly text: string) {}

  type(): HiveType {
    const start = this.at;
    const word = this.match(/\s*([A-Za-z_][A-Za-z_0-9]*)/y)?.toLowerCase();
    if (word === undefined) throw this.fail('a type name is missing');
    switch (word) {
      case 'decimal':
      case 'dec':
      case 'numeric': {
        const [precision = 10, scale = 0] = this.parameters();
        return decimal(precision, scale);
      }
      case 'char':
      case 'varchar': {
        const [length] = this.parameters();
        if (length === undefined) throw this.fail('a length is missing');
        return { kind: word, length };
      }
      case 'array': {
        const [element] = this.list(() => this.type());
        return arrayOf(element);
      }
      case 'map': {
        const [key, value] = this.list(() => this.type());
        return mapOf(key, value);
      }
      case 'uniontype':
        return { kind: 'uniontype', alternatives: this.list(() => this.type()) };
      case 'struct':
        return structOf(this.list(() => this.field()));
      case 'timestamp':
        return this.match(/\s+(with\s+local\s+time\s+zone)\b/iy) === undefined ? TIMESTAMP : TIMESTAMPLOCALTZ;
      case 'double':
        this.match(/\s+(precision)\b/iy);
        return DOUBLE;
      default: {
        const name = SYNONYMS[word] ?? word;
        if (SIMPLE_NAMES.has(name) || name === 'timestamp with local time zone') return simple(name as SimpleTypeKind);
        this.at = start;
        throw this.fail(`no type '${word}'`);
      }
    }
  }

  end(): void {
    this.match(/(\s*)/y);
    if (this.at < this.text.length) throw this.fail('the type ends before this');
  }

  private field(): StructField {
    const quoted = this.match(/\s*`((?:[^`]|``)*)`\s*:/y);
    const name = quoted?.replaceAll('``', '`') ?? this.match(/\s*([^:<>,`]+?)\s*:/y);
    if (name === undefined) throw this.fail('a field name is missing');
    return { name: name.toLowerCase(), type: this.type() };
  }

  private list<T>(item: () => T): T[] {
    if (this.match(/\s*(<)/y) === undefined) throw this.fail("'<' is missing");
    const items = [item()];
    while (this.match(/\s*(,)/y) !== undefined) items.push(item());
    if (this.match(/\s*(>)/y) === undefined) throw this.fail("'>' is missing");
    return items;
  }

  private parameters(): number[] {
    const inner = this.match(/\s*\(([\s\d,]*)\)/y);
    return inner === undefined ? [] : inner.split(',').map(Number);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found[1];
  }

  private fail(what: string): TypeTextError {
    return new TypeTextError(this.text, this.at, what);
  }
}
