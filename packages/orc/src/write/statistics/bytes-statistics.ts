import type { ColumnStatistics } from '../../proto/gen/orc_proto.js';
import { compareBytes } from '../compare-bytes.js';
import { Statistics } from './statistics.js';
import { lowerBound, MOST_RECORDED_BYTES, upperBound } from './string-bounds.js';

const UTF8 = new TextDecoder();
/** What decoding puts for bytes that are no UTF-8. */
const LOST_BYTES = '\ufffd';
const encode = (text: string) => new TextEncoder().encode(text);
const EMPTY = new Uint8Array(0);

/** string, char and varchar: the least and greatest by bytes, or bounds of them where they are longer than 1024 bytes. */
export class StringStatistics extends Statistics {
  private min: Uint8Array = EMPTY;
  private minIsBound = false;
  private max: Uint8Array | undefined = EMPTY;
  private maxIsBound = false;
  private seen = false;
  private sum = 0;

  /** Adds to the bytes of all values. */
  addLength(bytes: number): void {
    this.sum += bytes;
  }

  /** Looks whether bytes[start, end) is a new extreme. */
  addRange(bytes: Uint8Array, start: number, end: number): void {
    if (!this.seen) {
      this.seen = true;
      this.setMin(bytes, start, end);
      this.setMax(bytes, start, end);
    } else if (compareBytes(bytes, start, end, this.min, 0, this.min.length) < 0) this.setMin(bytes, start, end);
    else if (this.max !== undefined && compareBytes(bytes, start, end, this.max, 0, this.max.length) > 0) {
      this.setMax(bytes, start, end);
    }
  }

  /** Values [from, from + count) of `bytes` cut by `offsets`; at least one. Copies no more than the extremes. */
  addRows(bytes: Uint8Array, offsets: Int32Array, from: number, count: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let min = from;
    let max = from;
    // The first four bytes rule nearly all out.
    let minPrefix = prefix(bytes, view, offsets[from], offsets[from + 1]);
    let maxPrefix = minPrefix;
    for (let i = from + 1; i < from + count; i++) {
      const start = offsets[i];
      const end = offsets[i + 1];
      const own = prefix(bytes, view, start, end);
      if (own > minPrefix && own < maxPrefix) continue;
      if (own >= maxPrefix && compareBytes(bytes, start, end, bytes, offsets[max], offsets[max + 1]) > 0) {
        max = i;
        maxPrefix = own;
      } else if (own <= minPrefix && compareBytes(bytes, start, end, bytes, offsets[min], offsets[min + 1]) < 0) {
        min = i;
        minPrefix = own;
      }
    }
    this.addRange(bytes, offsets[min], offsets[min + 1]);
    if (max !== min) this.addRange(bytes, offsets[max], offsets[max + 1]);
  }

  private setMin(bytes: Uint8Array, start: number, end: number): void {
    this.minIsBound = end - start > MOST_RECORDED_BYTES;
    this.min = this.minIsBound ? lowerBound(bytes, start, end) : bytes.slice(start, end);
  }

  /** Undefined is above everything: a long value that has no upper bound of 1024 bytes. */
  private setMax(bytes: Uint8Array, start: number, end: number): void {
    this.maxIsBound = end - start > MOST_RECORDED_BYTES;
    this.max = this.maxIsBound ? upperBound(bytes, start, end) : bytes.slice(start, end);
  }

  override merge(other: this): void {
    super.merge(other);
    this.sum += other.sum;
    if (!other.seen) return;
    if (!this.seen || compareBytes(other.min, 0, other.min.length, this.min, 0, this.min.length) < 0) {
      this.min = other.min;
      this.minIsBound = other.minIsBound;
    }
    const { max } = this;
    const larger =
      max !== undefined &&
      (other.max === undefined || compareBytes(other.max, 0, other.max.length, max, 0, max.length) > 0);
    if (!this.seen || larger) {
      this.max = other.max;
      this.maxIsBound = other.maxIsBound;
    }
    this.seen = true;
  }

  protected override details(): ColumnStatistics {
    if (!this.seen) return { stringStatistics: {} };
    const min = UTF8.decode(this.min);
    const max = this.max === undefined ? undefined : UTF8.decode(this.max);
    return {
      stringStatistics: {
        ...(this.minIsBound ? { lowerBound: min } : { minimum: min }),
        ...(this.maxIsBound ? { upperBound: max } : { maximum: max }),
        sum: BigInt(this.sum),
      },
    };
  }

  /** Bytes that are no UTF-8 were lost in the message: where they belong in the order cannot be told any more. */
  protected override readDetails({ stringStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimum, maximum, lowerBound: low, upperBound: high, sum } = stringStatistics ?? {};
    const min = minimum ?? low;
    const max = maximum ?? high;
    if (min === undefined || sum === undefined) return false;
    if (min.includes(LOST_BYTES) || max?.includes(LOST_BYTES)) return false;
    this.min = encode(min);
    this.max = max === undefined ? undefined : encode(max);
    this.minIsBound = minimum === undefined;
    this.maxIsBound = maximum === undefined;
    this.sum = Number(sum);
    this.seen = true;
    return true;
  }
}

/** Big endian, shorter ones with zeros at the end: of two that differ the order is that of the bytes. */
function prefix(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  if (end - start >= 4) return view.getUint32(start);
  let value = 0;
  for (let i = 0; i < 4; i++) value = value * 256 + (start + i < end ? bytes[start + i] : 0);
  return value;
}

/** binary: the bytes of all values. */
export class BinaryStatistics extends Statistics {
  private sum = 0;

  addLength(bytes: number): void {
    this.sum += bytes;
  }

  override merge(other: this): void {
    super.merge(other);
    this.sum += other.sum;
  }

  protected override details(): ColumnStatistics {
    return { binaryStatistics: { sum: BigInt(this.sum) } };
  }

  protected override readDetails({ binaryStatistics }: ColumnStatistics): boolean {
    this.sum = Number(binaryStatistics?.sum ?? 0n);
    return this.count === 0 || binaryStatistics?.sum !== undefined;
  }
}
