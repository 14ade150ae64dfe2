import { createHash, randomUUID } from 'node:crypto';
import type { DecimalValue } from '@skep/orc';
import { semantic } from '../analyze/errors.js';
import { sqlString } from '../analyze/expr.js';
import { decimalText } from '../text/format-value.js';
import { BOOLEAN, type HiveType, INT, STRING } from '../types/hive-type.js';
import { isInteger, isNumeric, isText } from '../types/type-rules.js';
import { convertArguments, customFunction, jsFunction, mismatch, result } from './builder.js';
import type { ScalarFunction } from './definition.js';
import { formatNumber, formatPattern, type PrintfValue, plainText, printf } from './number-format.js';

/** A number's exact decimal text. */
function numberText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return plainText(value);
  const { unscaled, scale } = value as DecimalValue;
  return decimalText(unscaled, scale);
}

const printfArgument = (type: HiveType, value: unknown): PrintfValue => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return { number: numberText(value), integer: isInteger(type) };
};

type Mask = { upper: string; lower: string; digit: string };
const DEFAULT_MASK: Mask = { upper: 'X', lower: 'x', digit: 'n' };

const maskCharacter = (c: string, { upper, lower, digit }: Mask): string =>
  /\p{Lu}/u.test(c) ? upper : /\p{Ll}/u.test(c) ? lower : /\p{Nd}/u.test(c) ? digit : c;

/** MASK and kin (GenericUDFMask…): `range` says which characters of n are masked. */
const mask = (name: string, range: (length: number, count: number) => [number, number]): ScalarFunction =>
  jsFunction(
    'misc',
    name,
    name === 'mask' ? ['string', 'string?', 'string?', 'string?'] : ['string', 'int?', 'string?', 'string?', 'string?'],
    STRING,
    (s, ...rest) => {
      const characters = [...(s as string)];
      const counted = name !== 'mask';
      const count = counted && rest[0] !== undefined ? (rest[0] as number) : 4;
      const [upper, lower, digit] = (counted ? rest.slice(1) : rest) as (string | undefined)[];
      const letters: Mask = {
        upper: upper ?? DEFAULT_MASK.upper,
        lower: lower ?? DEFAULT_MASK.lower,
        digit: digit ?? DEFAULT_MASK.digit,
      };
      const [from, to] = range(characters.length, count);
      return characters.map((c, i) => (i >= from && i < to ? maskCharacter(c, letters) : c)).join('');
    },
  );

export const miscFunctions: readonly ScalarFunction[] = [
  customFunction('string', 'format_number', 'number, digits or pattern', (call) => {
    const [x, format] = convertArguments(call, ['any', 'any']);
    if (!isNumeric(x.type)) throw mismatch(call, x, 'a number');
    if (isText(format.type)) {
      const sql = call.analysis.udfs.call('format_pattern', [x.type, STRING], STRING, [x.sql, format.sql], (v, p) =>
        formatPattern(numberText(v), p as string),
      );
      return result(call, STRING, sql);
    }
    const sql = call.analysis.udfs.call(
      'format_number',
      [x.type, INT],
      STRING,
      [x.sql, call.analysis.cast(format, INT).sql],
      (v, n) => ((n as number) < 0 ? null : formatNumber(numberText(v), n as number)),
    );
    return result(call, STRING, sql);
  }),
  customFunction('string', 'printf', 'format, value*', (call) => {
    const [format, ...values] = convertArguments(call, ['string', 'any*']);
    const types = [STRING, ...values.map((value) => (value.type.kind === 'void' ? STRING : value.type))];
    const args = [format.sql, ...values.map((value, i) => call.analysis.cast(value, types[i + 1]).sql)];
    const body = (text: unknown, ...rest: unknown[]) =>
      text === null
        ? null
        : printf(
            text as string,
            rest.map((value, i) => printfArgument(types[i + 1], value)),
          );
    return result(call, STRING, call.analysis.udfs.call('printf', types, STRING, args, body, { onNull: true }));
  }),
  mask('mask', (length) => [0, length]),
  mask('mask_first_n', (_, n) => [0, n]),
  mask('mask_last_n', (length, n) => [length - n, length]),
  mask('mask_show_first_n', (length, n) => [n, length]),
  mask('mask_show_last_n', (length, n) => [0, length - n]),
  jsFunction('misc', 'mask_hash', ['string'], STRING, (s) =>
    createHash('sha256')
      .update(s as string)
      .digest('hex'),
  ),
  customFunction('misc', 'uuid', '', (call) =>
    result(
      call,
      STRING,
      call.analysis.udfs.call('uuid', [], STRING, [], () => randomUUID(), { volatile: true }),
    ),
  ),
  customFunction('misc', 'current_database', '', (call) =>
    result(call, STRING, sqlString(call.analysis.context.currentDatabase)),
  ),
  customFunction('misc', 'current_user logged_in_user', '', (call) =>
    result(call, STRING, sqlString(call.analysis.context.user ?? 'anonymous')),
  ),
  customFunction('misc', 'version', '', (call) => result(call, STRING, sqlString('4.0.1 (skep)'))),
  customFunction('misc', 'assert_true', 'boolean', (call) => {
    const [condition] = convertArguments(call, ['boolean']);
    const sql = call.analysis.udfs.call(
      'assert_true',
      [BOOLEAN],
      BOOLEAN,
      [condition.sql],
      (x) => {
        if (x !== true) throw semantic('ASSERT_TRUE(): assertion failed.');
        return null;
      },
      { onNull: true },
    );
    return result(call, BOOLEAN, sql);
  }),
];
