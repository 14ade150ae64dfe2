import { randomUUID } from 'node:crypto';
import type * as Grpc from '@grpc/grpc-js';
import { type Clock, SkepError } from '@skep/core';
import { type Arrival, SingleCall } from './arrival.js';
import { type AnyMethodDefinition, type ServiceBinding, serviceName } from './bind.js';
import { type CallContext, runInCall } from './call-context.js';
import { CallEnd } from './call-end.js';
import { CallLimit } from './call-limit.js';
import { Deadlines } from './deadlines.js';
import { CallEndedError, InvalidRequestError, NotBegunError } from './errors.js';
import type { Caller, Identity } from './identity.js';
import { DEPTH } from './metadata-keys.js';
import type { ServeOptions } from './options.js';
import { type AnyCall, type ClientWait, requestsOf, sendAll } from './serve-stream.js';
import { toStatus } from './status.js';

/** As grpc-js is told how a call ended; `response`: of calls with one. */
type Answer = (error: Partial<Grpc.StatusObject> | null, response?: unknown) => void;

const DEFAULTS = {
  maxConcurrentCalls: 128,
  maxQueuedCalls: 2048,
  maxConcurrentStreams: 2048,
  maxQueuedStreams: 2048,
  maxCallMs: 600_000,
  maxStreamIdleMs: 600_000,
} as const;

/** Who gives a call up at its deadline says so before the server's clock does: the request took a while to arrive. */
const GIVEN_UP_EARLY_MS = 50;

/** Services call each other no deeper than this: lock → write components, commit → release. */
const MAX_DEPTH = 3;

/** What is known of a call while it is here. */
interface Running {
  readonly arrival: Arrival;
  readonly method: string;
  readonly requestId: string;
  readonly peer: string;
  readonly startedMs: number;
  readonly deadline: number;
  /** Whether the deadline is the server's own, which comes before the client's. */
  readonly isOurLimit: boolean;
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
  /** Of a stream whose client may rest too long. */
  timer?: AbortController;
}

/** A method with one request and one response, for calls that come with others. */
export interface UnaryMethod {
  readonly definition: AnyMethodDefinition;
  /** Works on a call, and answers it. */
  handle(arrival: Arrival): void;
}

/** Runs the calls of a server: identity, limits, deadline, cancellation, typed errors. */
export class CallServer {
  /** Calls of all services and depths that can be here at once. */
  maxCalls = 0;
  /** By full name, such as `skep.v1.LockService/Lock`. */
  readonly unaryMethods = new Map<string, UnaryMethod>();
  private readonly running = new Set<Running>();
  private readonly drained = new Set<() => void>();
  private readonly deadlines: Deadlines<Running>;
  private isDraining = false;

  constructor(
    private readonly grpc: typeof Grpc,
    private readonly identity: Identity,
    private readonly clock: Clock,
    private readonly options: ServeOptions,
  ) {
    const { maxConcurrentStreams, maxQueuedStreams } = { ...DEFAULTS, ...options };
    this.maxCalls = this.maxRunning + this.maxQueued + maxConcurrentStreams + maxQueuedStreams;
    this.deadlines = new Deadlines(clock, (here) => this.endLate(here));
  }

  private get maxRunning(): number {
    return this.options.maxConcurrentCalls ?? DEFAULTS.maxConcurrentCalls;
  }

  get maxStreamIdleMs(): number {
    return this.options.maxStreamIdleMs ?? DEFAULTS.maxStreamIdleMs;
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
        const run = (request: unknown) => methods[method](request);
        if (!isStream) {
          const handle = (arrival: Arrival) => void this.handle(arrival, how, () => run(arrival.request));
          this.unaryMethods.set(how.method, { definition: described, handle });
        }
        return [method, this.handler(described, how, run)];
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
    const single = (call: AnyCall, answer: Answer) => new SingleCall(this.grpc, call, this.identity.callerOf, answer);
    if (!responseStream) {
      return (call: AnyCall, answer: Answer) => {
        void this.handle(single(call, answer), how, (here) => run(requestOf(call, here)));
      };
    }
    return (call: Grpc.ServerWritableStream<unknown, unknown> & AnyCall) => {
      const answer: Answer = (error) => {
        if (error === null) call.end();
        else call.emit('error', error);
      };
      void this.handle(single(call, answer), how, async (here) => {
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

  private async handle(arrival: Arrival, how: Handling, run: (here: Running) => unknown): Promise<void> {
    const { isAnonymous, method } = how;
    const here = this.arrive(arrival, how);
    try {
      if (this.isDraining) throw new NotBegunError('SHUTTING_DOWN', `${method}: the server is about to end`);
      const depth = depthOf(arrival);
      const found = isAnonymous ? NOBODY : this.identity.identify(arrival);
      const who = found instanceof Promise ? await found : found;
      here.user = who.user;
      const limit = how.limitOf(depth);
      const turn = limit.enter(here.end);
      if (turn !== undefined) await turn;
      here.queuedMs = this.clock.now() - here.startedMs;
      here.isBegun = true;
      try {
        const response = await runInCall(new ServedCall(here, who, depth), () => run(here));
        this.answer(here, undefined, response);
      } finally {
        limit.leave();
      }
    } catch (error) {
      this.answer(here, error ?? new CallEndedError('CANCELLED', 'failed with nothing'), undefined);
    } finally {
      this.leave(here);
    }
  }

  private arrive(arrival: Arrival, { method, isStream, isWait }: Handling): Running {
    const now = this.clock.now();
    // A healthy stream takes as long as it takes.
    const latest = isStream ? Number.POSITIVE_INFINITY : now + (this.options.maxCallMs ?? DEFAULTS.maxCallMs);
    const wanted = arrival.deadline;
    const here: Running = {
      arrival,
      method,
      requestId: (arrival.requestId ?? randomUUID()).slice(0, 128),
      peer: arrival.peer,
      startedMs: now,
      deadline: Math.min(wanted, latest),
      isOurLimit: latest < wanted,
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
    arrival.onCancelled(() => {
      // Also said of a stream that closes behind its answer.
      if (here.isAnswered) return;
      const isLate = this.clock.now() + GIVEN_UP_EARLY_MS >= here.deadline;
      here.end.abort(
        new CallEndedError(isLate ? 'DEADLINE' : 'CANCELLED', isLate ? 'the deadline passed' : 'the client gave up'),
      );
    });
    if (isStream) void this.endIdle(here);
    if (here.isOurLimit || !arrival.keepsDeadline) this.deadlines.add(here);
    return here;
  }

  private endLate(here: Running): void {
    const tookMs = here.deadline - here.startedMs;
    const why = here.isOurLimit ? `took longer than the ${tookMs} ms that calls may` : 'the deadline passed';
    const late = new CallEndedError('DEADLINE', `${here.method}: ${why}`);
    here.end.abort(late);
    this.answer(here, late, undefined);
  }

  /** A client that neither takes nor sends anything for too long loses its stream, and with it what the stream holds. */
  private async endIdle(here: Running): Promise<void> {
    const idleMs = this.maxStreamIdleMs;
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
    this.answer(here, late, undefined);
  }

  private leave(here: Running): void {
    here.timer?.abort();
    this.deadlines.remove(here);
    this.running.delete(here);
    if (this.running.size > 0) return;
    for (const resolve of this.drained) resolve();
    this.drained.clear();
  }

  private answer(here: Running, error: unknown, response: unknown): void {
    if (here.isAnswered) return;
    here.isAnswered = true;
    if (error === undefined) here.arrival.answer(undefined, response);
    else {
      const notBegun = !here.isBegun && error instanceof NotBegunError;
      here.arrival.answer(toStatus(error, { notBegun, requestId: here.requestId }), undefined);
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

const NOBODY: Caller = { caller: undefined, user: '' };

/** What an implementation sees of its call. */
class ServedCall implements CallContext {
  readonly method: string;
  readonly requestId: string;
  readonly peer: string;
  readonly deadline: number;
  readonly caller: string | undefined;
  readonly user: string;

  constructor(
    private readonly here: Running,
    { caller, user }: Caller,
    readonly depth: number,
  ) {
    const { method, requestId, peer, deadline } = here;
    this.method = method;
    this.requestId = requestId;
    this.peer = peer;
    this.deadline = deadline;
    this.caller = caller;
    this.user = user;
  }

  get signal(): AbortSignal {
    return this.here.end.signal;
  }

  throwIfAborted(): void {
    this.here.end.throwIfAborted();
  }

  header(name: string): string | undefined {
    return this.here.arrival.header(name);
  }

  answerHeader(name: string, value: string): void {
    this.here.arrival.answerHeader(name, value);
  }
}

function depthOf({ depth }: Arrival): number {
  if (!Number.isInteger(depth) || depth < 0 || depth > MAX_DEPTH) {
    throw new InvalidRequestError(`${DEPTH} must be a whole number from 0 to ${MAX_DEPTH}`);
  }
  return depth;
}
