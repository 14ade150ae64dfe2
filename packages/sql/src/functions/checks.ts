import { argumentType, wrongArguments } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { type HiveType, typeName } from '../types/hive-type.js';
import { isDateOrTime, isInteger, isInterval, isNumeric, isText } from '../types/type-rules.js';
import type { Call } from './definition.js';

/*
 * What Hive's functions refuse before they run, by the number of the error: 10014 (Wrong arguments) or 10016 (Argument type
 * mismatch). Which of the two a function gives is history; a literal NULL is refused where its class was not told of it.
 */

type Kind =
  | 'int'
  | 'text'
  | 'integer'
  | 'number'
  | 'date'
  | 'void'
  | 'binary'
  | 'interval'
  | 'boolean'
  | 'bigint'
  | 'fraction';

const IS: Readonly<Record<Kind, (type: HiveType) => boolean>> = {
  text: isText,
  integer: (type) => isInteger(type) && type.kind !== 'bigint',
  int: (type) => type.kind === 'int',
  bigint: (type) => type.kind === 'bigint',
  number: isNumeric,
  fraction: (type) =>
    type.kind === 'double' || type.kind === 'float' || type.kind === 'decimal' || type.kind === 'array',
  date: isDateOrTime,
  void: (type) => type.kind === 'void',
  binary: (type) => type.kind === 'binary',
  interval: isInterval,
  boolean: (type) => type.kind === 'boolean',
};

/** `code`, then what each argument may be; the last counts for all that follow. An empty text allows anything. */
type Rule = readonly [10014 | 10016, ...string[]];

const RULES: Readonly<Record<string, Rule>> = {
  abs: [10014, 'number text'],
  date_add: [10014, 'text date', 'integer'],
  date_sub: [10014, 'text date', 'integer'],
  to_date: [10014, 'text date void'],
  datediff: [10016, 'text date', 'text date'],
  months_between: [10016, 'text date', 'text date', 'boolean'],
  next_day: [10016, 'text date void', 'text void'],
  last_day: [10016, 'text date void'],
  date_format: [10016, 'text date', 'text'],
  add_months: [10016, 'text date void', 'integer void', 'text'],
  hex: [10014, 'integer bigint text binary void number'],
  base64: [10014, 'binary void'],
  encode: [10016, 'text', 'text'],
  from_unixtime: [10014, 'int bigint', 'text'],
  unix_timestamp: [10014, 'text date', 'text'],
  to_unix_timestamp: [10014, 'text date', 'text'],
  factorial: [10016, 'integer void'],
  str_to_map: [10014, 'text', 'text', 'text'],
  sha2: [10016, 'text binary', 'number'],
  length: [10014, 'text binary'],
  printf: [10016, 'text void', 'text number date void binary interval boolean'],
  json_tuple: [10016, 'text'],
  percentile: [10016, 'integer bigint', 'number array'],
  percentile_approx: [10016, 'number text', 'fraction', 'number'],
};

/** Throws Hive's error where an argument is of a type that the function never takes. */
export function checkArguments(call: Call): void {
  const rule = RULES[call.name.toLowerCase()];
  if (rule === undefined) return;
  const [code, ...wanted] = rule;
  call.args.forEach((arg, i) => {
    const allowed = wanted[Math.min(i, wanted.length - 1)];
    if (allowed === '' || allowed.split(' ').some((kind) => fits(kind, arg))) return;
    throw refusal(call, arg, code, allowed);
  });
}

const fits = (kind: string, arg: Expr): boolean =>
  kind === 'array' ? arg.type.kind === 'array' : IS[kind as Kind](arg.type);

function refusal(call: Call, arg: Expr, code: 10014 | 10016, allowed: string) {
  const why = `${call.name} takes ${allowed.replaceAll(' ', ', ')}, but ${typeName(arg.type)} is found`;
  return code === 10014
    ? wrongArguments(call.analysis.text(arg.position), why, call.position)
    : argumentType(call.analysis.text(arg.position), why, arg.position);
}

/**
 * Functions of which Hive counts the arguments as it looks for a method of a class (GenericUDFBridge), or by itself with the
 * same number: 10014 where others have 10015.
 */
const COUNTED_AS_WRONG: ReadonlySet<string> = new Set(
  (
    'mid substr substring space repeat ascii sqrt rand ln log2 sin asin sinh cos acos cosh log10 log exp sign pi degrees radians ' +
    'atan tan tanh e crc32 conv bin chr hex unhex base64 unbase64 md5 sha1 sha uuid reverse find_in_set like regexp_replace ' +
    'replace regexp_extract parse_url dayofweek weekofyear floor_year floor_quarter floor_month floor_day floor_week floor_hour ' +
    'floor_minute floor_second get_json_object xpath xpath_string xpath_boolean xpath_number xpath_double xpath_float xpath_long ' +
    'xpath_int xpath_short div & | ^ ~ shiftleft shiftright shiftrightunsigned version buildversion boolean tinyint smallint int ' +
    'bigint float double array_contains lpad rpad pmod quote trunc'
  ).split(' '),
);
export const countIsWrong = (name: string): boolean => COUNTED_AS_WRONG.has(name.toLowerCase());
