/** unscaled × 10^-scale without zeros at its end, as HiveDecimal.toString prints it. */
export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = scale === 0 ? '' : digits.slice(-scale).replace(/0+$/, '');
  return `${unscaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The inverse of decimalText; undefined for what is no decimal of that scale. */
export function unscaledOf(text: string | undefined, scale: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text ?? '');
  if (match === null) return undefined;
  const [, sign, whole, fraction = ''] = match;
  if (fraction.length > scale) return undefined;
  const digits = BigInt(whole + fraction.padEnd(scale, '0'));
  return sign === '-' ? -digits : digits;
}
