import type * as Grpc from '@grpc/grpc-js';
import { type Clock, idle } from '@skep/core';
import type { MethodDefinition } from './bind.js';
import { encodeCall, methodField } from './call-encoding.js';
import { asBuffer, CALLS_METHOD, STREAM_MESSAGE_BYTES, takeTogether, together } from './call-messages.js';
import { CANCELLED, DEADLINE_EXCEEDED, INTERNAL, OK, RESOURCE_EXHAUSTED, UNAVAILABLE, UNIMPLEMENTED } from './codes.js';
import { Deadlines, type Limited } from './deadlines.js';
import { UnreachableError } from './errors.js';
import { type CallReply, CallsRequest, CallsResponse } from './gen/skep/v1/call.js';
import type { CallHeaders } from './metadata-keys.js';
import { type Failure, fromStatus } from './status.js';

/** What came of an attempt. */
export type Outcome = { readonly response: unknown } | { readonly failure: Failure };

/** What one call needs to be sent. */
export interface OutgoingMessage {
  readonly method: MethodDefinition;
  /** Serialized. */
  readonly request: Uint8Array;
  readonly headers: CallHeaders;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/** How a stream ended: `missing`: the server has none; `broken`: what was under way may have been done. */
type StreamEnd = 'missing' | 'complete' | 'broken';

export interface CallStreamOptions {
  readonly address: string;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** What a failure of the connection means. */
  readonly failureOf: (status: Grpc.StatusObject) => Failure;
  /** `isUseless`: if the connection holds, then it is no good for such streams. */
  readonly onOver: (isUseless: boolean) => void;
}

/** A stream without calls ends after one to two times as long: it would keep the process alive, and a server from its end. */
const LOOK_MS = 1000;
/** A stream that its server does not end in this time is cancelled. */
const END_MS = 10_000;
/** New calls then take a new stream: there are proxies that end one after 15 s, and with it the calls in it. */
const MAX_AGE_MS = 10_000;
const MAX_NUMBER = 2 ** 31 - 1;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A call that has no answer yet. */
interface Pending extends Limited {
  readonly number: number;
  readonly method: MethodDefinition;
  /** Until it is sent. */
  bytes: Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  onAbort?: () => void;
  readonly settle: (outcome: Outcome | undefined) => void;
  readonly reject: (reason: unknown) => void;
  /** Of a response that comes in parts. */
  parts?: Uint8Array[];
  partBytes?: number;
}

/** A client's calls on one stream (skep.v1.CallService). */
export class CallStream {
  private readonly call: ReturnType<ReturnType<Grpc.Client['getChannel']>['createCall']>;
  private readonly pending = new Map<number, Pending>();
  private readonly deadlines: Deadlines<Pending>;
  private readonly over = new AbortController();
  private readonly startedMs: number;
  private readonly queue: Pending[] = [];
  private cancelled: number[] = [];
  private lastNumber = 0;
  private isScheduled = false;
  /** grpc-js has a message that it has not taken yet. */
  private isBlocked = false;
  /** Nothing was heard since the last message, which may still be on its way. */
  private isAhead = false;
  private isRetired = false;
  private halfClosedMs: number | undefined;
  private isCancelled = false;
  /** The server has the stream: leading metadata came. */
  private isTaken = false;

  constructor(
    channel: ReturnType<Grpc.Client['getChannel']>,
    metadata: Grpc.Metadata,
    private readonly options: CallStreamOptions,
  ) {
    const { clock } = options;
    this.startedMs = clock.now();
    this.deadlines = new Deadlines(clock, (late) => this.expire(late));
    this.call = channel.createCall(CALLS_METHOD.path, Number.POSITIVE_INFINITY, null, null, null);
    this.call.start(metadata, {
      onReceiveMetadata: () => {
        this.isTaken = true;
      },
      onReceiveMessage: (message: Buffer) => {
        this.isAhead = false;
        this.call.startRead();
        this.take(message);
      },
      onReceiveStatus: (status) => this.end(status),
    });
    this.call.startRead();
    void this.watch();
  }

  /** Whether it takes more calls. */
  get isOpen(): boolean {
    return !this.isRetired && !this.over.signal.aborted;
  }

  /**
   * Sends a call and waits for its answer; rejects with the signal's reason. Undefined: it has to go by itself, since the server
   * has no such streams or it is too large; nothing was done.
   */
  send({ method, request, headers, deadline, signal }: OutgoingMessage): Promise<Outcome | undefined> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const number = this.nextNumber();
      const restMs = deadline - this.options.clock.now();
      const bytes = encodeCall({
        number,
        method: methodOf(method.path),
        request,
        timeoutMs: deadline === Number.POSITIVE_INFINITY ? undefined : timeoutOf(restMs),
        requestId: headers.requestId,
        user: headers.user,
        depth: headers.depth ?? 0,
      });
      if (bytes.length > STREAM_MESSAGE_BYTES) {
        resolve(undefined);
        return;
      }
      const pending: Pending = { number, method, bytes, deadline, signal, settle: resolve, reject };
      if (signal !== undefined) {
        pending.onAbort = () => this.abort(pending);
        signal.addEventListener('abort', pending.onAbort, { once: true });
      }
      this.pending.set(number, pending);
      this.deadlines.add(pending);
      this.queue.push(pending);
      this.schedule();
    });
  }

  /** Takes no more calls; the stream ends once those under way are answered. */
  retire(): void {
    this.isRetired = true;
    this.endIfDone();
  }

  private nextNumber(): number {
    do this.lastNumber = this.lastNumber === MAX_NUMBER ? 1 : this.lastNumber + 1;
    while (this.pending.has(this.lastNumber));
    return this.lastNumber;
  }

  /**
   * What is called in one turn goes together. grpc-js has one message written in each turn of the event loop: what is called while
   * one may be on its way waits for the next.
   */
  private schedule(): void {
    if (this.isScheduled || this.isBlocked) return;
    this.isScheduled = true;
    const write = () => {
      this.isScheduled = false;
      this.write();
    };
    if (this.isAhead) setImmediate(write);
    else process.nextTick(write);
  }

  private write(): void {
    if (this.isBlocked || this.over.signal.aborted) return;
    const messages: Uint8Array[] = [];
    const sent = takeTogether(this.queue, ({ bytes }) => bytes?.length ?? 0);
    for (const pending of sent) {
      if (pending.bytes !== undefined) messages.push(pending.bytes);
      pending.bytes = undefined;
    }
    if (this.cancelled.length > 0) {
      messages.push(CallsRequest.encode({ calls: [], cancelled: this.cancelled }).finish());
      this.cancelled = [];
    }
    if (messages.length === 0) {
      this.endIfDone();
      return;
    }
    this.isBlocked = true;
    this.isAhead = true;
    const callback = () => {
      this.isBlocked = false;
      if (this.queue.length > 0 || this.cancelled.length > 0) this.schedule();
      else this.endIfDone();
    };
    this.call.sendMessageWithContext({ callback }, together(messages));
  }

  private take(message: Buffer): void {
    let replies: CallReply[];
    try {
      ({ replies } = CallsResponse.decode(message));
    } catch (error) {
      this.call.cancelWithStatus(INTERNAL, `Response message parsing error: ${String(error)}`);
      return;
    }
    for (const reply of replies) {
      const pending = this.pending.get(reply.number);
      // The answer to one that was given up.
      if (pending === undefined) continue;
      if (reply.isPartial) this.keep(pending, reply.response);
      else this.answer(pending, reply);
    }
    this.endIfDone();
  }

  private keep(pending: Pending, part: Uint8Array): void {
    pending.parts ??= [];
    pending.parts.push(part);
    pending.partBytes = (pending.partBytes ?? 0) + part.length;
    if (pending.partBytes <= this.options.maxMessageBytes) return;
    this.giveUp(pending);
    this.settle(pending, this.tooLarge(pending.partBytes));
  }

  private tooLarge(bytes: number): Outcome {
    const message = `Received message larger than max (${bytes} vs ${this.options.maxMessageBytes})`;
    return { failure: fromStatus(this.options.address, { code: RESOURCE_EXHAUSTED, message }) };
  }

  private answer(pending: Pending, { code, message, error, response }: CallReply): void {
    const { address, maxMessageBytes } = this.options;
    if (code !== OK) {
      this.settle(pending, { failure: fromStatus(address, { code, message, detail: error }) });
      return;
    }
    const bytes = pending.parts === undefined ? response : Buffer.concat([...pending.parts, response]);
    if (bytes.length > maxMessageBytes) {
      this.settle(pending, this.tooLarge(bytes.length));
      return;
    }
    try {
      this.settle(pending, { response: pending.method.responseDeserialize(asBuffer(bytes)) });
    } catch (cause) {
      const text = `Response message parsing error: ${String(cause)}`;
      this.settle(pending, { failure: fromStatus(address, { code: INTERNAL, message: text }) });
    }
  }

  /** Tells the caller, unless somebody else has. */
  private settle(pending: Pending, outcome: Outcome | undefined): void {
    this.forget(pending);
    pending.settle(outcome);
  }

  private forget(pending: Pending): void {
    this.pending.delete(pending.number);
    this.deadlines.remove(pending);
    if (pending.onAbort !== undefined) pending.signal?.removeEventListener('abort', pending.onAbort);
  }

  /** Of a call that nobody waits for any more the server is told, if it knows of it. */
  private giveUp(pending: Pending): void {
    if (pending.bytes === undefined) this.cancelled.push(pending.number);
    else this.queue.splice(this.queue.indexOf(pending), 1);
    pending.bytes = undefined;
    this.schedule();
  }

  private abort(pending: Pending): void {
    this.giveUp(pending);
    this.forget(pending);
    pending.reject(pending.signal?.reason);
  }

  private expire(pending: Pending): void {
    this.giveUp(pending);
    const failure = fromStatus(this.options.address, { code: DEADLINE_EXCEEDED, message: 'Deadline exceeded' });
    this.settle(pending, { failure });
  }

  private endIfDone(): void {
    const isDone = this.pending.size === 0 && this.cancelled.length === 0 && !this.isBlocked;
    if (!this.isRetired || !isDone || this.halfClosedMs !== undefined) return;
    this.halfClosedMs = this.options.clock.now();
    this.call.halfClose();
  }

  /** Ends the stream once it rests or is old. */
  private async watch(): Promise<void> {
    const { clock } = this.options;
    const { signal } = this.over;
    for (;;) {
      const { lastNumber } = this;
      await idle(LOOK_MS, signal);
      if (signal.aborted) return;
      const nowMs = clock.now();
      const rests = this.pending.size === 0 && lastNumber === this.lastNumber;
      if (rests || nowMs - this.startedMs >= MAX_AGE_MS) this.retire();
      if (this.halfClosedMs === undefined || nowMs - this.halfClosedMs < END_MS) continue;
      this.isCancelled = true;
      this.call.cancelWithStatus(CANCELLED, 'the server does not end the stream');
    }
  }

  private end(status: Grpc.StatusObject): void {
    const end = endOf(status.code, this.isTaken);
    this.over.abort();
    // A server that has too many streams says UNAVAILABLE, and may have fewer later.
    const isBroken = end === 'broken' && !this.isCancelled && (this.isTaken || status.code !== UNAVAILABLE);
    this.options.onOver(end === 'missing' || isBroken);
    for (const pending of [...this.pending.values()]) this.settle(pending, this.lost(pending, end, status));
  }

  private lost(pending: Pending, end: StreamEnd, status: Grpc.StatusObject): Outcome | undefined {
    const { address, failureOf } = this.options;
    switch (end) {
      case 'missing':
        return undefined;
      case 'complete': {
        const error = new UnreachableError(address, `${address}: it ends, and has not begun the call`);
        return { failure: { error, notBegun: true, isLost: true } };
      }
      case 'broken': {
        const { error } = failureOf({ ...status, code: UNAVAILABLE });
        return { failure: { error, notBegun: pending.bytes !== undefined, isLost: true } };
      }
    }
  }
}

/** What the contract says of a stream that ended so. */
function endOf(code: number, isTaken: boolean): StreamEnd {
  if (code === OK) return 'complete';
  return code === UNIMPLEMENTED && !isTaken ? 'missing' : 'broken';
}

const methodFields = new Map<string, Buffer>();

/** The field of each method is made once. */
function methodOf(path: string): Buffer {
  let field = methodFields.get(path);
  if (field === undefined) {
    field = methodField(path.slice(1));
    methodFields.set(path, field);
  }
  return field;
}

const timeoutOf = (restMs: number): number => Math.min(Math.max(Math.ceil(restMs), 0), MAX_TIMEOUT_MS);
