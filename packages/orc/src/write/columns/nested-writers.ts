import { ByteRleEncoder } from '../../encoding/byte-rle.js';
import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { type ColumnEncoding, ColumnEncoding_Kind, Stream_Kind } from '../../proto/gen/orc_proto.js';
import type { TypeDescription } from '../../type-description.js';
import type { ListVector, MapVector, StructVector, UnionVector } from '../../vector.js';
import { InvalidWriteError } from '../errors.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import { CollectionStatistics } from '../statistics/number-statistics.js';
import { Statistics } from '../statistics/statistics.js';
import { ColumnWriter } from './column-writer.js';
import { forEachRun } from './selection.js';

const BLOCK = 4096;

/** struct: nothing but its fields, which have no values where the struct is NULL. */
export class StructWriter extends ColumnWriter {
  constructor(
    type: TypeDescription,
    settings: WriterSettings,
    override readonly children: readonly ColumnWriter[],
  ) {
    super(type, settings, () => new Statistics());
  }

  protected override get takesBloomFilter(): boolean {
    return false;
  }

  protected override writeRows(vector: StructVector, from: number, count: number, validity?: Uint8Array): void {
    const { children } = this;
    checkChildren(this.type, vector.children.length);
    forEachRun(validity, from, count, (start, length) => {
      for (let i = 0; i < children.length; i++) children[i].write(vector.children[i], start, length);
    });
  }

  protected override recordPositions(): void {}

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    return [];
  }

  protected override get dataBytes(): number {
    return 0;
  }

  protected override encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT };
  }
}

/** list and map: numbers of elements in LENGTH; the elements of all rows are the child's rows. */
export class CollectionWriter extends ColumnWriter<CollectionStatistics> {
  private readonly lengths = this.createStream();
  private readonly encoder = new RleV2Encoder(this.lengths, false, this.settings.alignedBitPacking);
  private readonly scratch = new Int32Array(BLOCK);

  constructor(
    type: TypeDescription,
    settings: WriterSettings,
    override readonly children: readonly ColumnWriter[],
  ) {
    super(type, settings, () => new CollectionStatistics());
  }

  protected override get takesBloomFilter(): boolean {
    return false;
  }

  protected override writeRows(
    vector: ListVector | MapVector,
    from: number,
    count: number,
    validity?: Uint8Array,
  ): void {
    const { offsets } = vector;
    // Elements of consecutive lists are written at once; a NULL list may have elements, which are not.
    let start = 0;
    let end = 0;
    forEachRun(validity, from, count, (first, length) => {
      this.writeLengths(offsets, first, length);
      if (offsets[first] !== end) {
        this.writeElements(vector, start, end - start);
        start = offsets[first];
      }
      end = offsets[first + length];
    });
    this.writeElements(vector, start, end - start);
  }

  private writeElements(vector: ListVector | MapVector, from: number, count: number): void {
    if (count === 0) return;
    if (vector.kind === 'list') this.children[0].write(vector.child, from, count);
    else {
      this.children[0].write(vector.keys, from, count);
      this.children[1].write(vector.values, from, count);
    }
  }

  private writeLengths(offsets: Int32Array, from: number, count: number): void {
    const { scratch } = this;
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      for (let i = 0; i < rows; i++) {
        const length = offsets[at + i + 1] - offsets[at + i];
        if (length < 0) throw new InvalidWriteError(`column ${this.type.id}: offsets of row ${at + i} descend`);
        scratch[i] = length;
      }
      this.encoder.writeInts(scratch, 0, rows);
      this.statistics.addLengths(scratch, 0, rows);
    }
  }

  protected override recordPositions(positions: number[]): void {
    this.lengths.recordPosition(positions);
    positions.push(this.encoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.encoder.flush();
    return [[Stream_Kind.LENGTH, this.lengths]];
  }

  protected override get dataBytes(): number {
    return this.lengths.sizeBytes;
  }
}

/** uniontype: the alternative of each row in DATA; each alternative has only the rows that chose it. */
export class UnionWriter extends ColumnWriter {
  private readonly data = this.createStream();
  private readonly encoder = new ByteRleEncoder(this.data);

  constructor(
    type: TypeDescription,
    settings: WriterSettings,
    override readonly children: readonly ColumnWriter[],
  ) {
    super(type, settings, () => new Statistics());
  }

  protected override get takesBloomFilter(): boolean {
    return false;
  }

  protected override writeRows(vector: UnionVector, from: number, count: number, validity?: Uint8Array): void {
    checkChildren(this.type, vector.children.length);
    const { tags, rowOffsets } = vector;
    // Of each alternative a run of consecutive rows not yet written.
    const starts = new Int32Array(this.children.length);
    const lengths = new Int32Array(this.children.length);
    forEachRun(validity, from, count, (start, length) => {
      this.encoder.writeBytes(tags, start, length);
      for (let row = start; row < start + length; row++) {
        const tag = tags[row];
        if (tag >= this.children.length) {
          throw new InvalidWriteError(
            `column ${this.type.id}: row ${row} has tag ${tag}, there are ${this.children.length}`,
          );
        }
        if (rowOffsets[row] !== starts[tag] + lengths[tag]) {
          this.children[tag].write(vector.children[tag], starts[tag], lengths[tag]);
          starts[tag] = rowOffsets[row];
          lengths[tag] = 0;
        }
        lengths[tag]++;
      }
    });
    for (let tag = 0; tag < this.children.length; tag++) {
      this.children[tag].write(vector.children[tag], starts[tag], lengths[tag]);
    }
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    positions.push(this.encoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.encoder.flush();
    return [[Stream_Kind.DATA, this.data]];
  }

  protected override get dataBytes(): number {
    return this.data.sizeBytes;
  }

  protected override encoding(): ColumnEncoding {
    return { kind: ColumnEncoding_Kind.DIRECT };
  }
}

function checkChildren(type: TypeDescription, children: number): void {
  if (children !== type.children.length) {
    throw new InvalidWriteError(`column ${type.id} has ${type.children.length} children, the vector ${children}`);
  }
}
