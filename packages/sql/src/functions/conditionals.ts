import { commonOf } from '../expressions/common-type.js';
import { compare } from '../expressions/comparison.js';
import { argumentType } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { asBoolean } from '../expressions/logic.js';
import { BOOLEAN, typeName, VOID } from '../types/hive-type.js';
import { typeGroup } from '../types/type-rules.js';
import { convertArguments, customFunction, mismatch, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

const sameTypes = (call: Call, args: readonly Expr[]) =>
  commonOf(
    call.analysis,
    args,
    (type) =>
      `The expressions after ${call.name.toUpperCase()} should all have the same type: "${typeName(args[0].type)}" is expected but "${typeName(type)}" is found`,
  );

const coalesce = customFunction('conditional', 'coalesce', 'value*', (call) => {
  const args = convertArguments(call, ['any*']);
  if (args.length === 0) return result(call, VOID, 'NULL');
  const type = sameTypes(call, args);
  return result(call, type, `coalesce(${args.map((arg) => call.analysis.cast(arg, type).sql).join(', ')})`);
});

const test = (names: string, suffix: string): ScalarFunction =>
  customFunction('conditional', names, 'boolean', (call) => {
    const [value] = convertArguments(call, ['any']);
    return result(call, BOOLEAN, `(${asBoolean(value, call).sql} ${suffix})`);
  });

export const conditionalFunctions: readonly ScalarFunction[] = [
  coalesce,
  customFunction('conditional', 'nvl', 'value, default', (call) => {
    const args = convertArguments(call, ['any', 'any?']);
    const type = sameTypes(call, args);
    return result(call, type, `coalesce(${args.map((arg) => call.analysis.cast(arg, type).sql).join(', ')})`);
  }),
  customFunction('conditional', 'if', 'boolean, value, value', (call) => {
    const [condition, yes, no] = convertArguments(call, ['any', 'any', 'any']);
    if (condition.type.kind !== 'boolean' && condition.type.kind !== 'void') {
      throw argumentType(
        call.analysis.text(condition.position),
        `The first argument of function IF should be "boolean", but "${typeName(condition.type)}" is found`,
        condition.position,
      );
    }
    const type = sameTypes(call, [yes, no]);
    const [a, b] = [call.analysis.cast(yes, type).sql, call.analysis.cast(no, type).sql];
    return result(call, type, `CASE WHEN ${condition.sql} THEN ${a} ELSE ${b} END`);
  }),
  customFunction('conditional', 'nullif', 'value, value', (call) => {
    const [a, b] = convertArguments(call, ['any', 'any']);
    if (a.type.kind === 'void') throw mismatch(call, a, 'a value with a type');
    if (b.type.kind !== 'void' && typeGroup(a.type) !== typeGroup(b.type)) {
      throw argumentType(
        call.analysis.text(b.position),
        `The expressions after NULLIF should belong to the same category: "${typeGroup(a.type)}" is expected but "${typeGroup(b.type)}" is found`,
        b.position,
      );
    }
    return result(call, a.type, `CASE WHEN ${compare(call.analysis, '=', a, b).sql} THEN NULL ELSE ${a.sql} END`);
  }),
  customFunction('conditional', 'isnull', 'value', (call) =>
    result(call, BOOLEAN, `(${convertArguments(call, ['any'])[0].sql} IS NULL)`),
  ),
  customFunction('conditional', 'isnotnull', 'value', (call) =>
    result(call, BOOLEAN, `(${convertArguments(call, ['any'])[0].sql} IS NOT NULL)`),
  ),
  test('istrue', 'IS TRUE'),
  test('isnottrue', 'IS NOT TRUE'),
  test('isfalse', 'IS FALSE'),
  test('isnotfalse', 'IS NOT FALSE'),
];
