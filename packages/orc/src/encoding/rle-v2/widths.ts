/*
 * Bit widths (spec: "Integer Run Length Encoding, version 2", table "Encoded width"): 1 to 24 each, then 26, 28, 30,
 * 32, 40, 48, 56, 64. Delta runs use code 0 for "no bits at all" (fixed delta).
 */
const WIDTHS = Uint8Array.from([...Array(24).keys()].map((i) => i + 1).concat(26, 28, 30, 32, 40, 48, 56, 64));

/** Bits of a 5-bit width code. */
export function decodeBitWidth(code: number): number {
  return WIDTHS[code];
}

const CLOSEST = new Uint8Array(65);
const CODES = new Uint8Array(65);
const CLOSEST_ALIGNED = new Uint8Array(65);
for (let bits = 0; bits <= 64; bits++) {
  const code = WIDTHS.findIndex((width) => width >= bits);
  CODES[bits] = code;
  CLOSEST[bits] = WIDTHS[code];
  CLOSEST_ALIGNED[bits] = bits <= 1 ? 1 : bits <= 2 ? 2 : bits <= 4 ? 4 : Math.max(8, Math.ceil(bits / 8) * 8);
}

/** The smallest encodable width that holds `bits` bits (Java: SerializationUtils.getClosestFixedBits; 0 gives 1). */
export function closestFixedBits(bits: number): number {
  return CLOSEST[bits];
}

/** As closestFixedBits among 1, 2, 4 and whole bytes (Java: getClosestAlignedFixedBits), which unpack faster. */
export function closestAlignedFixedBits(bits: number): number {
  return CLOSEST_ALIGNED[bits];
}

/** The 5-bit code of a width (Java: encodeBitWidth). */
export function encodeBitWidth(bits: number): number {
  return CODES[bits];
}
