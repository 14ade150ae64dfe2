import { ByteCursor } from './byte-cursor.js';
import type { OutputBuffer } from './output-buffer.js';

/*
 * Unbounded base 128 varints, zigzag encoded (spec: "Decimal columns", DATA stream; Java:
 * SerializationUtils.readBigInteger/writeBigInteger). A decimal has at most 38 digits, which 127 bits and a sign hold;
 * so at most 19 bytes. The scale of each value is an integer in the SECONDARY stream.
 */
const MAX_BYTES = 19;

/** Decodes the unscaled values of a decimal column. */
export class DecimalDecoder {
  private readonly input: ByteCursor;

  constructor(bytes: Uint8Array, position = 0, name = 'decimal stream') {
    this.input = new ByteCursor(bytes, position, name);
  }

  /** Fills words[2 from, 2 (from + count)): 128-bit two's complement, low word first. */
  readDecimals(words: BigInt64Array, from: number, count: number): void {
    const quarters = new Int32Array(words.buffer, words.byteOffset, words.length * 2);
    const { input } = this;
    const { bytes } = input;
    const end = bytes.length;
    let at = input.at;
    const stop = (from + count) * 4;
    for (let q = from * 4; q < stop; q += 4) {
      if (at + 4 <= end) {
        // Most values have at most four groups of seven bits.
        let value = bytes[at];
        let groups = 1;
        if (value >= 0x80) {
          value = (value & 0x7f) | (bytes[at + 1] << 7);
          groups = 2;
          if (value >= 0x4000) {
            value = (value & 0x3fff) | (bytes[at + 2] << 14);
            groups = 3;
            if (value >= 0x200000) {
              value = (value & 0x1fffff) | (bytes[at + 3] << 21);
              groups = 4;
            }
          }
        }
        if (value < 0x10000000) {
          const sign = -(value & 1);
          quarters[q] = (value >>> 1) ^ sign;
          quarters[q + 1] = sign;
          quarters[q + 2] = sign;
          quarters[q + 3] = sign;
          at += groups;
          continue;
        }
      }
      let w0 = 0;
      let w1 = 0;
      let w2 = 0;
      let w3 = 0;
      let shift = 0;
      let byte = 0x80;
      while (byte >= 0x80) {
        if (at >= end) {
          input.at = at;
          input.need(1);
        }
        if (shift > (MAX_BYTES - 1) * 7) {
          input.at = at;
          throw input.corrupt('a decimal has more than 128 bits');
        }
        byte = bytes[at++];
        const group = byte & 0x7f;
        const bit = shift & 31;
        const low = group << bit;
        const high = bit > 25 ? group >>> (32 - bit) : 0;
        if (shift < 32) {
          w0 |= low;
          w1 |= high;
        } else if (shift < 64) {
          w1 |= low;
          w2 |= high;
        } else if (shift < 96) {
          w2 |= low;
          w3 |= high;
        } else {
          w3 |= low;
          if (high !== 0) {
            input.at = at;
            throw input.corrupt('a decimal has more than 128 bits');
          }
        }
        shift += 7;
      }
      const sign = -(w0 & 1);
      quarters[q] = ((w0 >>> 1) | (w1 << 31)) ^ sign;
      quarters[q + 1] = ((w1 >>> 1) | (w2 << 31)) ^ sign;
      quarters[q + 2] = ((w2 >>> 1) | (w3 << 31)) ^ sign;
      quarters[q + 3] = (w3 >>> 1) ^ sign;
    }
    input.at = at;
  }

  skip(count: number): void {
    const { input } = this;
    const { bytes } = input;
    let at = input.at;
    for (let left = count; left > 0; left--) {
      do {
        if (at >= bytes.length) {
          input.at = at;
          input.need(1);
        }
      } while (bytes[at++] >= 0x80);
    }
    input.at = at;
  }
}

/** Appends the varint of each of words[2 from, 2 (from + count)). */
export function writeDecimals(words: BigInt64Array, from: number, count: number, output: OutputBuffer): void {
  const quarters = new Int32Array(words.buffer, words.byteOffset, words.length * 2);
  for (let q = from * 4, stop = (from + count) * 4; q < stop; q += 4) {
    output.reserve(MAX_BYTES);
    const sign = quarters[q + 3] >> 31;
    let w0 = (quarters[q] << 1) ^ sign;
    let w1 = ((quarters[q + 1] << 1) | (quarters[q] >>> 31)) ^ sign;
    let w2 = ((quarters[q + 2] << 1) | (quarters[q + 1] >>> 31)) ^ sign;
    let w3 = ((quarters[q + 3] << 1) | (quarters[q + 2] >>> 31)) ^ sign;
    const { bytes } = output;
    let at = output.length;
    while ((w2 | w3) !== 0) {
      bytes[at++] = (w0 & 0x7f) | 0x80;
      w0 = (w0 >>> 7) | (w1 << 25);
      w1 = (w1 >>> 7) | (w2 << 25);
      w2 = (w2 >>> 7) | (w3 << 25);
      w3 >>>= 7;
    }
    output.length = at;
    output.putVarint(w0, w1);
  }
}
