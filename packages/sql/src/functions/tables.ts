import { commonOf } from '../expressions/common-type.js';
import { argumentType, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { duckTypeName } from '../types/duck-type.js';
import { arrayOf, INT, STRING, typeName } from '../types/hive-type.js';
import { convertArguments, mismatch } from './builder.js';
import type { Call, TableFunction, TableFunctionResult } from './definition.js';
import { jsonPath, urlPart } from './texts.js';

const table = (name: string, usage: string, build: (call: Call) => TableFunctionResult): TableFunction => ({
  kind: 'table',
  names: [name],
  category: 'table',
  usage,
  build,
});

function exploded(call: Call, withPosition: boolean): TableFunctionResult {
  const [arg] = convertArguments(call, ['any']);
  const position = withPosition ? [{ name: 'pos', type: INT }] : [];
  const index = (list: string) => (withPosition ? `unnest(range(len(${list})))::INTEGER AS c0, ` : '');
  const first = position.length;
  if (arg.type.kind === 'array') {
    const name = withPosition ? 'val' : 'col';
    return {
      columns: [...position, { name, type: arg.type.element }],
      select: `SELECT ${index(arg.sql)}unnest(${arg.sql}) AS c${first}`,
    };
  }
  if (arg.type.kind === 'map' && !withPosition) {
    const entries = `map_entries(${arg.sql})`;
    const inner = `SELECT ${withPosition ? `unnest(range(len(${entries})))::INTEGER AS p, ` : ''}unnest(${entries}) AS e`;
    return {
      columns: [...position, { name: 'key', type: arg.type.key }, { name: 'value', type: arg.type.value }],
      select: `SELECT ${withPosition ? 'p AS c0, ' : ''}e.key AS c${first}, e.value AS c${first + 1} FROM (${inner})`,
    };
  }
  throw argumentType(
    call.analysis.text(arg.position),
    `${call.name}() takes an array or a map as a parameter, but ${typeName(arg.type)} is found`,
    arg.position,
  );
}

const inline = table('inline', 'array of structs', (call) => {
  const [arg] = convertArguments(call, ['any']);
  if (arg.type.kind !== 'array' || arg.type.element.kind !== 'struct') throw mismatch(call, arg, 'an array of structs');
  const { fields } = arg.type.element;
  const list = fields.map((field, i) => `struct_extract(e, '${field.name.replaceAll("'", "''")}') AS c${i}`);
  return { columns: fields, select: `SELECT ${list.join(', ')} FROM (SELECT unnest(${arg.sql}) AS e)` };
});

/** STACK(n, v1, …): n rows of the values, row by row; missing ones are NULL. */
const stack = table('stack', 'rows, value*', (call) => {
  const [count, ...values] = convertArguments(call, ['int', 'any', 'any*']);
  if (typeof count.literal !== 'bigint' || count.literal < 1n) throw mismatch(call, count, 'a constant number of rows');
  const rows = Number(count.literal);
  const width = Math.ceil(values.length / rows);
  const columns = Array.from({ length: width }, (_, column) => {
    const cells = Array.from({ length: rows }, (_unused, row): Expr | undefined => values[row * width + column]);
    const present = cells.filter((cell) => cell !== undefined);
    const type = commonOf(call.analysis, present, () => 'the values of a column must have one type');
    const sql = cells.map((cell) => (cell === undefined ? 'NULL' : call.analysis.cast(cell, type).sql)).join(', ');
    return { name: `col${column}`, type, sql: `unnest([${sql}]::${duckTypeName(arrayOf(type))}) AS c${column}` };
  });
  return { columns, select: `SELECT ${columns.map((column) => column.sql).join(', ')}` };
});

/** One row of text columns that JavaScript makes of a text and names. */
const tuple = (name: string, usage: string, part: (text: string, key: string) => string | null): TableFunction =>
  table(name, usage, (call) => {
    const [text, ...keys] = convertArguments(call, ['string', 'string', 'string*']);
    if (keys.length === 0) throw semantic(`${name}() takes at least two arguments`, call.position);
    const list = arrayOf(STRING);
    const values = call.analysis.udfs.call(
      name,
      [STRING, list],
      list,
      [text.sql, `[${keys.map((key) => key.sql).join(', ')}]`],
      (s, k) => (k as (string | null)[]).map((key) => (key === null ? null : part(s as string, key))),
    );
    const columns = keys.map((_, i) => ({ name: `c${i}`, type: STRING }));
    return {
      columns,
      select: `SELECT ${keys.map((_, i) => `v[${i + 1}] AS c${i}`).join(', ')} FROM (SELECT ${values} AS v)`,
    };
  });

/** REPLICATE_ROWS(n, v1, …): the values n times, behind n. */
const replicateRows = table('replicate_rows', 'bigint, value*', (call) => {
  const [count, ...values] = convertArguments(call, ['any', 'any', 'any*']);
  if (count.type.kind !== 'bigint') throw mismatch(call, count, 'a bigint');
  const columns = [count, ...values].map((value, i) => ({ name: `col${i}`, type: value.type }));
  const list = [count, ...values].map((value, i) => `${value.sql} AS c${i}`);
  return { columns, select: `SELECT ${list.join(', ')} FROM range(coalesce(${count.sql}, 0))` };
});

export const tableFunctions: readonly TableFunction[] = [
  replicateRows,
  table('explode', 'array or map', (call) => exploded(call, false)),
  table('posexplode', 'array or map', (call) => exploded(call, true)),
  inline,
  stack,
  tuple('json_tuple', 'json, name*', (json, key) => jsonPath(json, /[.[\]]/.test(key) ? '$x' : `$.${key}`)),
  tuple('parse_url_tuple', 'url, part*', (url, part) => {
    const [kind, key] = part.startsWith('QUERY:') ? ['QUERY', part.slice(6)] : [part, undefined];
    return urlPart(url, kind, key);
  }),
];
