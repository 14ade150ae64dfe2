import type { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import type { OutStream } from '../out-stream.js';

const BLOCK = 4096;

/** Bytes one after the other in a stream and their lengths in another: binary columns and directly encoded text. */
export class DirectBytes {
  private readonly scratch = new Int32Array(BLOCK);

  constructor(
    private readonly data: OutStream,
    private readonly lengths: RleV2Encoder,
    private readonly lengthStream: OutStream = lengths.output as OutStream,
  ) {}

  /** Values [from, from + count) of `bytes` cut by `offsets`, which are consecutive. */
  write(bytes: Uint8Array, offsets: Int32Array, from: number, count: number): void {
    const { scratch } = this;
    this.data.putBytes(bytes.subarray(offsets[from], offsets[from + count]));
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      for (let i = 0; i < rows; i++) scratch[i] = offsets[at + i + 1] - offsets[at + i];
      this.lengths.writeInts(scratch, 0, rows);
    }
  }

  recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    this.lengthStream.recordPosition(positions);
    positions.push(this.lengths.pending);
  }

  flush(): void {
    this.lengths.flush();
  }
}
