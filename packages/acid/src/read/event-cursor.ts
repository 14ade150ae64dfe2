import { CorruptFileError, type ValidWriteIdList } from '@skep/core';
import type { StructVector, TypeDescription } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { acidReadOptions, isAcidSchema, OPERATION, type Projection, plainReadOptions } from './acid-schema.js';
import { BatchCursor, type OrcFile, openOrcFile } from './orc-file.js';
import { AcidColumns, compareKeys, consecutiveKeys, type RowKeys, structOf } from './row-keys.js';
import type { EventFile, SyntheticRowIds } from './scan-types.js';
import type { Ask } from './steps.js';
import { validRows } from './valid-rows.js';

/** Consecutive events of one file. */
export interface EventBatch {
  readonly path: string;
  readonly keys: RowKeys;
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
}

/** The events of one file in order of their keys, one batch in memory. */
export class EventCursor {
  batch: EventBatch | undefined;
  /** The next event of `batch`. */
  at = 0;
  private cursor: BatchCursor | undefined;
  private last: { keys: RowKeys; at: number } | undefined;

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
    yield* cursor.load();
    return cursor;
  }

  /** Moves to event `at` of the batch, or to the next batch; `batch` is undefined at the end. */
  *advanceTo(at: number): Generator<Ask, void, unknown> {
    this.at = at;
    if (this.batch !== undefined && at >= this.batch.keys.length) yield* this.load();
  }

  close(): void {
    this.orc.close();
  }

  private *load(): Generator<Ask, void, unknown> {
    const { reader, path } = this.orc;
    this.at = 0;
    if (reader === undefined) {
      this.batch = undefined;
      return;
    }
    const { schema, projection, writeIds } = this.options;
    const isAcid = isAcidSchema(reader.schema) && this.source.rowIds === undefined;
    this.cursor ??= new BatchCursor(
      reader,
      isAcid
        ? acidReadOptions(reader.schema, schema, projection, [
            'operation',
            'originalTransaction',
            'bucket',
            'rowId',
            'currentTransaction',
          ])
        : plainReadOptions(reader.schema, schema, projection),
    );
    let next = yield* this.cursor.next();
    while (next !== undefined && next.length === 0) next = yield* this.cursor.next();
    if (next === undefined) {
      this.batch = undefined;
      return;
    }
    const root = structOf(next.root, path);
    const { statementId } = this.source;
    if (isAcid) {
      const columns = new AcidColumns(root, path);
      const currentWriteIds = columns.long('currentTransaction');
      const keys = columns.keys();
      const valid = validRows(writeIds, currentWriteIds, keys.length);
      const operations = columns.int('operation');
      this.batch = { path, keys, operations, currentWriteIds, statementId, valid, row: columns.row() };
    } else {
      const keys = syntheticKeys(this.source, this.rowsBefore + next.rowNumber, next.length, path);
      const valid = keys.writeIds[0] === 0n ? undefined : validRows(writeIds, keys.writeIds, keys.length);
      const operations = new Int32Array(next.length).fill(OPERATION.insert);
      this.batch = { path, keys, operations, currentWriteIds: keys.writeIds, statementId, valid, row: root };
    }
    this.checkOrder(this.batch);
  }

  /** Merging relies on it (bug-reports B49). Events of one key may follow each other, the newest first. */
  private checkOrder({ keys, path }: EventBatch): void {
    let isSorted = this.last === undefined || compareKeys(this.last.keys, this.last.at, keys, 0) <= 0;
    for (let i = 1; i < keys.length && isSorted; i++) isSorted = compareKeys(keys, i - 1, keys, i) <= 0;
    if (!isSorted) throw new CorruptFileError(path, undefined, 'events are not in the order of their ROW__IDs');
    this.last = { keys, at: keys.length - 1 };
  }
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
