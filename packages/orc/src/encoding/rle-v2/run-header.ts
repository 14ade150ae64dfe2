import type { OutputBuffer } from '../output-buffer.js';
import { closestFixedBits, encodeBitWidth } from './widths.js';

/** Runs of this length or less are not worth looking at: they are written directly. */
export const SHORT_RUN = 3;

/** The two bytes that direct (1) and delta (3) begin with; reserves room for the varints of a delta too. Width 0: fixed delta. */
export function putRunHeader(output: OutputBuffer, form: 1 | 3, width: number, count: number): void {
  output.reserve(2 + 10 + 10);
  const code = width === 0 ? 0 : encodeBitWidth(width);
  output.bytes[output.length++] = (form << 6) | (code << 1) | ((count - 1) >>> 8);
  output.bytes[output.length++] = count - 1;
}

/**
 * Width that holds all but the largest `1 - share` of the values (Java: SerializationUtils.percentileBits), of a
 * histogram of their bits.
 */
export function percentileBits(histogram: Int32Array, count: number, share: number): number {
  let left = Math.trunc(count * (1 - share));
  for (let bits = 64; bits > 0; bits--) {
    left -= histogram[bits];
    if (left < 0) return closestFixedBits(bits);
  }
  return closestFixedBits(0);
}
