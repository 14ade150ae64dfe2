import type * as Grpc from '@grpc/grpc-js';
import { systemClock } from '@skep/core';
import { formatAddress, parseAddress } from './address.js';
import { KEEPALIVE_MS, type ServiceBinding, serviceName } from './bind.js';
import { maxMessageBytesOf } from './call-messages.js';
import { assertSafeToListen, serverCredentials } from './credentials.js';
import { InvalidRequestError, UnreachableError } from './errors.js';
import { identification } from './identity.js';
import type { ServeOptions } from './options.js';
import { addReflection } from './reflection.js';
import { CallServer } from './serve-call.js';
import { CallStreams } from './serve-calls.js';

export interface Server {
  /** HOST:PORT it listens on. */
  readonly address: string;
  /** What the health service answers for one service, or for all and the whole. A new server is serving. */
  setServing(isServing: boolean, service?: string): void;
  /**
   * Health turns to NOT_SERVING, new calls are refused, running ones may end within `graceMs` (default 5 s); what still runs
   * then is aborted.
   */
  close(graceMs?: number): Promise<void>;
}

/** Streams beyond the calls that may wait: health, reflection, calls that are about to be refused. */
const SPARE_STREAMS = 1000;

/** Serves over gRPC, with health (grpc.health.v1) and reflection. */
export async function serve(bindings: readonly ServiceBinding[], options: ServeOptions = {}): Promise<Server> {
  const { address = '127.0.0.1:0', keepalive } = options;
  const maxMessageBytes = maxMessageBytesOf(options);
  const clock = options.clock ?? systemClock;
  assertSafeToListen(options, address);
  // Loaded when first needed: a process that holds all services itself never pays for it.
  const [grpc, health] = await Promise.all([import('@grpc/grpc-js'), import('grpc-health-check')]);
  const identity = await identification(options);
  const calls = new CallServer(grpc, identity, clock, options);
  const maxStreams = calls.maxCalls + SPARE_STREAMS;
  const server = new grpc.Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': keepalive?.timeMs ?? KEEPALIVE_MS.time,
    'grpc.keepalive_timeout_ms': keepalive?.timeoutMs ?? KEEPALIVE_MS.timeout,
    'grpc.max_concurrent_streams': maxStreams,
  });
  const names = bindings.map(({ definition }) => serviceName(definition));
  const healthOf = new health.HealthImplementation();
  const setServing = (isServing: boolean, service?: string) => {
    if (service !== undefined && !names.includes(service)) {
      throw new InvalidRequestError(`${service} is not served here: ${names.join(', ')}`);
    }
    for (const name of service === undefined ? ['', ...names] : [service]) {
      healthOf.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING');
    }
  };
  for (const binding of bindings) {
    server.addService(binding.definition as unknown as Grpc.ServiceDefinition, calls.handlers(binding));
  }
  const streams = new CallStreams({
    grpc,
    clock,
    methods: calls.unaryMethods,
    callerOf: identity.callerOf,
    // As many as HTTP/2 takes of calls by themselves.
    maxCalls: maxStreams,
    maxMessageBytes,
    maxIdleMs: calls.maxStreamIdleMs,
  });
  server.addService(streams.definition as unknown as Grpc.ServiceDefinition, streams.handlers);
  healthOf.addToServer(server);
  if (options.reflection ?? true) {
    const others = await Promise.all(bindings.flatMap(({ descriptors }) => descriptors?.() ?? []));
    await addReflection(server, [...names, serviceName(streams.definition)], others);
  }
  const port = await listen(server, address, await serverCredentials(grpc, options));
  setServing(true);
  return {
    address: formatAddress({ host: parseAddress(address).host, port }),
    setServing,
    async close(graceMs = 5000) {
      setServing(false);
      await calls.drain(graceMs);
      streams.end();
      // The last answers may still be on their way; watchers of the health service would stay for ever.
      const late = new AbortController();
      const ended = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await Promise.race([ended, clock.sleep(LAST_ANSWERS_MS, late.signal).catch(() => undefined)]);
      late.abort();
      server.forceShutdown();
    },
  };
}

const LAST_ANSWERS_MS = 200;

function listen(server: Grpc.Server, address: string, credentials: Grpc.ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(new UnreachableError(address, `cannot listen on ${address}: ${cause.message}`, { cause }));
    try {
      server.bindAsync(address, credentials, (error, port) => (error === null ? resolve(port) : fail(error)));
    } catch (cause) {
      // A key that does not fit its certificate is thrown at once.
      fail(cause instanceof Error ? cause : new UnreachableError(address, String(cause)));
    }
  });
}
