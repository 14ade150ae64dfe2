import { ByteCursor } from './byte-cursor.js';
import type { OutputBuffer } from './output-buffer.js';

/*
 * Byte run length encoding (spec: "Byte Run Length Encoding"; Java: RunLengthByteReader/Writer).
 *
 *   control 0..127    a run: control + 3 times the one byte that follows (3 to 130)
 *   control -1..-128  literals: -control bytes follow (1 to 128)
 */
const MIN_REPEAT = 3;
const MAX_REPEAT = 127 + MIN_REPEAT;
const MAX_LITERALS = 128;

/** Decodes byte RLE from `position` on: tinyint columns, union tags, and what booleans are made of. */
export class ByteRleDecoder {
  private readonly input: ByteCursor;
  private left = 0;
  private repeats = false;
  private value = 0;

  constructor(bytes: Uint8Array, position = 0, name = 'byte stream') {
    this.input = new ByteCursor(bytes, position, name);
  }

  /** Fills out[from, from + count); signed or not is the array's own view of the bits. */
  readBytes(out: Uint8Array | Int8Array, from: number, count: number): void {
    const { input } = this;
    for (let at = from, wanted = count; wanted > 0; ) {
      if (this.left === 0) this.header();
      const taken = Math.min(wanted, this.left);
      if (this.repeats) out.fill(this.value, at, at + taken);
      else {
        out.set(input.bytes.subarray(input.at, input.at + taken), at);
        input.at += taken;
      }
      this.left -= taken;
      at += taken;
      wanted -= taken;
    }
  }

  skip(count: number): void {
    for (let wanted = count; wanted > 0; ) {
      if (this.left === 0) this.header();
      const taken = Math.min(wanted, this.left);
      if (!this.repeats) this.input.at += taken;
      this.left -= taken;
      wanted -= taken;
    }
  }

  private header(): void {
    const { input } = this;
    const control = input.byte();
    this.repeats = control < 0x80;
    if (this.repeats) {
      this.value = input.byte();
      this.left = control + MIN_REPEAT;
    } else {
      const literals = 0x100 - control;
      input.need(literals);
      this.left = literals;
    }
  }
}

/** Encodes bytes; makes the same runs as Java's RunLengthByteWriter. */
export class ByteRleEncoder {
  private readonly literals = new Uint8Array(MAX_LITERALS);
  private count = 0;
  private repeats = false;
  private tail = 0;

  constructor(readonly output: OutputBuffer) {}

  /** Values not yet in the output: the "values in the run" of a row index position. */
  get pending(): number {
    return this.count;
  }

  writeBytes(values: Uint8Array | Int8Array, from: number, count: number): void {
    for (let i = from; i < from + count; i++) this.writeByte(values[i] & 0xff);
  }

  writeByte(value: number): void {
    const { literals } = this;
    if (this.count === 0) {
      literals[0] = value;
      this.count = 1;
      this.tail = 1;
    } else if (this.repeats) {
      if (value === literals[0]) {
        if (++this.count === MAX_REPEAT) this.flush();
      } else {
        this.flush();
        literals[0] = value;
        this.count = 1;
        this.tail = 1;
      }
    } else {
      this.tail = value === literals[this.count - 1] ? this.tail + 1 : 1;
      if (this.tail === MIN_REPEAT) {
        if (this.count + 1 > MIN_REPEAT) {
          this.count -= MIN_REPEAT - 1;
          this.flush();
          literals[0] = value;
        }
        this.repeats = true;
        this.count = MIN_REPEAT;
      } else {
        literals[this.count++] = value;
        if (this.count === MAX_LITERALS) this.flush();
      }
    }
  }

  flush(): void {
    if (this.count === 0) return;
    const { output } = this;
    if (this.repeats) {
      output.reserve(2);
      output.bytes[output.length++] = this.count - MIN_REPEAT;
      output.bytes[output.length++] = this.literals[0];
    } else {
      output.reserve(1 + this.count);
      output.bytes[output.length++] = 0x100 - this.count;
      output.bytes.set(this.literals.subarray(0, this.count), output.length);
      output.length += this.count;
    }
    this.repeats = false;
    this.count = 0;
    this.tail = 0;
  }
}
