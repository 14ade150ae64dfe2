import { CorruptFileError, type ValidWriteIdList } from '@skep/core';
import type { OrcBatch, OrcReader, ReadOptions, StructVector, TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { acidReadOptions, isAcidSchema, OPERATION, type Projection, plainReadOptions } from './acid-schema.js';
import { ascent, compareOrdered, HeadKey, type OrderedKeys, orderedKeys } from './key-runs.js';
import { BatchCursor, type OrcFile, openOrcFile } from './orc-file.js';
import { AcidColumns, consecutiveKeys, type RowKeys, structOf } from './row-keys.js';
import type { EventFile, SyntheticRowIds } from './scan-types.js';
import { type Ask, ask, MustWaitError } from './steps.js';
import { offersOf, type StripeOffer, type StripeTerms } from './stripe-offer.js';
import { validRows } from './valid-rows.js';

/** Consecutive events of one file. */
export interface EventBatch {
  readonly path: string;
  readonly keys: OrderedKeys;
  /** No key is twice in the batch. */
  readonly isStrict: boolean;
  /** All are deletes. */
  readonly isDeletes: boolean;
  readonly operations: Int32Array;
  readonly currentWriteIds: BigInt64Array;
  readonly statementId: number;
  /** 0: an event of a write that is not valid; undefined: all are. */
  readonly valid: Uint8Array | undefined;
  /** User columns; of delete events unspecified. */
  readonly row: StructVector;
}

export interface EventCursorOptions {
  /** The table's columns. */
  readonly schema: TypeDescription;
  readonly projection: Projection;
  readonly writeIds: ValidWriteIdList;
  /** Stripes to be offered as they are; absent: none. */
  readonly stripes?: StripeTerms | undefined;
}

/** Stripes that are read together, all of the file when `range` is absent; or one that is offered. */
interface Segment {
  readonly range?: { readonly first: number; readonly end: number };
  readonly offer?: StripeOffer;
}

/**
 * The events of one file in order of their keys, one batch in memory. A stripe that is offered comes as `offer`, in the place of a
 * batch, and is then read or skipped.
 */
export class EventCursor {
  batch: EventBatch | undefined;
  offer: StripeOffer | undefined;
  /** What `at` is a place in: keys of the batch, or one that is not above those of the offered stripe. Undefined at the end. */
  keys: OrderedKeys | undefined;
  /** The next event of `batch`. */
  at = 0;
  /** Its key. */
  readonly head = new HeadKey();
  private cursor: BatchCursor | undefined;
  private segments: Segment[] = [{}];
  private last: { keys: OrderedKeys; at: number } | undefined;

  private constructor(
    private readonly source: EventFile,
    private readonly orc: OrcFile,
    private readonly rowsBefore: number,
    private readonly options: EventCursorOptions,
  ) {}

  static *open(fs: FileSystem, source: EventFile, options: EventCursorOptions): Generator<Ask, EventCursor, unknown> {
    const rowsBefore = source.rowIds === undefined ? 0 : yield* countRowsBefore(fs, source.rowIds);
    const orc = yield* openOrcFile(fs, source.file);
    const cursor = new EventCursor(source, orc, rowsBefore, options);
    yield* cursor.findOffers();
    yield* cursor.load();
    return cursor;
  }

  /** How many events the file has, valid or not; undefined where stripes of it are offered. */
  get eventCount(): number | undefined {
    if (this.offer !== undefined || this.segments.some(({ offer }) => offer !== undefined)) return undefined;
    return this.orc.reader?.numberOfRows ?? 0;
  }

  /** Moves to event `at` of the batch, or to the next batch or offer. */
  *advanceTo(at: number): Generator<Ask, void, unknown> {
    this.at = at;
    const { batch } = this;
    if (batch === undefined) return;
    if (at < batch.keys.length) this.head.set(batch.keys, at);
    else yield* this.load();
  }

  /** Reads the stripe that is offered. */
  *readOffer({ stripe }: StripeOffer): Generator<Ask, void, unknown> {
    this.segments.unshift({ range: { first: stripe.number, end: stripe.number + 1 } });
    yield* this.load();
  }

  /** Goes on behind the stripe that is offered. */
  *skipOffer({ last }: StripeOffer): Generator<Ask, void, unknown> {
    this.last = { keys: last, at: 0 };
    yield* this.load();
  }

  close(): void {
    this.orc.close();
  }

  private *findOffers(): Generator<Ask, void, unknown> {
    const { reader, path } = this.orc;
    const { stripes: terms, writeIds } = this.options;
    if (terms === undefined || reader === undefined || !this.isAcid(reader)) return;
    const offers = yield* ask(
      (): readonly (StripeOffer | undefined)[] => {
        throw new MustWaitError(path);
      },
      () => offersOf(reader, writeIds, terms),
    );
    if (offers.every((offer) => offer === undefined)) return;
    this.segments = [];
    for (const [number, offer] of offers.entries()) {
      const before = this.segments.at(-1)?.range;
      if (offer !== undefined) this.segments.push({ offer });
      else if (before === undefined) this.segments.push({ range: { first: number, end: number + 1 } });
      else this.segments[this.segments.length - 1] = { range: { first: before.first, end: number + 1 } };
    }
  }

  private isAcid(reader: OrcReader): boolean {
    return isAcidSchema(reader.schema) && this.source.rowIds === undefined;
  }

  /** The next batch that is not empty, or offer. */
  private *load(): Generator<Ask, void, unknown> {
    this.at = 0;
    this.batch = undefined;
    this.offer = undefined;
    const { batch, offer } = yield* this.next();
    this.batch = batch;
    this.offer = offer;
    this.keys = batch?.keys ?? offer?.first;
    if (this.keys !== undefined) this.head.set(this.keys, 0);
  }

  private *next(): Generator<Ask, Pick<EventCursor, 'batch' | 'offer'>, unknown> {
    const { reader } = this.orc;
    while (reader !== undefined) {
      if (this.cursor === undefined) {
        const segment = this.segments.shift();
        if (segment === undefined) break;
        if (segment.offer !== undefined) return { batch: undefined, offer: segment.offer };
        this.cursor = new BatchCursor(reader, { ...this.readOptions(reader), stripeRange: segment.range });
      }
      const next = yield* this.cursor.next();
      if (next === undefined) this.cursor = undefined;
      else if (next.length > 0) return { batch: this.batchOf(reader, next), offer: undefined };
    }
    return { batch: undefined, offer: undefined };
  }

  private readOptions(reader: OrcReader): ReadOptions {
    const { schema, projection } = this.options;
    return this.isAcid(reader)
      ? acidReadOptions(reader.schema, schema, projection, [
          'operation',
          'originalTransaction',
          'bucket',
          'rowId',
          'currentTransaction',
        ])
      : plainReadOptions(reader.schema, schema, projection);
  }

  private batchOf(reader: OrcReader, next: OrcBatch): EventBatch {
    const { path } = this.orc;
    const { writeIds } = this.options;
    const root = structOf(next.root, path);
    const { statementId } = this.source;
    if (this.isAcid(reader)) {
      const columns = new AcidColumns(root, path);
      const currentWriteIds = columns.long('currentTransaction');
      const keys = orderedKeys(columns.keys());
      const valid = validRows(writeIds, currentWriteIds, keys.length);
      const operations = columns.int('operation');
      const isDeletes = isAll(operations, OPERATION.delete);
      const isStrict = this.checkOrder(keys);
      return { path, keys, isStrict, isDeletes, operations, currentWriteIds, statementId, valid, row: columns.row() };
    }
    const keys = orderedKeys(syntheticKeys(this.source, this.rowsBefore + next.rowNumber, next.length, path));
    const valid = keys.writeIds[0] === 0n ? undefined : validRows(writeIds, keys.writeIds, keys.length);
    const operations = new Int32Array(next.length).fill(OPERATION.insert);
    const currentWriteIds = keys.writeIds;
    return { path, keys, isStrict: true, isDeletes: false, operations, currentWriteIds, statementId, valid, row: root };
  }

  /** Merging relies on it (bug-reports B49). Events of one key may follow each other, the newest first: whether none do. */
  private checkOrder(keys: OrderedKeys): boolean {
    const isBehindLast = this.last === undefined || compareOrdered(this.last.keys, this.last.at, keys, 0) <= 0;
    const order = ascent(keys);
    if (order < 0 || !isBehindLast) {
      throw new CorruptFileError(this.orc.path, undefined, 'events are not in the order of their ROW__IDs');
    }
    this.last = { keys, at: keys.length - 1 };
    return order === 1;
  }
}

function isAll(operations: Int32Array, operation: number): boolean {
  for (let i = 0; i < operations.length; i++) if (operations[i] !== operation) return false;
  return true;
}

/** Rows of a plain file get their ROW__IDs from where they are. */
export function syntheticKeys(
  { rowIds }: { rowIds?: SyntheticRowIds | undefined },
  firstRow: number,
  length: number,
  path: string,
): RowKeys {
  if (rowIds === undefined) throw new CorruptFileError(path, undefined, 'a file of events without ACID columns');
  return consecutiveKeys(length, rowIds.writeId, rowIds.bucket, BigInt(firstRow));
}

/** Rows of the files of the logical bucket that come before. */
export function* countRowsBefore(fs: FileSystem, rowIds: SyntheticRowIds): Generator<Ask, number, unknown> {
  let rows = 0;
  for (const file of rowIds.filesBefore) {
    const orc = yield* openOrcFile(fs, file);
    rows += orc.reader?.numberOfRows ?? 0;
    orc.close();
  }
  return rows;
}
