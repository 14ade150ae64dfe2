import { BooleanRleEncoder } from '../../encoding/boolean-rle.js';
import { ByteRleEncoder } from '../../encoding/byte-rle.js';
import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { type ColumnEncoding, ColumnEncoding_Kind, Stream_Kind } from '../../proto/gen/orc_proto.js';
import { CUTOVER_DAY, prolepticToHybrid } from '../../time/calendar.js';
import type { TypeDescription } from '../../type-description.js';
import type {
  BooleanVector,
  ByteVector,
  DoubleVector,
  FloatVector,
  IntVector,
  LongVector,
  ShortVector,
} from '../../vector.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import {
  BooleanStatistics,
  DateStatistics,
  DoubleStatistics,
  IntegerStatistics,
} from '../statistics/number-statistics.js';
import type { Statistics } from '../statistics/statistics.js';
import { ColumnWriter } from './column-writer.js';
import { compactLongs, compactNumbers } from './selection.js';

/** Rows that are encoded at a time: their values stay in the processor's cache. */
const BLOCK = 4096;

/** A column with one stream of values. */
abstract class SingleStreamWriter<S extends Statistics> extends ColumnWriter<S> {
  protected readonly data: OutStream = this.createStream();

  protected override get dataBytes(): number {
    return this.data.sizeBytes;
  }
}

/** boolean: bits in DATA. */
export class BooleanWriter extends SingleStreamWriter<BooleanStatistics> {
  private readonly encoder = new BooleanRleEncoder(this.data);
  private readonly scratch = new Uint8Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new BooleanStatistics());
  }

  protected override get takesBloomFilter(): boolean {
    return false;
  }

  protected override writeRows(vector: BooleanVector, from: number, count: number, validity?: Uint8Array): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) this.add(vector.values, at, rows);
      else this.add(this.scratch, 0, compactNumbers(vector.values, validity, at, rows, this.scratch));
    }
  }

  private add(values: Uint8Array, from: number, count: number): void {
    this.encoder.writeBooleans(values, from, count);
    let ones = 0;
    for (let i = from; i < from + count; i++) ones += values[i] & 1;
    this.statistics.addTrue(ones);
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    positions.push(this.encoder.pendingBytes, this.encoder.pendingBits);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.encoder.flush();
    return [[Stream_Kind.DATA, this.data]];
  }

  protected override encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT };
  }
}

/** tinyint: byte RLE in DATA. */
export class ByteWriter extends SingleStreamWriter<IntegerStatistics> {
  private readonly encoder = new ByteRleEncoder(this.data);
  private readonly scratch = new Int8Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new IntegerStatistics());
  }

  protected override writeRows(vector: ByteVector, from: number, count: number, validity?: Uint8Array): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) this.add(vector.values, at, rows);
      else this.add(this.scratch, 0, compactNumbers(vector.values, validity, at, rows, this.scratch));
    }
  }

  private add(values: Int8Array, from: number, count: number): void {
    this.encoder.writeBytes(values, from, count);
    this.statistics.addInts(values, from, count);
    this.addToBloomFilter(values, from, count);
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    positions.push(this.encoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.encoder.flush();
    return [[Stream_Kind.DATA, this.data]];
  }

  protected override encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT };
  }
}

/** A column of signed integers in RLE v2. */
abstract class RleWriter<S extends Statistics> extends SingleStreamWriter<S> {
  protected readonly encoder = new RleV2Encoder(this.data, true, this.settings.alignedBitPacking);

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    positions.push(this.encoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.encoder.flush();
    return [[Stream_Kind.DATA, this.data]];
  }
}

/** smallint and int. */
export class IntWriter extends RleWriter<IntegerStatistics> {
  private readonly scratch = new Int32Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new IntegerStatistics());
  }

  protected override writeRows(
    vector: IntVector | ShortVector,
    from: number,
    count: number,
    validity?: Uint8Array,
  ): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) this.add(vector.values, at, rows);
      else this.add(this.scratch, 0, compactNumbers(vector.values, validity, at, rows, this.scratch));
    }
  }

  private add(values: Int32Array | Int16Array, from: number, count: number): void {
    this.encoder.writeInts(values, from, count);
    this.statistics.addInts(values, from, count);
    this.addToBloomFilter(values, from, count);
  }
}

/** date: days, in the file's calendar. */
export class DateWriter extends RleWriter<DateStatistics> {
  private readonly scratch = new Int32Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new DateStatistics());
  }

  protected override writeRows(vector: IntVector, from: number, count: number, validity?: Uint8Array): void {
    const { scratch } = this;
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      let values = rows;
      if (validity === undefined) scratch.set(vector.values.subarray(at, at + rows));
      else values = compactNumbers(vector.values, validity, at, rows, scratch);
      if (!this.settings.proleptic) {
        for (let i = 0; i < values; i++) if (scratch[i] < CUTOVER_DAY) scratch[i] = prolepticToHybrid(scratch[i]);
      }
      this.encoder.writeInts(scratch, 0, values);
      this.statistics.addDays(scratch, 0, values);
      this.addToBloomFilter(scratch, 0, values);
    }
  }
}

/** bigint. */
export class LongWriter extends RleWriter<IntegerStatistics> {
  private readonly scratch = new BigInt64Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new IntegerStatistics());
  }

  protected override writeRows(vector: LongVector, from: number, count: number, validity?: Uint8Array): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) this.add(vector.values, at, rows);
      else this.add(this.scratch, 0, compactLongs(vector.values, validity, at, rows, this.scratch));
    }
  }

  private add(values: BigInt64Array, from: number, count: number): void {
    this.encoder.writeLongs(values, from, count);
    this.statistics.addLongs(values, from, count);
    const { bloomFilter } = this;
    if (bloomFilter === undefined) return;
    const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    for (let i = from; i < from + count; i++) bloomFilter.addLong(halves[2 * i], halves[2 * i + 1]);
  }
}

/** float and double: IEEE 754, little endian, in DATA. */
export class FloatingWriter extends SingleStreamWriter<DoubleStatistics> {
  private readonly scratch = this.type.kind === 'float' ? new Float32Array(BLOCK) : new Float64Array(BLOCK);

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new DoubleStatistics());
  }

  protected override writeRows(
    vector: FloatVector | DoubleVector,
    from: number,
    count: number,
    validity?: Uint8Array,
  ): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      if (validity === undefined) this.add(vector.values, at, rows);
      else this.add(this.scratch, 0, compactNumbers(vector.values, validity, at, rows, this.scratch));
    }
  }

  private add(values: Float32Array | Float64Array, from: number, count: number): void {
    const width = values.BYTES_PER_ELEMENT;
    this.data.putBytes(new Uint8Array(values.buffer, values.byteOffset + from * width, count * width));
    this.statistics.addNumbers(values, from, count);
    const { bloomFilter } = this;
    if (bloomFilter !== undefined) for (let i = from; i < from + count; i++) bloomFilter.addDouble(values[i]);
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    return [[Stream_Kind.DATA, this.data]];
  }

  protected override encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT };
  }
}
