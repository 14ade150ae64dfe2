import { bitmapBytes, type ColumnVector, setBit, type TypeDescription } from '@skep/orc';
import type { HiveType } from '../../types/hive-type.js';
import { toTypeDescription } from '../../types/orc-type.js';
import { UnsupportedFormatError } from '../errors.js';
import {
  parseBinary,
  parseBoolean,
  parseDateText,
  parseDecimal,
  parseFloating,
  parseInstantText,
  parseShortDecimal,
  parseTimestampText,
} from './parse-text.js';
import { IntegerColumn, LongColumn, ParsedColumn, StringColumn, type TextColumn } from './text-columns.js';
import type { TextFormat } from './text-format.js';

const LATIN = new TextDecoder('latin1');

/** A column of a type whose values are separated by the format's separators from `level` on (LazyFactory). */
export function textColumn(type: HiveType, format: TextFormat, level = 1): TextColumn {
  const parsed = (parse: (text: string) => ReturnType<typeof parseBinary>) =>
    new ParsedColumn(toTypeDescription(type), (bytes) => parse(LATIN.decode(bytes)));
  switch (type.kind) {
    case 'boolean':
      return parsed(parseBoolean);
    case 'tinyint':
      return new IntegerColumn('byte');
    case 'smallint':
      return new IntegerColumn('short');
    case 'int':
      return new IntegerColumn('int');
    case 'bigint':
      return new LongColumn();
    case 'float':
    case 'double':
      return new ParsedColumn(
        toTypeDescription(type),
        (bytes) => parseShortDecimal(bytes) ?? parseFloating(LATIN.decode(bytes)),
      );
    case 'decimal':
      return parsed((text) => parseDecimal(text, type.precision, type.scale));
    case 'date':
      return parsed(parseDateText);
    case 'timestamp':
      return parsed(parseTimestampText);
    case 'timestamp with local time zone':
      return parsed(parseInstantText);
    case 'string':
      return new StringColumn('string', undefined, format.escapeByte);
    case 'char':
    case 'varchar':
      return new StringColumn(type.kind, type.length, format.escapeByte);
    case 'binary':
      return new ParsedColumn(toTypeDescription(type), parseBinary);
    case 'array':
      return new ListColumn(textColumn(type.element, format, level + 1), format, level);
    case 'map':
      return new MapColumn(
        textColumn(type.key, format, level + 2),
        textColumn(type.value, format, level + 2),
        format,
        level,
      );
    case 'struct':
      return new StructColumn(
        type.fields.map((field) => field.name),
        type.fields.map((field) => textColumn(field.type, format, level + 1)),
        format,
        level,
      );
    case 'uniontype':
      return new UnionColumn(
        type.alternatives.map((alternative) => textColumn(alternative, format, level + 1)),
        format,
        level,
        toTypeDescription(type),
      );
    default:
      throw new UnsupportedFormatError(`A column of type ${type.kind} in text files`);
  }
}

export function separatorOf(format: TextFormat, level: number): number {
  const separator = format.separators[level];
  if (separator === undefined) {
    throw new UnsupportedFormatError(
      `Nesting deeper than ${format.separators.length - 1} levels in text (SerDe parameter hive.serialization.extend.nesting.levels)`,
    );
  }
  return separator;
}

/** The end of the item that starts at `start`: the next separator that is not escaped, or `end`. */
export function itemEnd(
  bytes: Uint8Array,
  start: number,
  end: number,
  separator: number,
  escapeByte: number | undefined,
): number {
  let at = start;
  if (escapeByte === undefined) {
    while (at < end && bytes[at] !== separator) at++;
    return at;
  }
  while (at < end && bytes[at] !== separator) at += bytes[at] === escapeByte && at + 1 < end ? 2 : 1;
  return at;
}

/** A field or item: NULL where its bytes are those that stand for it. */
export function appendItem(
  column: TextColumn,
  format: TextFormat,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (!isNullText(format, bytes, start, end)) return column.append(bytes, start, end);
  column.appendNull();
  return false;
}

function isNullText({ nullText }: TextFormat, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== nullText.length) return false;
  for (let i = 0; i < nullText.length; i++) if (bytes[start + i] !== nullText[i]) return false;
  return true;
}

/** Which rows have a value. */
class Rows {
  private present: boolean[] = [];

  get length(): number {
    return this.present.length;
  }

  add(isPresent: boolean): void {
    this.present.push(isPresent);
  }

  drop(): void {
    this.present.pop();
  }

  take(): { length: number; validity: Uint8Array | undefined } {
    const { present } = this;
    this.present = [];
    if (!present.includes(false)) return { length: present.length, validity: undefined };
    const validity = new Uint8Array(bitmapBytes(present.length));
    present.forEach((isPresent, row) => {
      if (isPresent) setBit(validity, row);
    });
    return { length: present.length, validity };
  }
}

/** LazyArray: no bytes, no elements. */
class ListColumn implements TextColumn {
  private readonly rows = new Rows();
  private offsets: number[] = [0];
  private readonly separator: number;

  constructor(
    private readonly elements: TextColumn,
    private readonly format: TextFormat,
    level: number,
  ) {
    this.separator = separatorOf(format, level);
  }

  get length(): number {
    return this.rows.length;
  }

  append(bytes: Uint8Array, start: number, end: number): boolean {
    for (let at = start; start < end && at <= end; ) {
      const to = itemEnd(bytes, at, end, this.separator, this.format.escapeByte);
      appendItem(this.elements, this.format, bytes, at, to);
      at = to + 1;
    }
    this.put(true);
    return true;
  }

  appendNull(): void {
    this.put(false);
  }

  dropLast(): void {
    this.rows.drop();
    this.offsets.pop();
    while (this.elements.length > this.offsets[this.offsets.length - 1]) this.elements.dropLast();
  }

  build(): ColumnVector {
    const offsets = Int32Array.from(this.offsets);
    this.offsets = [0];
    return { kind: 'list', ...this.rows.take(), offsets, child: this.elements.build() };
  }

  private put(isPresent: boolean): void {
    this.rows.add(isPresent);
    this.offsets.push(this.elements.length);
  }
}

/** LazyMap: keys that are NULL, and those that were there before, are left out. */
class MapColumn implements TextColumn {
  private readonly rows = new Rows();
  private offsets: number[] = [0];
  private readonly separator: number;
  private readonly keySeparator: number;

  constructor(
    private readonly keys: TextColumn,
    private readonly values: TextColumn,
    private readonly format: TextFormat,
    level: number,
  ) {
    this.separator = separatorOf(format, level);
    this.keySeparator = separatorOf(format, level + 1);
  }

  get length(): number {
    return this.rows.length;
  }

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const seen = new Set<string>();
    for (let at = start; start < end && at <= end; ) {
      const to = itemEnd(bytes, at, end, this.separator, this.format.escapeByte);
      this.appendEntry(bytes, at, to, seen);
      at = to + 1;
    }
    this.put(true);
    return true;
  }

  appendNull(): void {
    this.put(false);
  }

  dropLast(): void {
    this.rows.drop();
    this.offsets.pop();
    for (const column of [this.keys, this.values]) {
      while (column.length > this.offsets[this.offsets.length - 1]) column.dropLast();
    }
  }

  build(): ColumnVector {
    const offsets = Int32Array.from(this.offsets);
    this.offsets = [0];
    return { kind: 'map', ...this.rows.take(), offsets, keys: this.keys.build(), values: this.values.build() };
  }

  private appendEntry(bytes: Uint8Array, start: number, end: number, seen: Set<string>): void {
    // Without a key separator all is key, and the value is NULL.
    const keyEnd = itemEnd(bytes, start, end, this.keySeparator, this.format.escapeByte);
    const key = LATIN.decode(bytes.subarray(start, keyEnd));
    if (seen.has(key)) return;
    if (!appendItem(this.keys, this.format, bytes, start, keyEnd)) {
      this.keys.dropLast();
      return;
    }
    seen.add(key);
    if (keyEnd < end) appendItem(this.values, this.format, bytes, keyEnd + 1, end);
    else this.values.appendNull();
  }

  private put(isPresent: boolean): void {
    this.rows.add(isPresent);
    this.offsets.push(this.keys.length);
  }
}

/** LazyStruct: fields that are missing are NULL, those too many are left out. */
class StructColumn implements TextColumn {
  private readonly rows = new Rows();
  private readonly separator: number;

  constructor(
    private readonly names: readonly string[],
    private readonly fields: readonly TextColumn[],
    private readonly format: TextFormat,
    level: number,
  ) {
    this.separator = separatorOf(format, level);
  }

  get length(): number {
    return this.rows.length;
  }

  append(bytes: Uint8Array, start: number, end: number): boolean {
    let at = start;
    for (const field of this.fields) {
      if (at > end) {
        field.appendNull();
        continue;
      }
      const to = itemEnd(bytes, at, end, this.separator, this.format.escapeByte);
      appendItem(field, this.format, bytes, at, to);
      at = to + 1;
    }
    this.rows.add(true);
    return true;
  }

  appendNull(): void {
    for (const field of this.fields) field.appendNull();
    this.rows.add(false);
  }

  dropLast(): void {
    for (const field of this.fields) field.dropLast();
    this.rows.drop();
  }

  build(): ColumnVector {
    const children = this.fields.map((field) => field.build());
    return { kind: 'struct', ...this.rows.take(), fieldNames: this.names, children };
  }
}

/** LazyUnion: the alternative's number, then its value. */
class UnionColumn implements TextColumn {
  private readonly rows = new Rows();
  private tags: number[] = [];
  private rowOffsets: number[] = [];
  private readonly separator: number;

  constructor(
    private readonly alternatives: readonly TextColumn[],
    private readonly format: TextFormat,
    level: number,
    readonly type: TypeDescription,
  ) {
    this.separator = separatorOf(format, level);
  }

  get length(): number {
    return this.rows.length;
  }

  append(bytes: Uint8Array, start: number, end: number): boolean {
    const to = itemEnd(bytes, start, end, this.separator, this.format.escapeByte);
    const tag = Number(LATIN.decode(bytes.subarray(start, to)));
    const column = this.alternatives[tag];
    if (column === undefined || to >= end) {
      this.appendNull();
      return false;
    }
    appendItem(column, this.format, bytes, to + 1, end);
    this.put(tag, true);
    return true;
  }

  appendNull(): void {
    this.alternatives[0]?.appendNull();
    this.put(0, false);
  }

  dropLast(): void {
    this.alternatives[this.tags.pop() ?? 0]?.dropLast();
    this.rowOffsets.pop();
    this.rows.drop();
  }

  build(): ColumnVector {
    const tags = Uint8Array.from(this.tags);
    const rowOffsets = Int32Array.from(this.rowOffsets);
    this.tags = [];
    this.rowOffsets = [];
    const children = this.alternatives.map((alternative) => alternative.build());
    return { kind: 'union', ...this.rows.take(), tags, rowOffsets, children };
  }

  private put(tag: number, isPresent: boolean): void {
    this.tags.push(tag);
    this.rowOffsets.push((this.alternatives[tag]?.length ?? 1) - 1);
    this.rows.add(isPresent);
  }
}
