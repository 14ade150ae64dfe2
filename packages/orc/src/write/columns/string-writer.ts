import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { type ColumnEncoding, ColumnEncoding_Kind, Stream_Kind } from '../../proto/gen/orc_proto.js';
import type { TypeDescription } from '../../type-description.js';
import type { BytesVector } from '../../vector.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import { StringStatistics } from '../statistics/bytes-statistics.js';
import { fitCharacters } from './characters.js';
import { ColumnWriter } from './column-writer.js';
import { Dictionary } from './dictionary.js';
import { DirectBytes } from './direct-bytes.js';
import { forEachRun } from './selection.js';

const BLOCK = 4096;

/**
 * string, char and varchar (Java: StringBaseTreeWriter). Values go into a dictionary first. At the end of the first row group
 * that has values (or of the stripe) the share of distinct ones decides, for the rest of the file: dictionary (sorted, DATA has
 * the ids) or direct.
 */
export class StringWriter extends ColumnWriter<StringStatistics> {
  private readonly data = this.createStream();
  private readonly lengths = this.createStream();
  private readonly dictionaryData = this.createStream();
  private readonly ids = new RleV2Encoder(this.data, false, this.settings.alignedBitPacking);
  private readonly lengthEncoder = new RleV2Encoder(this.lengths, false, this.settings.alignedBitPacking);
  private readonly direct = new DirectBytes(this.data, this.lengthEncoder);
  private readonly dictionary = new Dictionary();
  private useDictionary: boolean;
  private decided: boolean;
  /** Ids of the stripe's values, while the dictionary is in use. */
  private rows = new Int32Array(BLOCK);
  private rowCount = 0;
  /** Positions to be filled when the ids are written, with the number of values before them. */
  private openPositions: { positions: number[]; row: number }[] = [];
  /** By id the row group in which it was last seen: statistics and filters need each value once a group. */
  private seenIn = new Int32Array(BLOCK);
  private groupNumber = 1;

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new StringStatistics());
    this.useDictionary = settings.dictionaryThreshold > 0;
    this.decided = !this.useDictionary;
  }

  protected override writeRows(vector: BytesVector, from: number, count: number, validity?: Uint8Array): void {
    const { maximumLength } = this.type;
    forEachRun(validity, from, count, (start, length) => {
      const { bytes, offsets } =
        maximumLength === undefined ? vector : fitCharacters(vector, start, length, maximumLength);
      const first = offsets === vector.offsets ? start : 0;
      this.statistics.addLength(offsets[first + length] - offsets[first]);
      if (this.useDictionary) this.addToDictionary(bytes, offsets, first, length);
      else this.addDirect(bytes, offsets, first, length);
    });
  }

  private addToDictionary(bytes: Uint8Array, offsets: Int32Array, from: number, count: number): void {
    const { dictionary, statistics, bloomFilter, groupNumber } = this;
    if (this.rowCount + count > this.rows.length) {
      const rows = new Int32Array(Math.max(this.rowCount + count, this.rows.length * 2));
      rows.set(this.rows);
      this.rows = rows;
    }
    const { rows } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let { seenIn, rowCount } = this;
    for (let i = from; i < from + count; i++) {
      const start = offsets[i];
      const end = offsets[i + 1];
      const id = dictionary.add(bytes, view, start, end);
      rows[rowCount++] = id;
      if (seenIn[id] === groupNumber) continue;
      if (id >= seenIn.length) seenIn = this.growSeenIn();
      seenIn[id] = groupNumber;
      statistics.addRange(bytes, start, end);
      bloomFilter?.addBytes(bytes, start, end);
    }
    this.rowCount = rowCount;
  }

  private growSeenIn(): Int32Array<ArrayBuffer> {
    const seenIn = new Int32Array(this.seenIn.length * 2);
    seenIn.set(this.seenIn);
    this.seenIn = seenIn;
    return seenIn;
  }

  private addDirect(bytes: Uint8Array, offsets: Int32Array, from: number, count: number): void {
    const { statistics, bloomFilter } = this;
    this.direct.write(bytes, offsets, from, count);
    statistics.addRows(bytes, offsets, from, count);
    if (bloomFilter === undefined) return;
    for (let i = from; i < from + count; i++) bloomFilter.addBytes(bytes, offsets[i], offsets[i + 1]);
  }

  override endRowGroup(): void {
    super.endRowGroup();
    this.groupNumber++;
    this.decide();
  }

  private decide(): void {
    if (this.decided || this.rowCount === 0) return;
    this.decided = true;
    // Java compares a 32-bit float with a double: 4 of 5 is above 0.8.
    const share = Math.fround(this.dictionary.size / this.rowCount);
    if (share <= this.settings.dictionaryThreshold) return;
    this.useDictionary = false;
    this.writeValues();
    this.forget();
  }

  /** Writes the values seen so far directly. */
  private writeValues(): void {
    const { dictionary, rows } = this;
    const bytes = dictionary.keyBytes();
    const span = new Int32Array(2);
    this.eachRow(
      (row) => {
        span[0] = dictionary.start(rows[row]);
        span[1] = dictionary.end(rows[row]);
        this.direct.write(bytes, span, 0, 1);
      },
      (positions) => this.direct.recordPositions(positions),
    );
  }

  private writeDictionary(): void {
    const { dictionary, rows } = this;
    const sorted = dictionary.sortedIds();
    const rank = new Int32Array(sorted.length);
    const lengths = new Int32Array(sorted.length);
    const bytes = dictionary.keyBytes();
    for (let i = 0; i < sorted.length; i++) {
      const id = sorted[i];
      rank[id] = i;
      lengths[i] = dictionary.end(id) - dictionary.start(id);
      this.dictionaryData.putBytes(bytes.subarray(dictionary.start(id), dictionary.end(id)));
    }
    this.lengthEncoder.writeInts(lengths, 0, lengths.length);
    for (let i = 0; i < this.rowCount; i++) rows[i] = rank[rows[i]];
    let written = 0;
    for (const { positions, row } of this.openPositions) {
      this.ids.writeInts(rows, written, row - written);
      written = row;
      this.data.recordPosition(positions);
      positions.push(this.ids.pending);
    }
    this.ids.writeInts(rows, written, this.rowCount - written);
  }

  private eachRow(write: (row: number) => void, record: (positions: number[]) => void): void {
    let next = 0;
    for (let row = 0; row <= this.rowCount; row++) {
      for (; next < this.openPositions.length && this.openPositions[next].row === row; next++) {
        record(this.openPositions[next].positions);
      }
      if (row < this.rowCount) write(row);
    }
  }

  private forget(): void {
    this.dictionary.clear();
    this.rowCount = 0;
    this.openPositions = [];
  }

  protected override recordPositions(positions: number[]): void {
    if (this.useDictionary) this.openPositions.push({ positions, row: this.rowCount });
    else this.direct.recordPositions(positions);
  }

  protected override encoding(): ColumnEncoding {
    return this.useDictionary
      ? { kind: ColumnEncoding_Kind.DICTIONARY_V2, dictionarySize: this.dictionary.size }
      : { kind: ColumnEncoding_Kind.DIRECT_V2 };
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    const streams: [Stream_Kind, OutStream][] = [
      [Stream_Kind.DATA, this.data],
      [Stream_Kind.LENGTH, this.lengths],
    ];
    if (this.useDictionary) {
      this.writeDictionary();
      this.forget();
      this.ids.flush();
      streams.push([Stream_Kind.DICTIONARY_DATA, this.dictionaryData]);
    }
    this.lengthEncoder.flush();
    return streams;
  }

  protected override get dataBytes(): number {
    const buffered = this.useDictionary ? this.dictionary.sizeBytes + this.rowCount * 4 : 0;
    return buffered + this.data.sizeBytes + this.lengths.sizeBytes;
  }
}
