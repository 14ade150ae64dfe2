import type * as Grpc from '@grpc/grpc-js';
import { systemClock } from '@skep/core';
import { UnreachableError } from './errors.js';
import type { ConnectOptions, ServeOptions } from './options.js';
import { fromStatus, STATUS_DETAILS, toStatus } from './status.js';

/** A method as ts-proto describes it (`TransactionServiceService.openTxns`). */
interface MethodDefinition {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  readonly requestSerialize: (value: never) => Buffer;
  readonly requestDeserialize: (value: Buffer) => unknown;
  readonly responseSerialize: (value: never) => Buffer;
  readonly responseDeserialize: (value: Buffer) => unknown;
}

/** A service of unary methods as ts-proto describes it. */
export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;

/** The promise interface that belongs to a definition: `TransactionService` fits `typeof TransactionServiceService`. */
export type ServiceOf<D extends ServiceDefinition> = {
  [M in keyof D]: (request: ReturnType<D[M]['requestDeserialize']>) => Promise<ReturnType<D[M]['responseDeserialize']>>;
};

/** A definition with what implements it. */
export interface ServiceBinding {
  readonly definition: ServiceDefinition;
  readonly implementation: object;
}

export function bindService<D extends ServiceDefinition>(definition: D, implementation: ServiceOf<D>): ServiceBinding {
  return { definition, implementation };
}

export interface Server {
  /** host:port it listens on. */
  readonly address: string;
  /** Lets running calls end, at most `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** More than any snapshot of 100,000 open transactions needs. */
const MAX_MESSAGE_BYTES = 64 << 20;

/** Loaded when first needed: a process that holds all services itself never pays for it. */
function loadGrpc(): Promise<typeof Grpc> {
  return import('@grpc/grpc-js');
}

/** Serves over gRPC. Port 0 takes a free one. */
export async function serve(bindings: readonly ServiceBinding[], options: ServeOptions = {}): Promise<Server> {
  const { address = '127.0.0.1:0' } = options;
  const grpc = await loadGrpc();
  const server = new grpc.Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  });
  for (const { definition, implementation } of bindings) {
    const handlers: Record<string, Grpc.handleUnaryCall<unknown, unknown>> = {};
    for (const name of Object.keys(definition)) handlers[name] = unaryHandler(grpc, implementation, name);
    server.addService(definition as unknown as Grpc.ServiceDefinition, handlers);
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error)
        reject(new UnreachableError(address, `cannot listen on ${address}: ${error.message}`, { cause: error }));
      else resolve(bound);
    });
  });
  const host = address.slice(0, address.lastIndexOf(':'));
  return { address: `${host}:${port}`, close: (graceMs = 5000) => shutdown(server, graceMs) };
}

function unaryHandler(grpc: typeof Grpc, implementation: object, name: string): Grpc.handleUnaryCall<unknown, unknown> {
  const methods = implementation as Record<string, (request: unknown) => Promise<unknown>>;
  return (call, answer) => {
    // Promise.resolve().then also catches what a method throws before its first await.
    Promise.resolve()
      .then(() => methods[name](call.request))
      .then(
        (response) => answer(null, response),
        (error: unknown) => {
          const status = toStatus(error);
          const metadata = new grpc.Metadata();
          metadata.set(STATUS_DETAILS, Buffer.from(status.details));
          answer({ code: status.code, details: status.message, metadata });
        },
      );
  };
}

async function shutdown(server: Grpc.Server, graceMs: number): Promise<void> {
  const timer = new AbortController();
  const graceful = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  const late = systemClock.sleep(graceMs, timer.signal).catch(() => undefined);
  await Promise.race([graceful, late]);
  timer.abort();
  server.forceShutdown();
}

export interface Connection<S> {
  readonly service: S;
  close(): void;
}

const DEFAULT_DEADLINE_MS = 60_000;

/** A service somewhere else, behind the same promise interface. Connects at the first call. */
export function connect<D extends ServiceDefinition>(
  definition: D,
  address: string,
  options: ConnectOptions = {},
): Connection<ServiceOf<D>> {
  let client: Promise<Grpc.Client> | undefined;
  const open = async () => {
    const grpc = await loadGrpc();
    return new grpc.Client(address, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
      'grpc.keepalive_time_ms': 30_000,
    });
  };
  const service: Record<string, (request: unknown) => Promise<unknown>> = {};
  for (const [name, method] of Object.entries(definition)) {
    service[name] = async (request) => {
      client ??= open();
      return call(await client, method, address, request, options.deadlineMs ?? DEFAULT_DEADLINE_MS);
    };
  }
  return {
    service: service as ServiceOf<D>,
    close: () => {
      client?.then((opened) => opened.close());
    },
  };
}

function call(
  client: Grpc.Client,
  method: MethodDefinition,
  address: string,
  request: unknown,
  deadlineMs: number,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize as (value: unknown) => Buffer,
      method.responseDeserialize,
      request,
      { deadline: systemClock.now() + deadlineMs },
      (error, response) => {
        if (error === null) return resolve(response);
        const [details] = error.metadata?.get(STATUS_DETAILS) ?? [];
        const bytes = details instanceof Uint8Array ? details : undefined;
        reject(fromStatus(address, { code: error.code, message: error.details, details: bytes }));
      },
    );
  });
}
