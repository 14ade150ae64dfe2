/**
 * Bytes that can be read by ranges: a local file, an object in a store, memory.
 * `slice` may answer at once (local files, memory) or later (object stores); a reader that must not wait
 * asks only sources that answer at once.
 */
export interface ByteSource {
  /** Named in errors. */
  readonly path: string;
  readonly size: number;
  /** The bytes of [start, end); the range lies inside [0, size]. The caller must not change them. */
  slice(start: number, end: number): Uint8Array | Promise<Uint8Array>;
  close?(): void | Promise<void>;
}

/** Bytes that are written once, front to back. */
export interface ByteSink {
  readonly path: string;
  /** The sink owns `bytes` after the call. */
  write(bytes: Uint8Array): void | Promise<void>;
  /** Makes the bytes durable and ends the file. */
  close(): Promise<void>;
  /** Gives up: what was written is removed where that is possible. */
  abort(): Promise<void>;
}

export function memorySource(bytes: Uint8Array, path = 'memory'): ByteSource {
  return { path, size: bytes.length, slice: (start, end) => bytes.subarray(start, end) };
}

/** A sink that keeps what it was given; `bytes()` is the whole. */
export function memorySink(path = 'memory'): ByteSink & { bytes(): Uint8Array } {
  const parts: Uint8Array[] = [];
  return {
    path,
    write(bytes) {
      parts.push(bytes);
    },
    async close() {},
    async abort() {
      parts.length = 0;
    },
    bytes() {
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        whole.set(part, at);
        at += part.length;
      }
      return whole;
    },
  };
}
