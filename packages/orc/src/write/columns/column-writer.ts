import { BugError } from '@skep/core';
import { BloomFilter } from '../../encoding/bloom-filter.js';
import { BooleanRleEncoder } from '../../encoding/boolean-rle.js';
import {
  type BloomFilter as BloomFilterMessage,
  type ColumnEncoding,
  ColumnEncoding_Kind,
  type ColumnStatistics,
  type RowIndexEntry,
  Stream_Kind,
} from '../../proto/gen/orc_proto.js';
import type { BloomShape } from '../../reader/whole-stripe.js';
import type { TypeDescription } from '../../type-description.js';
import type { ColumnVector } from '../../vector.js';
import { InvalidWriteError } from '../errors.js';
import type { WriterSettings } from '../options.js';
import { OutStream } from '../out-stream.js';
import type { Statistics } from '../statistics/statistics.js';
import { countBits } from './selection.js';

/** A finished stream of a stripe. */
export interface FinishedStream {
  readonly kind: Stream_Kind;
  readonly column: number;
  readonly parts: readonly Uint8Array[];
  readonly lengthBytes: number;
}

/** What a column gave to a stripe. */
export interface FinishedColumn {
  readonly streams: readonly FinishedStream[];
  readonly encoding: ColumnEncoding;
  readonly statistics: ColumnStatistics;
  readonly entries: readonly RowIndexEntry[];
  readonly bloomFilters: readonly BloomFilterMessage[];
}

interface RowGroup {
  readonly presentPositions: number[];
  /** Of the streams after PRESENT. */
  readonly positions: number[];
  statistics?: ColumnStatistics;
  bloomFilter?: BloomFilterMessage;
}

/**
 * Writes one column of a stripe: PRESENT stream, row groups and statistics here, the values in the subclasses (Java:
 * org.apache.orc.impl.writer.TreeWriterBase).
 */
export abstract class ColumnWriter<S extends Statistics = Statistics> {
  readonly children: readonly ColumnWriter[] = [];
  /** Of the row group at hand. */
  protected statistics: S;
  protected readonly bloomFilter: BloomFilter | undefined;
  private stripeStatistics: S;
  private readonly fileStatistics: S;
  private readonly presentStream: OutStream;
  private readonly present: BooleanRleEncoder;
  private hasNulls = false;
  private groups: RowGroup[] = [];
  /** Of the stripe between endStripe and finishStripe. */
  private ended: { readonly encoding: ColumnEncoding; readonly streams: [Stream_Kind, OutStream][] } | undefined;

  constructor(
    readonly type: TypeDescription,
    protected readonly settings: WriterSettings,
    private readonly createStatistics: () => S,
  ) {
    this.statistics = createStatistics();
    this.stripeStatistics = createStatistics();
    this.fileStatistics = createStatistics();
    this.presentStream = this.createStream();
    this.present = new BooleanRleEncoder(this.presentStream);
    if (this.takesBloomFilter && settings.bloomFilterIds.has(type.id)) {
      this.bloomFilter = BloomFilter.forEntries(settings.rowIndexStride, settings.bloomFilterFpp);
    }
  }

  /** Writes those of rows [from, from + count) that `validity` (absent: all) does not rule out; at least one. */
  protected abstract writeRows(
    vector: ColumnVector,
    from: number,
    count: number,
    validity: Uint8Array | undefined,
  ): void;
  /** Appends where the streams after PRESENT are, in the order of the specification ("Row Group Index"). */
  protected abstract recordPositions(positions: number[]): void;
  /** Ends the encoders; the streams after PRESENT, by kind. */
  protected abstract finishStreams(): [kind: Stream_Kind, stream: OutStream][];
  /** Memory of the streams after PRESENT. */
  protected abstract get dataBytes(): number;

  protected get takesBloomFilter(): boolean {
    return true;
  }

  protected encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT_V2 };
  }

  write(vector: ColumnVector, from: number, count: number): void {
    if (vector.kind !== this.type.kind) {
      throw new InvalidWriteError(`column ${this.type.id} is ${this.type.kind}, the vector ${vector.kind}`);
    }
    if (from + count > vector.length) {
      throw new InvalidWriteError(`column ${this.type.id}: ${from + count} rows asked of a vector of ${vector.length}`);
    }
    if (count === 0) return;
    const { validity } = vector;
    const values = validity === undefined ? count : countBits(validity, from, count);
    this.statistics.count += values;
    if (validity === undefined || values === count) {
      this.present.repeat(1, count);
      this.writeRows(vector, from, count, undefined);
    } else {
      this.hasNulls = true;
      this.statistics.hasNull = true;
      this.present.writeBitmap(validity, from, count);
      if (values > 0) this.writeRows(vector, from, count, validity);
    }
  }

  /** Memory that the stripe takes so far; nested columns not counted. */
  get sizeBytes(): number {
    return this.presentStream.sizeBytes + this.dataBytes;
  }

  startRowGroup(): void {
    const group: RowGroup = { presentPositions: [], positions: [] };
    this.presentStream.recordPosition(group.presentPositions);
    group.presentPositions.push(this.present.pendingBytes, this.present.pendingBits);
    this.recordPositions(group.positions);
    this.groups.push(group);
  }

  endRowGroup(): void {
    const group = this.groups[this.groups.length - 1];
    if (group !== undefined) {
      group.statistics = this.statistics.toMessage();
      if (this.bloomFilter !== undefined) {
        const { bytes, hashFunctions } = this.bloomFilter;
        group.bloomFilter = { numHashFunctions: hashFunctions, bitset: [], utf8bitset: bytes.slice() };
        this.bloomFilter.clear();
      }
    }
    this.stripeStatistics.merge(this.statistics);
    this.statistics = this.createStatistics();
  }

  /** Ends the encoders: what is left of the streams is compressed, here or on other threads. */
  endStripe(): void {
    const encoding = this.encoding();
    this.present.flush();
    const streams = this.finishStreams();
    this.presentStream.end();
    if (this.hasNulls) streams.push([Stream_Kind.PRESENT, this.presentStream]);
    for (const [, stream] of streams) stream.end();
    this.ended = { encoding, streams };
  }

  /** The stripe, once all chunks are there; the writer is then ready for the next. PRESENT is left out when nothing was NULL. */
  finishStripe(): FinishedColumn {
    const { ended } = this;
    if (ended === undefined) throw new BugError('a stripe is finished before it is ended');
    this.ended = undefined;
    const { encoding } = ended;
    if (!this.hasNulls) this.presentStream.finish();
    const streams: FinishedStream[] = ended.streams.map(([kind, stream]) => ({
      kind,
      column: this.type.id,
      ...stream.finish(),
    }));
    streams.sort((a, b) => a.kind - b.kind);
    this.stripeStatistics.bytesOnDisk = streams.reduce((sum, stream) => sum + stream.lengthBytes, 0);
    const finished: FinishedColumn = {
      streams,
      encoding: this.bloomFilter === undefined ? encoding : { ...encoding, bloomEncoding: 1 },
      statistics: this.stripeStatistics.toMessage(),
      entries: this.groups.map((group) => this.entryOf(group)),
      bloomFilters: this.groups.flatMap(({ bloomFilter }) => (bloomFilter === undefined ? [] : [bloomFilter])),
    };
    this.fileStatistics.merge(this.stripeStatistics);
    this.stripeStatistics = this.createStatistics();
    this.hasNulls = false;
    this.groups = [];
    return finished;
  }

  private entryOf({ presentPositions, positions, statistics }: RowGroup): RowIndexEntry {
    const all = this.hasNulls ? [...presentPositions, ...positions] : positions;
    return { positions: all.map(BigInt), statistics };
  }

  /** The size of the filters that it makes; undefined: none. */
  get bloomShape(): BloomShape | undefined {
    return this.bloomFilter && { bytes: this.bloomFilter.bytes.length, hashFunctions: this.bloomFilter.hashFunctions };
  }

  /** Whether another stripe's statistics of this column say enough to be added to the file's. */
  understands(statistics: ColumnStatistics): boolean {
    return this.createStatistics().read(statistics);
  }

  /** Adds those of a stripe that comes from another file. */
  addStatistics(statistics: ColumnStatistics): void {
    const read = this.createStatistics();
    if (!read.read(statistics)) throw new InvalidWriteError(`column ${this.type.id}: the statistics are incomplete`);
    this.fileStatistics.merge(read);
  }

  /** Statistics of all finished stripes. */
  finalStatistics(): ColumnStatistics {
    return this.fileStatistics.toMessage();
  }

  protected createStream(): OutStream {
    const { codec, blockBytes, later } = this.settings;
    return new OutStream(codec, blockBytes, later);
  }

  /** Bloom filters hold 64-bit integers of these. */
  protected addToBloomFilter(values: Int32Array | Int16Array | Int8Array, from: number, count: number): void {
    const { bloomFilter } = this;
    if (bloomFilter === undefined) return;
    for (let i = from; i < from + count; i++) bloomFilter.addLong(values[i], values[i] >> 31);
  }
}
