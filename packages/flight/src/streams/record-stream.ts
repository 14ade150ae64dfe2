import { setImmediate as nextTurn } from 'node:timers/promises';
import { filterVector, type StructVector, sliceVector } from '@skep/orc';
import type { Schema } from 'apache-arrow';
import { batchMessage, schemaMessage } from '../arrow/ipc.js';
import { toRecordBatch } from '../arrow/to-arrow.js';
import type { FlightData } from '../gen/flight.js';
import type { Filter } from './filter/filter.js';
import type { StreamTotals } from './stream-totals.js';
import type { WorkPlaces } from './work-places.js';

/** A message's body is about this large at most, unless a single row is larger. */
const MAX_BODY_BYTES = 4 << 20;
const EMPTY = Buffer.alloc(0);

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** What DoGet sends after the schema: a batch as often as one is taken. */
export async function* recordStream(
  schema: Schema,
  batches: AsyncIterable<StructVector>,
  filter: Filter | undefined,
  places: WorkPlaces,
  totals: StreamTotals,
  signal: AbortSignal,
): AsyncGenerator<FlightData> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      // The place is for reading and decoding; a client that is slow holds none.
      const batch = await places.run(signal, async () => {
        const step = await iterator.next();
        return step.done === true ? undefined : keptRows(step.value, filter);
      });
      if (batch === undefined) return;
      for (const { rows, data } of pieces(schema, batch)) {
        totals.rows += rows;
        totals.bytes += data.dataBody.length;
        yield data;
      }
      // Decoding does not wait for anything: others get their turn here.
      await nextTurn();
    }
  } finally {
    await iterator.return?.();
  }
}

/** The first message of a stream. */
export function schemaData(schema: Schema): FlightData {
  return { dataHeader: asBuffer(schemaMessage(schema).header), dataBody: EMPTY, appMetadata: EMPTY };
}

function keptRows(batch: StructVector, filter: Filter | undefined): StructVector {
  const rows = filter?.select(batch);
  return rows === undefined ? batch : (filterVector(batch, rows) as StructVector);
}

interface BatchMessage {
  readonly rows: number;
  readonly data: FlightData;
}

/** Halves where rows turn out to be wide. */
function* pieces(schema: Schema, batch: StructVector): Generator<BatchMessage> {
  if (batch.length === 0) return;
  const root = { ...batch, children: batch.children.slice(0, schema.fields.length) };
  const { header, body } = batchMessage(toRecordBatch(schema, root));
  if (body.length > MAX_BODY_BYTES && batch.length > 1) {
    const middle = batch.length >> 1;
    yield* pieces(schema, sliceVector(batch, 0, middle) as StructVector);
    yield* pieces(schema, sliceVector(batch, middle, batch.length) as StructVector);
    return;
  }
  yield {
    rows: batch.length,
    data: { dataHeader: asBuffer(header), dataBody: asBuffer(body), appMetadata: EMPTY },
  };
}
