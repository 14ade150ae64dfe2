import type * as Grpc from '@grpc/grpc-js';
import type { Clock } from '@skep/core';
import { type AnyMethodDefinition, KEEPALIVE_MS, MAX_MESSAGE_BYTES, type MethodDefinition } from './bind.js';
import { connectionFailure, NO_CONNECTION } from './connection-failure.js';
import { channelCredentials, clientToken } from './credentials.js';
import { UnreachableError } from './errors.js';
import { HEALTH_SERVING, healthCheck } from './health-check.js';
import type { ConnectOptions } from './options.js';
import { type Failure, fromStatus, STATUS_DETAILS } from './status.js';
import { unaryCall } from './unary-call.js';

export type Outcome = { readonly response: unknown } | { readonly failure: Failure };

interface Opened {
  readonly grpc: typeof Grpc;
  readonly client: Grpc.Client;
  readonly token: string | undefined;
}

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;
/** How long a connection may take. */
const CONNECT_MS = 10_000;
/** The first pause before connecting again, and the longest: below that of the attempts, so that each of them tries. */
const RECONNECT_MS = { first: 100, longest: 1000 } as const;

/** A connection to one address, opened at the first call. */
export class Channel {
  private opening: Promise<Opened> | undefined;
  private connecting: Promise<Failure | undefined> | undefined;
  private isClosed = false;

  constructor(
    private readonly address: string,
    private readonly options: ConnectOptions,
    private readonly clock: Clock,
  ) {}

  /** One try of a call. Without a connection it is not sent at all, so that one may try again. */
  async attempt(
    method: MethodDefinition,
    request: unknown,
    headers: Readonly<Record<string, string>>,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const opened = await this.open();
    const failure = await this.connected(opened, deadline, signal);
    if (failure !== undefined) return { failure };
    return this.send(opened, method, request, headers, deadline, signal);
  }

  /**
   * One try of a call that is answered by a stream: yields the messages, and returns how it failed, if it did. Without a
   * connection by `connectBy` it is not sent at all.
   */
  async *stream(
    method: AnyMethodDefinition,
    request: unknown,
    headers: Readonly<Record<string, string>>,
    limits: { readonly deadline: number; readonly connectBy: number },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<unknown, Failure | undefined, undefined> {
    const opened = await this.open();
    const failure = await this.connected(opened, limits.connectBy, signal);
    if (failure !== undefined) return failure;
    signal?.throwIfAborted();
    const call = opened.client.makeServerStreamRequest(
      method.path,
      method.requestSerialize as (value: unknown) => Buffer,
      method.responseDeserialize,
      request,
      metadataOf(opened, headers),
      { deadline: limits.deadline },
    );
    // What is said once nobody listens any more.
    call.on('error', () => undefined);
    const cancel = () => call.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of call) yield message;
      return undefined;
    } catch (error) {
      signal?.throwIfAborted();
      return this.failureOf(error as Grpc.ServiceError);
    } finally {
      signal?.removeEventListener('abort', cancel);
      call.cancel();
    }
  }

  /** Throws unless the service says that it serves. */
  async checkHealth(service: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
    const outcome = await this.send(await this.open(), healthCheck, service, {}, deadline, signal);
    if ('failure' in outcome) throw outcome.failure.error;
    if (outcome.response !== HEALTH_SERVING) {
      throw new UnreachableError(this.address, `${this.address}: ${service || 'the server'} is there but not serving`);
    }
  }

  close(): void {
    this.isClosed = true;
    this.opening?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
  }

  private open(): Promise<Opened> {
    if (this.isClosed) return Promise.reject(new UnreachableError(this.address, `${this.address}: closed here`));
    this.opening ??= this.load();
    return this.opening;
  }

  private async load(): Promise<Opened> {
    const { address, options } = this;
    const { keepalive, maxMessageBytes = MAX_MESSAGE_BYTES, tls } = options;
    const token = await clientToken(address, options);
    const grpc = await import('@grpc/grpc-js');
    const client = new grpc.Client(address, await channelCredentials(grpc, options), {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.keepalive_time_ms': keepalive?.timeMs ?? KEEPALIVE_MS.time,
      'grpc.keepalive_timeout_ms': keepalive?.timeoutMs ?? KEEPALIVE_MS.timeout,
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.first,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.longest,
      'grpc.enable_http_proxy': 0,
      ...(tls?.serverName === undefined
        ? {}
        : { 'grpc.ssl_target_name_override': tls.serverName, 'grpc.default_authority': tls.serverName }),
    });
    return { grpc, client, token };
  }

  /** Why there is no connection; undefined: there is one. Found by a health check, which changes nothing if it is lost. */
  private async connected(
    opened: Opened,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Failure | undefined> {
    const { grpc, client } = opened;
    if (client.getChannel().getConnectivityState(true) === grpc.connectivityState.READY) return undefined;
    this.connecting ??= this.probe(opened).finally(() => {
      this.connecting = undefined;
    });
    const late = new AbortController();
    const end = () => late.abort();
    signal?.addEventListener('abort', end, { once: true });
    const tooLate = this.clock.sleep(Math.max(0, deadline - this.clock.now()), late.signal).then(
      () => this.notConnected('DEADLINE', 'no connection before the deadline'),
      () => undefined,
    );
    try {
      const failure = await Promise.race([this.connecting, tooLate]);
      signal?.throwIfAborted();
      return failure;
    } finally {
      signal?.removeEventListener('abort', end);
      late.abort();
    }
  }

  private async probe(opened: Opened): Promise<Failure | undefined> {
    const deadline = this.clock.now() + CONNECT_MS;
    const failures = [UNAVAILABLE, DEADLINE_EXCEEDED];
    const outcome = await this.send(opened, healthCheck, '', {}, deadline, undefined, failures);
    if (!('failure' in outcome)) return undefined;
    const { error } = outcome.failure;
    return { error, notBegun: true, isLost: true };
  }

  private notConnected(code: 'UNREACHABLE' | 'DEADLINE', why: string): Failure {
    const error = new UnreachableError(this.address, `${this.address}: ${why}`, { code });
    return { error, notBegun: false, isLost: false };
  }

  /** Sends and waits; of failures only the codes in `failures`, if given, count. Rejects with the signal's reason. */
  private send(
    opened: Opened,
    method: MethodDefinition,
    request: unknown,
    headers: Readonly<Record<string, string>>,
    deadline: number,
    signal: AbortSignal | undefined,
    failures?: readonly number[],
  ): Promise<Outcome> {
    const { client } = opened;
    const metadata = metadataOf(opened, headers);
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const cancel = unaryCall(client.getChannel(), method, request, metadata, deadline, (status, response) => {
        signal?.removeEventListener('abort', cancel);
        if (status.code === 0 || (failures !== undefined && !failures.includes(status.code))) resolve({ response });
        else if (signal?.aborted) reject(signal.reason);
        else resolve({ failure: this.failureOf(status) });
      });
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  private failureOf(error: Grpc.StatusObject): Failure {
    const [details] = error.metadata?.get(STATUS_DETAILS) ?? [];
    const bytes = details instanceof Uint8Array ? details : undefined;
    if (bytes === undefined && error.details.startsWith(NO_CONNECTION)) {
      return {
        error: connectionFailure(this.address, error.details, this.options.tls),
        notBegun: false,
        isLost: true,
      };
    }
    return fromStatus(this.address, { code: error.code, message: error.details, details: bytes });
  }
}

function metadataOf({ grpc, token }: Opened, headers: Readonly<Record<string, string>>): Grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}
