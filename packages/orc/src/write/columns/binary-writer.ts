import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { Stream_Kind } from '../../proto/gen/orc_proto.js';
import type { TypeDescription } from '../../type-description.js';
import type { BytesVector } from '../../vector.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import { BinaryStatistics } from '../statistics/bytes-statistics.js';
import { ColumnWriter } from './column-writer.js';
import { DirectBytes } from './direct-bytes.js';
import { forEachRun } from './selection.js';

/** binary: the bytes in DATA, their lengths in LENGTH. */
export class BinaryWriter extends ColumnWriter<BinaryStatistics> {
  private readonly data = this.createStream();
  private readonly lengths = this.createStream();
  private readonly direct = new DirectBytes(
    this.data,
    new RleV2Encoder(this.lengths, false, this.settings.alignedBitPacking),
  );

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new BinaryStatistics());
  }

  protected override writeRows(vector: BytesVector, from: number, count: number, validity?: Uint8Array): void {
    const { bytes, offsets } = vector;
    const { bloomFilter } = this;
    forEachRun(validity, from, count, (start, length) => {
      this.direct.write(bytes, offsets, start, length);
      this.statistics.addLength(offsets[start + length] - offsets[start]);
      if (bloomFilter === undefined) return;
      for (let i = start; i < start + length; i++) bloomFilter.addBytes(bytes, offsets[i], offsets[i + 1]);
    });
  }

  protected override recordPositions(positions: number[]): void {
    this.direct.recordPositions(positions);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.direct.flush();
    return [
      [Stream_Kind.DATA, this.data],
      [Stream_Kind.LENGTH, this.lengths],
    ];
  }

  protected override get dataBytes(): number {
    return this.data.sizeBytes + this.lengths.sizeBytes;
  }
}
