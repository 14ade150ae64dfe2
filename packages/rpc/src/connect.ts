import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@skep/core';
import {
  type AnyMethodDefinition,
  type AnyServiceDefinition,
  type MethodDefinition,
  type RequestOf,
  type ResponseOf,
  serviceName,
} from './bind.js';
import { currentCall, currentCallOptions } from './call-context.js';
import { Channel } from './channel.js';
import { IDEMPOTENT_METHODS } from './gen/idempotent-methods.js';
import type { CallHeaders } from './metadata-keys.js';
import type { CallOptions, ConnectOptions, RetryOptions } from './options.js';
import type { Failure } from './status.js';

/**
 * A service's methods with what may differ from call to call; fits the service's own interface. A stream of answers is an async
 * iterable, whose reader may stop: that ends the call. (Methods that take a stream are not offered here.)
 */
export type ClientOf<D extends AnyServiceDefinition> = {
  [M in keyof D]: D[M]['requestStream'] extends true
    ? never
    : (
        request: RequestOf<D[M]>,
        options?: CallOptions,
      ) => D[M]['responseStream'] extends true ? AsyncIterable<ResponseOf<D[M]>> : Promise<ResponseOf<D[M]>>;
};

export interface Connection<S> {
  readonly service: S;
  /**
   * Whether the service answers and says it serves (grpc.health.v1), with the reason where it does not. `whole`: the server
   * as such, whatever it serves.
   */
  check(options?: CallOptions & { readonly whole?: boolean }): Promise<void>;
  close(): void;
}

const DEFAULT_DEADLINE_MS = 60_000;

/**
 * A service somewhere else, behind the same promise interface. Connects at the first call. Of several addresses that serve
 * the same, one is used until it fails.
 */
export function connect<D extends AnyServiceDefinition>(
  definition: D,
  address: string | readonly [string, ...string[]],
  options: ConnectOptions = {},
): Connection<ClientOf<D>> {
  const clock = options.clock ?? systemClock;
  const addresses = typeof address === 'string' ? ([address] as const) : address;
  const channels = new Channels(addresses, options, clock);
  const service: Record<string, (request: unknown, options?: CallOptions) => unknown> = {};
  for (const [name, method] of Object.entries<AnyMethodDefinition>(definition)) {
    service[name] = (request, perCall) => {
      const call = new OutgoingCall(channels, clock, options, perCall);
      return method.responseStream ? call.stream(method, request) : call.run(method as MethodDefinition, request);
    };
  }
  return {
    service: service as ClientOf<D>,
    check: ({ whole = false, ...perCall } = {}) => {
      const name = whole ? '' : serviceName(definition);
      return new OutgoingCall(channels, clock, options, perCall).within((deadline, signal) =>
        channels.current.checkHealth(name, deadline, signal),
      );
    },
    close: () => channels.close(),
  };
}

/** The channels to addresses that serve the same, in the order they are tried. */
class Channels {
  private readonly all: readonly Channel[];
  private at = 0;

  constructor(addresses: readonly [string, ...string[]], options: ConnectOptions, clock: Clock) {
    this.all = addresses.map((address) => new Channel(address, options, clock));
  }

  get count(): number {
    return this.all.length;
  }

  get current(): Channel {
    return this.all[this.at];
  }

  /** That one failed: the next is tried, unless another call has moved on already. */
  leave(failed: Channel): void {
    if (this.current === failed) this.at = (this.at + 1) % this.all.length;
  }

  close(): void {
    for (const channel of this.all) channel.close();
  }
}

/** One call of a client: deadline, signal and identity from its options and from the call it is made for; its attempts. */
class OutgoingCall {
  private readonly options: CallOptions & ConnectOptions;
  private readonly outer = currentCall();
  private readonly deadline: number;
  /** One that somebody set, not the default. */
  private readonly hasDeadline: boolean;

  constructor(
    private readonly channels: Channels,
    private readonly clock: Clock,
    defaults: ConnectOptions,
    perCall: CallOptions | undefined,
  ) {
    const around = currentCallOptions();
    this.options = around === undefined && perCall === undefined ? defaults : { ...defaults, ...around, ...perCall };
    const deadline = clock.now() + (this.options.deadlineMs ?? DEFAULT_DEADLINE_MS);
    const outer = this.outer?.deadline ?? Number.POSITIVE_INFINITY;
    this.deadline = Math.min(deadline, outer);
    this.hasDeadline = this.options.deadlineMs !== undefined || outer !== Number.POSITIVE_INFINITY;
  }

  async run(method: MethodDefinition, request: unknown): Promise<unknown> {
    const { signal, release } = this.signals();
    const { channels, deadline } = this;
    const headers = this.headers();
    try {
      for (let attempt = 1; ; attempt++) {
        const channel = channels.current;
        const outcome = await channel.attempt(method, request, headers, deadline, signal);
        if ('response' in outcome) return outcome.response;
        const { failure } = outcome;
        await this.beforeNext(failure, mayRepeat(method.path, failure), { attempt, channel, deadline, signal });
      }
    } finally {
      release();
    }
  }

  /**
   * The messages of a call with a stream of answers. It is tried again only where it was not begun; it may take as long as it
   * takes, unless a deadline was set, and the default one is for the connection.
   */
  async *stream(method: AnyMethodDefinition, request: unknown): AsyncGenerator<unknown> {
    const headers = this.headers();
    const connectBy = this.deadline;
    const deadline = this.hasDeadline ? this.deadline : Number.POSITIVE_INFINITY;
    const { signal, release } = this.signals();
    try {
      for (let attempt = 1; ; attempt++) {
        const channel = this.channels.current;
        const failure = yield* channel.stream(method, request, headers, { deadline, connectBy }, signal);
        if (failure === undefined) return;
        await this.beforeNext(failure, failure.notBegun, { attempt, channel, deadline: connectBy, signal });
      }
    } finally {
      release();
    }
  }

  /** Waits before the next attempt, or throws what the last one failed with. */
  private async beforeNext(failure: Failure, mayTryAgain: boolean, at: Attempt): Promise<void> {
    const { attempt, channel, deadline, signal } = at;
    const { maxAttempts = 5, ...delays } = this.options.retry ?? {};
    const most = Math.max(maxAttempts, this.channels.count);
    if (failure.notBegun || failure.isLost) this.channels.leave(channel);
    const delayMs = retryDelayMs(attempt, delays, this.clock.random());
    if (!mayTryAgain || attempt >= most || this.clock.now() + delayMs >= deadline) throw failure.error;
    await this.clock.sleep(delayMs, signal);
  }

  /** With one signal for that of the options and that of the call being served; undefined where there is none. */
  async within<T>(run: (deadline: number, signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    const { signal, release } = this.signals();
    try {
      return await run(this.deadline, signal);
    } finally {
      release();
    }
  }

  private signals(): Signals {
    if (this.options.signal === undefined && this.outer === undefined) return NO_SIGNALS;
    const signals = [this.options.signal, this.outer?.signal].filter((signal) => signal !== undefined);
    for (const signal of signals) signal.throwIfAborted();
    if (signals.length < 2) return { signal: signals[0], release: () => undefined };
    const both = new AbortController();
    const ends = signals.map((signal) => ({ signal, end: () => both.abort(signal.reason) }));
    for (const { signal, end } of ends) signal.addEventListener('abort', end, { once: true });
    return {
      signal: both.signal,
      release() {
        for (const { signal, end } of ends) signal.removeEventListener('abort', end);
      },
    };
  }

  private headers(): CallHeaders {
    return {
      requestId: this.outer?.requestId ?? nextRequestId(),
      user: this.options.user,
      depth: this.outer === undefined ? undefined : this.outer.depth + 1,
    };
  }
}

interface Signals {
  readonly signal: AbortSignal | undefined;
  release(): void;
}

const NO_SIGNALS: Signals = { signal: undefined, release: () => undefined };

/** By chance for the process, and counted in it: as unlikely to come twice as if each were by chance. */
const PROCESS_ID = randomUUID().slice(0, 24);
let requests = 0;
const nextRequestId = (): string => `${PROCESS_ID}${(++requests).toString(16).padStart(12, '0')}`;

interface Attempt {
  readonly attempt: number;
  readonly channel: Channel;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/** OpenTxns twice would leave a transaction behind: what may have been done is done again only where that changes nothing. */
export function mayRepeat(path: string, failure: Failure): boolean {
  return failure.notBegun || (failure.isLost && IDEMPOTENT_METHODS.has(path));
}

/** Doubling from the first to the longest, between half and all of it. */
export function retryDelayMs(attempt: number, options: RetryOptions, chance: number): number {
  const { initialDelayMs = 200, maxDelayMs = 2000 } = options;
  const full = Math.min(initialDelayMs * 2 ** (attempt - 1), maxDelayMs);
  return full * (0.5 + chance / 2);
}
