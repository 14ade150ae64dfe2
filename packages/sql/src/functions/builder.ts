import type { AppendableValue, VectorValue } from '@skep/orc';
import { argumentsLength, argumentType, wrongArguments } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import {
  BIGINT,
  BINARY,
  BOOLEAN,
  DATE,
  DOUBLE,
  type HiveType,
  INT,
  STRING,
  TIMESTAMP,
  typeName,
} from '../types/hive-type.js';
import { isDateOrTime, isText } from '../types/type-rules.js';
import { countIsWrong } from './checks.js';
import type { Call, FunctionCategory, ScalarFunction } from './definition.js';

/** What a parameter takes: a type that the argument is converted to, or any. A `?` makes it and those behind it optional, `*` repeats it. */
export type Parameter = 'string' | 'int' | 'bigint' | 'double' | 'boolean' | 'binary' | 'date' | 'timestamp' | 'any';
type Marked = Parameter | `${Parameter}?` | `${Parameter}*`;

const TYPES: Readonly<Record<Exclude<Parameter, 'any'>, HiveType>> = {
  string: STRING,
  int: INT,
  bigint: BIGINT,
  double: DOUBLE,
  boolean: BOOLEAN,
  binary: BINARY,
  date: DATE,
  timestamp: TIMESTAMP,
};

const base = (parameter: Marked): Parameter => parameter.replace(/[?*]$/, '') as Parameter;

/** Converts the arguments; an error where there are too few or too many. */
export function convertArguments(call: Call, parameters: readonly Marked[]): Expr[] {
  const required = parameters.filter((p) => !/[?*]$/.test(p)).length;
  const repeats = parameters[parameters.length - 1]?.endsWith('*') === true;
  const { args } = call;
  if (args.length < required || (!repeats && args.length > parameters.length)) {
    const wanted = repeats
      ? `at least ${required}`
      : required === parameters.length
        ? `${required}`
        : `${required} to ${parameters.length}`;
    const last = args[args.length - 1];
    throw (countIsWrong(call.name) ? wrongArguments : argumentsLength)(
      last === undefined ? call.name : call.analysis.text(last.position),
      `${call.name.toUpperCase()} requires ${wanted} argument${wanted === '1' ? '' : 's'}, got ${args.length}`,
      call.position,
    );
  }
  return args.map((arg, i) => convertArgument(call, arg, base(parameters[Math.min(i, parameters.length - 1)])));
}

export function convertArgument(call: Call, arg: Expr, parameter: Parameter): Expr {
  if (parameter === 'any') return arg;
  const type = TYPES[parameter];
  if (parameter === 'date' || parameter === 'timestamp') {
    if (!isText(arg.type) && !isDateOrTime(arg.type) && arg.type.kind !== 'void') throw mismatch(call, arg, parameter);
  }
  if (parameter === 'binary' && !isText(arg.type) && arg.type.kind !== 'binary' && arg.type.kind !== 'void') {
    throw mismatch(call, arg, parameter);
  }
  const converted = call.analysis.cast(arg, type);
  return arg.literal === undefined ? converted : { ...converted, literal: arg.literal };
}

export const mismatch = (call: Call, arg: Expr, wanted: string) =>
  argumentType(
    call.analysis.text(arg.position),
    `${call.name} takes ${wanted}, but ${typeName(arg.type)} is found`,
    arg.position,
  );

/** A function whose SQL is made of its converted arguments' SQL. */
export function sqlFunction(
  category: FunctionCategory,
  names: string,
  parameters: readonly Marked[],
  returns: HiveType | ((args: readonly Expr[]) => HiveType),
  sql: (...args: string[]) => string,
): ScalarFunction {
  return {
    kind: 'scalar',
    names: names.split(' '),
    category,
    usage: parameters.join(', '),
    build(call) {
      const args = convertArguments(call, parameters);
      const type = typeof returns === 'function' ? returns(args) : returns;
      return derive(at(call), type, sql(...args.map((arg) => arg.sql)));
    },
  };
}

/** A function that runs in JavaScript. */
export function jsFunction(
  category: FunctionCategory,
  names: string,
  parameters: readonly Marked[],
  returns: HiveType,
  body: (...args: VectorValue[]) => AppendableValue,
  options: { onNull?: boolean; volatile?: boolean } = {},
): ScalarFunction {
  const all = names.split(' ');
  return {
    kind: 'scalar',
    names: all,
    category,
    usage: parameters.join(', '),
    build(call) {
      const args = convertArguments(call, parameters);
      const types = args.map((arg) => arg.type);
      const sql = call.analysis.udfs.call(
        all[0],
        types,
        returns,
        args.map((arg) => arg.sql),
        body,
        options,
      );
      return derive(at(call), returns, sql);
    },
  };
}

/** A function with rules of its own. */
export function customFunction(
  category: FunctionCategory,
  names: string,
  usage: string,
  build: (call: Call) => Expr,
): ScalarFunction {
  return { kind: 'scalar', names: names.split(' '), category, usage, build };
}

/** An expression at the call's place, to derive the result from. */
export const at = (call: Call): Expr => ({ sql: 'NULL', type: STRING, position: call.position });

export const result = (call: Call, type: HiveType, sql: string): Expr => derive(at(call), type, sql);
