import { commonOf } from '../analyze/common-type.js';
import { compare } from '../analyze/comparison.js';
import { argumentsLength } from '../analyze/errors.js';
import type { Expr } from '../analyze/expr.js';
import { sqlString } from '../analyze/expr.js';
import { element } from '../analyze/nested-value.js';
import { uniqueList, valueKey } from '../emit/unique.js';
import { duckTypeName } from '../types/duck-type.js';
import { arrayOf, BOOLEAN, type HiveType, INT, mapOf, STRING, structOf, typeName } from '../types/hive-type.js';
import { convertArguments, customFunction, jsFunction, mismatch, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

const array = customFunction('collection', 'array', 'value*', (call) => {
  if (call.args.length === 0) return result(call, arrayOf(STRING), '[]::VARCHAR[]');
  const type = commonOf(
    call.analysis,
    call.args,
    (other) =>
      `Argument type "${typeName(other)}" is different from preceding arguments. Previous type was "${typeName(call.args[0].type)}"`,
  );
  const elementType = type.kind === 'void' ? STRING : type;
  const items = call.args.map((arg) => call.analysis.cast(arg, elementType).sql);
  return result(call, arrayOf(elementType), `[${items.join(', ')}]::${duckTypeName(arrayOf(elementType))}`);
});

const map = customFunction('collection', 'map', 'key, value*', (call) => {
  if (call.args.length === 0) return result(call, mapOf(STRING, STRING), 'MAP {}::MAP(VARCHAR, VARCHAR)');
  if (call.args.length % 2 !== 0) {
    throw argumentsLength(call.name, 'Arguments must be in key/value pairs', call.position);
  }
  const keys = call.args.filter((_, i) => i % 2 === 0);
  const values = call.args.filter((_, i) => i % 2 === 1);
  const common = (args: readonly Expr[]): HiveType => {
    const type = commonOf(
      call.analysis,
      args,
      (other) =>
        `Key type or value type "${typeName(other)}" is different from preceding ones. Previous type was "${typeName(args[0].type)}"`,
    );
    return type.kind === 'void' ? STRING : type;
  };
  const [key, value] = [common(keys), common(values)];
  const list = (args: readonly Expr[], type: HiveType) =>
    `[${args.map((arg) => call.analysis.cast(arg, type).sql).join(', ')}]::${duckTypeName(arrayOf(type))}`;
  const constant = keys.every((k) => k.literal !== undefined) && new Set(keys.map((k) => k.sql)).size === keys.length;
  const [keyList, valueList] = [list(keys, key), list(values, value)];
  if (constant) return result(call, mapOf(key, value), `map(${keyList}, ${valueList})`);
  // Of equal keys the last counts; DuckDB would refuse them.
  return result(call, mapOf(key, value), uniqueMap(call, mapOf(key, value), keyList, valueList));
});

function uniqueMap(call: Call, type: HiveType & { kind: 'map' }, keys: string, values: string): string {
  return call.analysis.udfs.call('map_of', [arrayOf(type.key), arrayOf(type.value)], type, [keys, values], (k, v) => {
    const entries = new Map<string, [unknown, unknown]>();
    (k as unknown[]).forEach((name, i) => {
      if (name === null) return;
      entries.set(valueKey(name), [name, (v as unknown[])[i]]);
    });
    return [...entries.values()] as never;
  });
}

const struct = customFunction('collection', 'struct', 'value*', (call) => {
  const type = structOf(
    call.args.map((arg, i) => ({ name: `col${i + 1}`, type: arg.type.kind === 'void' ? STRING : arg.type })),
  );
  const items = call.args.map((arg, i) => `'col${i + 1}': ${call.analysis.cast(arg, type.fields[i].type).sql}`);
  return result(call, type, `{${items.join(', ')}}`);
});

const namedStruct = customFunction('collection', 'named_struct', 'name, value*', (call) => {
  if (call.args.length % 2 !== 0 || call.args.length === 0) {
    throw argumentsLength(call.name, 'NAMED_STRUCT expects an even number of arguments', call.position);
  }
  const names = call.args.filter((_, i) => i % 2 === 0);
  const values = call.args.filter((_, i) => i % 2 === 1);
  const fields = values.map((value, i) => {
    const { literal } = names[i];
    if (typeof literal !== 'string') throw mismatch(call, names[i], 'constant names');
    return { name: literal.toLowerCase(), type: value.type.kind === 'void' ? STRING : value.type };
  });
  const items = values.map(
    (value, i) => `${sqlString(fields[i].name)}: ${call.analysis.cast(value, fields[i].type).sql}`,
  );
  return result(call, structOf(fields), `{${items.join(', ')}}`);
});

const createUnion = customFunction('collection', 'create_union', 'tag, value*', (call) => {
  const [tag, ...values] = convertArguments(call, ['int', 'any', 'any*']);
  const type: HiveType = { kind: 'uniontype', alternatives: values.map((value) => value.type) };
  const items = values.map((value, i) => `'o${i}': ${value.sql}`);
  return result(call, type, `{'tag': CAST(${tag.sql} AS TINYINT), ${items.join(', ')}}`);
});

function listArgument(call: Call, arg: Expr): Expr & { type: { kind: 'array'; element: HiveType } } {
  if (arg.type.kind !== 'array') throw mismatch(call, arg, 'an array');
  return arg as Expr & { type: { kind: 'array'; element: HiveType } };
}

const ofList = (
  names: string,
  returns: (element: HiveType) => HiveType,
  sql: (list: string) => string,
): ScalarFunction =>
  customFunction('collection', names, 'array', (call) => {
    const list = listArgument(call, convertArguments(call, ['any'])[0]);
    return result(call, returns(list.type.element), sql(list.sql));
  });

const ofTwoLists = (names: string, sql: (a: string, b: string) => string): ScalarFunction =>
  customFunction('collection', names, 'array, array', (call) => {
    const [a, b] = convertArguments(call, ['any', 'any']).map((arg) => listArgument(call, arg));
    const type = commonOf(call.analysis, [a, b], () => 'arrays of one type are expected');
    const combined = sql(call.analysis.cast(a, type).sql, call.analysis.cast(b, type).sql);
    return result(call, type, distinct(call, type, combined));
  });

/** Distinct elements in the order of their first occurrence. */
const distinct = (call: Call, type: HiveType, list: string): string => uniqueList(call.analysis.udfs, type, list);

const size = customFunction('collection', 'size', 'array or map', (call) => {
  const [arg] = convertArguments(call, ['any']);
  if (arg.type.kind === 'void') return result(call, INT, 'CAST(-1 AS INTEGER)');
  if (arg.type.kind !== 'array' && arg.type.kind !== 'map') throw mismatch(call, arg, 'an array or a map');
  const count = arg.type.kind === 'array' ? `len(${arg.sql})` : `cardinality(${arg.sql})`;
  return result(call, INT, `CAST(coalesce(${count}, -1) AS INTEGER)`);
});

const arrayContains = customFunction('collection', 'array_contains', 'array, value', (call) => {
  const [arg, value] = convertArguments(call, ['any', 'any']);
  const list = listArgument(call, arg);
  const { sql } = call.analysis.cast(value, list.type.element);
  return result(call, BOOLEAN, `coalesce(list_contains(${list.sql}, ${sql}), false)`);
});

const mapSide = (name: string, side: 'key' | 'value'): ScalarFunction =>
  customFunction('collection', name, 'map', (call) => {
    const [arg] = convertArguments(call, ['any']);
    if (arg.type.kind !== 'map') throw mismatch(call, arg, 'a map');
    const type = arrayOf(arg.type[side]);
    return result(call, type, `coalesce(${name}(${arg.sql}), [])::${duckTypeName(type)}`);
  });

const sortArrayBy = customFunction('collection', 'sort_array_by', 'array of structs, field*, ASC or DESC', (call) => {
  const [arg, ...rest] = convertArguments(call, ['any', 'string', 'string*']);
  const list = listArgument(call, arg);
  if (list.type.element.kind !== 'struct') throw mismatch(call, arg, 'an array of structs');
  const names = rest.map(({ literal }) => (typeof literal === 'string' ? literal : ''));
  const last = names[names.length - 1].toUpperCase();
  const hasOrder = last === 'ASC' || last === 'DESC';
  const fields = (hasOrder ? names.slice(0, -1) : names).map((name) => name.toLowerCase());
  const key = fields.map((field, i) => `'k${i}': struct_extract(x, ${sqlString(field)})`).join(', ');
  const keyed = `list_transform(${list.sql}, lambda x, i: {'key': {${key}}, 'i': i, 'value': x})`;
  const sorted = `list_sort(${keyed}, '${last === 'DESC' ? 'DESC' : 'ASC'}', 'NULLS ${last === 'DESC' ? 'LAST' : 'FIRST'}')`;
  return result(call, list.type, `list_transform(${sorted}, lambda x: x.value)`);
});

export const collectionFunctions: readonly ScalarFunction[] = [
  array,
  map,
  struct,
  namedStruct,
  createUnion,
  customFunction('collection', 'index', 'array or map, index', (call) => {
    const [base, index] = convertArguments(call, ['any', 'any']);
    return element(base, index, call, call.position);
  }),
  size,
  arrayContains,
  ofList('sort_array', arrayOf, (list) => `list_sort(${list}, 'ASC', 'NULLS FIRST')`),
  sortArrayBy,
  ofList(
    'array_min',
    (type) => type,
    (list) => `list_min(${list})`,
  ),
  ofList(
    'array_max',
    (type) => type,
    (list) => `list_max(${list})`,
  ),
  customFunction('collection', 'array_distinct', 'array', (call) => {
    const list = listArgument(call, convertArguments(call, ['any'])[0]);
    return result(call, list.type, distinct(call, list.type, list.sql));
  }),
  ofTwoLists('array_union', (a, b) => `list_concat(${a}, ${b})`),
  ofTwoLists('array_intersect', (a, b) => `list_filter(${a}, lambda z: list_contains(${b}, z))`),
  ofTwoLists('array_except', (a, b) => `list_filter(${a}, lambda z: NOT coalesce(list_contains(${b}, z), false))`),
  customFunction('collection', 'array_slice', 'array, start, length', (call) => {
    const [arg, start, length] = convertArguments(call, ['any', 'int', 'int']);
    const list = listArgument(call, arg);
    return result(call, list.type, `list_slice(${list.sql}, ${start.sql} + 1, ${start.sql} + ${length.sql})`);
  }),
  customFunction('collection', 'array_remove', 'array, value', (call) => {
    const [arg, value] = convertArguments(call, ['any', 'any']);
    const list = listArgument(call, arg);
    const item: Expr = { sql: 'z', type: list.type.element, position: call.position };
    return result(
      call,
      list.type,
      `list_filter(${list.sql}, lambda z: NOT coalesce(${compare(call.analysis, '=', item, value).sql}, false))`,
    );
  }),
  customFunction('collection', 'array_join', 'array, separator, replacement for NULL?', (call) => {
    const [arg, separator, replacement] = convertArguments(call, ['any', 'string', 'string?']);
    const list = call.analysis.cast(listArgument(call, arg), arrayOf(STRING)).sql;
    const items =
      replacement === undefined
        ? `list_filter(${list}, lambda z: z IS NOT NULL)`
        : `list_transform(${list}, lambda z: coalesce(z, ${replacement.sql}))`;
    return result(
      call,
      STRING,
      `CASE WHEN ${list} IS NULL THEN NULL ELSE coalesce(array_to_string(${items}, ${separator.sql}), '') END`,
    );
  }),
  mapSide('map_keys', 'key'),
  mapSide('map_values', 'value'),
  jsFunction('collection', 'str_to_map', ['string', 'string?', 'string?'], mapOf(STRING, STRING), (s, a, b) => {
    const entries = new Map<string, string | null>();
    for (const pair of (s as string).split((a as string | undefined) ?? ',')) {
      const [key, ...rest] = pair.split((b as string | undefined) ?? ':');
      entries.set(key, rest.length === 0 ? null : rest.join((b as string | undefined) ?? ':'));
    }
    return [...entries];
  }),
];
