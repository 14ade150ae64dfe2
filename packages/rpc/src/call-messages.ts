import { MAX_MESSAGE_BYTES } from './bind.js';
import { InvalidRequestError } from './errors.js';
import { CallServiceService } from './gen/skep/v1/call.js';

const same = (message: Buffer): Buffer => message;

/** skep.v1.CallService/Calls; its messages are serialized by who sends them: several at once make one. */
export const CALLS_METHOD = {
  ...CallServiceService.calls,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
};

/** What both sides take in one message of the stream at least, whatever their limit for calls. */
export const STREAM_MESSAGE_BYTES = 64 << 10;
/** Requests above go by themselves, responses above in parts, so that none keeps the others of its stream waiting. */
export const PART_BYTES = 32 << 10;

/** As much of what waits as one message may hold, taken off the queue. */
export function takeTogether<T>(queue: T[], lengthOf: (item: T) => number): T[] {
  let count = 0;
  let length = 0;
  for (const item of queue) {
    length += lengthOf(item);
    if (count > 0 && length > STREAM_MESSAGE_BYTES) break;
    count++;
  }
  return queue.splice(0, count);
}

/** One message of several: all their fields are repeated ones, so that it is one behind the other. */
export function together(messages: readonly Uint8Array[]): Buffer {
  return messages.length === 1 ? asBuffer(messages[0]) : Buffer.concat(messages);
}

export const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** The limit of one call's messages, which may not be below that of the stream's. */
export function maxMessageBytesOf({ maxMessageBytes = MAX_MESSAGE_BYTES }: { maxMessageBytes?: number }): number {
  if (maxMessageBytes >= STREAM_MESSAGE_BYTES) return maxMessageBytes;
  throw new InvalidRequestError(`maxMessageBytes is ${maxMessageBytes}: it must be at least ${STREAM_MESSAGE_BYTES}`);
}
