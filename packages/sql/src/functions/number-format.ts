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
  return negative && /[1-9]/.test(shown) ? `-${shown}` : shown;
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
export type PrintfValue = null | string | boolean | { readonly number: string; readonly integer: boolean };

/** java.util.Formatter: %s %d %x %o %f %e %c %b %% with flags, width and precision. */
export function printf(format: string, values: readonly PrintfValue[]): string {
  let next = 0;
  return format.replace(
    /%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g,
    (
      _,
      position: string | undefined,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      letter: string,
    ) => {
      if (letter === '%') return '%';
      if (letter === 'n') return '\n';
      const value = values[position === undefined ? next++ : Number(position) - 1] ?? null;
      const text = converted(value, letter, flags, precision === undefined ? undefined : Number(precision));
      return padded(text, flags, width === undefined ? 0 : Number(width), value !== null && 'dfeoxX'.includes(letter));
    },
  );
}

function converted(value: PrintfValue, letter: string, flags: string, precision: number | undefined): string {
  if (value === null) return letter === 'b' ? 'false' : 'null';
  const number = typeof value === 'object' ? value : undefined;
  const signed = (text: string): string =>
    text.startsWith('-') ? text : flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text;
  const upper = letter === letter.toUpperCase() && letter !== letter.toLowerCase();
  switch (letter.toLowerCase()) {
    case 's': {
      const text = number?.number ?? String(value);
      const cut = precision === undefined ? text : text.slice(0, precision);
      return upper ? cut.toUpperCase() : cut;
    }
    case 'd': {
      const text = number?.number ?? String(value);
      return signed(flags.includes(',') ? groupThousands(text) : text);
    }
    case 'x':
    case 'o': {
      const big = BigInt(number?.number ?? 0);
      const text = (big < 0n ? BigInt.asUintN(big < -(2n ** 31n) ? 64 : 32, big) : big).toString(
        letter === 'o' ? 8 : 16,
      );
      return upper ? text.toUpperCase() : text;
    }
    case 'f': {
      const text = roundHalfUp(number?.number ?? String(value), precision ?? 6);
      return signed(flags.includes(',') ? groupThousands(text) : text);
    }
    case 'e': {
      const text = Number(number?.number ?? value).toExponential(precision ?? 6);
      const shown = text.replace(/e([+-])(\d)$/, 'e$10$2');
      return signed(upper ? shown.toUpperCase() : shown);
    }
    case 'c':
      return number === undefined ? String(value) : String.fromCodePoint(Number(number.number));
    case 'b':
      return String(value === true || typeof value !== 'boolean');
    default:
      return String(number?.number ?? value);
  }
}

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
