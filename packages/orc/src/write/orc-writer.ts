import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ByteSink } from '@skep/core';
import type { StripeInformation as StripeInfo } from '../file/stripe-layout.js';
import {
  BloomFilterIndex,
  type ColumnStatistics,
  RowIndex,
  Stream_Kind,
  StripeFooter,
  type StripeInformation,
  type StripeStatistics,
} from '../proto/gen/orc_proto.js';
import type { WholeStripe } from '../reader/whole-stripe.js';
import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';
import { flattenColumns, whyNot } from './append-stripe.js';
import type { ColumnWriter, FinishedColumn, FinishedStream } from './columns/column-writer.js';
import { createColumnWriter } from './columns/create-column-writer.js';
import { InvalidWriteError } from './errors.js';
import { compressMessage, fileTail, MAGIC } from './file-metadata.js';
import { FileSink } from './file-sink.js';
import { type OrcWriterOptions, resolveOptions, type WriterSettings } from './options.js';
import { placeStripe } from './stripe-padding.js';

/** Rows that are encoded before the stripe's size is looked at. */
const STEP_ROWS = 4096;
/** Encoded bytes after which the event loop gets a turn. */
const TURN_BYTES = 1 << 24;

/**
 * Writes an ORC file, stripe by stripe (Java: org.apache.orc.impl.WriterImpl). Same input and options, same bytes. An error
 * leaves the writer unusable: call abort().
 *
 *     const writer = new OrcWriter(sink, parseType('struct<a:int,b:string>'), { compression: 'zstd' });
 *     await writer.write(vector);
 *     await writer.close();
 */
export class OrcWriter {
  private readonly settings: WriterSettings;
  private readonly file: FileSink;
  private readonly root: ColumnWriter;
  /** Every column by its id. */
  private readonly columns: readonly ColumnWriter[];
  private readonly userMetadata: Map<string, Uint8Array>;
  private readonly stripes: StripeInformation[] = [];
  private readonly stripeStatistics: StripeStatistics[] = [];
  private readonly hasTimestamps: boolean;
  private rowsInStripe = 0;
  private rowsInGroup = 0;
  private totalRows = 0;
  private targetStripeBytes: number;
  /** Of the largest chunks: those of appended stripes may be larger than our own. */
  private blockBytes: number;
  private bytesAtTurn = 0;
  private lastRoot: ColumnVector | undefined;
  private lastRow = 0;
  private started = false;
  private closed = false;

  constructor(
    private readonly sink: ByteSink,
    readonly schema: TypeDescription,
    private readonly options: OrcWriterOptions = {},
  ) {
    this.settings = resolveOptions(schema, options);
    this.file = new FileSink(sink);
    this.root = createColumnWriter(schema, this.settings);
    this.columns = flattenColumns(this.root);
    this.columns.forEach((column, id) => {
      if (column.type.id !== id) throw new InvalidWriteError(`the schema's column ${id} has id ${column.type.id}`);
    });
    this.hasTimestamps = this.columns.some(
      ({ type }) => type.kind === 'timestamp' || type.kind === 'timestamp_instant',
    );
    this.userMetadata = new Map(options.userMetadata);
    this.targetStripeBytes = this.settings.stripeSizeBytes;
    this.blockBytes = this.settings.blockBytes;
  }

  /** Rows written so far. */
  get numberOfRows(): number {
    return this.totalRows;
  }

  /** Rows of the stripe that is being collected. */
  get rowsInCurrentStripe(): number {
    return this.rowsInStripe;
  }

  /** Memory of the stripe that is being collected. */
  get bytesInCurrentStripe(): number {
    return this.rowsInStripe === 0 ? 0 : this.stripeBytes();
  }

  /** Stripes written so far. */
  get numberOfStripes(): number {
    return this.stripes.length;
  }

  /** Bytes of the file so far, all of them after close(). */
  get bytesWritten(): number {
    return this.file.position;
  }

  /** Appends rows [from, to) of a vector of the schema's type (all rows when absent). It may change afterwards: onStripe alone has it again. */
  async write(root: ColumnVector, from = 0, to = root.length): Promise<void> {
    if (this.closed) throw new InvalidWriteError('the writer is closed');
    const { rowIndexStride } = this.settings;
    for (let at = from; at < to; ) {
      let rows = Math.min(STEP_ROWS, to - at);
      if (rowIndexStride > 0) {
        if (this.rowsInGroup === 0) for (const column of this.columns) column.startRowGroup();
        rows = Math.min(rows, rowIndexStride - this.rowsInGroup);
      }
      this.root.write(root, at, rows);
      at += rows;
      this.rowsInStripe += rows;
      this.rowsInGroup += rows;
      this.totalRows += rows;
      this.lastRoot = root;
      this.lastRow = at - 1;
      if (rowIndexStride > 0 && this.rowsInGroup === rowIndexStride) this.endRowGroup();
      let bytes = this.stripeBytes();
      if (bytes >= this.targetStripeBytes && this.settings.later !== undefined) {
        // Chunks on their way count as if nothing could be compressed.
        await this.settings.later.settle();
        bytes = this.stripeBytes();
      }
      if (bytes >= this.targetStripeBytes) await this.flushStripe();
      await this.settings.later?.bound();
      await this.letBuffersGo(bytes);
    }
  }

  /** An entry of the footer; a name given again replaces. */
  addUserMetadata(name: string, value: Uint8Array): void {
    if (this.closed) throw new InvalidWriteError('the writer is closed');
    this.userMetadata.set(name, value);
  }

  /**
   * Appends a stripe of another file as it is, without decoding it (Java: OrcFile.mergeFiles; append-stripe.ts says when it can be
   * done); rows written before are in a stripe of their own. One that this file cannot hold is an InvalidWriteError that says
   * why, and leaves the writer as it was: appendableStripes asks beforehand. onStripe is not called.
   */
  async appendStripe(stripe: WholeStripe): Promise<void> {
    if (this.closed) throw new InvalidWriteError('the writer is closed');
    const why = whyNot(stripe, this.schema, this.settings, this.columns);
    if (why !== undefined) throw new InvalidWriteError(`a stripe cannot be appended: ${why}`);
    const { statistics = [], tail } = stripe;
    const { indexLength, dataLength, footerLength, numberOfRows } = stripe.information;
    await this.flushStripe();
    await this.start();
    await this.beginStripe({ indexLength, dataLength, footerLength }, numberOfRows);
    for await (const bytes of stripe.bytes()) await this.file.write([bytes]);
    await this.file.flush();
    this.columns.forEach((column, id) => {
      column.addStatistics(statistics[id]);
    });
    this.stripeStatistics.push({ colStats: [...statistics] });
    this.totalRows += numberOfRows;
    this.blockBytes = Math.max(this.blockBytes, tail.blockSize);
  }

  /** Ends the stripe here, whatever its size. */
  async flushStripe(): Promise<void> {
    if (this.rowsInStripe === 0) return;
    if (this.rowsInGroup > 0) this.endRowGroup();
    if (this.lastRoot !== undefined) {
      this.options.onStripe?.({
        stripe: this.stripes.length,
        rows: this.rowsInStripe,
        totalRows: this.totalRows,
        root: this.lastRoot,
        lastRow: this.lastRow,
      });
    }
    for (const column of this.columns) column.endStripe();
    await this.settings.later?.settle();
    const finished = this.columns.map((column) => column.finishStripe());
    await this.writeStripe(finished);
    this.rowsInStripe = 0;
  }

  /** Writes what is left, the footer, and closes the sink. */
  async close(): Promise<void> {
    if (this.closed) return;
    await this.flushStripe();
    await this.start();
    this.options.beforeFooter?.();
    this.closed = true;
    const tail = fileTail(
      {
        schema: this.schema,
        contentLength: this.file.position,
        stripes: this.stripes,
        stripeStatistics: this.stripeStatistics,
        statistics: this.columns.map((column) => column.finalStatistics()),
        userMetadata: this.userMetadata,
        numberOfRows: BigInt(this.totalRows),
        blockBytes: this.blockBytes,
      },
      this.settings,
    );
    await this.file.write(tail);
    await this.file.flush();
    await this.sink.close();
  }

  /** Gives the file up. */
  async abort(): Promise<void> {
    this.closed = true;
    await this.sink.abort();
  }

  /** Buffers of native codecs are freed by the event loop, which a sink in memory would never let run. */
  private async letBuffersGo(stripeBytes: number): Promise<void> {
    if (Math.abs(stripeBytes - this.bytesAtTurn) < TURN_BYTES) return;
    this.bytesAtTurn = stripeBytes;
    await nextTurn();
  }

  private endRowGroup(): void {
    for (const column of this.columns) column.endRowGroup();
    this.rowsInGroup = 0;
  }

  private stripeBytes(): number {
    return this.columns.reduce((sum, column) => sum + column.sizeBytes, 0);
  }

  private async start(): Promise<void> {
    if (this.started) return;
    this.started = true;
    await this.file.write([MAGIC.slice()]);
  }

  private async writeStripe(columns: readonly FinishedColumn[]): Promise<void> {
    await this.start();
    const index = columns.flatMap((column, id) => this.indexStreams(column, id));
    const data = columns.flatMap((column) => column.streams);
    const footer = compressMessage(
      StripeFooter.encode({
        streams: [...index, ...data].map(({ kind, column, lengthBytes }) => ({
          kind,
          column,
          length: BigInt(lengthBytes),
        })),
        columns: columns.map((column) => column.encoding),
        writerTimezone: this.hasTimestamps ? this.settings.writerTimezone : undefined,
        encryption: [],
      }).finish(),
      this.settings,
    );
    const indexLength = totalBytes(index);
    const dataLength = totalBytes(data);
    await this.beginStripe({ indexLength, dataLength, footerLength: footer.lengthBytes }, this.rowsInStripe);
    this.stripeStatistics.push({ colStats: columns.map((column): ColumnStatistics => column.statistics) });
    for (const stream of [...index, ...data]) await this.file.write(stream.parts);
    await this.file.write(footer.parts);
    await this.file.flush();
  }

  /** Puts a stripe of these lengths into the list, and its file to where it begins. */
  private async beginStripe(lengths: StripeLengths, rows: number): Promise<void> {
    const { indexLength, dataLength, footerLength } = lengths;
    const bytes = indexLength + dataLength + footerLength;
    const place = placeStripe(this.file.position, bytes, this.targetStripeBytes, this.settings);
    this.targetStripeBytes = place.nextStripeBytes;
    if (place.paddingBytes > 0) await this.file.write([new Uint8Array(place.paddingBytes)]);
    this.stripes.push({
      offset: BigInt(this.file.position),
      indexLength: BigInt(indexLength),
      dataLength: BigInt(dataLength),
      footerLength: BigInt(footerLength),
      numberOfRows: BigInt(rows),
      encryptedLocalKeys: [],
    });
  }

  private indexStreams({ entries, bloomFilters }: FinishedColumn, column: number): FinishedStream[] {
    if (this.settings.rowIndexStride === 0) return [];
    const stream = (kind: Stream_Kind, message: Uint8Array) => ({
      kind,
      column,
      ...compressMessage(message, this.settings),
    });
    const streams = [stream(Stream_Kind.ROW_INDEX, RowIndex.encode({ entry: [...entries] }).finish())];
    if (bloomFilters.length > 0) {
      const message = BloomFilterIndex.encode({ bloomFilter: [...bloomFilters] }).finish();
      streams.push(stream(Stream_Kind.BLOOM_FILTER_UTF8, message));
    }
    return streams;
  }
}

type StripeLengths = Pick<StripeInfo, 'indexLength' | 'dataLength' | 'footerLength'>;

function totalBytes(streams: readonly FinishedStream[]): number {
  return streams.reduce((sum, stream) => sum + stream.lengthBytes, 0);
}
