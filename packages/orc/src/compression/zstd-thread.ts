import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/*
 * Synchronous zstd whose native buffers do not pile up: a thread decompresses, whose event loop turns between chunks. The caller
 * sleeps meanwhile. Slower than at once by the wake-ups (some 50 µs a chunk), so it is for what has no other way.
 *
 *   control (int32): state | bytes in | bytes out, or of the error's text
 */
const IDLE = 0;
const ASKED = 1;
const DONE = 2;
const FAILED = 3;
const CONTROL_BYTES = 16;
/** A thread that does not answer for so long has not started. */
const PATIENCE_MS = 20_000;

const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { Decoder } = require(workerData.module);
const control = new Int32Array(workerData.control);
const bytes = new Uint8Array(workerData.bytes);
const decoder = new Decoder();
// Waiting for a message that never comes keeps the thread's loop alive.
parentPort.on('message', () => {});
(async () => {
  for (;;) {
    const wait = Atomics.waitAsync(control, 0, ${IDLE});
    if (wait.async) await wait.value;
    await new Promise(setImmediate);
    if (Atomics.load(control, 0) !== ${ASKED}) {
      const again = Atomics.waitAsync(control, 0, Atomics.load(control, 0));
      if (again.async) await again.value;
      continue;
    }
    let answer = ${DONE};
    try {
      const out = decoder.decodeSync(Buffer.from(bytes.slice(0, control[1])));
      if (out.length > bytes.length) throw new RangeError('more bytes than a chunk may have');
      bytes.set(out);
      control[2] = out.length;
    } catch (error) {
      control[2] = new TextEncoder().encodeInto(String(error.message), bytes.subarray(0, 200)).written;
      answer = ${FAILED};
    }
    Atomics.store(control, 0, answer);
    Atomics.notify(control, 0);
  }
})();
`;

class ZstdThread {
  private readonly control = new Int32Array(new SharedArrayBuffer(CONTROL_BYTES));
  private readonly bytes: Uint8Array;

  constructor(readonly capacity: number) {
    const bytes = new SharedArrayBuffer(capacity);
    this.bytes = new Uint8Array(bytes);
    const module = createRequire(import.meta.url).resolve('@toondepauw/node-zstd');
    const workerData = { module, control: this.control.buffer, bytes };
    const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 };
    new Worker(PROGRAM, { eval: true, workerData, resourceLimits }).unref();
  }

  /** Undefined when the thread does not answer. */
  decompress(chunk: Uint8Array): Uint8Array | undefined {
    const { control, bytes } = this;
    bytes.set(chunk);
    control[1] = chunk.length;
    Atomics.store(control, 0, ASKED);
    Atomics.notify(control, 0);
    if (Atomics.wait(control, 0, ASKED, PATIENCE_MS) === 'timed-out') return undefined;
    const state = Atomics.load(control, 0);
    const answer = bytes.slice(0, control[2]);
    Atomics.store(control, 0, IDLE);
    Atomics.notify(control, 0);
    if (state === FAILED) throw new RangeError(new TextDecoder().decode(answer));
    return answer;
  }
}

let thread: ZstdThread | undefined;
let broken = false;

/** As the decoder itself, without native memory in this thread; undefined when there is no such thread. */
export function decompressInThread(chunk: Uint8Array, maximumLength: number): Uint8Array | undefined {
  if (broken) return undefined;
  const capacity = Math.max(chunk.length, maximumLength);
  if (thread === undefined || thread.capacity < capacity) {
    try {
      thread = new ZstdThread(capacity);
    } catch {
      // A bundle without the module's own file, or a process that may have no threads: native memory it is.
      broken = true;
      return undefined;
    }
  }
  const bytes = thread.decompress(chunk);
  broken = bytes === undefined;
  return bytes;
}
