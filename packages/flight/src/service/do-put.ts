import type { StructVector } from '@skep/orc';
import type { RecordBatch } from 'apache-arrow';
import { type IpcMessage, type IpcStream, readIpc } from '../arrow/ipc.js';
import type { FlightData, PutResult } from '../gen/flight.js';
import { unpackSql } from '../sql/any.js';
import { type FlightSql, INGEST, updateResult } from '../sql/flight-sql.js';
import { changeColumns, changesOf, READ_BY } from '../streams/changes.js';
import type { Caller, DataSource, RowChanges, WriteReport, WriteRequest } from '../streams/data-source.js';
import { parseWriteDescriptor, type WriteDescriptor } from '../streams/descriptor.js';
import { BadRequestError } from '../streams/errors.js';
import { givenOf, incomingColumns, incomingRows, missingColumns } from '../streams/incoming.js';
import { jsonBytes } from '../streams/json.js';
import type { StreamTotals } from '../streams/stream-totals.js';

const NOTHING = new Uint8Array(0);

export interface PutOptions {
  readonly source: DataSource;
  /** Fails where Flight SQL is not served. */
  readonly sql: () => FlightSql;
  readonly totals: StreamTotals;
}

/** Writes a client's rows: all, and says what was done, or none. */
export async function* doPut(
  { source, sql, totals }: PutOptions,
  requests: AsyncIterable<FlightData>,
  caller: Caller,
): AsyncGenerator<PutResult> {
  const messages = requests[Symbol.asyncIterator]();
  const first = await messages.next();
  if (first.done === true || first.value.flightDescriptor === undefined) {
    throw new BadRequestError('the first message of a DoPut has the descriptor of where its rows go');
  }
  const command = unpackSql(first.value.flightDescriptor.cmd);
  if (command !== undefined && command.name !== INGEST) {
    yield await sql().put(command, caller);
    return;
  }
  const target = command === undefined ? parseWriteDescriptor(first.value.flightDescriptor) : undefined;
  const stream = await readIpc(ipcMessages(first.value, messages, totals));
  const into = target ?? (await sql().ingestTarget(command?.value ?? NOTHING, stream.schema, caller));
  const { rows, report } = await writeRows(source, into, stream, totals, caller);
  yield { appMetadata: target === undefined ? updateResult(BigInt(rows)) : jsonBytes({ rows, ...report }) };
}

async function writeRows(
  source: DataSource,
  target: WriteDescriptor,
  { schema, batches }: IpcStream,
  totals: StreamTotals,
  caller: Caller,
): Promise<{ readonly rows: number; readonly report: WriteReport }> {
  const shape = await source.table(target.database, target.table, caller);
  const request = {
    database: target.database,
    table: target.table,
    partition: target.partition,
    ...(target.txnId === undefined ? {} : { txnId: target.txnId }),
    ...(target.validTxns === undefined ? {} : { validTxns: target.validTxns }),
  };
  let report: WriteReport;
  let rows = 0;
  const counted = async function* counted(): AsyncGenerator<RecordBatch> {
    for await (const batch of batches) {
      caller.signal.throwIfAborted();
      rows += batch.numRows;
      totals.rows += batch.numRows;
      yield batch;
    }
  };
  if (target.mode === 'mutate') {
    const changed = changeColumns(schema, target.operationColumn);
    const columns = incomingColumns(schema, shape, changed.names);
    const readBy = schema.metadata.get(READ_BY);
    const known = readBy === undefined ? request : { ...request, readBy };
    const full: WriteRequest = { ...known, given: givenOf(columns) };
    const missing = missingColumns(columns, shape);
    const data = new Set(columns.map(({ name }) => name));
    const keys = shape.partitionColumns.filter((name) => !(name in target.partition) && data.has(name));
    const changes = async function* changes(): AsyncGenerator<RowChanges> {
      for await (const batch of counted()) yield changesOf(batch, changed, { columns, missing, keys });
    };
    report = await source.change(full, changes(), caller);
  } else {
    if (target.validTxns !== undefined) throw new BadRequestError('snapshot is for mode mutate only');
    const columns = incomingColumns(schema, shape, new Set());
    if (columns.length === 0) throw new BadRequestError('the rows have no column');
    const full: WriteRequest = { ...request, given: givenOf(columns) };
    const converted = async function* converted(): AsyncGenerator<StructVector> {
      for await (const batch of counted()) yield incomingRows(batch, columns);
    };
    report = await source.append(full, target.mode === 'overwrite', converted(), caller);
  }
  return { rows, report };
}

async function* ipcMessages(
  first: FlightData,
  rest: AsyncIterator<FlightData>,
  totals: StreamTotals,
): AsyncGenerator<IpcMessage> {
  yield { header: first.dataHeader, body: first.dataBody };
  for (let step = await rest.next(); step.done !== true; step = await rest.next()) {
    const { dataHeader: header, dataBody: body } = step.value;
    totals.bytes += body.length;
    yield { header, body };
  }
}
