import { randomUUID } from 'node:crypto';
import type * as Grpc from '@grpc/grpc-js';
import { type Clock, SkepError } from '@skep/core';
import { type AnyMethodDefinition, type ServiceBinding, serviceName } from './bind.js';
import { type CallContext, runInCall } from './call-context.js';
import { CallLimit } from './call-limit.js';
import { CallEndedError, InvalidRequestError, NotBegunError } from './errors.js';
import type { Caller, Identify } from './identity.js';
import { DEPTH, REQUEST_ID } from './metadata-keys.js';
import type { ServeOptions } from './options.js';
import { type AnyCall, type ClientWait, requestsOf, sendAll } from './serve-stream.js';
import { STATUS_DETAILS, toStatus } from './status.js';

/** Tells the client how the call ended; `response`: of calls with one. */
type Answer = (error: Partial<Grpc.StatusObject> | null, response?: unknown) => void;

const DEFAULTS = {
  maxConcurrentCalls: 128,
  maxQueuedCalls: 2048,
  maxConcurrentStreams: 2048,
  maxQueuedStreams: 2048,
  maxCallMs: 600_000,
  maxStreamIdleMs: 600_000,
} as const;

/** Services call each other no deeper than this: lock → write components, commit → release. */
const MAX_DEPTH = 3;

/** What is known of a call while it is here. */
interface Running {
  readonly method: string;
  readonly requestId: string;
  readonly peer: string;
  readonly startedMs: number;
  readonly deadline: number;
  readonly end: CallEnd;
  /** Of calls with streams: since when the client is waited for. */
  readonly wait: ClientWait;
  queuedMs: number;
  user: string;
  /** Of a method that mostly waits. */
  readonly isWait: boolean;
  readonly isStream: boolean;
  isBegun: boolean;
  isAnswered: boolean;
  /** Of maxCallMs, where the client's deadline is later. */
  timer?: AbortController;
}

/** Whether and why a call has ended early. Most calls never ask for the signal, which costs more than all else here. */
class CallEnd {
  private reason: CallEndedError | undefined;
  private control: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.control === undefined) {
      this.control = new AbortController();
      if (this.reason !== undefined) this.control.abort(this.reason);
    }
    return this.control.signal;
  }

  abort(reason: CallEndedError): void {
    this.reason ??= reason;
    this.control?.abort(this.reason);
  }

  throwIfAborted(): void {
    if (this.reason !== undefined) throw this.reason;
  }
}

/** Runs the calls of a server: identity, limits, deadline, cancellation, typed errors. */
export class CallServer {
  /** Calls of all services and depths that can be here at once. */
  maxCalls = 0;
  private readonly running = new Set<Running>();
  private readonly drained = new Set<() => void>();
  private isDraining = false;

  constructor(
    private readonly grpc: typeof Grpc,
    private readonly identify: Identify,
    private readonly clock: Clock,
    private readonly options: ServeOptions,
  ) {
    const { maxConcurrentStreams, maxQueuedStreams } = { ...DEFAULTS, ...options };
    this.maxCalls = this.maxRunning + this.maxQueued + maxConcurrentStreams + maxQueuedStreams;
  }

  private get maxRunning(): number {
    return this.options.maxConcurrentCalls ?? DEFAULTS.maxConcurrentCalls;
  }

  private get maxQueued(): number {
    return this.options.maxQueuedCalls ?? DEFAULTS.maxQueuedCalls;
  }

  handlers({ definition, implementation, anonymous, waiting }: ServiceBinding): Grpc.UntypedServiceImplementation {
    const methods = implementation as Record<string, (request: unknown) => unknown>;
    const name = serviceName(definition);
    // A call that another service makes never waits for a call from outside, which may be the one that it is made for.
    const limits = Array.from({ length: MAX_DEPTH + 1 }, () => new CallLimit(name, this.maxRunning, this.maxQueued));
    // Streams last, and mostly wait for their clients: they take no place of a call that is soon over.
    const { maxConcurrentStreams, maxQueuedStreams } = { ...DEFAULTS, ...this.options };
    const streams = new CallLimit(`streams of ${name}`, maxConcurrentStreams, maxQueuedStreams);
    return Object.fromEntries(
      Object.entries(definition).map(([method, described]) => {
        const isStream = described.requestStream || described.responseStream;
        const isWait = waiting.includes(method);
        const how: Handling = {
          method: described.path.slice(1),
          isStream,
          isWait,
          isAnonymous: anonymous.includes(method),
          limitOf: (depth) => (isStream || isWait ? streams : limits[depth]),
        };
        return [method, this.handler(described, how, (request) => methods[method](request))];
      }),
    );
  }

  /** As grpc-js wants it: with a callback where there is one answer, by the call's own stream where there are more. */
  private handler(
    { requestStream, responseStream }: AnyMethodDefinition,
    how: Handling,
    run: (request: unknown) => unknown,
  ): Grpc.UntypedHandleCall {
    const requestOf = (call: AnyCall, here: Running) =>
      requestStream ? requestsOf(call as unknown as Grpc.ServerReadableStream<unknown, unknown>, here) : call.request;
    if (!responseStream) {
      return (call: AnyCall, answer: Answer) => {
        void this.handle(call, answer, how, async (here) => await run(requestOf(call, here)));
      };
    }
    return (call: Grpc.ServerWritableStream<unknown, unknown> & AnyCall) => {
      const answer: Answer = (error) => {
        if (error === null) call.end();
        else call.emit('error', error);
      };
      void this.handle(call, answer, how, async (here) => {
        await sendAll(call, run(requestOf(call, here)) as AsyncIterable<unknown>, here);
      });
    };
  }

  /** No new calls; those that run may end within `graceMs`, then their signals are aborted: of those that only wait at once. */
  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    for (const { isWait, end } of this.running) if (isWait) end.abort(ending());
    if (this.running.size === 0) return;
    const late = new AbortController();
    const ended = new Promise<void>((resolve) => this.drained.add(resolve));
    await Promise.race([ended, this.clock.sleep(graceMs, late.signal).catch(() => undefined)]);
    late.abort();
    for (const { end } of this.running) end.abort(ending());
  }

  private async handle(
    call: AnyCall,
    answer: Answer,
    how: Handling,
    run: (here: Running) => Promise<unknown>,
  ): Promise<void> {
    const { isAnonymous, method } = how;
    const here = this.arrive(call, how, answer);
    try {
      if (this.isDraining) throw new NotBegunError('SHUTTING_DOWN', `${method}: the server is about to end`);
      const depth = depthOf(call);
      const { caller, user } = isAnonymous ? { caller: undefined, user: '' } : await this.identify(call);
      here.user = user;
      const limit = how.limitOf(depth);
      await limit.enter(here.end);
      here.queuedMs = this.clock.now() - here.startedMs;
      here.isBegun = true;
      try {
        const context = contextOf(here, { caller, user }, depth, call, this.grpc);
        const response = await runInCall(context, () => run(here));
        this.answer(here, answer, undefined, response);
      } finally {
        limit.leave();
      }
    } catch (error) {
      this.answer(here, answer, error ?? new CallEndedError('CANCELLED', 'failed with nothing'), undefined);
    } finally {
      this.leave(here);
    }
  }

  private arrive(call: AnyCall, { method, isStream, isWait }: Handling, answer: Answer): Running {
    const now = this.clock.now();
    // A healthy stream takes as long as it takes.
    const latest = isStream ? Number.POSITIVE_INFINITY : now + (this.options.maxCallMs ?? DEFAULTS.maxCallMs);
    const wanted = Number(call.getDeadline());
    const here: Running = {
      method,
      requestId: String(call.metadata.get(REQUEST_ID)[0] ?? randomUUID()).slice(0, 128),
      peer: call.getPeer(),
      startedMs: now,
      deadline: Math.min(wanted, latest),
      end: new CallEnd(),
      wait: { sinceMs: undefined, now: () => this.clock.now() },
      queuedMs: 0,
      user: '',
      isWait,
      isStream,
      isBegun: false,
      isAnswered: false,
    };
    this.running.add(here);
    call.on('cancelled', () => {
      // Also said of a stream that closes behind its answer.
      if (here.isAnswered) return;
      const isLate = this.clock.now() >= here.deadline;
      here.end.abort(
        new CallEndedError(isLate ? 'DEADLINE' : 'CANCELLED', isLate ? 'the deadline passed' : 'the client gave up'),
      );
    });
    if (isStream) void this.endIdle(here, answer);
    // gRPC itself keeps the client's deadline.
    if (wanted > latest) {
      here.timer = new AbortController();
      this.clock.sleep(latest - now, here.timer.signal).then(
        () => {
          const late = new CallEndedError(
            'DEADLINE',
            `${method}: took longer than the ${latest - now} ms that calls may`,
          );
          here.end.abort(late);
          this.answer(here, answer, late, undefined);
        },
        () => undefined,
      );
    }
    return here;
  }

  /** A client that neither takes nor sends anything for too long loses its stream, and with it what the stream holds. */
  private async endIdle(here: Running, answer: Answer): Promise<void> {
    const idleMs = this.options.maxStreamIdleMs ?? DEFAULTS.maxStreamIdleMs;
    here.timer = new AbortController();
    const { signal } = here.timer;
    for (let restMs = idleMs; restMs > 0; ) {
      try {
        await this.clock.sleep(restMs, signal);
      } catch {
        return;
      }
      const { sinceMs } = here.wait;
      restMs = sinceMs === undefined ? idleMs : sinceMs + idleMs - this.clock.now();
    }
    const late = new CallEndedError('DEADLINE', `${here.method}: the client let its stream rest for ${idleMs} ms`);
    here.end.abort(late);
    this.answer(here, answer, late, undefined);
  }

  private leave(here: Running): void {
    here.timer?.abort();
    this.running.delete(here);
    if (this.running.size > 0) return;
    for (const resolve of this.drained) resolve();
    this.drained.clear();
  }

  private answer(here: Running, answer: Answer, error: unknown, response: unknown): void {
    if (here.isAnswered) return;
    here.isAnswered = true;
    if (error === undefined) answer(null, response);
    else {
      const notBegun = !here.isBegun && error instanceof NotBegunError;
      const status = toStatus(error, { notBegun, requestId: here.requestId });
      const metadata = new this.grpc.Metadata();
      metadata.set(STATUS_DETAILS, Buffer.from(status.details));
      answer({ code: status.code, details: status.message, metadata });
    }
    this.options.onCall?.({
      method: here.method,
      code: error === undefined ? 'OK' : error instanceof SkepError ? error.code : 'BUG',
      durationMs: this.clock.now() - here.startedMs,
      queuedMs: here.queuedMs,
      isWait: here.isWait,
      isStream: here.isStream,
      user: here.user,
      requestId: here.requestId,
      peer: here.peer,
      ...(error === undefined ? {} : { error }),
    });
  }
}

const ending = () => new CallEndedError('SHUTTING_DOWN', 'the server ends');

/** How the calls of a method are handled. */
interface Handling {
  readonly method: string;
  readonly isStream: boolean;
  readonly isWait: boolean;
  readonly isAnonymous: boolean;
  readonly limitOf: (depth: number) => CallLimit;
}

function contextOf(
  here: Running,
  { caller, user }: Caller,
  depth: number,
  call: AnyCall,
  grpc: typeof Grpc,
): CallContext {
  const { method, requestId, peer, deadline, end } = here;
  return {
    method,
    requestId,
    peer,
    deadline,
    depth,
    caller,
    user,
    header: (name) => {
      const [value] = call.metadata.get(name);
      return value === undefined ? undefined : String(value);
    },
    answerHeader: (name, value) => {
      const metadata = new grpc.Metadata();
      metadata.set(name, value);
      call.sendMetadata(metadata);
    },
    get signal() {
      return end.signal;
    },
    throwIfAborted: () => end.throwIfAborted(),
  };
}

function depthOf(call: AnyCall): number {
  const depth = Number(call.metadata.get(DEPTH)[0] ?? 0);
  if (!Number.isInteger(depth) || depth < 0 || depth > MAX_DEPTH) {
    throw new InvalidRequestError(`${DEPTH} must be a whole number from 0 to ${MAX_DEPTH}`);
  }
  return depth;
}
