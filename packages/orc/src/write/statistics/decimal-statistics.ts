import type { ColumnStatistics } from '../../proto/gen/orc_proto.js';
import { decimalText, unscaledOf } from '../decimal-text.js';
import { sumOfLongs } from './number-statistics.js';
import { Statistics } from './statistics.js';

const LARGEST = 10n ** 38n - 1n;

/** Decimals, all of the column's scale; the sum is left out once it has more than 38 digits. */
export class DecimalStatistics extends Statistics {
  private min: bigint | undefined;
  private max: bigint | undefined;
  private sum: bigint | undefined = 0n;

  constructor(private readonly scale: number) {
    super();
  }

  /** words[2 i] and words[2 i + 1] are the low and high halves of value i. */
  addDecimals(words: BigInt64Array, from: number, count: number): void {
    if (count === 0) return;
    let narrow = true;
    let min = 2 * from;
    let max = 2 * from;
    for (let w = 2 * from; w < 2 * (from + count); w += 2) {
      const low = words[w];
      narrow = narrow && words[w + 1] === low >> 63n;
      if (low < words[min]) min = w;
      if (low > words[max]) max = w;
    }
    if (narrow) {
      const quarters = new Int32Array(words.buffer, words.byteOffset, words.length * 2);
      this.add(words[min], words[max], sumOfLongs(quarters, from, count, 4));
    } else this.addWide(words, from, count);
  }

  private addWide(words: BigInt64Array, from: number, count: number): void {
    for (let w = 2 * from; w < 2 * (from + count); w += 2) {
      const value = (words[w + 1] << 64n) | BigInt.asUintN(64, words[w]);
      this.add(value, value, value);
    }
  }

  override merge(other: this): void {
    super.merge(other);
    if (other.min !== undefined && other.max !== undefined) this.add(other.min, other.max, other.sum);
  }

  private add(min: bigint, max: bigint, sum: bigint | undefined): void {
    if (this.min === undefined || min < this.min) this.min = min;
    if (this.max === undefined || max > this.max) this.max = max;
    const total = this.sum === undefined || sum === undefined ? undefined : this.sum + sum;
    this.sum = total !== undefined && (total > LARGEST || total < -LARGEST) ? undefined : total;
  }

  protected override details(): ColumnStatistics {
    const text = (value: bigint | undefined) => (value === undefined ? undefined : decimalText(value, this.scale));
    return { decimalStatistics: { minimum: text(this.min), maximum: text(this.max), sum: text(this.sum) } };
  }

  protected override readDetails({ decimalStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimum, maximum, sum } = decimalStatistics ?? {};
    this.min = unscaledOf(minimum, this.scale);
    this.max = unscaledOf(maximum, this.scale);
    this.sum = unscaledOf(sum, this.scale);
    // A sum that is left out passed 38 digits; one that is there must be read.
    return this.min !== undefined && this.max !== undefined && (sum === undefined || this.sum !== undefined);
  }
}
