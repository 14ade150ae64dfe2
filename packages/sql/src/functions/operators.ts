import { arithmetic, complement } from '../expressions/arithmetic.js';
import { caseOfValues } from '../expressions/case.js';
import { betweenValues, compare, inValues } from '../expressions/comparison.js';
import { argumentsLength, argumentType } from '../expressions/errors.js';
import { derive, type Expr } from '../expressions/expr.js';
import { asBoolean, not } from '../expressions/logic.js';
import { likeSql } from '../expressions/pattern-match.js';
import type { ArithmeticOperator, ComparisonOperator } from '../parse/ast-expression.js';
import { BOOLEAN, STRING, typeName } from '../types/hive-type.js';
import { convertArguments, customFunction, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

/* Hive's operators are functions with names too: `+`(1, 2), `between`(false, x, 1, 2), `case`(x, 1, 'a', 'b'). */

const arithmeticOperator = (name: ArithmeticOperator): ScalarFunction =>
  customFunction('operator', name, 'a, b', (call) => {
    const [a, b] = convertArguments(call, ['any', 'any']);
    return arithmetic(call.analysis, name, a, b);
  });

const comparisonOperator = (names: string, operator: ComparisonOperator): ScalarFunction =>
  customFunction('operator', names, 'a, b', (call) => {
    const [a, b] = convertArguments(call, ['any', 'any']);
    return compare(call.analysis, operator, a, b);
  });

const logicalOperator = (name: 'and' | 'or'): ScalarFunction =>
  customFunction('operator', name, 'a, b*', (call) => {
    const args = convertArguments(call, ['any', 'any', 'any*']).map((arg) => asBoolean(arg, call).sql);
    return result(call, BOOLEAN, `(${args.join(` ${name.toUpperCase()} `)})`);
  });

const likeSeveral = (name: 'likeany' | 'likeall'): ScalarFunction =>
  customFunction('operator', name, 'string, pattern*', (call) => {
    if (call.args.length < 2) {
      throw argumentsLength(
        call.name,
        `The ${name === 'likeany' ? 'like any' : 'like all'} operator requires at least one pattern for matching, got ${Math.max(0, call.args.length - 1)}`,
        call.position,
      );
    }
    const wrong = call.args.find((arg) => arg.type.kind !== 'string' && arg.type.kind !== 'void');
    if (wrong !== undefined && wrong.type.kind !== 'char' && wrong.type.kind !== 'varchar') {
      throw argumentType(
        call.analysis.text(wrong.position),
        `${name} takes text, but ${typeName(wrong.type)} is found`,
        wrong.position,
      );
    }
    const [subject, ...patterns] = convertArguments(call, ['string', 'string', 'string*']);
    const all = patterns.map((pattern) => likeSql(call.analysis, subject.sql, pattern));
    return result(call, BOOLEAN, `(${all.join(name === 'likeany' ? ' OR ' : ' AND ')})`);
  });

/** `case`(x, v1, r1, …, otherwise) and `when`(c1, r1, …, otherwise). */
const caseFunction = (name: 'case' | 'when'): ScalarFunction =>
  customFunction(
    'operator',
    name,
    name === 'case' ? 'value, (value, result)*, result?' : '(boolean, result)*, result?',
    (call) => {
      const operand = name === 'case' ? call.args[0] : undefined;
      const rest = name === 'case' ? call.args.slice(1) : call.args;
      if (rest.length < 2)
        convertArguments(call, name === 'case' ? ['any', 'any', 'any', 'any*'] : ['any', 'any', 'any*']);
      const branches = Array.from({ length: rest.length >> 1 }, (_, i) => ({
        when: rest[2 * i],
        result: rest[2 * i + 1],
      }));
      const otherwise = rest.length % 2 === 1 ? rest[rest.length - 1] : undefined;
      return caseOfValues(operand, branches, otherwise, call.analysis, call.position);
    },
  );

const negated = (call: Call, value: Expr): Expr => not(value, call.analysis, call.position);

export const operatorFunctions: readonly ScalarFunction[] = [
  ...(['+', '-', '*', '/', '%', 'div', '&', '|', '^'] as const).map(arithmeticOperator),
  customFunction('operator', '~', 'a', (call) => complement(call.analysis, convertArguments(call, ['any'])[0])),
  comparisonOperator('= ==', '='),
  comparisonOperator('<> !=', '<>'),
  comparisonOperator('<=> is_not_distinct_from', '<=>'),
  comparisonOperator('<', '<'),
  comparisonOperator('<=', '<='),
  comparisonOperator('>', '>'),
  comparisonOperator('>=', '>='),
  logicalOperator('and'),
  logicalOperator('or'),
  customFunction('operator', 'not !', 'a', (call) => negated(call, convertArguments(call, ['any'])[0])),
  customFunction('operator', 'between', 'negated, value, low, high', (call) => {
    const [invert, value, low, high] = convertArguments(call, ['boolean', 'any', 'any', 'any']);
    const inside = betweenValues(call.analysis, value, low, high, call.position);
    return invert.literal === true ? negated(call, inside) : inside;
  }),
  customFunction('operator', 'in', 'value, value*', (call) => {
    const [operand, ...items] = convertArguments(call, ['any', 'any', 'any*']);
    return derive(operand, BOOLEAN, inValues(call.analysis, operand, items, call.position).sql);
  }),
  likeSeveral('likeany'),
  likeSeveral('likeall'),
  caseFunction('case'),
  caseFunction('when'),
  customFunction('operator', 'typeof', 'value', (call) => {
    const [value] = convertArguments(call, ['any']);
    return result(call, STRING, `'${typeName(value.type)}'`);
  }),
];
