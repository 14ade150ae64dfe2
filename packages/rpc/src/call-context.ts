import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallOptions } from './options.js';

/** The call that a service implementation works on. */
export interface CallContext {
  /** `skep.v1.LockService/Lock`. */
  readonly method: string;
  /** Given by the client (`x-request-id`), or made up: the same in the logs of both. */
  readonly requestId: string;
  /** Who proved to be the caller, by token or certificate; absent where the server trusts what it is told. */
  readonly caller: string | undefined;
  /** Whom the call is made for; the caller, unless the proxy-user rules let it act for another. Empty: nobody said. */
  readonly user: string;
  /** The caller's address. */
  readonly peer: string;
  /** Aborted when the client gave up, the deadline passed, or the server ends. */
  readonly signal: AbortSignal;
  /** Throws what the signal would be aborted with: asks without making one, which most calls never need. */
  throwIfAborted(): void;
  /** When the deadline passes, in milliseconds since the epoch. */
  readonly deadline: number;
  /** How many services called one another for it: 0 for a call from outside. */
  readonly depth: number;
  /** What the client sent beside the request, by lower-case name. */
  header(name: string): string | undefined;
  /** Sends something before the answer; once a call, before the first message of a stream. */
  answerHeader(name: string, value: string): void;
}

interface Ambient {
  readonly call?: CallContext;
  readonly options?: CallOptions;
}

const ambient = new AsyncLocalStorage<Ambient>();

/**
 * The call being served, by whatever runs for it. Absent in process, and in background work. Ask before the first await on
 * something that others share (a grouped commit runs in the context of one of its members).
 */
export function currentCall(): CallContext | undefined {
  return ambient.getStore()?.call;
}

/** What `withCallOptions` set around here. */
export function currentCallOptions(): CallOptions | undefined {
  return ambient.getStore()?.options;
}

/** Runs the implementation of a call. */
export function runInCall<T>(call: CallContext, run: () => T): T {
  return ambient.run({ call }, run);
}

/**
 * Sets deadline, signal or user of all calls that `run` makes through clients of `connect`, for callers who hold a service's
 * plain interface. Calls that stay in process take no notice.
 */
export function withCallOptions<T>(options: CallOptions, run: () => T): T {
  const outer = ambient.getStore();
  return ambient.run({ ...outer, options: { ...outer?.options, ...options } }, run);
}

/**
 * Runs what must not end with the call that started it: what it calls has neither the call's deadline nor its signal. For
 * what has to happen once something was committed.
 */
export function detached<T>(run: () => T): T {
  const call = currentCall();
  if (call === undefined) return ambient.run({}, run);
  const { method, requestId, caller, user, peer, depth } = call;
  const endless: CallContext = {
    ...{ method, requestId, caller, user, peer, depth },
    header: (name) => call.header(name),
    answerHeader: (name, value) => call.answerHeader(name, value),
    throwIfAborted: () => undefined,
    deadline: Number.POSITIVE_INFINITY,
    get signal() {
      return new AbortController().signal;
    },
  };
  return ambient.run({ call: endless }, run);
}
