import { UnsupportedFormatError } from '../errors.js';

/** How rows stand in a text file (org.apache.hadoop.hive.serde2.lazy.LazySerDeParameters). */
export interface TextFormat {
  /** By nesting level: fields, then items of collections, then map keys, and so on. */
  readonly separators: Uint8Array;
  readonly escapeByte: number | undefined;
  /** The bytes that stand for NULL. */
  readonly nullText: Uint8Array;
  /** The last column takes what is left of the line, separators included. */
  readonly lastColumnTakesRest: boolean;
  /** Written after each row; on reading \n, \r and \r\n all end lines (org.apache.hadoop.util.LineReader). */
  readonly lineEnd: number;
  /** Lines to leave out at the start and at the end of each file. */
  readonly headerLines: number;
  readonly footerLines: number;
}

const ENCODER = new TextEncoder();
const extendNesting = 'hive.serialization.extend.nesting.levels';
const extendAdditionalNesting = 'hive.serialization.extend.additional.nesting.levels';

/** The format that SerDe parameters (and the table's skip.* properties) describe. */
export function textFormat(
  serdeParameters: Readonly<Record<string, string>>,
  tableProperties: Readonly<Record<string, string>> = {},
): TextFormat {
  // Hive hands its SerDes the table's properties and the SerDe's own in one, the SerDe's winning.
  const properties = { ...tableProperties, ...serdeParameters };
  const encoding = properties['serialization.encoding'];
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) throw new UnsupportedFormatError(`Text in ${encoding}`);
  const escapeByte = properties['escape.delim'];
  return {
    separators: separators(properties),
    escapeByte: escapeByte === undefined ? undefined : delimiter(escapeByte, 0x5c),
    nullText: ENCODER.encode(properties['serialization.null.format'] ?? '\\N'),
    lastColumnTakesRest: properties['serialization.last.column.takes.rest']?.toLowerCase() === 'true',
    lineEnd: delimiter(properties['line.delim'], 0x0a),
    headerLines: lines(properties, 'skip.header.line.count'),
    footerLines: lines(properties, 'skip.footer.line.count'),
  };
}

/** Three that can be chosen, then control characters that are unlikely in text. */
function separators(properties: Readonly<Record<string, string>>): Uint8Array {
  const all = [
    delimiter(properties['field.delim'] ?? properties['serialization.format'], 1),
    // Hive 3 and before wrote the second one with a slip of the pen (HIVE-16922).
    delimiter(properties['collection.delim'] ?? properties['colelction.delim'], 2),
    delimiter(properties['mapkey.delim'], 3),
  ];
  const isTrue = (name: string) => properties[name]?.toLowerCase() === 'true';
  const count = isTrue(extendAdditionalNesting) ? 154 : isTrue(extendNesting) ? 24 : 8;
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return Uint8Array.from([...all, ...range(4, 8), 11, ...range(14, 26), ...range(28, 31), ...range(128, 255)]).subarray(
    0,
    count,
  );
}

/** A byte's number, or the character itself (LazyUtils.getByte). */
function delimiter(text: string | undefined, otherwise: number): number {
  if (text === undefined || text === '') return otherwise;
  if (/^[+-]?\d+$/.test(text) && Number(text) >= -128 && Number(text) <= 127) return Number(text) & 0xff;
  return text.charCodeAt(0) & 0xff;
}

function lines(properties: Readonly<Record<string, string>>, name: string): number {
  const count = Number(properties[name] ?? 0);
  if (!Number.isSafeInteger(count) || count < 0) throw new UnsupportedFormatError(`${name} = ${properties[name]}`);
  return count;
}
