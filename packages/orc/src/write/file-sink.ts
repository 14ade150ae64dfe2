import type { ByteSink } from '@skep/core';

const PIECE_BYTES = 1 << 20;
/** Parts of this size go to the sink as they are. */
const LARGE_PART_BYTES = 1 << 17;

/** Counts what is written and joins small pieces: a stripe is made of many streams, most of them short. */
export class FileSink {
  /** Where the next byte goes. */
  position = 0;
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;

  constructor(private readonly sink: ByteSink) {}

  async write(parts: Iterable<Uint8Array>): Promise<void> {
    for (const part of parts) {
      if (part.length === 0) continue;
      this.position += part.length;
      if (part.length >= LARGE_PART_BYTES) {
        await this.flush();
        await this.sink.write(part);
        continue;
      }
      this.pending.push(part);
      this.pendingBytes += part.length;
      if (this.pendingBytes >= PIECE_BYTES) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const { pending } = this;
    if (pending.length === 0) return;
    const whole = pending.length === 1 ? pending[0] : new Uint8Array(this.pendingBytes);
    if (pending.length > 1) {
      let at = 0;
      for (const part of pending) {
        whole.set(part, at);
        at += part.length;
      }
    }
    this.pending = [];
    this.pendingBytes = 0;
    await this.sink.write(whole);
  }
}
