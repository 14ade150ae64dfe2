import { BugError } from '@skep/core';
import { type ColumnVector, type StructVector, type VectorBuffer, vectorBuffer } from '@skep/orc';
import type { EventBatch } from '../read/event-cursor.js';
import type { EventRun } from '../read/merge-events.js';
import type { RowKeys } from '../read/row-keys.js';

/** Events that were put together. */
export interface BufferedEvents {
  readonly keys: RowKeys;
  readonly currentWriteIds: BigInt64Array;
  readonly row: StructVector;
}

/**
 * Puts runs of events of a compaction together, column by column, in memory that is used again: what `take` hands out is good until
 * more is added.
 */
export class EventBuffer {
  private buffer: VectorBuffer | undefined;
  private batch: { readonly of: EventBatch; readonly columns: StructVector } | undefined;

  constructor(private readonly capacity: number) {}

  get length(): number {
    return this.buffer?.length ?? 0;
  }

  get isFull(): boolean {
    return this.length >= this.capacity;
  }

  /** Takes as much of the run as fits; what is left, or undefined. */
  add({ batch, start, end }: EventRun): EventRun | undefined {
    if (this.batch?.of !== batch) this.batch = { of: batch, columns: columnsOf(batch) };
    const { columns } = this.batch;
    this.buffer ??= vectorBuffer(columns);
    const until = Math.min(end, start + this.capacity - this.length);
    this.buffer.add(columns, start, until);
    return until < end ? { batch, start: until, end } : undefined;
  }

  /** What is there; it is then empty. */
  take(): BufferedEvents {
    const { buffer } = this;
    if (buffer === undefined) throw new BugError('nothing was put together');
    const events = eventsOf(buffer.vector());
    buffer.clear();
    return events;
  }
}

const FIELDS = ['writeId', 'bucket', 'rowId', 'currentWriteId', 'row'];

function columnsOf({ keys: { length, writeIds, buckets, rowIds }, currentWriteIds, row }: EventBatch): StructVector {
  return {
    kind: 'struct',
    length,
    fieldNames: FIELDS,
    children: [
      { kind: 'long', length, values: writeIds },
      { kind: 'int', length, values: buckets },
      { kind: 'long', length, values: rowIds },
      { kind: 'long', length, values: currentWriteIds },
      row,
    ],
  };
}

function eventsOf(columns: ColumnVector): BufferedEvents {
  const [writeIds, buckets, rowIds, current, row] = columns.kind === 'struct' ? columns.children : [];
  if (writeIds?.kind !== 'long' || buckets?.kind !== 'int' || rowIds?.kind !== 'long')
    throw new BugError('keys were put together as other columns');
  if (current?.kind !== 'long' || row?.kind !== 'struct') throw new BugError('rows were put together as other columns');
  const keys = { length: columns.length, writeIds: writeIds.values, buckets: buckets.values, rowIds: rowIds.values };
  return { keys, currentWriteIds: current.values, row };
}
