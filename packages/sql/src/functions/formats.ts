import type { DecimalValue } from '@skep/orc';
import { decimalText } from '../text/format-value.js';
import { javaDouble, javaFloat } from '../text/java-number.js';
import { type HiveType, INT, STRING } from '../types/hive-type.js';
import { isNumeric, isText } from '../types/type-rules.js';
import { convertArguments, customFunction, mismatch, result } from './builder.js';
import type { ScalarFunction } from './definition.js';
import { formatNumber, formatPattern, type PrintfValue, plainText, printf } from './number-format.js';

/** A number's exact decimal text. */
function numberText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return plainText(value);
  const { unscaled, scale } = value as DecimalValue;
  return decimalText(unscaled, scale);
}

const BITS: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, int: 32, bigint: 64 };

/** Dates and other types come as their text (GenericUDFPrintf). */
function printfArgument(type: HiveType, value: unknown): PrintfValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  const number = numberText(value);
  const text =
    type.kind === 'double' ? javaDouble(value as number) : type.kind === 'float' ? javaFloat(value as number) : number;
  return { number, text, bits: BITS[type.kind] ?? 0 };
}

export const formatFunctions: readonly ScalarFunction[] = [
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
    const shown = (type: HiveType) => (isNumeric(type) || type.kind === 'boolean' ? type : STRING);
    const types = [STRING, ...values.map((value) => shown(value.type))];
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
];
