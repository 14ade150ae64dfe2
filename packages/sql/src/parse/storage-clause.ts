import type { Node, Property, RowFormat, StorageFormat } from './ast.js';
import type { Cursor } from './cursor.js';

/** `('k'='v', …)` of TBLPROPERTIES and its like (Hive: `tableProperties`). */
export function parseProperties(cursor: Cursor): Property[] {
  return cursor.parenthesised('table properties list', () => {
    const start = cursor.index;
    const key = parseKey(cursor);
    cursor.expect('specifying key/value property', '=');
    const value = cursor.string('specifying key/value property');
    return { key, value, position: cursor.position(start) };
  });
}

/** `('k', …)` of UNSET; a value behind a key is read and ignored, as Hive does. */
export function parsePropertyKeys(cursor: Cursor): string[] {
  return cursor.parenthesised('table properties list', () => {
    const key = parseKey(cursor);
    if (cursor.accept('=')) cursor.string('specifying key/value property');
    return key;
  });
}

function parseKey(cursor: Cursor): string {
  return cursor.acceptString() ?? cursor.fail('table properties list');
}

/** TBLPROPERTIES (…), or nothing. */
export function parseTableProperties(cursor: Cursor): Property[] {
  return cursor.accept('tblproperties') ? parseProperties(cursor) : [];
}

/** ROW FORMAT SERDE … or DELIMITED …, or nothing. */
export function parseRowFormat(cursor: Cursor): RowFormat | undefined {
  const rule = 'table row format specification';
  const start = cursor.index;
  if (!cursor.accept('row')) return undefined;
  cursor.expect(rule, 'format');
  if (cursor.accept('serde')) {
    const serde = cursor.string('serde specification');
    const properties = parseSerdeProperties(cursor);
    return { kind: 'serde', serde, properties, position: cursor.position(start) };
  }
  if (!cursor.accept('delimited')) cursor.fail(rule, start);
  const delimited = parseDelimited(cursor);
  return { kind: 'delimited', ...delimited, position: cursor.position(start) };
}

type Delimited = Omit<Extract<RowFormat, { kind: 'delimited' }>, 'kind' | keyof Node>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

function parseDelimited(cursor: Cursor): Delimited {
  const rule = 'table row format specification';
  const format: Writable<Delimited> = {};
  for (;;) {
    if (cursor.accept('fields', 'terminated', 'by')) {
      format.fieldsTerminatedBy = cursor.string(rule);
      if (cursor.accept('escaped', 'by')) format.escapedBy = cursor.string(rule);
    } else if (cursor.accept('collection', 'items', 'terminated', 'by')) {
      format.collectionItemsTerminatedBy = cursor.string(rule);
    } else if (cursor.accept('map', 'keys', 'terminated', 'by')) {
      format.mapKeysTerminatedBy = cursor.string(rule);
    } else if (cursor.accept('lines', 'terminated', 'by')) {
      format.linesTerminatedBy = cursor.string(rule);
    } else if (cursor.accept('null', 'defined', 'as')) {
      format.nullDefinedAs = cursor.string(rule);
    } else {
      return format;
    }
  }
}

/** WITH SERDEPROPERTIES (…), or nothing. */
export function parseSerdeProperties(cursor: Cursor): Property[] {
  return cursor.accept('with', 'serdeproperties') ? parseProperties(cursor) : [];
}

/** STORED AS … or STORED BY …, or nothing. */
export function parseStorage(cursor: Cursor): StorageFormat | undefined {
  const start = cursor.index;
  if (cursor.accept('stored', 'as')) return parseFormat(cursor, start);
  if (!cursor.accept('stored', 'by')) return undefined;
  const rule = 'table file format specification';
  const handler = cursor.acceptString() ?? cursor.identifier(rule).name.toLowerCase();
  const properties = parseSerdeProperties(cursor);
  const storedAs = cursor.accept('stored', 'as') ? cursor.identifier(rule).name.toLowerCase() : undefined;
  return { kind: 'handler', handler, properties, ...(storedAs && { storedAs }), position: cursor.position(start) };
}

/** `ORC`, or `INPUTFORMAT 'class' OUTPUTFORMAT 'class'` (also of SET FILEFORMAT). */
export function parseFormat(cursor: Cursor, start = cursor.index): StorageFormat {
  const rule = 'file format specification';
  if (!cursor.accept('inputformat')) {
    const name = cursor.identifier(rule).name.toLowerCase();
    return { kind: 'format', name, position: cursor.position(start) };
  }
  const inputFormat = cursor.string(rule);
  cursor.expect(rule, 'outputformat');
  const outputFormat = cursor.string(rule);
  if (cursor.accept('serde')) {
    // ALTER TABLE … SET FILEFORMAT INPUTFORMAT … OUTPUTFORMAT … SERDE: the serde is set by its own statement here.
    cursor.string(rule);
  }
  const inputDriver = cursor.accept('inputdriver') ? cursor.string(rule) : undefined;
  const outputDriver = cursor.accept('outputdriver') ? cursor.string(rule) : undefined;
  return {
    kind: 'classes',
    inputFormat,
    outputFormat,
    ...(inputDriver && { inputDriver }),
    ...(outputDriver && { outputDriver }),
    position: cursor.position(start),
  };
}
