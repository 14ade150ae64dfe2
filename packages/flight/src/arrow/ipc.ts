import { type RecordBatch, RecordBatchReader, type Schema } from 'apache-arrow';
import { RecordBatch as BatchHeader, Message } from 'apache-arrow/ipc/metadata/message';
import { VectorAssembler } from 'apache-arrow/visitor/vectorassembler';
import { ArrowMappingError } from './errors.js';

/** A message of Arrow's IPC format in its two parts, as FlightData carries them. */
export interface IpcMessage {
  /** Flatbuffer Message. */
  readonly header: Uint8Array;
  /** The buffers of a record batch, each padded to 8 bytes; empty for a schema. */
  readonly body: Uint8Array;
}

const EMPTY = new Uint8Array(0);
const CONTINUATION = -1;

export function schemaMessage(schema: Schema): IpcMessage {
  return { header: Message.encode(Message.from(schema as never)), body: EMPTY };
}

/** Copies the batch's buffers once, into the body. */
export function batchMessage(batch: RecordBatch): IpcMessage {
  const assembled = VectorAssembler.assemble(batch as never);
  const { byteLength, nodes, bufferRegions, buffers, variadicBufferCounts } = assembled;
  const header = new BatchHeader(batch.numRows, nodes, bufferRegions, null, variadicBufferCounts);
  const body = new Uint8Array(byteLength);
  for (const [i, buffer] of buffers.entries()) {
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    body.set(bytes, Number(bufferRegions[i].offset));
  }
  return { header: Message.encode(Message.from(header, byteLength)), body };
}

/** A schema as SchemaResult and FlightInfo have it: continuation marker, length, message. */
export function encapsulatedSchema(schema: Schema): Uint8Array {
  return frame(schemaMessage(schema).header);
}

function frame(header: Uint8Array): Uint8Array {
  const padded = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, CONTINUATION, true);
  view.setInt32(4, padded, true);
  bytes.set(header, 8);
  return bytes;
}

/** The record batches of a stream of messages, of which the first is the schema. */
export interface IpcStream {
  readonly schema: Schema;
  readonly batches: AsyncIterable<RecordBatch>;
}

/**
 * Reads one message after the other. A batch's vectors lie in its message's body.
 * @throws ArrowMappingError (BAD_ARROW_DATA) where the messages are none of Arrow's, or the schema does not come first.
 */
export async function readIpc(messages: AsyncIterable<IpcMessage>): Promise<IpcStream> {
  const reader = await guarded(async () => {
    const opened = await RecordBatchReader.from(bytesOf(messages));
    return await opened.open({ autoDestroy: false });
  });
  if (reader.schema === undefined || reader.schema === null) {
    throw new ArrowMappingError('BAD_ARROW_DATA', 'the stream ends before its schema');
  }
  return { schema: reader.schema, batches: batchesOf(reader) };
}

async function* batchesOf(reader: RecordBatchReader): AsyncGenerator<RecordBatch> {
  try {
    for (;;) {
      const { done, value } = await guarded(async () => await reader.next());
      if (done === true) return;
      yield value as RecordBatch;
    }
  } finally {
    await reader.cancel();
  }
}

/** What the source throws goes through as it is; anything else the library throws is about the bytes. */
async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof SourceFailure) throw cause.cause;
    if (cause instanceof ArrowMappingError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ArrowMappingError('BAD_ARROW_DATA', `the stream is not Arrow's IPC format: ${why}`, cause);
  }
}

class SourceFailure extends ArrowMappingError {
  constructor(cause: unknown) {
    super('BAD_ARROW_DATA', 'the source of the messages failed', cause);
  }
}

async function* bytesOf(messages: AsyncIterable<IpcMessage>): AsyncGenerator<Uint8Array> {
  try {
    for await (const { header, body } of messages) {
      // Metadata alone (FlightData with only app_metadata).
      if (header.length === 0) continue;
      yield frame(header);
      if (body.length > 0) yield body;
    }
  } catch (cause) {
    throw new SourceFailure(cause);
  }
}
