import { setImmediate as nextTurn } from 'node:timers/promises';

/*
 * Arrays that snappy and zstd answer lie outside of V8's heap, and Node frees them only when the event loop turns: neither
 * synchronous code nor awaiting what is already there ever lets it. So they are counted.
 */

/** Bytes after which who can wait, waits for a turn. */
const TURN_BYTES = 8 << 20;
/** Bytes after which who cannot wait asks for copies on V8's heap. */
const COPY_BYTES = 16 << 20;

let bytesInTurn = 0;
let counting = false;

/** Counts what a native codec has allocated. */
export function countNative(bytes: number): void {
  bytesInTurn += bytes;
  if (counting) return;
  counting = true;
  setImmediate(() => {
    counting = false;
    bytesInTurn = 0;
  });
}

/** Whether native arrays have piled up so far that slower copies are better. */
export function avoidNative(): boolean {
  return bytesInTurn > COPY_BYTES;
}

/** Lets native arrays go, when there are many. */
export async function letNativeGo(): Promise<void> {
  if (bytesInTurn > TURN_BYTES) await nextTurn();
}
