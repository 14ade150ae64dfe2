import type { OutputBuffer } from '../output-buffer.js';
import { packInts } from './bit-packing.js';
import { MAX_RUN } from './decoder.js';
import { preparePatches, writePatchedBase } from './patched-base.js';
import { percentileBits, putRunHeader, SHORT_RUN } from './run-header.js';
import { closestAlignedFixedBits, closestFixedBits } from './widths.js';

/** Values between -2^30 and 2^30: their differences and zigzag forms fit an int32. */
const LIMIT = 1 << 30;

/**
 * Chooses among direct, patched base and delta for values that are not all equal, and writes the run (Java:
 * RunLengthIntegerWriterV2.determineEncoding); for small values, in int32 arithmetic. variable-run.ts has the rest.
 */
export class NarrowRun {
  private readonly values = new Int32Array(MAX_RUN);
  /** What a direct run packs. */
  private readonly zigzags = new Int32Array(MAX_RUN);
  private readonly histogram = new Int32Array(65);

  constructor(
    private readonly output: OutputBuffer,
    private readonly signed: boolean,
    private readonly aligned: boolean,
  ) {}

  /** Answers false, and writes nothing, when a value is not small. */
  write(pairs: Int32Array, count: number): boolean {
    const { values } = this;
    const least = this.signed ? -LIMIT : 0;
    for (let i = 0, p = 0; i < count; i++, p += 2) {
      const value = pairs[p];
      if (value >> 31 !== pairs[p + 1] || value < least || value >= LIMIT) return false;
      values[i] = value;
    }
    if (count <= SHORT_RUN) this.direct(count, this.zigzag(count));
    else this.choose(count);
    return true;
  }

  private choose(count: number): void {
    const { values } = this;
    let min = values[0];
    let rises = 0;
    let falls = 0;
    let largest = 0;
    const initial = values[1] - min;
    let otherSteps = 0;
    let previous = min;
    for (let i = 1; i < count; i++) {
      const value = values[i];
      const step = value - previous;
      previous = value;
      if (value < min) min = value;
      otherSteps |= step ^ initial;
      const size = Math.abs(step);
      // The sign bit tells whether any step fell, or rose.
      falls |= step;
      rises |= -step;
      if (i > 1 && size > largest) largest = size;
    }
    if (otherSteps === 0) {
      this.fixedDelta(count, initial);
      return;
    }
    if (initial !== 0 && (falls >= 0 || rises >= 0)) {
      this.delta(count, initial, largest);
      return;
    }
    const all = this.zigzag(count);
    if (this.fewAreWide(count, closestFixedBits(32 - Math.clz32(all))) && this.patched(count, min)) return;
    this.direct(count, all);
  }

  /** Fills `zigzags`; answers the bits that are set in any. */
  private zigzag(count: number): number {
    const { values, zigzags } = this;
    let all = 0;
    if (this.signed) {
      for (let i = 0; i < count; i++) {
        const value = (values[i] << 1) ^ (values[i] >> 31);
        zigzags[i] = value;
        all |= value;
      }
    } else {
      for (let i = 0; i < count; i++) {
        zigzags[i] = values[i];
        all |= values[i];
      }
    }
    return all;
  }

  /** Whether the width of 90 % of the values is more than a bit below that of all: stops once too many are wide. */
  private fewAreWide(count: number, width: number): boolean {
    const { zigzags } = this;
    let most = width - 2;
    while (most > 0 && closestFixedBits(most) !== most) most--;
    if (most < 1) return false;
    let left = Math.trunc(count * (1 - 0.9));
    for (let i = 0; i < count; i++) {
      if (zigzags[i] >>> most !== 0 && --left < 0) return false;
    }
    return true;
  }

  private patched(count: number, min: number): boolean {
    const { values, histogram } = this;
    histogram.fill(0);
    for (let i = 0; i < count; i++) histogram[32 - Math.clz32(values[i] - min)]++;
    const width95 = percentileBits(histogram, count, 0.95);
    const width100 = percentileBits(histogram, count, 1);
    if (width95 === width100) return false;
    const offsets = new Int32Array(count * 2);
    for (let i = 0; i < count; i++) offsets[2 * i] = values[i] - min;
    writePatchedBase(this.output, BigInt(min), preparePatches(offsets, count, width95, width100));
    return true;
  }

  private direct(count: number, all: number): void {
    const width = this.align(closestFixedBits(32 - Math.clz32(all)));
    putRunHeader(this.output, 1, width, count);
    packInts(this.zigzags, 0, count, width, this.output);
  }

  private fixedDelta(count: number, step: number): void {
    putRunHeader(this.output, 3, 0, count);
    this.putBase();
    this.output.putZigzag(step, step >> 31);
  }

  private delta(count: number, initial: number, largest: number): void {
    const { values, zigzags } = this;
    const width = Math.max(2, this.align(closestFixedBits(32 - Math.clz32(largest))));
    putRunHeader(this.output, 3, width, count);
    this.putBase();
    this.output.putZigzag(initial, initial >> 31);
    for (let i = 2; i < count; i++) zigzags[i] = Math.abs(values[i] - values[i - 1]);
    packInts(zigzags, 2, count - 2, width, this.output);
  }

  private putBase(): void {
    const [base] = this.values;
    if (this.signed) this.output.putZigzag(base, base >> 31);
    else this.output.putVarint(base, 0);
  }

  private align(width: number): number {
    return this.aligned ? closestAlignedFixedBits(width) : width;
  }
}
