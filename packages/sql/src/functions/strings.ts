import { argumentType, wrongArguments } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import { BINARY, type HiveType, INT, STRING, typeName } from '../types/hive-type.js';
import { isText } from '../types/type-rules.js';
import { convertArgument, convertArguments, customFunction, jsFunction, result, sqlFunction } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

const points = (s: string): string[] => [...s];
const UTF8 = new TextEncoder();

/** UPPER and LOWER keep char and varchar. Beyond ASCII they are Java's (ß becomes SS), not DuckDB's. */
const letterCase = (names: string, sqlName: 'upper' | 'lower'): ScalarFunction =>
  customFunction('string', names, 'string', (call) => {
    const [arg] = convertArguments(call, ['any']);
    const type: HiveType = arg.type.kind === 'char' || arg.type.kind === 'varchar' ? arg.type : STRING;
    const text = isText(arg.type) ? arg : call.analysis.cast(arg, STRING);
    const body = sqlName === 'upper' ? (s: string) => s.toUpperCase() : (s: string) => s.toLowerCase();
    const slow = call.analysis.udfs.call(sqlName, [STRING], STRING, [text.sql], (s) => body(s as string));
    return result(
      call,
      type,
      `CASE WHEN strlen(${text.sql}) = length(${text.sql}) THEN ${sqlName}(${text.sql}) ELSE ${slow} END`,
    );
  });

/** Text of all arguments; varchar of all the lengths where all are varchar or char, and one is varchar. */
const concat = customFunction('string', 'concat', 'string*', (call) => {
  const { args } = call;
  if (args.length === 0) return result(call, STRING, "''");
  const texts = args.map((arg) => call.analysis.cast(arg, STRING).sql);
  const sql = texts.length === 1 ? texts[0] : `(${texts.join(' || ')})`;
  const limited = args.flatMap(({ type }) => (type.kind === 'char' || type.kind === 'varchar' ? [type] : []));
  if (limited.length < args.length) return result(call, STRING, sql);
  const length = limited.reduce((sum, type) => sum + type.length, 0);
  if (limited.every((type) => type.kind === 'char')) {
    return result(call, length > 255 ? STRING : { kind: 'char', length }, sql);
  }
  return result(call, length > 65535 ? STRING : { kind: 'varchar', length }, sql);
});

/** NULL arguments are left out, arrays are flattened; only a NULL separator gives NULL. */
const concatWs = customFunction('string', 'concat_ws', 'separator, string or array<string>*', (call) => {
  const [separator, ...rest] = call.args;
  if (separator === undefined || rest.length === 0) convertArguments(call, ['string', 'any', 'any*']);
  if (!isText(separator.type) && separator.type.kind !== 'void') {
    throw argumentType(
      call.analysis.text(separator.position),
      `Argument 1 of function CONCAT_WS must be "string or array<string>", but "${typeName(separator.type)}" was found.`,
      separator.position,
    );
  }
  const lists = rest.map((arg, i) => {
    if (arg.type.kind === 'array' && (isText(arg.type.element) || arg.type.element.kind === 'void'))
      return `coalesce(${call.analysis.cast(arg, { kind: 'array', element: STRING }).sql}, []::VARCHAR[])`;
    if (!isText(arg.type) && arg.type.kind !== 'void') {
      throw argumentType(
        call.analysis.text(arg.position),
        `Argument ${i + 2} of function CONCAT_WS must be "string or array<string>", but "${typeName(arg.type)}" was found.`,
        arg.position,
      );
    }
    return `[${call.analysis.cast(arg, STRING).sql}]`;
  });
  const all = lists.reduce((a, b) => `list_concat(${a}, ${b})`);
  const glue = call.analysis.cast(separator, STRING).sql;
  return result(
    call,
    STRING,
    `CASE WHEN ${glue} IS NULL THEN NULL ELSE coalesce(array_to_string(list_filter(${all}, lambda x: x IS NOT NULL), ${glue}), '') END`,
  );
});

const substr = customFunction('string', 'substr substring mid', 'string or binary, int, int?', (call) => {
  const [text, start, length] = substrArguments(call);
  if (text.type.kind === 'binary') {
    const body = (b: unknown, p: unknown, n: unknown) => sliceBytes(b as Uint8Array, Number(p), Number(n));
    const args = [text.sql, start.sql, length === undefined ? 'CAST(2147483647 AS INTEGER)' : length.sql];
    return result(call, BINARY, call.analysis.udfs.call('substr_binary', [BINARY, INT, INT], BINARY, args, body));
  }
  const args = [text.sql, start.sql, ...(length === undefined ? [] : [length.sql])];
  return result(call, STRING, `hv_substr${length === undefined ? '' : '_n'}(${args.join(', ')})`);
});

function substrArguments(call: Call): Expr[] {
  if (call.args.length < 2 || call.args.length > 3) {
    throw wrongArguments(
      call.analysis.text(call.args[0]?.position ?? call.position),
      `No matching method for class org.apache.hadoop.hive.ql.udf.UDFSubstr with (${call.args.map((arg) => typeName(arg.type)).join(', ')}). Possible choices: _FUNC_(binary, bigint)  _FUNC_(binary, bigint, bigint)  _FUNC_(binary, int)  _FUNC_(binary, int, int)  _FUNC_(string, bigint)  _FUNC_(string, bigint, bigint)  _FUNC_(string, int)  _FUNC_(string, int, int)  `,
      call.position,
    );
  }
  const [text, ...numbers] = call.args;
  const first = text.type.kind === 'binary' ? text : convertArgument(call, text, 'string');
  return [first, ...numbers.map((arg) => convertArgument(call, arg, 'int'))];
}

function sliceBytes(bytes: Uint8Array, position: number, length: number): Uint8Array {
  const start = position > 0 ? position - 1 : position === 0 ? 0 : bytes.length + position;
  if (length <= 0 || start < 0 || start >= bytes.length) return new Uint8Array(0);
  return bytes.subarray(start, Math.min(bytes.length, start + length));
}

const length = customFunction('string', 'length', 'string or binary', (call) => {
  const [arg] = convertArguments(call, ['any']);
  if (arg.type.kind === 'binary') return result(call, INT, `CAST(octet_length(${arg.sql}) AS INTEGER)`);
  if (!isText(arg.type) && arg.type.kind !== 'void') {
    throw wrongArguments(
      call.analysis.text(arg.position),
      ` LENGTH() only takes STRING/CHAR/VARCHAR/BINARY types as first argument, got ${typeName(arg.type).toUpperCase()}`,
      call.position,
    );
  }
  return result(call, INT, `CAST(length(${call.analysis.cast(arg, STRING).sql}) AS INTEGER)`);
});

const octetLength = customFunction('string', 'octet_length', 'string or binary', (call) => {
  const [arg] = convertArguments(call, ['any']);
  if (arg.type.kind === 'binary') return result(call, INT, `CAST(octet_length(${arg.sql}) AS INTEGER)`);
  return result(call, INT, `CAST(strlen(${call.analysis.cast(arg, STRING).sql}) AS INTEGER)`);
});

const trim = (names: string, sqlName: string): ScalarFunction =>
  customFunction('string', names, 'string, characters?', (call) => {
    const [text, characters] = call.args;
    if (text !== undefined && !isText(text.type) && text.type.kind !== 'void') {
      throw wrongArguments(
        call.analysis.text(text.position),
        `${call.name} takes only STRING/CHAR/VARCHAR types. Found ${typeName(text.type).toUpperCase()}`,
        call.position,
      );
    }
    const converted = convertArguments(call, ['string', 'string?']);
    return result(
      call,
      STRING,
      `${sqlName}(${converted[0].sql}, ${characters === undefined ? "' '" : converted[1].sql})`,
    );
  });

/** The place of the nth occurrence from a place on; from the end backwards where that is negative (GenericUDFInstr). */
function instr(text: readonly string[], part: readonly string[], from: number, nth: number): number {
  if (part.length === 0) return 1;
  if (from === 0 || nth < 1) return 0;
  const step = from > 0 ? 1 : -1;
  let found = 0;
  for (let i = from > 0 ? from - 1 : text.length + from; i >= 0 && i < text.length; i += step) {
    if (i + part.length <= text.length && part.every((c, k) => text[i + k] === c) && ++found === nth) return i + 1;
  }
  return 0;
}

/** Characters, not bytes, as the engine's own counts. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, i) => i + 1);
  a.forEach((x, i) => {
    let diagonal = i;
    let left = i + 1;
    row = row.map((above, j) => {
      left = Math.min(left + 1, above + 1, diagonal + (x === b[j] ? 0 : 1));
      diagonal = above;
      return left;
    });
  });
  return b.length === 0 ? a.length : (row[b.length - 1] ?? a.length);
}

const initcap = (s: string): string =>
  s.toLowerCase().replace(/(^|\s)(\S)/gu, (_, before: string, first: string) => before + first.toUpperCase());

const soundexCodes: Readonly<Record<string, string>> = Object.fromEntries(
  ['AEIOUYHW', 'BFPV', 'CGJKQSXZ', 'DT', 'L', 'MN', 'R'].flatMap((letters, code) =>
    [...letters].map((c) => [c, `${code}`]),
  ),
);

/** Apache Commons' Soundex: H and W between letters of one code do not part them. */
function soundex(text: string): string | null {
  // A letter that has no code, as é, gives no value.
  if (/\p{L}/u.test(text.replace(/[A-Za-z]/g, ''))) return null;
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '');
  if (letters === '') return '';
  let code = letters[0];
  let last = soundexCodes[letters[0]];
  for (let i = 1; i < letters.length && code.length < 4; i++) {
    const c = letters[i];
    if (c === 'H' || c === 'W') continue;
    const digit = soundexCodes[c];
    if (digit !== '0' && digit !== last) code += digit;
    last = digit;
  }
  return code.padEnd(4, '0');
}

function translate(text: string, from: string, to: string): string {
  const target = points(to);
  const map = new Map<string, string>();
  points(from).forEach((c, i) => {
    if (!map.has(c)) map.set(c, target[i] ?? '');
  });
  return points(text)
    .map((c) => map.get(c) ?? c)
    .join('');
}

function substringIndex(text: string, delimiter: string, count: number): string {
  if (count === 0 || delimiter === '') return '';
  const parts = text.split(delimiter);
  if (Math.abs(count) >= parts.length) return text;
  return (count > 0 ? parts.slice(0, count) : parts.slice(count)).join(delimiter);
}

export const stringFunctions: readonly ScalarFunction[] = [
  concat,
  concatWs,
  substr,
  length,
  sqlFunction('string', 'character_length char_length', ['string'], INT, (s) => `CAST(length(${s}) AS INTEGER)`),
  octetLength,
  letterCase('upper ucase', 'upper'),
  letterCase('lower lcase', 'lower'),
  trim('trim', 'trim'),
  trim('ltrim', 'ltrim'),
  trim('rtrim', 'rtrim'),
  jsFunction('string', 'initcap', ['string'], STRING, (s) => initcap(s as string)),
  jsFunction('string', 'reverse', ['string'], STRING, (s) =>
    points(s as string)
      .reverse()
      .join(''),
  ),
  customFunction('string', 'instr', 'string, part, from?, nth?', (call) => {
    const args = convertArguments(call, ['string', 'string', 'int?', 'int?']).map((arg) => arg.sql);
    if (args.length === 2) return result(call, INT, `CAST(instr(${args[0]}, ${args[1]}) AS INTEGER)`);
    const all = [...args, ...(args.length === 3 ? ['CAST(1 AS INTEGER)'] : [])];
    const sql = call.analysis.udfs.call('instr', [STRING, STRING, INT, INT], INT, all, (s, part, from, nth) =>
      instr(points(s as string), points(part as string), from as number, nth as number),
    );
    return result(call, INT, sql);
  }),
  jsFunction('string', 'locate', ['string', 'string', 'int?'], INT, (t, s, from) => {
    const start = from === undefined ? 1 : (from as number);
    if (start < 1) return 0;
    const [needle, text] = [points(t as string), points(s as string)];
    // Java's GenericUDFUtils.findText answers the start for an empty needle.
    if (needle.length === 0) return 1;
    for (let i = start - 1; i + needle.length <= text.length; i++) {
      if (needle.every((c, k) => text[i + k] === c)) return i + 1;
    }
    return 0;
  }),
  sqlFunction(
    'string',
    'lpad',
    ['string', 'int', 'string'],
    STRING,
    (s, n, p) => `CASE WHEN ${p} <> '' THEN hv_pad_left(${s}, ${n}, ${p}) END`,
  ),
  sqlFunction(
    'string',
    'rpad',
    ['string', 'int', 'string'],
    STRING,
    (s, n, p) => `CASE WHEN ${p} <> '' THEN hv_pad_right(${s}, ${n}, ${p}) END`,
  ),
  sqlFunction('string', 'space', ['int'], STRING, (n) => `repeat(' ', ${n})`),
  sqlFunction('string', 'repeat', ['string', 'int'], STRING, (s, n) => `repeat(${s}, ${n})`),
  customFunction('string', 'replace', 'string, search, replacement', (call) => {
    const [s, a, b] = convertArguments(call, ['string', 'string', 'string']).map((arg) => arg.sql);
    // Java finds the empty text between all characters.
    const slow = call.analysis.udfs.call('replace', [STRING, STRING, STRING], STRING, [s, a, b], (text, from, to) =>
      (text as string).replaceAll(from as string, () => to as string),
    );
    return result(call, STRING, `CASE WHEN ${a} = '' THEN ${slow} ELSE replace(${s}, ${a}, ${b}) END`);
  }),
  jsFunction('string', 'translate', ['string', 'string', 'string'], STRING, (s, a, b) =>
    translate(s as string, a as string, b as string),
  ),
  jsFunction('string', 'substring_index', ['string', 'string', 'int'], STRING, (s, d, n) =>
    substringIndex(s as string, d as string, n as number),
  ),
  jsFunction('string', 'ascii', ['string'], INT, (s) => {
    const [first = 0] = UTF8.encode((s as string).slice(0, 2));
    return first > 127 ? first - 256 : first;
  }),
  jsFunction('string', 'chr char', ['bigint'], STRING, (n) => {
    const code = n as bigint;
    return code < 0n ? '' : String.fromCharCode(Number(code % 256n));
  }),
  jsFunction('string', 'soundex', ['string'], STRING, (s) => soundex(s as string)),
  jsFunction('string', 'levenshtein', ['string', 'string'], INT, (a, b) =>
    levenshtein(points(a as string), points(b as string)),
  ),
  jsFunction('string', 'find_in_set', ['string', 'string'], INT, (s, list) =>
    (s as string).includes(',') ? 0 : (list as string).split(',').indexOf(s as string) + 1,
  ),
  customFunction('string', 'field', 'value, value*', (call) => {
    const [value, ...others] = call.args;
    if (value === undefined) convertArguments(call, ['any', 'any*']);
    const cases = others.map((other, i) => {
      if (isText(value.type) !== isText(other.type)) return `WHEN false THEN ${i + 1}`;
      const same = value.type.kind === other.type.kind;
      const [a, b] = same
        ? [value.sql, other.sql]
        : [call.analysis.cast(value, STRING).sql, call.analysis.cast(other, STRING).sql];
      return `WHEN ${a} = ${b} THEN ${i + 1}`;
    });
    return result(
      call,
      INT,
      cases.length === 0 ? 'CAST(0 AS INTEGER)' : `CAST(CASE ${cases.join(' ')} ELSE 0 END AS INTEGER)`,
    );
  }),
  customFunction('string', 'elt', 'int, string*', (call) => {
    const [n, ...texts] = convertArguments(call, ['int', 'any*']);
    const list = texts.map((text) => call.analysis.cast(text, STRING).sql).join(', ');
    return derive(n, STRING, `hv_element([${list}], ${n.sql} - 1)`);
  }),
  jsFunction('string', 'quote', ['string'], STRING, (s) => `'${(s as string).replaceAll("'", "\\'")}'`),
];
