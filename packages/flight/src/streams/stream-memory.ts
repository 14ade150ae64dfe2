/** How much a stream of record batches holds while its client takes its time. */
export interface StreamSizes {
  /** Of a batch, of which there are up to four: decoded, encoded, and two messages on their way. */
  readonly batchBytes: number;
  /** Of a file's stripe, decompressed: what is decoded; the next one is read, compressed. */
  readonly segmentBytes: number;
}

const STEPS: readonly (StreamSizes & { readonly upTo: number })[] = [
  { upTo: 16, batchBytes: 1 << 20, segmentBytes: 8 << 20 },
  { upTo: 128, batchBytes: 256 << 10, segmentBytes: 1 << 20 },
  { upTo: Number.POSITIVE_INFINITY, batchBytes: 64 << 10, segmentBytes: 256 << 10 },
];

/** The more streams are open, the less each of them holds. */
export const streamSizes = (open: number): StreamSizes => STEPS.find(({ upTo }) => open <= upTo) ?? STEPS[0];

/** A row group is read as a whole, however small the segments; of wide rows it has about so many bytes, some times over. */
const ROW_GROUPS_BYTES = 16 << 20;

/** Batches and segments, of which garbage stays for a while; of a file of so many bytes not more than it can give. */
const costOf = ({ batchBytes, segmentBytes }: StreamSizes, fileBytes: number): number =>
  Math.min(4 * batchBytes + 4 * segmentBytes, 16 * fileBytes) + Math.min(ROW_GROUPS_BYTES, 2 * fileBytes);

/**
 * What open streams may hold together, by estimate. One that would be beyond it waits, in the order they came, until others end;
 * it has sent its schema by then. One alone always runs.
 */
export class StreamMemory {
  private used = 0;
  private readonly waiting = new Set<{ readonly bytes: number; readonly go: () => void }>();

  constructor(private readonly limitBytes: number) {}

  /** The sizes for one more stream, of so many bytes of files, among so many open ones; and how it gives its share back. */
  async enter(
    open: number,
    fileBytes: number,
    signal: AbortSignal,
  ): Promise<StreamSizes & { readonly leave: () => void }> {
    signal.throwIfAborted();
    const sizes = streamSizes(open);
    const bytes = costOf(sizes, fileBytes);
    if (this.waiting.size === 0 && this.fits(bytes)) this.used += bytes;
    else await this.turn(bytes, signal);
    return { ...sizes, leave: () => this.leave(bytes) };
  }

  private fits(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.limitBytes;
  }

  private async turn(bytes: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.waiting.delete(waiter);
        this.admit();
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter = { bytes, go };
      this.waiting.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  private leave(bytes: number): void {
    this.used -= bytes;
    this.admit();
  }

  private admit(): void {
    for (const waiter of this.waiting) {
      if (!this.fits(waiter.bytes)) return;
      this.waiting.delete(waiter);
      this.used += waiter.bytes;
      waiter.go();
    }
  }
}
