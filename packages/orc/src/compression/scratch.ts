/** Bytes that are kept for the next stripe or file, in all. */
const KEPT_BYTES = 16 << 20;
const GRAIN = 1 << 16;

const kept: ArrayBuffer[] = [];
let keptBytes = 0;

/**
 * Memory for streams that are only looked at while their rows are decoded. Fresh pages cost more than decoding into them,
 * so that arrays are used again, by whichever reader comes next.
 */
export class Scratch {
  private taken: ArrayBuffer[] = [];

  /** `length` bytes of unspecified content, until release(). */
  take(length: number): Uint8Array {
    const index = kept.findIndex(({ byteLength }) => byteLength >= length && byteLength <= 4 * length + GRAIN);
    let buffer: ArrayBuffer;
    if (index >= 0) {
      [buffer] = kept.splice(index, 1);
      keptBytes -= buffer.byteLength;
    } else buffer = new ArrayBuffer(Math.ceil(length / GRAIN) * GRAIN);
    this.taken.push(buffer);
    return new Uint8Array(buffer, 0, length);
  }

  /** What was taken must not be used any more. */
  release(): void {
    for (const buffer of this.taken) {
      if (keptBytes + buffer.byteLength > KEPT_BYTES) continue;
      kept.push(buffer);
      keptBytes += buffer.byteLength;
    }
    this.taken = [];
  }
}
