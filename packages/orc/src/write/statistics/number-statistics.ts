import type { ColumnStatistics } from '../../proto/gen/orc_proto.js';
import { Statistics } from './statistics.js';

const LONG_MAX = (1n << 63n) - 1n;
const LONG_MIN = -(1n << 63n);
/** High halves from -EXACT_HIGH to below EXACT_HIGH are of numbers that a double holds. */
const EXACT_HIGH = 1 << 21;

/** Sum of 64-bit values by halves, which stay exact in doubles for 2^20 values and more. */
export function sumOfLongs(halves: Int32Array, from: number, count: number, stride = 2): bigint {
  let low = 0;
  let high = 0;
  for (let p = from * stride, end = (from + count) * stride; p < end; p += stride) {
    low += halves[p] >>> 0;
    high += halves[p + 1];
  }
  return BigInt(high) * 0x100000000n + BigInt(low);
}

/** tinyint to bigint. The sum is left out once it does not fit 64 bits. */
export class IntegerStatistics extends Statistics {
  private min = LONG_MAX;
  private max = LONG_MIN;
  private sum: bigint | undefined = 0n;

  addInts(values: Int32Array | Int16Array | Int8Array, from: number, count: number): void {
    if (count === 0) return;
    let min = values[from];
    let max = min;
    let sum = 0;
    for (let i = from; i < from + count; i++) {
      const value = values[i];
      if (value < min) min = value;
      if (value > max) max = value;
      sum += value;
    }
    this.add(BigInt(min), BigInt(max), BigInt(sum));
  }

  addLongs(values: BigInt64Array, from: number, count: number): void {
    if (count === 0) return;
    const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    // Elements of a BigInt64Array that are compared cost an allocation each; most values are exact in a double.
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let [lowSum, highSum] = [0, 0];
    let excess = 0;
    for (let p = 2 * from, end = p + 2 * count; p < end; p += 2) {
      const low = halves[p] >>> 0;
      const high = halves[p + 1];
      const value = high * 0x100000000 + low;
      if (value < min) min = value;
      if (value > max) max = value;
      lowSum += low;
      highSum += high;
      excess |= (high + EXACT_HIGH) & -(2 * EXACT_HIGH);
    }
    if (excess !== 0) this.addLargeLongs(values, halves, from, count);
    else this.add(BigInt(min), BigInt(max), BigInt(highSum) * 0x100000000n + BigInt(lowSum));
  }

  private addLargeLongs(values: BigInt64Array, halves: Int32Array, from: number, count: number): void {
    let [min, max] = [from, from];
    let [minHigh, minLow] = [halves[2 * from + 1], halves[2 * from] >>> 0];
    let [maxHigh, maxLow] = [minHigh, minLow];
    for (let i = from + 1, p = 2 * i; i < from + count; i++, p += 2) {
      const low = halves[p] >>> 0;
      const high = halves[p + 1];
      if (high < minHigh || (high === minHigh && low < minLow)) {
        min = i;
        minHigh = high;
        minLow = low;
      } else if (high > maxHigh || (high === maxHigh && low > maxLow)) {
        max = i;
        maxHigh = high;
        maxLow = low;
      }
    }
    this.add(values[min], values[max], sumOfLongs(halves, from, count));
  }

  override merge(other: this): void {
    super.merge(other);
    this.add(other.min, other.max, other.sum);
  }

  private add(min: bigint, max: bigint, sum: bigint | undefined): void {
    if (min < this.min) this.min = min;
    if (max > this.max) this.max = max;
    const total = this.sum === undefined || sum === undefined ? undefined : this.sum + sum;
    this.sum = total !== undefined && (total > LONG_MAX || total < LONG_MIN) ? undefined : total;
  }

  protected override details(): ColumnStatistics {
    const range = this.count > 0 ? { minimum: this.min, maximum: this.max } : {};
    return { intStatistics: { ...range, sum: this.sum } };
  }

  protected override readDetails({ intStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimum, maximum, sum } = intStatistics ?? {};
    if (minimum === undefined || maximum === undefined) return false;
    this.min = minimum;
    this.max = maximum;
    this.sum = sum;
    return true;
  }
}

/** float and double. As in Java a NaN that comes first stays minimum and maximum; readers then ignore them. */
export class DoubleStatistics extends Statistics {
  private min = Number.NaN;
  private max = Number.NaN;
  private sum = 0;
  private seen = false;

  addNumbers(values: Float32Array | Float64Array, from: number, count: number): void {
    if (count === 0) return;
    if (!this.seen) {
      this.min = values[from];
      this.max = values[from];
      this.seen = true;
    }
    let { min, max, sum } = this;
    for (let i = from; i < from + count; i++) {
      const value = values[i];
      if (value < min) min = value;
      if (value > max) max = value;
      sum += value;
    }
    this.min = min;
    this.max = max;
    this.sum = sum;
  }

  override merge(other: this): void {
    super.merge(other);
    if (other.seen) {
      if (!this.seen) {
        this.min = other.min;
        this.max = other.max;
        this.seen = true;
      } else {
        if (other.min < this.min) this.min = other.min;
        if (other.max > this.max) this.max = other.max;
      }
    }
    this.sum += other.sum;
  }

  protected override details(): ColumnStatistics {
    const range = this.seen ? { minimum: this.min, maximum: this.max } : {};
    return { doubleStatistics: { ...range, sum: this.sum } };
  }

  protected override readDetails({ doubleStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimum, maximum, sum } = doubleStatistics ?? {};
    if (minimum === undefined || maximum === undefined || sum === undefined) return false;
    this.min = minimum;
    this.max = maximum;
    this.sum = sum;
    this.seen = true;
    return true;
  }
}

/** boolean: how many are true. */
export class BooleanStatistics extends Statistics {
  private trueCount = 0;

  addTrue(count: number): void {
    this.trueCount += count;
  }

  override merge(other: this): void {
    super.merge(other);
    this.trueCount += other.trueCount;
  }

  protected override details(): ColumnStatistics {
    return { bucketStatistics: { count: [BigInt(this.trueCount)] } };
  }

  protected override readDetails({ bucketStatistics }: ColumnStatistics): boolean {
    const trues = bucketStatistics?.count?.[0];
    this.trueCount = Number(trues ?? 0n);
    return this.count === 0 || trues !== undefined;
  }
}

/** Days in the file's calendar. */
export class DateStatistics extends Statistics {
  private min = 0x7fffffff;
  private max = -0x80000000;

  addDays(values: Int32Array, from: number, count: number): void {
    let { min, max } = this;
    for (let i = from; i < from + count; i++) {
      const value = values[i];
      if (value < min) min = value;
      if (value > max) max = value;
    }
    this.min = min;
    this.max = max;
  }

  override merge(other: this): void {
    super.merge(other);
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
  }

  protected override details(): ColumnStatistics {
    return { dateStatistics: this.count > 0 ? { minimum: this.min, maximum: this.max } : {} };
  }

  protected override readDetails({ dateStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minimum, maximum } = dateStatistics ?? {};
    if (minimum === undefined || maximum === undefined) return false;
    this.min = minimum;
    this.max = maximum;
    return true;
  }
}

/** Lists and maps: numbers of elements. */
export class CollectionStatistics extends Statistics {
  private min = Number.POSITIVE_INFINITY;
  private max = 0;
  private total = 0;

  addLengths(lengths: Int32Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) {
      const length = lengths[i];
      if (length < this.min) this.min = length;
      if (length > this.max) this.max = length;
      this.total += length;
    }
  }

  override merge(other: this): void {
    super.merge(other);
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    this.total += other.total;
  }

  protected override details(): ColumnStatistics {
    const range = this.count > 0 ? { minChildren: BigInt(this.min), maxChildren: BigInt(this.max) } : {};
    return { collectionStatistics: { ...range, totalChildren: BigInt(this.total) } };
  }

  protected override readDetails({ collectionStatistics }: ColumnStatistics): boolean {
    if (this.count === 0) return true;
    const { minChildren, maxChildren, totalChildren } = collectionStatistics ?? {};
    if (minChildren === undefined || maxChildren === undefined || totalChildren === undefined) return false;
    this.min = Number(minChildren);
    this.max = Number(maxChildren);
    this.total = Number(totalChildren);
    return true;
  }
}
