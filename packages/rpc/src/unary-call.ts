import type * as Grpc from '@grpc/grpc-js';
import type { MethodDefinition } from './bind.js';
import { CANCELLED, INTERNAL, OK, UNIMPLEMENTED } from './codes.js';

/** How a call ended: the answer where the status is OK. */
type Ended = (status: Grpc.StatusObject, response: unknown) => void;

/**
 * One serialized request, one answer, by the channel's own call: `Client.makeUnaryRequest` notes a stack and makes an event emitter and
 * layers of interceptors for each, an eighth of all that a call costs its client. Answers how to cancel it.
 */
export function unaryCall(
  channel: ReturnType<Grpc.Client['getChannel']>,
  method: MethodDefinition,
  request: Buffer,
  metadata: Grpc.Metadata,
  deadline: number,
  ended: Ended,
): () => void {
  const call = channel.createCall(method.path, deadline, null, null, null);
  let answer: { readonly response: unknown } | undefined;
  let failure: { readonly code: number; readonly details: string } | undefined;
  const fail = (code: number, details: string): void => {
    failure ??= { code, details };
    call.cancelWithStatus(code, details);
  };
  call.start(metadata, {
    onReceiveMetadata: () => undefined,
    onReceiveMessage: (message: Buffer) => {
      if (answer !== undefined) return fail(UNIMPLEMENTED, 'Too many responses received');
      try {
        answer = { response: method.responseDeserialize(message) };
      } catch (error) {
        fail(INTERNAL, `Response message parsing error: ${String(error)}`);
      }
    },
    onReceiveStatus: (status) => {
      if (failure !== undefined) ended({ ...status, ...failure }, undefined);
      else if (status.code === OK && answer === undefined) {
        ended({ ...status, code: UNIMPLEMENTED, details: 'No message received' }, undefined);
      } else ended(status, answer?.response);
    },
  });
  call.sendMessageWithContext({}, request);
  call.startRead();
  call.halfClose();
  return () => call.cancelWithStatus(CANCELLED, 'Cancelled on client');
}
