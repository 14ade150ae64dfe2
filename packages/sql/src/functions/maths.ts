import { divideHalfUp } from '../emit/cast.js';
import { arithmetic, negate, wrapping } from '../expressions/arithmetic.js';
import { argumentsLength, wrongArguments } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { duckTypeName } from '../types/duck-type.js';
import { BIGINT, DOUBLE, decimal, type HiveType, INT, STRING, typeName, VOID } from '../types/hive-type.js';
import {
  asDecimal,
  commonNumeric,
  isApproximate,
  isDateOrTime,
  isInteger,
  isPrimitive,
  isText,
} from '../types/type-rules.js';
import { convertArguments, customFunction, jsFunction, mismatch, result, sqlFunction } from './builder.js';
import type { Call, ScalarFunction } from './definition.js';

const double = (names: string, sql: (...args: string[]) => string, count = 1): ScalarFunction =>
  sqlFunction('math', names, new Array(count).fill('double'), DOUBLE, sql);
/** Java's Math functions: DuckDB raises errors where Java has NaN or Hive NULL. */
const js = (names: string, body: (x: number) => number | null): ScalarFunction =>
  jsFunction('math', names, ['double'], DOUBLE, (x) => body(x as number));

/** A number as the function takes it: text as double. */
function number(call: Call, arg: Expr): Expr {
  if (isText(arg.type)) return call.analysis.cast(arg, DOUBLE);
  if (isInteger(arg.type) || isApproximate(arg.type) || arg.type.kind === 'decimal' || arg.type.kind === 'void')
    return arg;
  throw mismatch(call, arg, 'a number');
}

const digits = (call: Call, arg: Expr | undefined): number => {
  if (arg === undefined || arg.type.kind === 'void') return 0;
  const { literal } = arg;
  if (typeof literal === 'bigint') return Number(literal);
  throw mismatch(call, arg, 'a constant number of digits');
};

/** ROUND half up, BROUND half to even (GenericUDFRound, GenericUDFBRound; RoundUtils). */
const round = (name: string, halfEven: boolean): ScalarFunction =>
  customFunction('math', name, 'number, digits?', (call) => {
    const rounded = roundCall(call, name, halfEven);
    if (call.args[1]?.type.kind !== 'void' || rounded.type.kind === 'void') return rounded;
    return result(call, rounded.type, `CAST(NULL AS ${duckTypeName(rounded.type)})`);
  });

function roundCall(call: Call, name: string, halfEven: boolean): Expr {
  const [value, places] = convertArguments(call, ['any', 'any?']);
  const x = number(call, value);
  const d = digits(call, places);
  const { type } = x;
  const { udfs } = call.analysis;
  if (type.kind === 'void') return result(call, VOID, 'NULL');
  if (isInteger(type)) {
    if (d >= 0) return result(call, type, x.sql);
    const body = (v: unknown): number | bigint => {
      const rounded = roundedInteger(BigInt(v as number | bigint), -d, halfEven);
      return type.kind === 'bigint' ? BigInt.asIntN(64, rounded) : Number(BigInt.asIntN(32, rounded));
    };
    return result(call, type, udfs.call(`${name}${d}`.replace('-', '_'), [type], type, [x.sql], body));
  }
  if (type.kind === 'decimal') {
    const whole = type.precision - type.scale;
    const scale = Math.max(0, d);
    const target =
      d >= type.scale
        ? decimal(Math.min(38, type.precision + d - type.scale), Math.min(d, 38))
        : decimal(Math.min(38, whole + scale + 1), scale);
    if (d >= 0 && !halfEven) return result(call, target, `TRY_CAST(${x.sql} AS ${duckTypeName(target)})`);
    const sql = udfs.call(`${name}${d}`.replace('-', '_'), [type], target, [x.sql], (v) => {
      const { unscaled, scale: from } = v as { unscaled: bigint; scale: number };
      const drop = from - d;
      const rounded = drop <= 0 ? unscaled : roundedInteger(unscaled, drop, halfEven) / 10n ** BigInt(drop);
      return { unscaled: rounded * 10n ** BigInt(Math.max(0, target.scale - d)), scale: target.scale };
    });
    return result(call, target, sql);
  }
  const sql = udfs.call(`${name}${d}`.replace('-', '_'), [type], type, [x.sql], (v) =>
    roundDouble(v as number, d, halfEven),
  );
  return result(call, type, sql);
}

/** `value` with its last `drop` digits made zero. */
function roundedInteger(value: bigint, drop: number, halfEven: boolean): bigint {
  const unit = 10n ** BigInt(drop);
  const quotient = value / unit;
  const rest = value % unit < 0n ? -(value % unit) : value % unit;
  if (halfEven && rest * 2n === unit)
    return (quotient % 2n === 0n ? quotient : quotient + (value < 0n ? -1n : 1n)) * unit;
  return divideHalfUp(value, unit) * unit;
}

/** BigDecimal.valueOf(x).setScale(d, …): rounds the shortest decimal text of the double. */
function roundDouble(x: number, d: number, halfEven: boolean): number {
  if (!Number.isFinite(x)) return x;
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(x.toExponential());
  if (match === null) return x;
  const fraction = match[3] ?? '';
  const scale = fraction.length - Number(match[4]);
  if (scale <= d) return x;
  const unscaled = BigInt(`${match[1]}${match[2]}${fraction}`);
  const drop = scale - d;
  if (drop > 400) return 0;
  const rounded = roundedInteger(unscaled, drop, halfEven) / 10n ** BigInt(drop);
  return Number(`${rounded}e${-d}`);
}

/** Of a double bigint, of a decimal a decimal without scale. */
const toWhole = (names: string, fn: 'floor' | 'ceil'): ScalarFunction =>
  customFunction('math', names, 'number', (call) => {
    const [value] = convertArguments(call, ['any']);
    const x = number(call, value);
    if (isInteger(x.type) || x.type.kind === 'void') return call.analysis.cast(x, BIGINT);
    if (x.type.kind === 'decimal') {
      const target = decimal(Math.min(38, x.type.precision - x.type.scale + 1), 0);
      return result(call, target, `CAST(${fn}(${x.sql}) AS ${duckTypeName(target)})`);
    }
    return result(call, BIGINT, `hv_double_bigint(${fn}(${call.analysis.cast(x, DOUBLE).sql}))`);
  });

const abs = customFunction('math', 'abs', 'number', (call) => {
  if (call.args.length !== 1) {
    throw argumentsLength(
      call.analysis.text(call.args[call.args.length - 1]?.position ?? call.position),
      `ABS() requires 1 argument, got ${call.args.length}`,
      call.position,
    );
  }
  const x = number(call, call.args[0]);
  if (isInteger(x.type)) {
    const type = x.type.kind === 'bigint' ? BIGINT : INT;
    const wide = call.analysis.cast(x, type);
    return result(
      call,
      type,
      `CASE WHEN ${wide.sql} < 0 THEN ${wrapping('-', type, '0', wide.sql)} ELSE ${wide.sql} END`,
    );
  }
  const wide = x.type.kind === 'float' ? call.analysis.cast(x, DOUBLE) : x;
  return result(call, wide.type, `abs(${wide.sql})`);
});

const sign = customFunction('math', 'sign', 'number', (call) => {
  const [value] = convertArguments(call, ['any']);
  const x = number(call, value);
  if (x.type.kind === 'decimal') return result(call, INT, `CAST(sign(${x.sql}) AS INTEGER)`);
  return result(call, DOUBLE, `CAST(sign(${call.analysis.cast(x, DOUBLE).sql}) AS DOUBLE)`);
});

const pmod = customFunction('math', 'pmod', 'number, number', (call) => {
  const [a, b] = convertArguments(call, ['any', 'any']).map((arg) => number(call, arg));
  const type = a.type.kind === 'void' || b.type.kind === 'void' ? INT : commonNumeric(a.type, b.type);
  if (type.kind === 'decimal') {
    const exact = [a, b].map((arg) => call.analysis.cast(arg, asDecimal(arg.type)));
    const [p, q] = [asDecimal(a.type), asDecimal(b.type)];
    const narrow = decimal(
      Math.min(p.precision - p.scale, q.precision - q.scale) + Math.max(p.scale, q.scale),
      Math.max(p.scale, q.scale),
    );
    const first = arithmetic(call.analysis, '%', exact[0], exact[1]);
    const second = arithmetic(call.analysis, '%', arithmetic(call.analysis, '+', first, exact[1]), exact[1]);
    return result(call, narrow, `CAST(${second.sql} AS ${duckTypeName(narrow)})`);
  }
  const [x, y] = [call.analysis.cast(a, type).sql, call.analysis.cast(b, type).sql];
  return result(call, type, `CAST(hv_pmod(${x}, ${y}) AS ${duckTypeName(type)})`);
});

const shift = (name: string, bits: (value: bigint, by: number, width: number) => bigint): ScalarFunction =>
  customFunction('math', name, 'int or bigint, int', (call) => {
    const [value, by] = convertArguments(call, ['any', 'int']);
    const type: HiveType = value.type.kind === 'bigint' || value.type.kind === 'void' ? BIGINT : INT;
    const width = type === BIGINT ? 64 : 32;
    const x = call.analysis.cast(value, type);
    const sql = call.analysis.udfs.call(name, [type, INT], type, [x.sql, by.sql], (v, n) => {
      const shifted = BigInt.asIntN(width, bits(BigInt(v as number | bigint), (n as number) & (width - 1), width));
      return type === BIGINT ? shifted : Number(shifted);
    });
    return result(call, type, sql);
  });

/** The same text conversion in another base (UDFConv): wraps at 64 bits, `toBase` below zero means signed. */
function conv(text: string, fromBase: number, toBase: number): string | null {
  const [from, to] = [Math.abs(fromBase), Math.abs(toBase)];
  if (from < 2 || from > 36 || to < 2 || to > 36 || text === '') return null;
  const negative = text.startsWith('-');
  const limit = 2n ** 64n - 1n;
  let value = 0n;
  for (const c of negative ? text.slice(1) : text) {
    const digit = Number.parseInt(c, 36);
    if (Number.isNaN(digit) || digit >= from) break;
    value = value * BigInt(from) + BigInt(digit);
    if (value > limit) value = limit;
  }
  if (negative && toBase > 0) {
    // A negative number as unsigned; too large ones are all ones.
    value = value > 2n ** 63n ? limit : BigInt.asUintN(64, -value);
  }
  if (toBase < 0) {
    const signed = BigInt.asIntN(64, negative ? -value : value);
    const magnitude = signed < 0n ? -signed : signed;
    return `${signed < 0n ? '-' : ''}${magnitude.toString(to).toUpperCase()}`;
  }
  return value.toString(to).toUpperCase();
}

/** GREATEST and LEAST: NULL where any is; numbers with text as doubles. */
const extreme = (name: 'greatest' | 'least'): ScalarFunction =>
  customFunction('math', name, 'value, value*', (call) => {
    const args = convertArguments(call, ['any', 'any', 'any*']);
    const nested = args.find((arg) => !isPrimitive(arg.type));
    if (nested !== undefined) {
      throw wrongArguments(
        call.analysis.text(nested.position),
        `${name} only takes primitive types, got ${typeName(nested.type)}`,
        call.position,
      );
    }
    let type = args[0].type;
    for (const arg of args.slice(1)) type = extremeType(type, arg.type);
    const list = args.map((arg) => call.analysis.cast(arg, type).sql);
    const anyNull = list.map((sql) => `${sql} IS NULL`).join(' OR ');
    return result(call, type, `CASE WHEN ${anyNull} THEN NULL ELSE ${name}(${list.join(', ')}) END`);
  });

function extremeType(a: HiveType, b: HiveType): HiveType {
  if (a.kind === 'void') return b;
  if (isDateOrTime(a) && isDateOrTime(b)) return a.kind === 'date' ? b : a;
  if (b.kind === 'void' || a.kind === b.kind)
    return a.kind === 'decimal' && b.kind === 'decimal' ? commonNumeric(a, b) : a;
  if (isDateOrTime(a) !== isDateOrTime(b) && !isText(a) && !isText(b)) return STRING;
  if (isText(a) !== isText(b))
    return [a, b].some((t) => t.kind === 'date' || t.kind === 'timestamp') ? (isText(a) ? b : a) : DOUBLE;
  return isText(a) ? STRING : commonNumeric(a, b);
}

/** exp as fdlibm reckons it (Java's StrictMath), which differs from the engine's in the last digit: COSH is made of it. */
function strictExp(x: number): number {
  const k =
    Math.abs(x) < 0.34657359027997264
      ? 0
      : Math.abs(x) < 1.0397207708399179
        ? Math.sign(x)
        : Math.trunc(x / Math.LN2 + Math.sign(x) * 0.5);
  const high = x - k * 0.6931471803691238;
  const low = k * 1.9082149292705877e-10;
  const r = high - low;
  const t = r * r;
  const c =
    r -
    t *
      (0.16666666666666602 +
        t *
          (-0.0027777777777015593 +
            t * (6.613756321437934e-5 + t * (-1.6533902205465252e-6 + t * 4.1381367970572385e-8))));
  if (k === 0) return 1 - ((r * c) / (c - 2) - r);
  return (1 - (low - (r * c) / (2 - c) - high)) * 2 ** k;
}

function cosh(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude < 0.34657359027997264 || magnitude > 22 || Number.isNaN(x)) return Math.cosh(x);
  const e = strictExp(magnitude);
  return 0.5 * e + 0.5 / e;
}

let randomCalls = 0;

/** java.util.Random.nextDouble of a seed: the same row of numbers every time. */
function javaRandom(seed: bigint): () => number {
  let state = (seed ^ 0x5deece66dn) & 0xffffffffffffn;
  const bits = (count: bigint): number => {
    state = (state * 0x5deece66dn + 0xbn) & 0xffffffffffffn;
    return Number(state >> (48n - count));
  };
  return () => (bits(26n) * 2 ** 27 + bits(27n)) * 2 ** -53;
}

const log2 = Math.log2;

export const mathFunctions: readonly ScalarFunction[] = [
  abs,
  sign,
  round('round', false),
  round('bround', true),
  toWhole('floor', 'floor'),
  toWhole('ceil ceiling', 'ceil'),
  pmod,
  customFunction('math', 'mod', 'number, number', (call) => {
    const [a, b] = convertArguments(call, ['any', 'any']);
    return arithmetic(call.analysis, '%', a, b);
  }),
  customFunction('math', 'positive', 'number', (call) => convertArguments(call, ['any'])[0]),
  customFunction('math', 'negative', 'number', (call) => negate(call.analysis, convertArguments(call, ['any'])[0])),
  double('power pow', (a, b) => `pow(${a}, ${b})`, 2),
  js('sqrt', (x) => (x < 0 ? null : Math.sqrt(x))),
  js('cbrt', Math.cbrt),
  // V8 rounds this one value better than fdlibm, which Java's StrictMath and otherwise V8 follow.
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: not e, but what fdlibm has for it
  js('exp', (x) => (x === 1 ? 2.7182818284590455 : Math.exp(x))),
  js('ln', (x) => (x <= 0 ? null : Math.log(x))),
  js('log10', (x) => (x <= 0 ? null : Math.log10(x))),
  js('log2', (x) => (x <= 0 ? null : log2(x))),
  jsFunction('math', 'log', ['double', 'double?'], DOUBLE, (a, b) => {
    const [base, x] = b === undefined ? [Math.E, a as number] : [a as number, b as number];
    if (x <= 0 || base <= 1) return null;
    return b === undefined ? Math.log(x) : Math.log(x) / Math.log(base);
  }),
  js('sin', Math.sin),
  js('cos', Math.cos),
  js('tan', Math.tan),
  js('sinh', Math.sinh),
  js('cosh', cosh),
  js('tanh', Math.tanh),
  js('asin', (x) => (Math.abs(x) > 1 ? null : Math.asin(x))),
  js('acos', (x) => (Math.abs(x) > 1 ? null : Math.acos(x))),
  js('atan', Math.atan),
  js('degrees', (x) => x * 57.29577951308232),
  js('radians', (x) => x * 0.017453292519943295),
  sqlFunction('math', 'pi', [], DOUBLE, () => 'pi()'),
  sqlFunction('math', 'e', [], DOUBLE, () => "CAST('2.718281828459045' AS DOUBLE)"),
  customFunction('math', 'rand', 'seed?', (call) => {
    const [seed] = convertArguments(call, ['bigint?']);
    if (typeof seed?.literal !== 'bigint') return result(call, DOUBLE, 'random()');
    const next = javaRandom(seed.literal);
    // The argument only says that it is reckoned anew for each row, and not when the query is planned.
    // Each call has numbers of its own, so that each needs its own function.
    const name = `rand_${seed.literal}_${randomCalls++}`;
    return result(
      call,
      DOUBLE,
      call.analysis.udfs.call(name, [DOUBLE], DOUBLE, ['random()'], next, { volatile: true }),
    );
  }),
  jsFunction('math', 'factorial', ['int'], BIGINT, (n) => {
    const x = n as number;
    if (x < 0 || x > 20) return null;
    let product = 1n;
    for (let i = 2n; i <= BigInt(x); i++) product *= i;
    return product;
  }),
  shift('shiftleft', (v, n) => v << BigInt(n)),
  shift('shiftright', (v, n) => v >> BigInt(n)),
  shift('shiftrightunsigned', (v, n, width) => BigInt.asUintN(width, v) >> BigInt(n)),
  extreme('greatest'),
  extreme('least'),
  customFunction('math', 'hex', 'bigint, string or binary', (call) => {
    const [arg] = convertArguments(call, ['any']);
    if (arg.type.kind === 'binary') return result(call, STRING, `hex(${arg.sql})`);
    if (isInteger(arg.type)) {
      const sql = call.analysis.udfs.call('hex_bigint', [BIGINT], STRING, [call.analysis.cast(arg, BIGINT).sql], (n) =>
        BigInt.asUintN(64, n as bigint)
          .toString(16)
          .toUpperCase(),
      );
      return result(call, STRING, sql);
    }
    return result(call, STRING, `hex(encode(${call.analysis.cast(arg, STRING).sql}))`);
  }),
  jsFunction('math', 'bin', ['bigint'], STRING, (n) => BigInt.asUintN(64, n as bigint).toString(2)),
  jsFunction('math', 'conv', ['string', 'int', 'int'], STRING, (s, a, b) =>
    conv(s as string, a as number, b as number),
  ),
  jsFunction('math', 'width_bucket', ['double', 'double', 'double', 'int'], INT, (x, low, high, n) => {
    const [value, from, to, count] = [x, low, high, n] as number[];
    if (from < to) {
      if (value < from) return 0;
      return value >= to ? count + 1 : Math.floor(((value - from) * count) / (to - from)) + 1;
    }
    if (value > from) return 0;
    return value <= to ? count + 1 : Math.floor(((from - value) * count) / (from - to)) + 1;
  }),
];
