/** Longer minimums and maximums are recorded as bounds (ORC-203; Java: StringStatisticsImpl.MAX_BYTES_RECORDED). */
export const MOST_RECORDED_BYTES = 1024;

/** The first characters of a long text, at most 1024 bytes: not above the text. */
export function lowerBound(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return bytes.slice(start, cut(bytes, start, end));
}

/**
 * The first characters of a long text, the last of them raised by one: above every text that begins with them.
 * Undefined when no character can be raised.
 */
export function upperBound(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
  let last = cut(bytes, start, end);
  while (last > start) {
    let at = last - 1;
    while (at > start && (bytes[at] & 0xc0) === 0x80) at--;
    const raised = encodeCodePoint(decodeCodePoint(bytes, at, last) + 1);
    if (raised !== undefined && at - start + raised.length <= MOST_RECORDED_BYTES) {
      const bound = new Uint8Array(at - start + raised.length);
      bound.set(bytes.subarray(start, at));
      bound.set(raised, at - start);
      return bound;
    }
    last = at;
  }
  return undefined;
}

/** The last place up to 1024 bytes at which a character ends. */
function cut(bytes: Uint8Array, start: number, end: number): number {
  let at = Math.min(end, start + MOST_RECORDED_BYTES);
  while (at > start && at < end && (bytes[at] & 0xc0) === 0x80) at--;
  return at;
}

function decodeCodePoint(bytes: Uint8Array, start: number, end: number): number {
  const lead = bytes[start];
  if (lead < 0x80) return lead;
  let value = lead & (0xff >> (end - start + 1));
  for (let i = start + 1; i < end; i++) value = (value << 6) | (bytes[i] & 0x3f);
  return value;
}

function encodeCodePoint(value: number): Uint8Array | undefined {
  if (value > 0x10ffff) return undefined;
  // Surrogates are no characters.
  const point = value >= 0xd800 && value <= 0xdfff ? 0xe000 : value;
  return new TextEncoder().encode(String.fromCodePoint(point));
}
