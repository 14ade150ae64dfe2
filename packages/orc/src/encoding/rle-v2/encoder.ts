import type { OutputBuffer } from '../output-buffer.js';
import { MAX_RUN } from './decoder.js';
import { VariableRun } from './variable-run.js';
import { closestFixedBits } from './widths.js';

const MIN_REPEAT = 3;
const MAX_SHORT_REPEAT = 10;

/**
 * Encodes integers in version 2, cutting the values into runs and choosing their forms exactly as Java's
 * RunLengthIntegerWriterV2 does, so that the bytes are the same. `aligned` packs direct and delta runs in widths of 1,
 * 2, 4 and whole bytes (Java: EncodingStrategy.SPEED, its default). The formats are drawn in decoder.ts.
 */
export class RleV2Encoder {
  /** The values of the run being collected, as (low, high) halves. */
  private readonly pairs = new Int32Array(MAX_RUN * 2);
  private count = 0;
  /** Equal values at the end: counted only where they could become a repeat. */
  private fixedRun = 0;
  private variableRun = 0;
  private lastTwoEqual = false;
  private readonly run: VariableRun;

  constructor(
    readonly output: OutputBuffer,
    private readonly signed: boolean,
    aligned = true,
  ) {
    this.run = new VariableRun(output, signed, aligned);
  }

  /** Values not yet in the output: the "values in the run" of a row index position. */
  get pending(): number {
    return this.count;
  }

  writeInts(values: Int32Array | Int16Array, from: number, count: number): void {
    const { pairs } = this;
    const end = from + count;
    for (let i = from; i < end; ) {
      if (this.inVariableRun) {
        // The usual case, without looking at the state: each value differs from the one before.
        let p = this.count * 2;
        let last = pairs[p - 1] === pairs[p - 2] >> 31 ? pairs[p - 2] : Number.NaN;
        const full = MAX_RUN * 2;
        while (i < end && p < full && values[i] !== last) {
          last = values[i++];
          pairs[p] = last;
          pairs[p + 1] = last >> 31;
          p += 2;
        }
        this.extendVariableRun(p >>> 1);
        if (i === end) return;
      } else if (this.fixedRun >= MIN_REPEAT) {
        // As well: a value that is repeated.
        const [lo, hi] = pairs;
        const first = i;
        const stop = hi === lo >> 31 ? Math.min(end, i + MAX_RUN - 1 - this.fixedRun) : i;
        while (i < stop && values[i] === lo) i++;
        this.extendFixedRun(i - first);
        if (i === end) return;
      }
      const value = values[i++];
      this.add(value, value >> 31);
    }
  }

  writeLongs(values: BigInt64Array, from: number, count: number): void {
    const { pairs } = this;
    const halves = new Int32Array(values.buffer, values.byteOffset + from * 8, count * 2);
    const end = count * 2;
    for (let i = 0; i < end; ) {
      if (this.inVariableRun) {
        let p = this.count * 2;
        let lo = pairs[p - 2];
        let hi = pairs[p - 1];
        const full = MAX_RUN * 2;
        while (i < end && p < full && (halves[i] !== lo || halves[i + 1] !== hi)) {
          lo = halves[i];
          hi = halves[i + 1];
          pairs[p] = lo;
          pairs[p + 1] = hi;
          p += 2;
          i += 2;
        }
        this.extendVariableRun(p >>> 1);
        if (i === end) return;
      } else if (this.fixedRun >= MIN_REPEAT) {
        // As well: a value that is repeated.
        const [lo, hi] = pairs;
        const first = i;
        const stop = Math.min(end, i + 2 * (MAX_RUN - 1 - this.fixedRun));
        while (i < stop && halves[i] === lo && halves[i + 1] === hi) i += 2;
        this.extendFixedRun((i - first) >>> 1);
        if (i === end) return;
      }
      this.add(halves[i], halves[i + 1]);
      i += 2;
    }
  }

  /** Values given as doubles: whole numbers of at most 2^53. */
  writeNumbers(values: Float64Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) {
      const value = values[i];
      const lo = value | 0;
      this.add(lo, lo === value ? lo >> 31 : Math.floor(value / 0x100000000) | 0);
    }
  }

  private get inVariableRun(): boolean {
    return this.count >= 2 && this.fixedRun === 0;
  }

  /** Takes over values that were put behind the variable run, up to `count` in all. */
  private extendVariableRun(count: number): void {
    if (count === this.count) return;
    this.lastTwoEqual = false;
    this.variableRun = count;
    this.count = count;
    if (count === MAX_RUN) this.writeVariable();
  }

  /** So many more of the repeated value, which is not the last that the run may have. */
  private extendFixedRun(more: number): void {
    if (more === 0) return;
    const { pairs } = this;
    this.fixedRun += more;
    this.count = this.fixedRun;
    pairs[2 * this.count - 2] = pairs[0];
    pairs[2 * this.count - 1] = pairs[1];
  }

  flush(): void {
    if (this.count === 0) return;
    if (this.variableRun === 0 && this.fixedRun >= MIN_REPEAT) this.writeRepeat();
    else this.writeVariable();
    this.fixedRun = 0;
    this.variableRun = 0;
  }

  private add(lo: number, hi: number): void {
    const { pairs, count } = this;
    if (count === 0) {
      this.start(lo, hi);
      return;
    }
    const p = count * 2;
    const equal = pairs[p - 2] === lo && pairs[p - 1] === hi;
    if (count === 1) {
      pairs[p] = lo;
      pairs[p + 1] = hi;
      this.count = 2;
      this.fixedRun = equal ? 2 : 0;
      this.variableRun = equal ? 0 : 2;
      this.lastTwoEqual = equal;
    } else if (equal && this.lastTwoEqual) this.addRepeated(lo, hi);
    else {
      if (this.fixedRun >= MIN_REPEAT) {
        this.writeRepeat();
        this.start(lo, hi);
        return;
      }
      if (this.fixedRun > 0) {
        this.variableRun = this.fixedRun;
        this.fixedRun = 0;
      }
      pairs[p] = lo;
      pairs[p + 1] = hi;
      this.count = count + 1;
      this.lastTwoEqual = equal;
      if (++this.variableRun === MAX_RUN) this.writeVariable();
    }
  }

  private start(lo: number, hi: number): void {
    this.pairs[0] = lo;
    this.pairs[1] = hi;
    this.count = 1;
    this.fixedRun = 1;
    this.variableRun = 1;
    this.lastTwoEqual = false;
  }

  /** The third or later of equal values. Three of them end a variable run before them. */
  private addRepeated(lo: number, hi: number): void {
    const { pairs } = this;
    pairs[2 * this.count] = lo;
    pairs[2 * this.count + 1] = hi;
    this.count++;
    if (this.variableRun > 0) {
      this.count -= MIN_REPEAT;
      this.writeVariable();
      for (let p = 0; p < MIN_REPEAT * 2; p += 2) {
        pairs[p] = lo;
        pairs[p + 1] = hi;
      }
      this.count = MIN_REPEAT;
      this.fixedRun = MIN_REPEAT;
      this.lastTwoEqual = true;
    } else if (++this.fixedRun === MAX_RUN) this.writeRepeat();
  }

  private writeVariable(): void {
    this.run.write(this.pairs, this.count);
    this.count = 0;
    this.variableRun = 0;
    this.lastTwoEqual = false;
  }

  /** The collected values are all the same, three or more. */
  private writeRepeat(): void {
    const { output, pairs, count } = this;
    const [lo, hi] = pairs;
    if (count <= MAX_SHORT_REPEAT) {
      const sign = this.signed ? hi >> 31 : 0;
      const valueLo = this.signed ? (lo << 1) ^ sign : lo;
      const valueHi = this.signed ? ((hi << 1) | (lo >>> 31)) ^ sign : hi;
      const bits = valueHi !== 0 ? 64 - Math.clz32(valueHi) : 32 - Math.clz32(valueLo);
      const width = Math.ceil(closestFixedBits(bits) / 8);
      output.reserve(1 + width);
      output.bytes[output.length++] = ((width - 1) << 3) | (count - MIN_REPEAT);
      output.putBigEndian(valueLo, valueHi, width);
    } else {
      output.reserve(2 + 10 + 1);
      output.bytes[output.length++] = 0xc0 | ((count - 1) >>> 8);
      output.bytes[output.length++] = count - 1;
      if (this.signed) output.putZigzag(lo, hi);
      else output.putVarint(lo, hi);
      output.putVarint(0, 0);
    }
    this.count = 0;
    this.fixedRun = 0;
    this.variableRun = 0;
    this.lastTwoEqual = false;
  }
}
