import * as grpc from '@grpc/grpc-js';
import { type CallReply, CallServiceService, CallsRequest, CallsResponse } from '../src/gen/skep/v1/call.js';
import { LockServiceService } from '../src/index.js';
import { ANSWER, closeAfterTest } from './serving.js';

export type ServedStream = grpc.ServerDuplexStream<CallsRequest, CallsResponse | Buffer>;

export interface OtherServer {
  readonly address: string;
  /** Calls that came by themselves, by method. */
  readonly single: { lock: number; checkLock: number };
  /** Streams for calls that were begun. */
  streams: number;
}

/** A server that is not ours: its streams for calls do what `calls` does; without it there are none, as in older servers. */
export async function otherServer(calls?: (call: ServedStream, nth: number) => void): Promise<OtherServer> {
  const server = new grpc.Server();
  const seen = { single: { lock: 0, checkLock: 0 }, streams: 0 };
  const count = (name: 'lock' | 'checkLock') => (_: unknown, answer: grpc.sendUnaryData<unknown>) => {
    seen.single[name]++;
    answer(null, ANSWER);
  };
  const { lock, checkLock } = LockServiceService;
  server.addService({ lock, checkLock } as unknown as grpc.ServiceDefinition, {
    lock: count('lock'),
    checkLock: count('checkLock'),
  });
  if (calls !== undefined) {
    const { path } = CallServiceService.calls;
    const definition = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: (value: CallsRequest) => Buffer.from(CallsRequest.encode(value).finish()),
      requestDeserialize: (bytes: Buffer) => CallsRequest.decode(bytes),
      responseSerialize: (value: CallsResponse | Buffer) =>
        Buffer.isBuffer(value) ? value : Buffer.from(CallsResponse.encode(value).finish()),
      responseDeserialize: (bytes: Buffer) => CallsResponse.decode(bytes),
    };
    server.addService({ calls: definition }, { calls: (call: ServedStream) => calls(call, ++seen.streams) });
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  closeAfterTest(() => server.forceShutdown());
  return Object.assign(seen, { address: `127.0.0.1:${port}` });
}

/** A reply that answers with the lock's answer. */
export function replyTo(number: number, more: Partial<CallReply> = {}): CallsResponse {
  return CallsResponse.fromPartial({
    replies: [{ number, response: LockServiceService.lock.responseSerialize(ANSWER), ...more }],
  });
}
