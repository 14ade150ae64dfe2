import type { ByteSink } from '@skep/core';
import { type BytesVector, type ColumnVector, isNull, type StructVector } from '@skep/orc';
import { formatValue } from '../../text/format-value.js';
import type { HiveType } from '../../types/hive-type.js';
import type { FileColumn, RowFileWriter } from '../row-file.js';
import type { TextFormat } from './text-format.js';
import { separatorOf } from './text-nested.js';

const flushBytes = 1 << 18;

/** Writes rows as lines of text (LazySimpleSerDe.serialize, HiveIgnoreKeyTextOutputFormat). */
export class TextFileWriter implements RowFileWriter {
  private readonly out: TextOutput;

  constructor(
    private readonly sink: ByteSink,
    private readonly columns: readonly FileColumn[],
    private readonly format: TextFormat,
  ) {
    this.out = new TextOutput(format);
  }

  async write(rows: StructVector): Promise<void> {
    const { out, format } = this;
    for (let row = 0; row < rows.length; row++) {
      for (let i = 0; i < this.columns.length; i++) {
        if (i > 0) out.byte(format.separators[0]);
        writeValue(out, format, this.columns[i].type, rows.children[i], row, 1);
      }
      out.byte(format.lineEnd);
      if (out.length >= flushBytes) await this.sink.write(out.take());
    }
  }

  async close(): Promise<void> {
    if (this.out.length > 0) await this.sink.write(this.out.take());
    await this.sink.close();
  }

  async abort(): Promise<void> {
    await this.sink.abort();
  }
}

/** Bytes that grow, with text escaped on the way in. */
class TextOutput {
  private bytes = new Uint8Array(4096);
  length = 0;
  /** 1 for each byte that is escaped. */
  private readonly special: Uint8Array | undefined;

  constructor(private readonly format: TextFormat) {
    if (format.escapeByte === undefined) return;
    this.special = new Uint8Array(256);
    this.special[format.escapeByte] = 1;
    for (const separator of format.separators) this.special[separator] = 1;
    // Hive does this with serialization.escape.crlf only and breaks the row otherwise; it reads both.
    this.special[0x0a] = 1;
    this.special[0x0d] = 1;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  raw(text: Uint8Array): void {
    this.reserve(text.length);
    this.bytes.set(text, this.length);
    this.length += text.length;
  }

  /** LazyUtils.writeEscaped. */
  escaped(text: Uint8Array, start: number, end: number): void {
    const { special } = this;
    const { escapeByte } = this.format;
    this.reserve(2 * (end - start));
    const out = this.bytes;
    let to = this.length;
    for (let i = start; i < end; i++) {
      let byte = text[i];
      if (special !== undefined && escapeByte !== undefined && special[byte] === 1) {
        out[to++] = escapeByte;
        if (byte === 0x0a) byte = 0x6e;
        else if (byte === 0x0d) byte = 0x72;
      }
      out[to++] = byte;
    }
    this.length = to;
  }

  /** What was written since the last time; the caller owns it. */
  take(): Uint8Array {
    const out = this.bytes.slice(0, this.length);
    this.length = 0;
    return out;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + more, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

const ENCODER = new TextEncoder();

function writeValue(
  out: TextOutput,
  format: TextFormat,
  type: HiveType,
  vector: ColumnVector,
  row: number,
  level: number,
): void {
  if (isNull(vector, row)) {
    out.raw(format.nullText);
    return;
  }
  switch (vector.kind) {
    case 'string':
    case 'varchar':
      out.escaped(vector.bytes, vector.offsets[row], vector.offsets[row + 1]);
      return;
    case 'char': {
      const text = ENCODER.encode(formatValue(type, vector, row));
      out.escaped(text, 0, text.length);
      return;
    }
    case 'binary':
      out.raw(ENCODER.encode(base64(vector, row)));
      return;
    case 'list': {
      const element = type.kind === 'array' ? type.element : type;
      const separator = separatorOf(format, level);
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        if (i > vector.offsets[row]) out.byte(separator);
        writeValue(out, format, element, vector.child, i, level + 1);
      }
      return;
    }
    case 'map': {
      const [key, value] = type.kind === 'map' ? [type.key, type.value] : [type, type];
      const separator = separatorOf(format, level);
      const keySeparator = separatorOf(format, level + 1);
      for (let i = vector.offsets[row]; i < vector.offsets[row + 1]; i++) {
        if (i > vector.offsets[row]) out.byte(separator);
        writeValue(out, format, key, vector.keys, i, level + 2);
        out.byte(keySeparator);
        writeValue(out, format, value, vector.values, i, level + 2);
      }
      return;
    }
    case 'struct': {
      const fields = type.kind === 'struct' ? type.fields : [];
      const separator = separatorOf(format, level);
      vector.children.forEach((child, i) => {
        if (i > 0) out.byte(separator);
        writeValue(out, format, fields[i]?.type ?? type, child, row, level + 1);
      });
      return;
    }
    case 'union': {
      const tag = vector.tags[row];
      const alternative = type.kind === 'uniontype' ? type.alternatives[tag] : type;
      out.raw(ENCODER.encode(String(tag)));
      out.byte(separatorOf(format, level));
      writeValue(out, format, alternative, vector.children[tag], vector.rowOffsets[row], level + 1);
      return;
    }
    default:
      out.raw(ENCODER.encode(formatValue(type, vector, row)));
  }
}

const base64 = (vector: BytesVector, row: number): string =>
  Buffer.from(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1])).toString('base64');
