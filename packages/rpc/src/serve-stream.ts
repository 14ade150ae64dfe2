import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as Grpc from '@grpc/grpc-js';
import { CallEndedError } from './errors.js';

const TURNS_FOR_CANCELLATION = 3;

/** What calls of all forms have; `request`: of those with one. */
export type AnyCall = Pick<
  Grpc.ServerUnaryCall<unknown, unknown>,
  'metadata' | 'getPeer' | 'getDeadline' | 'getAuthContext' | 'sendMetadata' | 'on'
> & { readonly request?: unknown };

/** Since when the client is waited for; undefined while the server works. */
export interface ClientWait {
  sinceMs: number | undefined;
  now(): number;
}

/** What the streams of a call need to know of it. */
export interface StreamedCall {
  readonly end: { readonly signal: AbortSignal; throwIfAborted(): void };
  readonly wait: ClientWait;
}

/**
 * The messages of a client, each read when it is asked for (grpc-js reads up to 16 ahead). Ends where the client says that it
 * has sent all; throws where it is gone.
 */
export async function* requestsOf(
  call: Grpc.ServerReadableStream<unknown, unknown>,
  { end, wait }: StreamedCall,
): AsyncGenerator<unknown> {
  // The default iterator destroys the stream at its end, and with it the way back to the client.
  const messages = call.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const step = await waiting(wait, () => unlessEnded(end.signal, messages.next()));
      if (step.done === true) break;
      yield step.value;
    }
  } catch (error) {
    // A destroyed stream has an error of its own; why it was destroyed says more.
    end.throwIfAborted();
    throw error;
  }
  // Clients made with Node say on a cancelled stream that they have sent all, and the cancellation right behind it.
  for (let turn = 0; turn < TURNS_FOR_CANCELLATION; turn++) await nextTurn();
  end.throwIfAborted();
  if (call.cancelled) throw new CallEndedError('CANCELLED', 'the client gave up');
}

/**
 * Sends what an implementation makes. The next message is made while one is on its way, the one after that only when that has
 * left: where the client is slow two messages are held, however many there are.
 */
export async function sendAll(
  call: Grpc.ServerWritableStream<unknown, unknown>,
  messages: AsyncIterable<unknown>,
  { end, wait }: StreamedCall,
): Promise<void> {
  let underWay: Promise<void> | undefined;
  for await (const message of messages) {
    end.throwIfAborted();
    if (underWay !== undefined) await waiting(wait, () => underWay);
    underWay = send(call, message, end.signal);
    // Waited for above or below; should the next message fail to be made, that error counts.
    underWay.catch(() => undefined);
  }
  if (underWay !== undefined) await waiting(wait, () => underWay);
}

/** Resolves when HTTP/2's flow control let the message go; a stream that was cancelled would never say so. */
function send(call: Grpc.ServerWritableStream<unknown, unknown>, message: unknown, signal: AbortSignal): Promise<void> {
  const written = new Promise<void>((resolve, reject) => {
    call.write(message, (error: Error | null | undefined) => (error ? reject(error) : resolve()));
  });
  return unlessEnded(signal, written);
}

function unlessEnded<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

async function waiting<T>(wait: ClientWait, work: () => Promise<T> | T): Promise<T> {
  wait.sinceMs = wait.now();
  try {
    return await work();
  } finally {
    wait.sinceMs = undefined;
  }
}
