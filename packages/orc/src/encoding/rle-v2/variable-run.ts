import type { OutputBuffer } from '../output-buffer.js';
import { packInts, packPairs } from './bit-packing.js';
import { MAX_RUN } from './decoder.js';
import { NarrowRun } from './narrow-run.js';
import { preparePatches, writePatchedBase } from './patched-base.js';
import { percentileBits, putRunHeader, SHORT_RUN } from './run-header.js';
import { closestAlignedFixedBits, closestFixedBits } from './widths.js';

const TWO_32 = 0x100000000;
/** Below this all sums, differences and zigzag forms of two values are exact in a double. */
const EXACT_LIMIT = 2 ** 51;

/** Bits of a whole number from 0 below 2^53. */
function bitsOf(value: number): number {
  return value < TWO_32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / TWO_32);
}

/**
 * Chooses among direct, patched base and delta for values that are not all equal, and writes the run (Java:
 * RunLengthIntegerWriterV2.determineEncoding). Values below 2^30 are handled as int32 (narrow-run.ts), below 2^51 as
 * doubles, which are exact; the rest as halves, and as BigInt in the rare forms that need arithmetic.
 */
export class VariableRun {
  private readonly narrow: NarrowRun;
  private readonly values = new Float64Array(MAX_RUN);
  private readonly zigzags = new Float64Array(MAX_RUN);
  private readonly packed = new Int32Array(MAX_RUN * 2);
  private readonly histogram = new Int32Array(65);

  constructor(
    private readonly output: OutputBuffer,
    private readonly signed: boolean,
    private readonly aligned: boolean,
  ) {
    this.narrow = new NarrowRun(output, signed, aligned);
  }

  write(pairs: Int32Array, count: number): void {
    if (this.narrow.write(pairs, count)) return;
    const { values } = this;
    let exact = true;
    for (let i = 0, p = 0; i < count; i++, p += 2) {
      const value = pairs[p + 1] * TWO_32 + (pairs[p] >>> 0);
      values[i] = value;
      exact = exact && value < EXACT_LIMIT && value > -EXACT_LIMIT;
    }
    // A negative value of an unsigned stream stands for one above 2^63.
    if (exact && (this.signed || this.allPositive(count))) this.writeExact(count);
    else this.writeWide(pairs, count);
  }

  private allPositive(count: number): boolean {
    for (let i = 0; i < count; i++) if (this.values[i] < 0) return false;
    return true;
  }

  private writeExact(count: number): void {
    const { values } = this;
    if (count <= SHORT_RUN) {
      this.direct(count, this.zigzagAll(count));
      return;
    }
    let min = values[0];
    let max = min;
    let increasing = true;
    let decreasing = true;
    let fixed = true;
    let largest = 0;
    const initial = values[1] - values[0];
    for (let i = 1; i < count; i++) {
      const value = values[i];
      const step = value - values[i - 1];
      min = Math.min(min, value);
      max = Math.max(max, value);
      increasing = increasing && step >= 0;
      decreasing = decreasing && step <= 0;
      fixed = fixed && step === initial;
      if (i > 1) largest = Math.max(largest, Math.abs(step));
    }
    if (fixed) {
      this.fixedDelta(count, initial);
      return;
    }
    if (initial !== 0 && (increasing || decreasing)) {
      this.delta(count, initial, largest);
      return;
    }
    const widest = this.zigzagAll(count);
    if (this.fewAreWide(count, closestFixedBits(bitsOf(widest))) && this.patched(count, min)) return;
    this.direct(count, widest);
  }

  /** Whether the width of 90 % of the values is more than a bit below that of all: stops once too many are wide. */
  private fewAreWide(count: number, width: number): boolean {
    const { zigzags } = this;
    let most = width - 2;
    while (most > 0 && closestFixedBits(most) !== most) most--;
    if (most < 1) return false;
    const limit = 2 ** most;
    let left = Math.trunc(count * (1 - 0.9));
    for (let i = 0; i < count; i++) {
      if (zigzags[i] >= limit && --left < 0) return false;
    }
    return true;
  }

  private patched(count: number, min: number): boolean {
    const { values, histogram, packed } = this;
    histogram.fill(0);
    for (let i = 0; i < count; i++) histogram[bitsOf(values[i] - min)]++;
    const width95 = percentileBits(histogram, count, 0.95);
    const width100 = percentileBits(histogram, count, 1);
    if (width95 === width100) return false;
    for (let i = 0; i < count; i++) {
      const offset = values[i] - min;
      packed[2 * i] = offset;
      packed[2 * i + 1] = offset / TWO_32;
    }
    writePatchedBase(this.output, BigInt(min), preparePatches(packed, count, width95, width100));
    return true;
  }

  /** Fills `zigzags`; answers the largest. */
  private zigzagAll(count: number): number {
    const { values, zigzags, signed } = this;
    let largest = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i];
      const zigzag = !signed ? value : value < 0 ? -2 * value - 1 : 2 * value;
      zigzags[i] = zigzag;
      if (zigzag > largest) largest = zigzag;
    }
    return largest;
  }

  private direct(count: number, largest: number): void {
    const { zigzags, packed } = this;
    const width = this.align(closestFixedBits(bitsOf(largest)));
    putRunHeader(this.output, 1, width, count);
    if (width <= 32) {
      for (let i = 0; i < count; i++) packed[i] = zigzags[i];
      packInts(packed, 0, count, width, this.output);
    } else {
      for (let i = 0; i < count; i++) {
        packed[2 * i] = zigzags[i];
        packed[2 * i + 1] = zigzags[i] / TWO_32;
      }
      packPairs(packed, 0, count, width, this.output);
    }
  }

  private fixedDelta(count: number, step: number): void {
    putRunHeader(this.output, 3, 0, count);
    this.putBase(this.values[0]);
    this.output.putZigzag(step | 0, Math.floor(step / TWO_32));
  }

  private delta(count: number, initial: number, largest: number): void {
    const { values, packed, output } = this;
    const width = Math.max(2, this.align(closestFixedBits(bitsOf(largest))));
    putRunHeader(this.output, 3, width, count);
    this.putBase(values[0]);
    output.putZigzag(initial | 0, Math.floor(initial / TWO_32));
    if (width <= 32) {
      for (let i = 2; i < count; i++) packed[i] = Math.abs(values[i] - values[i - 1]);
      packInts(packed, 2, count - 2, width, output);
    } else {
      for (let i = 2; i < count; i++) {
        const step = Math.abs(values[i] - values[i - 1]);
        packed[2 * i] = step;
        packed[2 * i + 1] = step / TWO_32;
      }
      packPairs(packed, 2, count - 2, width, output);
    }
  }

  private putBase(value: number): void {
    const high = Math.floor(value / TWO_32) | 0;
    if (this.signed) this.output.putZigzag(value | 0, high);
    else this.output.putVarint(value | 0, high);
  }

  private align(width: number): number {
    return this.aligned ? closestAlignedFixedBits(width) : width;
  }

  /** The same decisions on halves. */
  private writeWide(pairs: Int32Array, count: number): void {
    if (count <= SHORT_RUN) {
      this.directWide(pairs, count);
      return;
    }
    let min = 0;
    let max = 0;
    let increasing = true;
    let decreasing = true;
    for (let p = 2; p < count * 2; p += 2) {
      const step = comparePairs(pairs, p, p - 2);
      increasing = increasing && step >= 0;
      decreasing = decreasing && step <= 0;
      if (comparePairs(pairs, p, min) < 0) min = p;
      if (comparePairs(pairs, p, max) > 0) max = p;
    }
    const smallest = bigOf(pairs, min);
    const range = bigOf(pairs, max) - smallest;
    if (range >= 1n << 63n) {
      this.directWide(pairs, count);
      return;
    }
    if (increasing || decreasing) {
      if (this.deltaWide(pairs, count)) return;
    }
    const { histogram } = this;
    histogram.fill(0);
    for (let p = 0; p < count * 2; p += 2) histogram[zigzagBits(pairs[p], pairs[p + 1], this.signed)]++;
    if (percentileBits(histogram, count, 1) - percentileBits(histogram, count, 0.9) > 1) {
      const offsets = new BigInt64Array(count);
      histogram.fill(0);
      for (let i = 0; i < count; i++) {
        const offset = bigOf(pairs, 2 * i) - smallest;
        offsets[i] = offset;
        histogram[offset === 0n ? 0 : offset.toString(2).length]++;
      }
      const width95 = percentileBits(histogram, count, 0.95);
      const width100 = percentileBits(histogram, count, 1);
      const magnitude = smallest < 0n ? -smallest : smallest;
      if (width95 !== width100 && magnitude < 1n << 56n) {
        const patches = preparePatches(new Int32Array(offsets.buffer), count, width95, width100);
        writePatchedBase(this.output, smallest, patches);
        return;
      }
    }
    this.directWide(pairs, count);
  }

  private directWide(pairs: Int32Array, count: number): void {
    const { packed } = this;
    let bits = 0;
    for (let p = 0; p < count * 2; p += 2) {
      const lo = pairs[p];
      const hi = pairs[p + 1];
      const sign = this.signed ? hi >> 31 : 0;
      packed[p] = this.signed ? (lo << 1) ^ sign : lo;
      packed[p + 1] = this.signed ? ((hi << 1) | (lo >>> 31)) ^ sign : hi;
      bits = Math.max(bits, zigzagBits(lo, hi, this.signed));
    }
    const width = this.align(closestFixedBits(bits));
    putRunHeader(this.output, 1, width, count);
    packPairs(packed, 0, count, width, this.output);
  }

  /** A monotonic run; false when it begins with two equal values, which hide the sign. */
  private deltaWide(pairs: Int32Array, count: number): boolean {
    const { output } = this;
    const initial = bigOf(pairs, 2) - bigOf(pairs, 0);
    const steps = new BigInt64Array(count);
    let fixed = true;
    let largest = 0n;
    for (let i = 2; i < count; i++) {
      const step = bigOf(pairs, 2 * i) - bigOf(pairs, 2 * i - 2);
      fixed = fixed && step === initial;
      steps[i] = step < 0n ? -step : step;
      if (steps[i] > largest) largest = steps[i];
    }
    if (!fixed && initial === 0n) return false;
    const bits = largest === 0n ? 0 : largest.toString(2).length;
    const width = fixed ? 0 : Math.max(2, this.align(closestFixedBits(bits)));
    putRunHeader(this.output, 3, width, count);
    if (this.signed) output.putZigzag(pairs[0], pairs[1]);
    else output.putVarint(pairs[0], pairs[1]);
    output.putZigzag(Number(BigInt.asIntN(32, initial)), Number(initial >> 32n));
    if (!fixed) packPairs(new Int32Array(steps.buffer), 2, count - 2, width, output);
    return true;
  }
}

function comparePairs(pairs: Int32Array, a: number, b: number): number {
  const high = pairs[a + 1] - pairs[b + 1];
  return high !== 0 ? high : (pairs[a] >>> 0) - (pairs[b] >>> 0);
}

function bigOf(pairs: Int32Array, p: number): bigint {
  return (BigInt(pairs[p + 1]) << 32n) | BigInt(pairs[p] >>> 0);
}

function zigzagBits(lo: number, hi: number, signed: boolean): number {
  const sign = signed ? hi >> 31 : 0;
  const high = signed ? ((hi << 1) | (lo >>> 31)) ^ sign : hi;
  if (high !== 0) return 64 - Math.clz32(high);
  return 32 - Math.clz32(signed ? (lo << 1) ^ sign : lo);
}
