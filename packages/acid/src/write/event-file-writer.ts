import type { ByteSink } from '@skep/core';
import { nullVector, OrcWriter, type OrcWriterOptions, type StructVector, type TypeDescription } from '@skep/orc';
import { ACID_FIELDS, acidSchema, OPERATION } from '../read/acid-schema.js';
import { ACID_KEY_INDEX_KEY, ACID_STATS_KEY, ACID_VERSION_KEY } from '../read/acid-version.js';
import type { EventRun } from '../read/merge-events.js';
import type { RowKeys } from '../read/row-keys.js';
import type { StripeOffer } from '../read/stripe-offer.js';
import { type FileRole, orcWriterOptions } from './orc-options.js';
import type { OrcFileOptions } from './write-types.js';

const ASCII = new TextEncoder();

/**
 * One ORC file of ACID events (OrcRecordUpdater): inserts with their rows, deletes with NULL for a row, in order of their
 * keys. What was written may change afterwards. User metadata: the key of each stripe's last event, counts, and version 2.
 */
export class EventFileWriter {
  private readonly orc: OrcWriter;
  private readonly stats = [0, 0, 0];
  private keyIndex = '';
  /** What is being written, and the last key of what was written before: its vectors may have changed since. */
  private writing: StructVector | undefined;
  private lastKey = '';
  /** The batch whose runs are being written. */
  private batch: { readonly of: EventRun['batch']; readonly root: StructVector } | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly rowSchema: TypeDescription,
    options: OrcFileOptions,
    role: Exclude<FileRole, 'plain'>,
    more: Pick<OrcWriterOptions, 'compressLater'> = {},
  ) {
    this.orc = new OrcWriter(sink, acidSchema(rowSchema), {
      ...orcWriterOptions(options, role),
      ...more,
      onStripe: ({ root, lastRow }) => {
        this.keyIndex += root === this.writing ? keyText(root as StructVector, lastRow) : this.lastKey;
      },
      beforeFooter: () => {
        this.orc.addUserMetadata(ACID_KEY_INDEX_KEY, ASCII.encode(this.keyIndex));
        this.orc.addUserMetadata(ACID_STATS_KEY, ASCII.encode(this.stats.join(',')));
        // As Hive: a file without events has no version.
        if (this.keyIndex !== '') this.orc.addUserMetadata(ACID_VERSION_KEY, ASCII.encode('2'));
      },
    });
  }

  get path(): string {
    return this.sink.path;
  }

  async writeInserts(keys: RowKeys, currentWriteIds: BigInt64Array, row: StructVector): Promise<void> {
    await this.write(OPERATION.insert, keys, currentWriteIds, row);
  }

  async writeDeletes(keys: RowKeys, currentWriteIds: BigInt64Array): Promise<void> {
    await this.write(OPERATION.delete, keys, currentWriteIds, nullVector(this.rowSchema, keys.length) as StructVector);
  }

  /** Inserts from `start` to `end` of a batch, without copying them. Runs of a batch come one after the other. */
  async writeRun({ batch, start, end }: EventRun): Promise<void> {
    if (this.batch?.of !== batch) {
      const { keys, currentWriteIds, row } = batch;
      this.batch = { of: batch, root: rootOf(OPERATION.insert, keys, currentWriteIds, row) };
    }
    this.stats[OPERATION.insert] += end - start;
    await this.writeRoot(this.batch.root, start, end);
  }

  /** Rows of the stripe that is being collected, and the memory that it takes. */
  get pending(): { readonly rows: number; readonly bytes: number } {
    return { rows: this.orc.rowsInCurrentStripe, bytes: this.orc.bytesInCurrentStripe };
  }

  /** Takes a stripe of another file of events over as it is. */
  async appendStripe({ stripe, rows, operation, keyText }: StripeOffer): Promise<void> {
    await this.orc.appendStripe(stripe);
    this.stats[operation] += rows;
    this.keyIndex += keyText;
  }

  private async write(
    operation: number,
    keys: RowKeys,
    currentWriteIds: BigInt64Array,
    row: StructVector,
  ): Promise<void> {
    if (keys.length === 0) return;
    this.stats[operation] += keys.length;
    await this.writeRoot(rootOf(operation, keys, currentWriteIds, row), 0, keys.length);
  }

  private async writeRoot(root: StructVector, start: number, end: number): Promise<void> {
    this.writing = root;
    await this.orc.write(root, start, end);
    this.writing = undefined;
    this.lastKey = keyText(root, end - 1);
  }

  async close(): Promise<void> {
    await this.orc.close();
  }

  async abort(): Promise<void> {
    await this.sink.abort();
  }
}

function rootOf(
  operation: number,
  { length, writeIds, buckets, rowIds }: RowKeys,
  currentWriteIds: BigInt64Array,
  row: StructVector,
): StructVector {
  return {
    kind: 'struct',
    length,
    fieldNames: ACID_FIELDS,
    children: [
      { kind: 'int', length, values: new Int32Array(length).fill(operation) },
      { kind: 'long', length, values: writeIds },
      { kind: 'int', length, values: buckets },
      { kind: 'long', length, values: rowIds },
      { kind: 'long', length, values: currentWriteIds },
      row,
    ],
  };
}

/** `writeId,bucket,rowId;` (OrcRecordUpdater.KeyIndexBuilder). */
function keyText(root: StructVector, row: number): string {
  const [, writeId, bucket, rowId] = root.children.map((child) => ('values' in child ? child.values : undefined));
  return `${(writeId as BigInt64Array)[row]},${(bucket as Int32Array)[row]},${(rowId as BigInt64Array)[row]};`;
}
