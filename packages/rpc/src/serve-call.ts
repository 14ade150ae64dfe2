import { randomUUID } from 'node:crypto';
import type * as Grpc from '@grpc/grpc-js';
import { type Clock, SkepError } from '@skep/core';
import { type ServiceDefinition, serviceName } from './bind.js';
import { type CallContext, runInCall } from './call-context.js';
import { CallLimit } from './call-limit.js';
import { CallEndedError, InvalidRequestError, NotBegunError } from './errors.js';
import type { Caller, Identify } from './identity.js';
import { DEPTH, REQUEST_ID } from './metadata-keys.js';
import type { ServeOptions } from './options.js';
import { STATUS_DETAILS, toStatus } from './status.js';

type UnaryCall = Grpc.ServerUnaryCall<unknown, unknown>;
type Answer = Grpc.sendUnaryData<unknown>;

const DEFAULTS = { maxConcurrentCalls: 128, maxQueuedCalls: 2048, maxCallMs: 600_000 } as const;

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
  queuedMs: number;
  user: string;
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
    this.maxCalls = this.maxRunning + this.maxQueued;
  }

  private get maxRunning(): number {
    return this.options.maxConcurrentCalls ?? DEFAULTS.maxConcurrentCalls;
  }

  private get maxQueued(): number {
    return this.options.maxQueuedCalls ?? DEFAULTS.maxQueuedCalls;
  }

  handlers(definition: ServiceDefinition, implementation: object): Grpc.UntypedServiceImplementation {
    const methods = implementation as Record<string, (request: unknown) => Promise<unknown>>;
    // A call that another service makes never waits for a call from outside, which may be the one that it is made for.
    const limits = Array.from({ length: MAX_DEPTH + 1 }, () => {
      return new CallLimit(serviceName(definition), this.maxRunning, this.maxQueued);
    });
    const handlers: Record<string, Grpc.handleUnaryCall<unknown, unknown>> = {};
    for (const [name, { path }] of Object.entries(definition)) {
      handlers[name] = (call, answer) => {
        void this.handle(call, answer, path.slice(1), limits, (request) => methods[name](request));
      };
    }
    return handlers;
  }

  /** No new calls; those that run may end within `graceMs`, then their signals are aborted. */
  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    if (this.running.size === 0) return;
    const late = new AbortController();
    const ended = new Promise<void>((resolve) => this.drained.add(resolve));
    await Promise.race([ended, this.clock.sleep(graceMs, late.signal).catch(() => undefined)]);
    late.abort();
    for (const { end } of this.running) end.abort(new CallEndedError('SHUTTING_DOWN', 'the server ends'));
  }

  private async handle(
    call: UnaryCall,
    answer: Answer,
    method: string,
    limits: readonly CallLimit[],
    run: (request: unknown) => Promise<unknown>,
  ): Promise<void> {
    const here = this.arrive(call, method, answer);
    try {
      if (this.isDraining) throw new NotBegunError('SHUTTING_DOWN', `${method}: the server is about to end`);
      const depth = depthOf(call);
      const { caller, user } = await this.identify(call);
      here.user = user;
      await limits[depth].enter(here.end);
      here.queuedMs = this.clock.now() - here.startedMs;
      here.isBegun = true;
      try {
        const response = await runInCall(contextOf(here, { caller, user }, depth), () => run(call.request));
        this.answer(here, answer, undefined, response);
      } finally {
        limits[depth].leave();
      }
    } catch (error) {
      this.answer(here, answer, error ?? new CallEndedError('CANCELLED', 'failed with nothing'), undefined);
    } finally {
      this.leave(here);
    }
  }

  private arrive(call: UnaryCall, method: string, answer: Answer): Running {
    const now = this.clock.now();
    const latest = now + (this.options.maxCallMs ?? DEFAULTS.maxCallMs);
    const wanted = Number(call.getDeadline());
    const here: Running = {
      method,
      requestId: String(call.metadata.get(REQUEST_ID)[0] ?? randomUUID()).slice(0, 128),
      peer: call.getPeer(),
      startedMs: now,
      deadline: Math.min(wanted, latest),
      end: new CallEnd(),
      queuedMs: 0,
      user: '',
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
      user: here.user,
      requestId: here.requestId,
      peer: here.peer,
      ...(error === undefined ? {} : { error }),
    });
  }
}

function contextOf(here: Running, { caller, user }: Caller, depth: number): CallContext {
  const { method, requestId, peer, deadline, end } = here;
  return {
    method,
    requestId,
    peer,
    deadline,
    depth,
    caller,
    user,
    get signal() {
      return end.signal;
    },
  };
}

function depthOf(call: UnaryCall): number {
  const depth = Number(call.metadata.get(DEPTH)[0] ?? 0);
  if (!Number.isInteger(depth) || depth < 0 || depth > MAX_DEPTH) {
    throw new InvalidRequestError(`${DEPTH} must be a whole number from 0 to ${MAX_DEPTH}`);
  }
  return depth;
}
