import { CorruptFileError, type ValidWriteIdList } from '@skep/core';
import type { OrcReader, ReadOptions, Sarg } from '@skep/orc';
import { bucketOf } from '../layout/bucket-property.js';
import { ACID_COLUMN, acidReadOptions, isAcidSchema } from './acid-schema.js';
import { DeleteSet } from './delete-set.js';
import type { Bounds, KeyRange } from './key-runs.js';
import { BatchCursor, type OrcFile } from './orc-file.js';
import { AcidColumns, compareKeys, type RowKeys, structOf } from './row-keys.js';
import type { ScanCounts } from './scan-counts.js';
import type { DeleteFile } from './scan-types.js';
import type { Ask } from './steps.js';
import { isWholeRangeValid, validRows } from './valid-rows.js';

interface Events {
  readonly keys: RowKeys;
  /** 0: of a write that is not valid; undefined: all are. */
  readonly valid: Uint8Array | undefined;
}

/** The bounds of a column in the whole file, by its statistics. */
export function columnBounds(reader: OrcReader, column: keyof typeof ACID_COLUMN): Bounds | undefined {
  const { minimum, maximum } = reader.statistics[ACID_COLUMN[column]]?.intStatistics ?? {};
  return minimum === undefined || maximum === undefined ? undefined : [minimum, maximum];
}

/** What the keys of a file of events lie between, by its statistics. */
export const keyRangeOf = (reader: OrcReader): KeyRange => ({
  writeId: columnBounds(reader, 'originalTransaction'),
  bucket: columnBounds(reader, 'bucket'),
  rowId: columnBounds(reader, 'rowId'),
});

/** An open file of delete events. */
export class DeleteReader {
  private cursor: BatchCursor | undefined;
  /** Events that were read and not yet taken, from `at` on. */
  private pending: (Events & { at: number }) | undefined;
  private last: RowKeys | undefined;
  readonly range: KeyRange;

  constructor(
    readonly file: DeleteFile,
    private readonly orc: OrcFile,
    private readonly writeIds: ValidWriteIdList,
    private readonly counts?: ScanCounts,
  ) {
    const { reader } = orc;
    if (reader !== undefined && !isAcidSchema(reader.schema)) {
      throw new CorruptFileError(file.path, undefined, 'a delete file without ACID columns');
    }
    this.range = reader === undefined ? {} : keyRangeOf(reader);
    for (const property of this.range.bucket ?? []) this.checkBucket(Number(property));
  }

  get rows(): number {
    return this.orc.reader?.numberOfRows ?? 0;
  }

  /** Whether a part of the file can be read: it has more than one row group. */
  get isDivisible(): boolean {
    const stride = this.orc.reader?.rowIndexStride ?? 0;
    return stride > 0 && this.rows > stride;
  }

  /** All valid events, or those of the row groups in which there may be keys within a range. */
  *readAll(range?: KeyRange): Generator<Ask, DeleteSet, unknown> {
    const set = new DeleteSet(range === undefined ? this.rows : 0);
    for (let events = yield* this.next(range); events !== undefined; events = yield* this.next(range)) {
      set.add(events.keys, events.valid);
    }
    return set;
  }

  /** Adds the events from row `first` to row `last` of `keys` that were not taken before, and passes over those before. */
  *takeBetween(
    keys: RowKeys,
    first: number,
    last: number,
    set: DeleteSet,
    range: KeyRange,
  ): Generator<Ask, void, unknown> {
    for (;;) {
      if (this.pending === undefined) {
        const events = yield* this.next(range);
        if (events === undefined) return;
        this.pending = { ...events, at: 0 };
        this.checkOrder(events.keys);
      }
      const { keys: events, valid } = this.pending;
      let start = this.pending.at;
      while (start < events.length && compareKeys(events, start, keys, first) < 0) start++;
      let end = start;
      while (end < events.length && compareKeys(events, end, keys, last) <= 0) end++;
      if (end > start) set.add(sliceKeys(events, start, end), valid?.subarray(start, end));
      if (end < events.length) {
        this.pending.at = end;
        return;
      }
      this.pending = undefined;
    }
  }

  private *next(range: KeyRange | undefined): Generator<Ask, Events | undefined, unknown> {
    const { reader, path } = this.orc;
    if (reader === undefined) return undefined;
    const { writeIdRange } = this.file;
    const isValid = writeIdRange !== undefined && isWholeRangeValid(this.writeIds, ...writeIdRange);
    this.cursor ??= new BatchCursor(reader, this.readOptions(reader, range, !isValid));
    const batch = yield* this.cursor.next();
    if (batch === undefined) return undefined;
    if (this.counts !== undefined) this.counts.deleteEvents += batch.length;
    const columns = new AcidColumns(structOf(batch.root, path), path);
    const keys = columns.keys();
    this.checkBuckets(keys);
    const valid = isValid ? undefined : validRows(this.writeIds, columns.long('currentTransaction'), keys.length);
    return { keys, valid };
  }

  private readOptions({ schema }: OrcReader, range: KeyRange | undefined, needsCurrent: boolean): ReadOptions {
    const columns = [
      'originalTransaction',
      'bucket',
      'rowId',
      ...(needsCurrent ? (['currentTransaction'] as const) : []),
    ] as const;
    const children = range === undefined ? [] : rangeConditions(range);
    return {
      ...acidReadOptions(schema, schema.children[5], { columns: [] }, columns),
      ...(children.length === 0 ? {} : { sarg: { op: 'and', children } }),
    };
  }

  private checkBuckets(keys: RowKeys): void {
    let last = -1;
    for (let i = 0; i < keys.length; i++) {
      if (keys.buckets[i] !== last) this.checkBucket(keys.buckets[i]);
      last = keys.buckets[i];
    }
  }

  /** A delete in another bucket's file would never be found (Hive: DeleteEventRegistry, corruption). */
  private checkBucket(property: number): void {
    const { bucket, path } = this.file;
    if (bucket === undefined || bucketOf(property) === bucket) return;
    const what = `a delete of bucket ${bucketOf(property)} in the file of bucket ${bucket}`;
    throw new CorruptFileError(path, undefined, what);
  }

  /** Walking in step relies on it. */
  private checkOrder(keys: RowKeys): void {
    const { last } = this;
    let isSorted = last === undefined || compareKeys(last, 0, keys, 0) <= 0;
    for (let i = 1; i < keys.length && isSorted; i++) isSorted = compareKeys(keys, i - 1, keys, i) <= 0;
    if (!isSorted)
      throw new CorruptFileError(this.file.path, undefined, 'delete events are not in the order of their ROW__IDs');
    this.last = sliceKeys(keys, keys.length - 1, keys.length);
  }

  close(): void {
    this.orc.close();
  }
}

/** What the key columns of a file of events satisfy where there may be keys of the range. */
export function rangeConditions(range: KeyRange): Sarg[] {
  const between = (column: keyof typeof ACID_COLUMN, bounds: Bounds | undefined): Sarg[] =>
    bounds === undefined ? [] : [{ op: 'between', column: ACID_COLUMN[column], low: bounds[0], high: bounds[1] }];
  return [
    ...between('originalTransaction', range.writeId),
    ...between('bucket', range.bucket),
    ...between('rowId', range.rowId),
  ];
}

export function sliceKeys(keys: RowKeys, start: number, end: number): RowKeys {
  return {
    length: end - start,
    writeIds: keys.writeIds.subarray(start, end),
    buckets: keys.buckets.subarray(start, end),
    rowIds: keys.rowIds.subarray(start, end),
  };
}
