import { chunkOf } from '../compression/chunks.js';
import type { Codec } from '../compression/codec.js';

/** Blocks on their way, at most: what they take in memory. */
const MOST_PENDING_BYTES = 8 << 20;
/** Handing a smaller block to another thread costs as much as compressing it. */
export const LEAST_LATER_BYTES = 64 << 10;

/** A chunk that is compressed on another thread, and who waits for it. */
interface PendingChunk {
  readonly blockBytes: number;
  readonly chunk: Promise<{ readonly value: Uint8Array } | { readonly error: unknown }>;
  readonly done: (chunk: Uint8Array) => void;
}

/**
 * Chunks of one file that are compressed on other threads (libuv's) while its rows are encoded. A chunk counts as done when it is
 * waited for, not when it happens to be: what is written does not depend on which thread was faster.
 */
export class ChunksLater {
  private queue: PendingChunk[] = [];
  private pendingBytes = 0;

  /** Takes the block over; `done` is called with its chunk while `settle` or `bound` is waited for. */
  start(block: Uint8Array, compress: NonNullable<Codec['compressLater']>, done: (chunk: Uint8Array) => void): void {
    const chunk = compress(block).then(
      (compressed) => ({ value: chunkOf(block, compressed) }),
      (error: unknown) => ({ error }),
    );
    this.queue.push({ blockBytes: block.length, chunk, done });
    this.pendingBytes += block.length;
  }

  /** Waits for all. */
  async settle(): Promise<void> {
    await this.waitFor(0);
  }

  /** Waits for the first ones where too much is on its way. */
  async bound(): Promise<void> {
    if (this.pendingBytes > MOST_PENDING_BYTES) await this.waitFor(MOST_PENDING_BYTES);
  }

  private async waitFor(mostPending: number): Promise<void> {
    let count = 0;
    for (; this.pendingBytes > mostPending; count++) {
      const { blockBytes, chunk, done } = this.queue[count];
      const outcome = await chunk;
      this.pendingBytes -= blockBytes;
      if ('error' in outcome) throw outcome.error;
      done(outcome.value);
    }
    this.queue = this.queue.slice(count);
  }
}
