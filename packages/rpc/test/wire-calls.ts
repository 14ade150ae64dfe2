import * as grpc from '@grpc/grpc-js';
import { Call, type CallReply, CallServiceService, CallsRequest, CallsResponse } from '../src/gen/skep/v1/call.js';
import { closeAfterTest } from './serving.js';

/** A client of skep.v1.CallService that may do what skep's own would not. */
export interface WireCalls {
  readonly stream: grpc.ClientDuplexStream<CallsRequest, CallsResponse>;
  send(...calls: Parameters<typeof Call.fromPartial>[0][]): void;
  cancel(...numbers: number[]): void;
  /** Answers so far, in order. */
  readonly replies: CallReply[];
  /** The status that the stream ended with. */
  readonly ended: Promise<grpc.StatusObject>;
}

export function wireCalls(address: string, headers: Readonly<Record<string, string>> = {}): WireCalls {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  closeAfterTest(() => client.close());
  const { path } = CallServiceService.calls;
  const encode = (value: CallsRequest) => Buffer.from(CallsRequest.encode(value).finish());
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const stream = client.makeBidiStreamRequest(path, encode, CallsResponse.decode, metadata);
  const replies: CallReply[] = [];
  stream.on('data', (message: CallsResponse) => replies.push(...message.replies));
  stream.on('error', () => undefined);
  return {
    stream,
    replies,
    ended: new Promise((resolve) => stream.on('status', resolve)),
    send: (...calls) => void stream.write({ calls: calls.map((call) => Call.fromPartial(call)), cancelled: [] }),
    cancel: (...cancelled) => void stream.write({ calls: [], cancelled }),
  };
}
