/*
 * Java's Double.toString and Float.toString as JDK 8 to 18 have them (jdk.internal.math.FloatingDecimal, which Hive 4 runs
 * on): mostly the shortest decimal that reads back as the value, but now and then a digit more, 2.0E-3 as 0.002, and at
 * least one digit behind the point. Scientific notation outside [1e-3, 1e7).
 */

export function javaDouble(value: number): string {
  if (!Number.isFinite(value) || value === 0) return special(value);
  const magnitude = Math.abs(value);
  // Whole numbers below 2^53 have no choice of digits.
  if (Number.isInteger(magnitude) && magnitude < 9007199254740992) {
    return assemble(value < 0, trimZeros(String(magnitude)), String(magnitude).length);
  }
  // Neither has a short decimal of middling size: here Java finds the shortest too (compared with a JVM).
  if (magnitude >= 1e-3 && magnitude < 1e15) {
    const text = magnitude.toExponential();
    const end = text.indexOf('e');
    if (end <= LONGEST_EASY)
      return assemble(value < 0, text.slice(0, end).replace('.', ''), Number(text.slice(end + 1)) + 1);
  }
  DOUBLE[0] = magnitude;
  const bits = BITS[0];
  const exponent = Number(bits >> 52n);
  const fraction = bits & FRACTION;
  if (exponent !== 0) return digitsOf(value < 0, fraction | HIDDEN, exponent - 1023, 53);
  const length = fraction.toString(2).length;
  return digitsOf(value < 0, fraction << BigInt(53 - length), -1022 - (53 - length), length);
}

/** A float held in a number. */
export function javaFloat(value: number): string {
  if (!Number.isFinite(value) || value === 0) return special(value);
  FLOAT[0] = Math.abs(value);
  const bits = FLOAT_BITS[0];
  const exponent = bits >>> 23;
  const fraction = bits & 0x7fffff;
  if (exponent !== 0) return digitsOf(value < 0, BigInt(fraction | 0x800000) << 29n, exponent - 127, 24);
  const length = 32 - Math.clz32(fraction);
  return digitsOf(value < 0, BigInt(fraction) << BigInt(53 - length), -126 - (24 - length), length);
}

/** Of `d.ddd…`: 14 digits and the point. */
const LONGEST_EASY = 15;
const DOUBLE = new Float64Array(1);
const BITS = new BigUint64Array(DOUBLE.buffer);
const FLOAT = new Float32Array(1);
const FLOAT_BITS = new Uint32Array(FLOAT.buffer);
const FRACTION = (1n << 52n) - 1n;
const HIDDEN = 1n << 52n;

const special = (value: number): string =>
  Number.isNaN(value)
    ? 'NaN'
    : value === 0
      ? Object.is(value, -0)
        ? '-0.0'
        : '0.0'
      : value > 0
        ? 'Infinity'
        : '-Infinity';

const trimZeros = (digits: string): string => digits.replace(/0+$/, '') || '0';

/** 0.digits × 10^point as Java lays it out. */
function assemble(negative: boolean, digits: string, point: number): string {
  const sign = negative ? '-' : '';
  if (point > 0 && point < 8) {
    const whole = digits.slice(0, point).padEnd(point, '0');
    return `${sign}${whole}.${digits.slice(point) || '0'}`;
  }
  if (point <= 0 && point > -3) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits[0]}.${digits.slice(1) || '0'}E${point - 1}`;
}

/** Bits of 5^n. */
const BITS_OF_5 = [
  0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61,
];
const bitsOf5 = (n: number): number => (n < BITS_OF_5.length ? BITS_OF_5[n] : n * 3);
/** How many decimal digits of a whole number say nothing when its last p bits do not. */
const insignificantDigits = (p: number): number => (p > 1 && p < 64 ? Math.floor(p * Math.log10(2)) : 0);

/**
 * FloatingDecimal.dtoa of fraction × 2^(exponent - 52), of which `significant` bits count: picks digits off B / S until what
 * is left is within M, half a unit of the last place.
 */
function digitsOf(negative: boolean, fraction: bigint, exponent: number, significant: number): string {
  let tailZeros = 0;
  while (((fraction >> BigInt(tailZeros)) & 1n) === 0n) tailZeros++;
  const fractionBits = 53 - tailZeros;
  const tinyBits = Math.max(0, fractionBits - exponent - 1);
  if (exponent <= 62 && exponent >= -21 && tinyBits === 0 && fractionBits < 64) {
    return wholeNumber(negative, fraction, exponent, significant);
  }
  let decimalExponent = estimate(fraction, exponent);
  const b5 = Math.max(0, -decimalExponent);
  const s5 = Math.max(0, decimalExponent);
  let b2 = b5 + tinyBits + exponent;
  let s2 = s5 + tinyBits;
  let m2 = b2 - significant;
  b2 -= fractionBits - 1;
  const common = Math.min(b2, s2);
  b2 -= common;
  s2 -= common;
  m2 -= common;
  // Below a power of two the neighbour is only half as far.
  if (fractionBits === 1) m2--;
  if (m2 < 0) {
    b2 -= m2;
    s2 -= m2;
    m2 = 0;
  }
  const width = arithmeticWidth(fractionBits + b2 + bitsOf5(b5), s2 + 1 + bitsOf5(s5 + 1));
  const wrapped = width === undefined ? (x: bigint) => x : (x: bigint) => BigInt.asIntN(width, x);
  const s = (5n ** BigInt(s5)) << BigInt(s2);
  const tens = s * 10n;
  let b = ((fraction >> BigInt(tailZeros)) * 5n ** BigInt(b5)) << BigInt(b2);
  let m = wrapped(wrapped((5n ** BigInt(b5)) << BigInt(m2)) * 10n);
  // The branches of Java's code differ in whether the upper bound counts.
  const above = () => (width === undefined ? b + m >= tens : wrapped(b + m) > tens);
  let digits = '';
  let quotient = b / s;
  b = 10n * (b % s);
  let low = b < m;
  let high = above();
  if (quotient === 0n && !high) decimalExponent--;
  else digits += quotient;
  if (decimalExponent < -3 || decimalExponent >= 8) low = high = false;
  while (!low && !high) {
    quotient = b / s;
    b = 10n * (b % s);
    m = wrapped(m * 10n);
    // An int or long that has overflowed ends the digits.
    low = m <= 0n || b < m;
    high = m <= 0n || above();
    digits += quotient;
  }
  const difference = wrapped(2n * b - tens);
  const up = high && (!low || difference > 0n || (difference === 0n && Number(digits[digits.length - 1]) % 2 === 1));
  const point = decimalExponent + 1;
  if (!up) return assemble(negative, digits, point);
  const rounded = (BigInt(digits) + 1n).toString();
  return assemble(negative, trimZeros(rounded), point + rounded.length - digits.length);
}

/** Java reckons with ints or longs where the bits allow it, else with big integers. */
const arithmeticWidth = (bits: number, moreBits: number): 32 | 64 | undefined =>
  bits < 32 && moreBits < 32 ? 32 : bits < 64 && moreBits < 64 ? 64 : undefined;

function wholeNumber(negative: boolean, fraction: bigint, exponent: number, significant: number): string {
  const dropped = exponent > significant ? insignificantDigits(exponent - significant - 1) : 0;
  let value = exponent >= 52 ? fraction << BigInt(exponent - 52) : fraction >> BigInt(52 - exponent);
  if (dropped > 0) {
    const unit = 10n ** BigInt(dropped);
    const residue = value % unit;
    value /= unit;
    if (residue >= unit / 2n) value++;
  }
  const digits = value.toString();
  return assemble(negative, trimZeros(digits), digits.length + dropped);
}

/** floor(log10) or one more. */
function estimate(fraction: bigint, exponent: number): number {
  const mantissa = Number(fraction) / 4503599627370496;
  return Math.floor((mantissa - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981);
}
