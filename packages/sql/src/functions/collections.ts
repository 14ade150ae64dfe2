import { uniqueList, valueKey } from '../emit/unique.js';
import { commonOf } from '../expressions/common-type.js';
import { compare } from '../expressions/comparison.js';
import { argumentsLength, argumentType, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { sqlString } from '../expressions/expr.js';
import { element } from '../expressions/nested-value.js';
import { duckTypeName } from '../types/duck-type.js';
import {
  arrayOf,
  BOOLEAN,
  type HiveType,
  INT,
  mapOf,
  STRING,
  sameType,
  structOf,
  typeName,
} from '../types/hive-type.js';
import { isPrimitive } from '../types/type-rules.js';
import { convertArguments, customFunction, jsFunction, mismatch, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';
import { javaSplit } from './regex.js';

const array = customFunction('collection', 'array', 'value*', (call) => {
  if (call.args.length === 0) return result(call, arrayOf(STRING), '[]::VARCHAR[]');
  const type = commonOf(
    call.analysis,
    call.args,
    (other) =>
      `Argument type "${typeName(other)}" is different from preceding arguments. Previous type was "${typeName(call.args[0].type)}"`,
  );
  // A char becomes text inside an array or a map's keys.
  const elementType = type.kind === 'void' || type.kind === 'char' ? STRING : type;
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
    const nested = args === keys ? args.find((arg) => !isPrimitive(arg.type)) : undefined;
    if (nested !== undefined) {
      throw argumentType(
        call.analysis.text(nested.position),
        `Primitive Type is expected but ${typeName(nested.type)} is found`,
        nested.position,
      );
    }
    const type = commonOf(
      call.analysis,
      args,
      (other) =>
        `Key type or value type "${typeName(other)}" is different from preceding ones. Previous type was "${typeName(args[0].type)}"`,
    );
    return type.kind === 'void' || (args === keys && type.kind === 'char') ? STRING : type;
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

/** NULL without a type is a boolean in the engine. */
const typedSql = (value: Expr): string => (value.type.kind === 'void' ? 'CAST(NULL AS BOOLEAN)' : value.sql);

const struct = customFunction('collection', 'struct', 'value*', (call) => {
  const type = structOf(call.args.map((arg, i) => ({ name: `col${i + 1}`, type: arg.type })));
  const items = call.args.map((arg, i) => `'col${i + 1}': ${typedSql(arg)}`);
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
    if (typeof literal !== 'string' && typeof literal !== 'bigint') throw mismatch(call, names[i], 'constant names');
    return { name: String(literal).toLowerCase(), type: value.type };
  });
  const items = values.map((value, i) => `${sqlString(fields[i].name)}: ${typedSql(value)}`);
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
    if (a.type.element.kind === 'void' || b.type.element.kind === 'void' || !sameType(a.type, b.type)) {
      throw argumentType(
        call.analysis.text(b.position),
        `Input arrays are not comparable to use ${call.name.toUpperCase()} udf`,
        b.position,
      );
    }
    const type = a.type;
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

/** Hive converts nothing here: an int is not looked for among bigints. */
function sameElement(call: Call, element: HiveType, value: Expr): void {
  const same = element.kind === value.type.kind && (element.kind === 'decimal' || sameType(element, value.type));
  if (same) return;
  throw argumentType(
    call.analysis.text(value.position),
    `"${typeName(element)}" expected at function ${call.name.toUpperCase()}, but "${typeName(value.type)}" is found`,
    value.position,
  );
}

const arrayContains = customFunction('collection', 'array_contains', 'array, value', (call) => {
  const [arg, value] = convertArguments(call, ['any', 'any']);
  const list = listArgument(call, arg);
  sameElement(call, list.type.element, value);
  return result(call, BOOLEAN, `coalesce(list_contains(${list.sql}, ${value.sql}), false)`);
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
  customFunction('collection', 'extract_union', 'uniontype, tag?', (call) => {
    const [union, tag] = convertArguments(call, ['any', 'int?']);
    if (union.type.kind !== 'uniontype') throw mismatch(call, union, 'a uniontype');
    const { alternatives } = union.type;
    const part = (i: number) => `struct_extract(${union.sql}, 'o${i}')`;
    if (tag !== undefined) {
      const { literal } = tag;
      const type = typeof literal === 'bigint' ? alternatives[Number(literal)] : undefined;
      if (type === undefined) throw mismatch(call, tag, `a constant tag below ${alternatives.length}`);
      return result(call, type, part(Number(literal)));
    }
    const type = structOf(alternatives.map((alternative, i) => ({ name: `tag_${i}`, type: alternative })));
    // Of the parts only the tagged one counts.
    const items = alternatives.map(
      (_, i) => `'tag_${i}': CASE WHEN struct_extract(${union.sql}, 'tag') = ${i} THEN ${part(i)} END`,
    );
    return result(call, type, `{${items.join(', ')}}`);
  }),
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
    const sql = call.analysis.udfs.call(
      'array_slice',
      [list.type, INT, INT],
      list.type,
      [list.sql, start.sql, length.sql],
      (items, from, count) => {
        const [first, wanted] = [from as number, count as number];
        if (first < 0 || wanted < 0)
          throw semantic(`ARRAY_SLICE starts at ${first} with length ${wanted}: both begin at 0`);
        const all = items as unknown as readonly never[];
        // What does not fit is empty (GenericUDFArraySlice).
        return (first + wanted > all.length ? [] : all.slice(first, first + wanted)) as never;
      },
    );
    return result(call, list.type, sql);
  }),
  customFunction('collection', 'array_remove', 'array, value', (call) => {
    const [arg, value] = convertArguments(call, ['any', 'any']);
    const list = listArgument(call, arg);
    if (value.type.kind !== list.type.element.kind) sameElement(call, list.type.element, value);
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
    const pairs = javaSplit(s as string, (a as string | undefined) ?? ',');
    // Without a limit Java leaves out empty parts at the end.
    while (pairs.length > 1 && pairs[pairs.length - 1] === '') pairs.pop();
    for (const pair of pairs) {
      const [key, value] = javaSplit(pair, (b as string | undefined) ?? ':', 2);
      entries.set(key, value ?? null);
    }
    return [...entries];
  }),
];
