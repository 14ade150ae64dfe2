import type * as Grpc from '@grpc/grpc-js';
import type { Clock } from '@skep/core';
import { encodeResponse } from './call-encoding.js';
import { asBuffer, CALLS_METHOD, PART_BYTES, STREAM_MESSAGE_BYTES, takeTogether, together } from './call-messages.js';
import { DEADLINE_EXCEEDED, INTERNAL, INVALID_ARGUMENT, OK, RESOURCE_EXHAUSTED, UNIMPLEMENTED } from './codes.js';
import { Deadlines } from './deadlines.js';
import { type Call, type CallReply, CallsRequest, CallsResponse } from './gen/skep/v1/call.js';
import type { ErrorDetail } from './gen/skep/v1/error.js';
import { USER } from './metadata-keys.js';
import type { UnaryMethod } from './serve-call.js';
import type { WireStatus } from './status.js';
import { type ItsStream, NO_METADATA, StreamedCall } from './streamed-call.js';

/** The stream as grpc-js has it. */
type Duplex = Grpc.ServerDuplexStream<Buffer, Buffer>;

export interface CallStreamsOptions {
  readonly grpc: typeof Grpc;
  readonly clock: Clock;
  readonly methods: ReadonlyMap<string, UnaryMethod>;
  readonly callerOf: (call: Duplex) => string | undefined;
  /** So many calls of a stream may be here; the next is read when one of them is over. */
  readonly maxCalls: number;
  /** Largest response of a call. */
  readonly maxMessageBytes: number;
  /** A client that takes no answer for so long loses its stream. */
  readonly maxIdleMs: number;
}

/** Answers that wait to be taken: with more, nothing is read from their stream. */
const WAITING_BYTES = 1 << 20;

/** Serves skep.v1.CallService: unary calls that share a stream, handled like all others. */
export class CallStreams {
  readonly definition = { calls: CALLS_METHOD };
  private readonly streams = new Set<CallStream>();
  private readonly notTaken: Deadlines<CallStream>;
  private isEnding = false;

  constructor(private readonly options: CallStreamsOptions) {
    this.notTaken = new Deadlines(options.clock, (stream) => stream.abandon());
  }

  readonly handlers = {
    calls: (call: Duplex): void => {
      const stream = new CallStream(call, this.options, this.notTaken);
      this.streams.add(stream);
      call.on('cancelled', () => {
        this.streams.delete(stream);
        stream.lose();
      });
      if (this.isEnding) stream.end();
    },
  };

  /** Begins no more calls; each stream ends when what is under way in it is answered. */
  end(): void {
    this.isEnding = true;
    for (const stream of this.streams) stream.end();
  }
}

/** The calls that one client sends on a stream. */
class CallStream implements ItsStream {
  /** While the client is waited for: until when it has to take what was written. */
  deadline = Number.POSITIVE_INFINITY;
  readonly peer: string;
  readonly user: string | undefined;
  private readonly underWay = new Map<number, StreamedCall>();
  private readonly messages: Uint8Array[] = [];
  private waitingBytes = 0;
  private isWriting = false;
  private isScheduled = false;
  private isPaused = false;
  /** The client has sent all, or the server takes no more. */
  private isEnding = false;
  private isOver = false;
  private shown: { readonly caller: string | undefined } | { readonly error: unknown } | undefined;

  constructor(
    private readonly call: Duplex,
    private readonly options: CallStreamsOptions,
    private readonly notTaken: Deadlines<CallStream>,
  ) {
    this.peer = call.getPeer();
    this.user = this.header(USER);
    // Before any call begins: to a client without leading metadata nothing was done.
    call.sendMetadata(new options.grpc.Metadata());
    call.on('data', (message: Buffer) => this.take(message));
    call.on('end', () => this.end());
  }

  caller(): string | undefined {
    this.shown ??= this.look();
    if ('error' in this.shown) throw this.shown.error;
    return this.shown.caller;
  }

  header(name: string): string | undefined {
    const [value] = this.call.metadata.get(name);
    return value === undefined ? undefined : String(value);
  }

  reply(call: StreamedCall, failure: WireStatus | undefined, response: unknown): void {
    const { number } = call;
    this.underWay.delete(number);
    if (this.isOver) return;
    if (!call.isCancelled) {
      if (failure === undefined) this.respond(call, response);
      else this.fail(number, failure.code, failure.message, failure.detail, call.metadata);
    }
    this.balance();
    this.schedule();
  }

  end(): void {
    this.isEnding = true;
    this.endIfDone();
  }

  /** The client lets what was written to it lie. */
  abandon(): void {
    this.refuse(DEADLINE_EXCEEDED, `the client took no answer for ${this.options.maxIdleMs} ms`);
  }

  /** The client is gone. */
  lose(): void {
    this.isOver = true;
    this.notTaken.remove(this);
    this.messages.length = 0;
    for (const call of this.underWay.values()) call.cancel();
    this.underWay.clear();
  }

  private look(): { readonly caller: string | undefined } | { readonly error: unknown } {
    try {
      return { caller: this.options.callerOf(this.call) };
    } catch (error) {
      return { error };
    }
  }

  private take(bytes: Buffer): void {
    if (bytes.length > STREAM_MESSAGE_BYTES) {
      const limit = `(${bytes.length} vs ${STREAM_MESSAGE_BYTES})`;
      this.refuse(RESOURCE_EXHAUSTED, `Received message larger than max ${limit}`);
      return;
    }
    let message: CallsRequest;
    try {
      message = CallsRequest.decode(bytes);
    } catch {
      this.refuse(INTERNAL, 'Error deserializing request');
      return;
    }
    for (const call of message.calls) this.begin(call);
    for (const number of message.cancelled) this.underWay.get(number)?.cancel();
    this.balance();
    this.schedule();
  }

  private begin(call: Call): void {
    // What is not begun is not answered, either: the stream's end says so.
    if (this.isEnding || this.isOver) return;
    const { number, method } = call;
    if (number === 0 || this.underWay.has(number)) {
      this.refuse(INVALID_ARGUMENT, `a call has the number ${number}, which is ${number === 0 ? 'none' : 'under way'}`);
      return;
    }
    const served = this.options.methods.get(method);
    if (served === undefined) {
      this.fail(number, UNIMPLEMENTED, `The server does not implement the method /${method}`);
      return;
    }
    let request: unknown;
    try {
      request = served.definition.requestDeserialize(asBuffer(call.request));
    } catch {
      this.fail(number, INTERNAL, 'Error deserializing request');
      return;
    }
    const { timeoutMs } = call;
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : this.options.clock.now() + timeoutMs;
    const arrived = new StreamedCall(this, call, served, request, deadline);
    this.underWay.set(number, arrived);
    served.handle(arrived);
  }

  private respond({ number, served, metadata }: StreamedCall, response: unknown): void {
    let bytes: Buffer;
    try {
      bytes = served.definition.responseSerialize(response as never);
    } catch {
      this.fail(number, INTERNAL, 'Error serializing response');
      return;
    }
    const { maxMessageBytes } = this.options;
    if (bytes.length > maxMessageBytes) {
      this.fail(number, RESOURCE_EXHAUSTED, `Sent message larger than max (${bytes.length} vs. ${maxMessageBytes})`);
      return;
    }
    if (bytes.length <= PART_BYTES && metadata === NO_METADATA) {
      this.queue(encodeResponse(number, bytes));
      return;
    }
    let at = 0;
    for (; bytes.length - at > PART_BYTES; at += PART_BYTES) {
      this.say({ ...NO_REPLY, number, response: bytes.subarray(at, at + PART_BYTES), isPartial: true });
    }
    this.say({ ...NO_REPLY, number, response: at === 0 ? bytes : bytes.subarray(at), metadata });
  }

  private fail(number: number, code: number, message: string, error?: ErrorDetail, metadata = NO_METADATA): void {
    this.say({ ...NO_REPLY, number, code, message, error, metadata });
  }

  private say(reply: CallReply): void {
    this.queue(CallsResponse.encode({ replies: [reply] }).finish());
  }

  private queue(bytes: Uint8Array): void {
    this.messages.push(bytes);
    this.waitingBytes += bytes.length;
  }

  /** What becomes ready in the same turn goes together, and so does what does while the one before is on its way. */
  private schedule(): void {
    if (this.isScheduled || this.isWriting) return;
    this.isScheduled = true;
    process.nextTick(() => {
      this.isScheduled = false;
      this.write();
    });
  }

  private write(): void {
    if (this.isOver || this.isWriting) return;
    if (this.messages.length === 0) {
      this.endIfDone();
      return;
    }
    const message = together(takeTogether(this.messages, ({ length }) => length));
    this.isWriting = true;
    this.deadline = this.options.clock.now() + this.options.maxIdleMs;
    this.notTaken.add(this);
    this.call.write(message, () => {
      this.isWriting = false;
      this.notTaken.remove(this);
      this.waitingBytes -= message.length;
      this.balance();
      this.write();
    });
  }

  /** Reads on only where there is room for more calls, and for their answers. */
  private balance(): void {
    const isFull = this.underWay.size >= this.options.maxCalls || this.waitingBytes > WAITING_BYTES;
    if (isFull === this.isPaused) return;
    this.isPaused = isFull;
    if (isFull) this.call.pause();
    else this.call.resume();
  }

  private endIfDone(): void {
    const isDone = this.underWay.size === 0 && this.messages.length === 0 && !this.isWriting;
    if (!this.isEnding || !isDone || this.isOver) return;
    this.isOver = true;
    this.call.end();
  }

  /** Ends the stream with an error, and with it all that is under way in it. */
  private refuse(code: number, details: string): void {
    if (this.isOver) return;
    this.lose();
    this.call.emit('error', { code, details });
  }
}

const NO_REPLY = {
  response: Buffer.alloc(0),
  isPartial: false,
  code: OK,
  message: '',
  metadata: NO_METADATA,
} as const;
