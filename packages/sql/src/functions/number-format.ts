import { semantic } from '../expressions/errors.js';

/** Rounds a plain decimal text half to even (java.text.DecimalFormat) to `places` digits. */
export function roundHalfEven(text: string, places: number): string {
  const negative = text.startsWith('-');
  const [whole, fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const padded = fraction.padEnd(places + 1, '0');
  const unscaled = BigInt(whole + padded.slice(0, places));
  const rest = padded.slice(places).replace(/0+$/, '');
  const up = rest > '5' || (rest.startsWith('5') && rest.length > 1) || (rest === '5' && unscaled % 2n === 1n);
  const digits = (unscaled + (up ? 1n : 0n)).toString().padStart(places + 1, '0');
  const shown = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return negative ? `-${shown}` : shown;
}

/** A double's shortest decimal text without an exponent. */
export function plainText(x: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(x.toExponential());
  if (match === null) return String(x);
  const [, sign, first, fraction = '', exponentText] = match;
  const exponent = Number(exponentText);
  const digits = first + fraction;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = digits.slice(exponent + 1);
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`;
}

export const groupThousands = (text: string): string => {
  const [whole, fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

/** FORMAT_NUMBER(x, places) of a plain decimal text. */
export const formatNumber = (text: string, places: number): string => groupThousands(roundHalfEven(text, places));

/** FORMAT_NUMBER(x, pattern): java.text.DecimalFormat's #, 0, comma and point. */
export function formatPattern(text: string, pattern: string): string {
  const match = /^([^#0,.]*)([#0,.]+)([^#0,.]*)$/.exec(pattern);
  if (match === null) return text;
  const [, prefix, body, suffix] = match;
  const [whole, fraction = ''] = body.split('.');
  const rounded = roundHalfEven(text, fraction.length);
  const negative = rounded.startsWith('-');
  const [digits, decimals = ''] = (negative ? rounded.slice(1) : rounded).split('.');
  const least = (whole.match(/0/g) ?? []).length;
  const trimmed = digits.replace(/^0+/, '').padStart(least, '0');
  const shownWhole = whole.includes(',') ? trimmed.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : trimmed;
  const required = (fraction.match(/0/g) ?? []).length;
  let kept = decimals;
  while (kept.length > required && kept.endsWith('0')) kept = kept.slice(0, -1);
  return `${negative ? '-' : ''}${prefix}${shownWhole}${kept === '' ? '' : `.${kept}`}${suffix}`;
}

/** What PRINTF takes: text, or a number with its exact decimal text. */
export type PrintfValue =
  | null
  | string
  | boolean
  /** `bits` is 0 for what is not an integer; `text` is what %s shows. */
  | { readonly number: string; readonly text: string; readonly bits: number };

/** java.util.Formatter: %s %d %x %o %f %e %g %c %b %h %n %% with flags, width and precision. */
export function printf(format: string, values: readonly PrintfValue[]): string {
  let next = 0;
  const known = /%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g;
  return format.replace(known, (specifier, position: string | undefined, flags: string, width, precision, letter) => {
    if (letter === '%') return pad('%', flags, width, false);
    if (letter === 'n') return '\n';
    const index = position === undefined ? next++ : Number(position) - 1;
    if (index >= values.length) throw semantic(`PRINTF: there is no argument for the format specifier '${specifier}'`);
    const value = values[index];
    const text = converted(value, letter, flags, precision === undefined ? undefined : Number(precision));
    if (text === undefined)
      throw semantic(`PRINTF: '${specifier}' does not fit a value of this type, or is no conversion`);
    return pad(text, flags, width, value !== null && 'dfegoxX'.includes(letter));
  });
}

const pad = (text: string, flags: string, width: string | undefined, number: boolean): string =>
  padded(text, flags, width === undefined ? 0 : Number(width), number);

const javaHash = (text: string): number => {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
};

/** undefined where the conversion is none, or not one of this value (IllegalFormatConversionException). */
function converted(
  value: PrintfValue,
  letter: string,
  flags: string,
  precision: number | undefined,
): string | undefined {
  const upper = letter === letter.toUpperCase();
  if (upper && !'SXEGBCH'.includes(letter)) return undefined;
  const text = convertedValue(value, letter.toLowerCase(), flags, precision);
  return upper ? text?.toUpperCase() : text;
}

function convertedValue(
  value: PrintfValue,
  letter: string,
  flags: string,
  precision: number | undefined,
): string | undefined {
  if (!'sdxofegcbh'.includes(letter)) return undefined;
  if (value === null) return letter === 'b' ? 'false' : 'null';
  const number = typeof value === 'object' ? value : undefined;
  const signed = (text: string): string => {
    if (text.startsWith('-')) return flags.includes('(') ? `(${text.slice(1)})` : text;
    return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text;
  };
  const grouped = (text: string): string => signed(flags.includes(',') ? groupThousands(text) : text);
  switch (letter) {
    case 's': {
      const text = number?.text ?? String(value);
      return precision === undefined ? text : text.slice(0, precision);
    }
    case 'h':
      return (javaHash(number?.text ?? String(value)) >>> 0).toString(16);
    case 'b':
      return String(value === true || typeof value !== 'boolean');
    case 'c':
      return number === undefined || number.bits === 0 ? undefined : String.fromCodePoint(Number(number.number));
  }
  if (number === undefined) return undefined;
  const whole = number.bits > 0;
  switch (letter) {
    case 'd':
      return whole ? grouped(number.number) : undefined;
    case 'x':
    case 'o':
      return whole ? BigInt.asUintN(number.bits, BigInt(number.number)).toString(letter === 'o' ? 8 : 16) : undefined;
    case 'f':
      return whole ? undefined : grouped(roundHalfUp(number.number, precision ?? 6));
    case 'e':
      return whole ? undefined : signed(scientific(number.number, precision ?? 6));
    default: {
      // %g: like %f from 10^-4 to 10^precision, with so many digits in all.
      if (whole) return undefined;
      const digits = precision === undefined ? 6 : Math.max(precision, 1);
      const rounded = Number(Number(number.number).toPrecision(digits));
      const magnitude = Math.abs(rounded);
      if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 10 ** digits)) {
        return signed(scientific(number.number, digits - 1));
      }
      const exponent = magnitude === 0 ? 0 : Math.floor(Math.log10(magnitude));
      return grouped(roundHalfUp(number.number, Math.max(0, digits - exponent - 1)));
    }
  }
}

const scientific = (text: string, digits: number): string =>
  Number(text)
    .toExponential(digits)
    .replace(/e([+-])(\d)$/, 'e$10$2');

function roundHalfUp(text: string, places: number): string {
  const negative = text.startsWith('-');
  const [whole, fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const padded = fraction.padEnd(places + 1, '0');
  const unscaled = BigInt(whole + padded.slice(0, places)) + (padded[places] >= '5' ? 1n : 0n);
  const digits = unscaled.toString().padStart(places + 1, '0');
  const shown = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return negative ? `-${shown}` : shown;
}

function padded(text: string, flags: string, width: number, number: boolean): string {
  if (text.length >= width) return text;
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || !number) return text.padStart(width);
  const sign = /^[+-]/.test(text) ? text[0] : '';
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}
