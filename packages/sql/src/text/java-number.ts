/** Java's Double.toString: at least one digit after the point, computerized scientific notation outside [1e-3, 1e7). */
export function javaDouble(value: number): string {
  return javaText(value, shortest(value));
}

/** Java's Float.toString of a float held in a number. */
export function javaFloat(value: number): string {
  if (!Number.isFinite(value) || value === 0) return javaText(value, '0');
  // The shortest decimal that rounds to this float.
  for (let digits = 1; digits <= 9; digits++) {
    const text = Math.abs(value).toExponential(digits - 1);
    if (Math.fround(Number(text)) === Math.abs(value)) return javaText(value, text);
  }
  return javaText(value, Math.abs(value).toExponential(8));
}

function shortest(value: number): string {
  if (!Number.isFinite(value)) return '0';
  const text = Math.abs(value).toExponential();
  // Java writes at least two digits, and of those the pair nearest to the value: 4.9E-324, not 5.0E-324.
  if (text.length <= 6 && /^\de-3\d\d$/.test(text)) {
    const two = Math.abs(value).toExponential(1);
    if (Number(two) === Math.abs(value)) return two;
  }
  return text;
}

/** `exponential` is the magnitude as `d.ddde±x`. */
function javaText(value: number, exponential: string): string {
  if (Number.isNaN(value)) return 'NaN';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (!Number.isFinite(value)) return `${sign}Infinity`;
  if (value === 0) return `${sign}0.0`;
  const [mantissa, exponentText] = exponential.split('e');
  const exponent = Number(exponentText);
  const digits = mantissa.replace('.', '').replace(/0+$/, '') || '0';
  if (exponent < -3 || exponent >= 7) return `${sign}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}
