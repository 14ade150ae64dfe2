import { IntegerDecoder } from './integer-decoder.js';
import type { OutputBuffer } from './output-buffer.js';

/*
 * Integer run length encoding, version 1 (spec: "Integer Run Length Encoding, version 1"; Java:
 * RunLengthIntegerReader/Writer).
 *
 *   control 0..127    a run of control + 3 values (3 to 130): a signed byte, the delta, then the first value as varint
 *   control -1..-128  -control literals, each a varint (zigzag when signed)
 */
const MIN_REPEAT = 3;
const MAX_REPEAT = 127 + MIN_REPEAT;
const MAX_LITERALS = 128;

/** Decodes the integers of file version 0.11 and of columns with DIRECT or DICTIONARY encoding. */
export class RleV1Decoder extends IntegerDecoder {
  constructor(bytes: Uint8Array, position: number, signed: boolean, name = 'integer stream') {
    super(bytes, position, signed, MAX_REPEAT, name);
    this.narrow = false;
  }

  protected override decodeRun(): void {
    const { input, pairs, signed } = this;
    const control = input.byte();
    if (control >= 0x80) {
      const count = 0x100 - control;
      for (let p = 0; p < count * 2; p += 2) {
        input.integer(signed);
        pairs[p] = input.lo;
        pairs[p + 1] = input.hi;
      }
      this.runLength = count;
      return;
    }
    const count = control + MIN_REPEAT;
    const delta = (input.byte() << 24) >> 24;
    input.integer(signed);
    let { lo, hi } = input;
    for (let p = 0; p < count * 2; p += 2) {
      pairs[p] = lo;
      pairs[p + 1] = hi;
      const sum = (lo >>> 0) + delta;
      if (sum < 0) hi--;
      else if (sum > 0xffffffff) hi++;
      lo = sum | 0;
    }
    this.runLength = count;
  }
}

/** Encodes integers in version 1; the runs are those of Java's RunLengthIntegerWriter. */
export class RleV1Encoder {
  private readonly literals = new BigInt64Array(MAX_LITERALS);
  private count = 0;
  private delta = 0n;
  private repeats = false;
  private tail = 0;

  constructor(
    readonly output: OutputBuffer,
    private readonly signed: boolean,
  ) {}

  get pending(): number {
    return this.count;
  }

  writeInts(values: Int32Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) this.writeLong(BigInt(values[i]));
  }

  writeLongs(values: BigInt64Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) this.writeLong(values[i]);
  }

  private writeLong(value: bigint): void {
    const { literals } = this;
    if (this.count === 0) {
      this.start(value);
    } else if (this.repeats) {
      if (value === literals[0] + this.delta * BigInt(this.count)) {
        if (++this.count === MAX_REPEAT) this.flush();
      } else {
        this.flush();
        this.start(value);
      }
    } else {
      const step = value - literals[this.count - 1];
      const fits = step >= -128n && step <= 127n;
      if (this.tail === 1 || step !== this.delta) {
        this.delta = step;
        this.tail = fits ? 2 : 1;
      } else this.tail++;
      if (this.tail === MIN_REPEAT) {
        if (this.count + 1 > MIN_REPEAT) {
          const base = literals[this.count - 2];
          const { delta } = this;
          this.count -= MIN_REPEAT - 1;
          this.flush();
          literals[0] = base;
          this.delta = delta;
        }
        this.repeats = true;
        this.count = MIN_REPEAT;
      } else {
        literals[this.count++] = value;
        if (this.count === MAX_LITERALS) this.flush();
      }
    }
  }

  private start(value: bigint): void {
    this.literals[0] = value;
    this.count = 1;
    this.tail = 1;
  }

  flush(): void {
    if (this.count === 0) return;
    const { output } = this;
    output.reserve(2 + this.count * 10);
    if (this.repeats) {
      output.bytes[output.length++] = this.count - MIN_REPEAT;
      output.bytes[output.length++] = Number(this.delta) & 0xff;
      this.putValue(this.literals[0]);
    } else {
      output.bytes[output.length++] = 0x100 - this.count;
      for (let i = 0; i < this.count; i++) this.putValue(this.literals[i]);
    }
    this.repeats = false;
    this.count = 0;
    this.tail = 0;
  }

  private putValue(value: bigint): void {
    const lo = Number(BigInt.asIntN(32, value));
    const hi = Number(value >> 32n);
    if (this.signed) this.output.putZigzag(lo, hi);
    else this.output.putVarint(lo, hi);
  }
}
