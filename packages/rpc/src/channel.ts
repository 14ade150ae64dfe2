import type * as Grpc from '@grpc/grpc-js';
import type { Clock } from '@skep/core';
import { type AnyMethodDefinition, KEEPALIVE_MS, type MethodDefinition } from './bind.js';
import { maxMessageBytesOf, PART_BYTES } from './call-messages.js';
import { CallStream, type Outcome } from './call-stream.js';
import { DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE } from './codes.js';
import { connectionFailure, NO_CONNECTION } from './connection-failure.js';
import { channelCredentials, clientToken } from './credentials.js';
import { UnreachableError } from './errors.js';
import { HEALTH_SERVING, healthCheck } from './health-check.js';
import { type CallHeaders, DEPTH, REQUEST_ID, USER } from './metadata-keys.js';
import type { ConnectOptions } from './options.js';
import { type Failure, fromStatus, readDetail, STATUS_DETAILS } from './status.js';
import { unaryCall } from './unary-call.js';

interface Opened {
  readonly grpc: typeof Grpc;
  readonly client: Grpc.Client;
  readonly token: string | undefined;
}

/** How long a connection may take. */
const CONNECT_MS = 10_000;
/** The first pause before connecting again, and the longest: below that of the attempts, so that each of them tries. */
const RECONNECT_MS = { first: 100, longest: 1000 } as const;

/** A connection to one address, opened at the first call. */
export class Channel {
  private opening: Promise<Opened> | undefined;
  private opened: Opened | undefined;
  private connecting: Promise<Failure | undefined> | undefined;
  private calls: CallStream | undefined;
  /** On this connection calls go by themselves: the server has no streams for them, or something in between breaks those. */
  private hasNoStreams = false;
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
    headers: CallHeaders,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const ready = this.ready();
    const opened = ready ?? (await this.open());
    const failure = ready === undefined ? await this.connected(opened, deadline, signal) : undefined;
    if (failure !== undefined) return { failure };
    let bytes: Buffer;
    try {
      bytes = method.requestSerialize(request as never);
    } catch (error) {
      const message = `Request message serialization failure: ${String(error)}`;
      return { failure: fromStatus(this.address, { code: INTERNAL, message }) };
    }
    if (bytes.length <= PART_BYTES) {
      const shared = this.shared(opened);
      const outcome = await shared?.send({ method, request: bytes, headers, deadline, signal });
      if (outcome !== undefined) return outcome;
    }
    return this.send(opened, method, bytes, headers, deadline, signal);
  }

  /**
   * One try of a call that is answered by a stream: yields the messages, and returns how it failed, if it did. Without a
   * connection by `connectBy` it is not sent at all.
   */
  async *stream(
    method: AnyMethodDefinition,
    request: unknown,
    headers: CallHeaders,
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
    const request = healthCheck.requestSerialize(service as never);
    const outcome = await this.send(await this.open(), healthCheck, request, undefined, deadline, signal);
    if ('failure' in outcome) throw outcome.failure.error;
    if (outcome.response !== HEALTH_SERVING) {
      throw new UnreachableError(this.address, `${this.address}: ${service || 'the server'} is there but not serving`);
    }
  }

  close(): void {
    this.isClosed = true;
    this.calls?.retire();
    this.opening?.then(
      ({ client }) => client.close(),
      () => undefined,
    );
  }

  private open(): Promise<Opened> {
    if (this.isClosed) return Promise.reject(new UnreachableError(this.address, `${this.address}: closed here`));
    this.opening ??= this.load().then((opened) => {
      this.opened = opened;
      return opened;
    });
    return this.opening;
  }

  /** Where there is a connection: without a turn of the event loop. */
  private ready(): Opened | undefined {
    const { opened } = this;
    return opened !== undefined && !this.isClosed && isReady(opened) ? opened : undefined;
  }

  /** The stream that calls share; undefined where there is none to be had. */
  private shared(opened: Opened): CallStream | undefined {
    if (this.hasNoStreams || this.options.shareStream === false) return undefined;
    if (this.calls?.isOpen) return this.calls;
    const channel = opened.client.getChannel();
    const onOver = (isUseless: boolean): void => {
      if (isUseless && isReady(opened)) this.hasNoStreams = true;
    };
    const { address, clock } = this;
    const maxMessageBytes = maxMessageBytesOf(this.options);
    const failureOf = (status: Grpc.StatusObject) => this.failureOf(status);
    this.calls = new CallStream(channel, metadataOf(opened, undefined), {
      address,
      clock,
      maxMessageBytes,
      failureOf,
      onOver,
    });
    return this.calls;
  }

  private async load(): Promise<Opened> {
    const { address, options } = this;
    const { keepalive, tls } = options;
    const maxMessageBytes = maxMessageBytesOf(options);
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
    if (isReady(opened, true)) return undefined;
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
    // One that is left of the last connection takes no new calls.
    this.calls?.retire();
    const deadline = this.clock.now() + CONNECT_MS;
    const failures = [UNAVAILABLE, DEADLINE_EXCEEDED];
    const request = healthCheck.requestSerialize('' as never);
    const outcome = await this.send(opened, healthCheck, request, undefined, deadline, undefined, failures);
    this.hasNoStreams = false;
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
    request: Buffer,
    headers: CallHeaders | undefined,
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
    const detail = bytes === undefined ? undefined : readDetail(bytes);
    return fromStatus(this.address, { code: error.code, message: error.details, detail });
  }
}

function isReady({ grpc, client }: Opened, tryToConnect = false): boolean {
  return client.getChannel().getConnectivityState(tryToConnect) === grpc.connectivityState.READY;
}

function metadataOf({ grpc, token }: Opened, headers: CallHeaders | undefined): Grpc.Metadata {
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  if (headers === undefined) return metadata;
  const { requestId, user, depth } = headers;
  metadata.set(REQUEST_ID, requestId);
  if (user !== undefined) metadata.set(USER, user);
  if (depth !== undefined) metadata.set(DEPTH, String(depth));
  return metadata;
}
