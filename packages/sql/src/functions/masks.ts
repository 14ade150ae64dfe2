import { createHash } from 'node:crypto';
import type { Expr } from '../expressions/expr.js';
import { civilFromDays, daysFromCivil, daysInMonth } from '../text/calendar.js';
import { decimal, type HiveType, STRING } from '../types/hive-type.js';
import { isInteger, isText } from '../types/type-rules.js';
import { convertArguments, customFunction, mismatch, result } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

/** What stands for a masked character; undefined: it stays. */
interface Mask {
  readonly upper: string | undefined;
  readonly lower: string | undefined;
  readonly digit: string | undefined;
  readonly other: string | undefined;
  /** Of a number's digits. */
  readonly number: bigint;
}

function maskCharacter(c: string, { upper, lower, digit, other }: Mask): string {
  if (/\p{Lu}/u.test(c)) return upper ?? c;
  if (/\p{Ll}/u.test(c)) return lower ?? c;
  return /\p{Nd}/u.test(c) ? (digit ?? c) : (other ?? c);
}

/** Which of n characters are masked: [from, to). */
type Range = (length: number, count: number) => readonly [number, number];

function maskText(text: string, [from, to]: readonly [number, number], mask: Mask): string {
  return [...text].map((c, i) => (i >= from && i < to ? maskCharacter(c, mask) : c)).join('');
}

/** The digits of a whole number; its sign stays. */
function maskInteger(value: bigint, range: Range, count: number, { number }: Mask): bigint {
  const digits = [...(value < 0n ? -value : value).toString()];
  const [from, to] = range(digits.length, count);
  const masked = BigInt(digits.map((digit, i) => (i >= from && i < to ? number : digit)).join(''));
  return value < 0n ? -masked : masked;
}

/** A constant argument: text counts by its first character, -1 means "leave as it is". */
function letter(call: Call, arg: Expr | undefined, byDefault: string | undefined): string | undefined {
  if (arg === undefined || arg.literal === null) return byDefault;
  if (typeof arg.literal === 'string') return arg.literal === '' ? byDefault : [...arg.literal][0];
  if (typeof arg.literal !== 'bigint') throw mismatch(call, arg, 'a constant character');
  return arg.literal === -1n ? undefined : String.fromCodePoint(Number(arg.literal));
}

function constant(call: Call, arg: Expr | undefined, byDefault: number): number {
  if (arg === undefined || arg.literal === null) return byDefault;
  if (typeof arg.literal === 'bigint') return Number(arg.literal);
  if (typeof arg.literal === 'string' && /^-?\d+$/.test(arg.literal.trim())) return Number(arg.literal);
  throw mismatch(call, arg, 'a constant integer');
}

/** What the masked value's type is: widened, and NULL where Hive cannot mask it (AbstractGenericUDFMaskTransform). */
function maskedType(type: HiveType): HiveType {
  if (type.kind === 'varchar') return { kind: 'varchar', length: 65535 };
  if (type.kind === 'char') return { kind: 'char', length: 255 };
  return type.kind === 'decimal' ? decimal(38, 18) : type;
}

/** Unknown where a part is not replaced (-1 for the day, the month from 0 and the year). */
function maskDate(days: number, day: number, month: number, year: number): number {
  const real = civilFromDays(days);
  const shownYear = year === -1 ? real.year : year;
  const shownMonth = month === -1 ? real.month : month + 1;
  const wanted = day === -1 ? real.day : day;
  return daysFromCivil(shownYear, shownMonth, Math.min(wanted, daysInMonth(shownYear, shownMonth)));
}

/** MASK and kin (GenericUDFMask…). */
const mask = (name: string, range: Range): ScalarFunction => {
  const counted = name !== 'mask';
  const usage = `value${counted ? ', count?' : ''}, upper?, lower?, digit?, other?, number?${counted ? '' : ', day?, month?, year?'}`;
  return customFunction('misc', name, usage, (call) => {
    const [value, ...rest] = convertArguments(call, ['any', ...new Array(8).fill('any?')]);
    const count = counted ? constant(call, rest[0], 4) : 0;
    const [upper, lower, digit, other, number, day, month, year] = counted ? rest.slice(1) : rest;
    const letters: Mask = {
      upper: letter(call, upper, 'X'),
      lower: letter(call, lower, 'x'),
      digit: letter(call, digit, 'n'),
      other: letter(call, other, undefined),
      number: BigInt(within(constant(call, number, 1), 0, 9, 1)),
    };
    const type = maskedType(value.type);
    const key = `${name}_${count}_${JSON.stringify({ ...letters, number: String(letters.number) })}`;
    const { udfs } = call.analysis;
    if (isText(value.type)) {
      const sql = udfs.call(key, [STRING], STRING, [value.sql], (s) =>
        maskText(s as string, range([...(s as string)].length, count), letters),
      );
      return result(call, type, sql);
    }
    if (isInteger(value.type)) {
      const big = value.type.kind === 'bigint';
      const sql = udfs.call(key, [value.type], type, [value.sql], (n) => {
        const masked = maskInteger(BigInt(n as number | bigint), range, count, letters);
        return big ? BigInt.asIntN(64, masked) : Number(BigInt.asIntN(32, masked));
      });
      return result(call, type, sql);
    }
    if (value.type.kind === 'date' && !counted) {
      const parts = [
        within(constant(call, day, 1), 1, 31, 1),
        within(constant(call, month, 0), 0, 11, 0),
        within(constant(call, year, 0), 0, 9999, 0),
      ] as const;
      const sql = udfs.call(`mask_date_${parts.join('_')}`, [value.type], type, [value.sql], (d) =>
        maskDate(d as number, ...parts),
      );
      return result(call, type, sql);
    }
    return nullOf(call, value, type);
  });
};

/** -1 stays; anything else outside the bounds counts as the default. */
const within = (value: number, low: number, high: number, byDefault: number): number =>
  value === -1 || (value >= low && value <= high) ? value : byDefault;

const nullOf = (call: Call, value: Expr, type: HiveType): Expr =>
  type.kind === 'void'
    ? result(call, type, 'NULL')
    : call.analysis.cast({ ...value, sql: 'NULL', type: { kind: 'void' } }, type);

export const maskFunctions: readonly ScalarFunction[] = [
  mask('mask', (length) => [0, length]),
  mask('mask_first_n', (_, n) => [0, n]),
  mask('mask_last_n', (length, n) => [Math.max(0, length - n), length]),
  mask('mask_show_first_n', (length, n) => [n, length]),
  mask('mask_show_last_n', (length, n) => [0, Math.max(0, length - n)]),
  customFunction('misc', 'mask_hash', 'string', (call) => {
    const [value] = convertArguments(call, ['any']);
    if (!isText(value.type)) return nullOf(call, value, maskedType(value.type));
    const sql = call.analysis.udfs.call('mask_hash', [STRING], STRING, [value.sql], (s) =>
      createHash('sha256')
        .update(s as string)
        .digest('hex'),
    );
    return result(call, maskedType(value.type), sql);
  }),
];
