import { writeDecimals } from '../../encoding/decimal.js';
import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { Stream_Kind } from '../../proto/gen/orc_proto.js';
import type { TypeDescription } from '../../type-description.js';
import type { DecimalVector } from '../../vector.js';
import { decimalText } from '../decimal-text.js';
import { InvalidWriteError } from '../errors.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import { DecimalStatistics } from '../statistics/decimal-statistics.js';
import { ColumnWriter } from './column-writer.js';

const BLOCK = 4096;

/** decimal: unscaled values as varints in DATA, scales in SECONDARY (spec: "Decimal Columns"); here all of the type's scale. */
export class DecimalWriter extends ColumnWriter<DecimalStatistics> {
  private readonly data = this.createStream();
  private readonly secondary = this.createStream();
  private readonly scaleEncoder = new RleV2Encoder(this.secondary, true, this.settings.alignedBitPacking);
  private readonly scales: Int32Array;
  private readonly scratch = new BigInt64Array(BLOCK * 2);
  private readonly scale: number;

  constructor(type: TypeDescription, settings: WriterSettings) {
    const scale = type.scale ?? 0;
    super(type, settings, () => new DecimalStatistics(scale));
    this.scale = scale;
    this.scales = new Int32Array(BLOCK).fill(scale);
  }

  protected override writeRows(vector: DecimalVector, from: number, count: number, validity?: Uint8Array): void {
    if (vector.scale !== this.scale) {
      throw new InvalidWriteError(`column ${this.type.id} has scale ${this.scale}, the vector ${vector.scale}`);
    }
    const { scratch } = this;
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) {
        this.add(vector.words, at, rows);
        continue;
      }
      let values = 0;
      for (let i = at; i < at + rows; i++) {
        if (((validity[i >>> 3] >>> (i & 7)) & 1) === 0) continue;
        scratch[2 * values] = vector.words[2 * i];
        scratch[2 * values + 1] = vector.words[2 * i + 1];
        values++;
      }
      this.add(scratch, 0, values);
    }
  }

  private add(words: BigInt64Array, from: number, count: number): void {
    writeDecimals(words, from, count, this.data);
    this.scaleEncoder.writeInts(this.scales, 0, count);
    this.statistics.addDecimals(words, from, count);
    const { bloomFilter } = this;
    if (bloomFilter === undefined) return;
    for (let i = from; i < from + count; i++) {
      const value = (words[2 * i + 1] << 64n) | BigInt.asUintN(64, words[2 * i]);
      const text = Buffer.from(decimalText(value, this.scale), 'latin1');
      bloomFilter.addBytes(text, 0, text.length);
    }
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    this.secondary.recordPosition(positions);
    positions.push(this.scaleEncoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.scaleEncoder.flush();
    return [
      [Stream_Kind.DATA, this.data],
      [Stream_Kind.SECONDARY, this.secondary],
    ];
  }

  protected override get dataBytes(): number {
    return this.data.sizeBytes + this.secondary.sizeBytes;
  }
}
