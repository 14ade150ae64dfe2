import { CorruptFileError } from '@skep/core';
import { type BooleanVector, filterVector, type StructVector } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { ACID_COLUMN, acidReadOptions, isAcidSchema, OPERATION, plainReadOptions } from './acid-schema.js';
import { DEFAULT_DELETE_EVENTS_IN_MEMORY, type Deletes, openDeletes } from './deletes.js';
import { countRowsBefore, syntheticKeys } from './event-cursor.js';
import { EventGatherer } from './gather.js';
import { type EventRun, mergeEvents, runsWithout } from './merge-events.js';
import { BatchCursor, openOrcFile } from './orc-file.js';
import { AcidColumns, type RowKeys, structOf } from './row-keys.js';
import type { AcidBatch, AcidSplit, RowIdVectors, ScanOptions } from './scan-types.js';
import { mapSteps, runAsync, runSync, type Steps } from './steps.js';
import { isWholeRangeValid, validRows } from './valid-rows.js';

const DEFAULT_BATCH_ROWS = 8192;

/** The visible rows of a split, as the store delivers them. */
export function scanSplit(fs: FileSystem, split: AcidSplit, options: ScanOptions): AsyncGenerator<AcidBatch> {
  return runAsync(scanSteps(fs, split, options));
}

/** The same without waiting, for file systems that answer at once (local, memory): a query engine's callbacks cannot wait. */
export function scanSplitSync(fs: FileSystem, split: AcidSplit, options: ScanOptions): Generator<AcidBatch> {
  return runSync(scanSteps(fs, split, options));
}

function scanSteps(fs: FileSystem, split: AcidSplit, options: ScanOptions): Steps<AcidBatch> {
  switch (split.kind) {
    case 'plain':
      return scanPlain(fs, split, options);
    case 'original':
      return scanOriginal(fs, split, options);
    case 'acid':
      return scanAcid(fs, split, options);
    case 'events':
      return scanEvents(fs, split, options);
  }
}

type SplitOf<K extends AcidSplit['kind']> = Extract<AcidSplit, { kind: K }>;

/** Files of insert-only tables: their folders decide, not their rows. */
function* scanPlain(fs: FileSystem, split: SplitOf<'plain'>, options: ScanOptions): Steps<AcidBatch> {
  const orc = yield* openOrcFile(fs, split.file);
  try {
    if (orc.reader === undefined) return;
    const cursor = new BatchCursor(orc.reader, plainReadOptions(orc.reader.schema, options.schema, options));
    for (let batch = yield* cursor.next(); batch !== undefined; batch = yield* cursor.next()) {
      const root = orderColumns(structOf(batch.root, orc.path), options);
      yield { length: batch.length, root, ...(options.includeDeleted ? { isDeleted: noneDeleted(batch.length) } : {}) };
    }
  } finally {
    orc.close();
  }
}

function* scanOriginal(fs: FileSystem, split: SplitOf<'original'>, options: ScanOptions): Steps<AcidBatch> {
  const needsKeys = options.rowIds || split.deletes.length > 0;
  const rowsBefore = needsKeys ? yield* countRowsBefore(fs, split.rowIds) : 0;
  const orc = yield* openOrcFile(fs, split.file);
  let deletes: Deletes | undefined;
  try {
    const { reader } = orc;
    if (reader === undefined) return;
    if (isAcidSchema(reader.schema)) {
      throw new CorruptFileError(orc.path, undefined, 'an ACID file under the name of a plain one');
    }
    const { writeId } = split.rowIds;
    // Write id 0 are the rows from before the table was transactional.
    if (writeId !== 0n && !options.writeIds.isWriteIdValid(writeId)) return;
    deletes = yield* openDeletes(fs, split.deletes, deletesOptions(options, [writeId, writeId]));
    const cursor = new BatchCursor(reader, plainReadOptions(reader.schema, options.schema, options));
    for (let batch = yield* cursor.next(); batch !== undefined; batch = yield* cursor.next()) {
      const root = orderColumns(structOf(batch.root, orc.path), options);
      const keys = needsKeys ? syntheticKeys(split, rowsBefore + batch.rowNumber, batch.length, orc.path) : undefined;
      const deleted = new Uint8Array(batch.length);
      if (keys !== undefined) yield* deletes.mark(keys, deleted);
      yield* visibleRows(root, keys, undefined, deleted, options);
    }
  } finally {
    deletes?.close();
    orc.close();
  }
}

function* scanAcid(fs: FileSystem, split: SplitOf<'acid'>, options: ScanOptions): Steps<AcidBatch> {
  const orc = yield* openOrcFile(fs, split.file);
  let deletes: Deletes | undefined;
  try {
    const { reader } = orc;
    if (reader === undefined) return;
    if (!isAcidSchema(reader.schema)) {
      throw new CorruptFileError(orc.path, undefined, 'a plain file under the name of an ACID one');
    }
    const statistics = reader.statistics[ACID_COLUMN.originalTransaction]?.intStatistics;
    const known = statistics?.minimum !== undefined && statistics.maximum !== undefined;
    const range = known ? ([statistics.minimum, statistics.maximum] as [bigint, bigint]) : split.writeIdRange;
    deletes = yield* openDeletes(fs, split.deletes, deletesOptions(options, range));
    const needsKeys = options.rowIds || split.deletes.length > 0;
    // A base holds only what was valid when it was made; a delta whose ids are all valid need not be looked at either.
    const needsCurrent =
      split.writeIdRange !== undefined && !isWholeRangeValid(options.writeIds, ...split.writeIdRange);
    const own = [
      ...(needsKeys ? (['originalTransaction', 'bucket', 'rowId'] as const) : []),
      ...(needsCurrent ? (['currentTransaction'] as const) : []),
    ];
    const cursor = new BatchCursor(reader, acidReadOptions(reader.schema, options.schema, options, own));
    for (let batch = yield* cursor.next(); batch !== undefined; batch = yield* cursor.next()) {
      const columns = new AcidColumns(structOf(batch.root, orc.path), orc.path);
      const valid = needsCurrent
        ? validRows(options.writeIds, columns.long('currentTransaction'), batch.length)
        : undefined;
      const keys = needsKeys ? columns.keys() : undefined;
      const deleted = new Uint8Array(batch.length);
      if (keys !== undefined) yield* deletes.mark(keys, deleted);
      yield* visibleRows(orderColumns(columns.row(), options), keys, valid, deleted, options);
    }
  } finally {
    deletes?.close();
    orc.close();
  }
}

/** ACID version 1: updates and deletes are events among the inserts, the newest of a key counts. */
function* scanEvents(fs: FileSystem, split: SplitOf<'events'>, options: ScanOptions): Steps<AcidBatch> {
  const { schema, writeIds, columns, batchSize } = options;
  // No search argument: the newest event of a key must be seen even where only an older one satisfies it.
  const projection = { columns, batchSize };
  const gatherer = new EventGatherer(batchSize ?? DEFAULT_BATCH_ROWS);
  const merged = mergeEvents(fs, split.files, { schema, writeIds, projection, keep: 'newest' });
  yield* mapSteps(merged, function* (run): Steps<AcidBatch> {
    for (const live of runsWithout(run, OPERATION.delete)) {
      for (let rest: EventRun | undefined = live; rest !== undefined; ) {
        rest = gatherer.add(rest);
        if (gatherer.isFull) yield* flush(gatherer, options);
      }
    }
  });
  yield* flush(gatherer, options);
}

function* flush(gatherer: EventGatherer, options: ScanOptions): Generator<AcidBatch, void, unknown> {
  if (gatherer.length === 0) return;
  const { keys, row } = gatherer.take();
  yield* visibleRows(orderColumns(row, options), keys, undefined, new Uint8Array(keys.length), options);
}

function deletesOptions(options: ScanOptions, writeIdRange: readonly [bigint, bigint] | undefined) {
  return {
    writeIds: options.writeIds,
    writeIdRange,
    maxInMemory: options.deleteEventsInMemory ?? DEFAULT_DELETE_EVENTS_IN_MEMORY,
    cache: options.deleteCache,
  };
}

/** The reader answers columns in the file's order; the caller asked in its own. */
function orderColumns(root: StructVector, { columns, schema }: ScanOptions): StructVector {
  const wanted = columns ?? [...schema.children.keys()];
  const inFileOrder = [...new Set(wanted)].sort((a, b) => a - b);
  return {
    ...root,
    fieldNames: wanted.map((column) => schema.fieldNames[column]),
    children: wanted.map((column) => root.children[inFileOrder.indexOf(column)]),
  };
}

/** What is left of a batch without invisible and deleted rows; nothing where no row is left. */
function* visibleRows(
  root: StructVector,
  keys: RowKeys | undefined,
  valid: Uint8Array | undefined,
  deleted: Uint8Array,
  options: ScanOptions,
): Generator<AcidBatch, void, unknown> {
  const { length } = deleted;
  const selection = new Int32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (valid !== undefined && valid[row] === 0) continue;
    if (deleted[row] !== 0 && !options.includeDeleted) continue;
    selection[count++] = row;
  }
  if (count === 0) return;
  const isWhole = count === length;
  const picked = selection.subarray(0, count);
  yield {
    length: count,
    root: isWhole ? root : pickRows(root, picked),
    ...(options.rowIds && keys !== undefined ? { rowIds: rowIdVectors(isWhole ? keys : pickKeys(keys, picked)) } : {}),
    ...(options.includeDeleted ? { isDeleted: flagVector(isWhole ? deleted : pickFlags(deleted, picked)) } : {}),
  };
}

function pickRows(root: StructVector, selection: Int32Array): StructVector {
  if (root.children.length === 0) return { ...root, length: selection.length };
  return filterVector(root, selection) as StructVector;
}

function pickKeys(keys: RowKeys, selection: Int32Array): RowKeys {
  const { length } = selection;
  const writeIds = new BigInt64Array(length);
  const buckets = new Int32Array(length);
  const rowIds = new BigInt64Array(length);
  for (let i = 0; i < length; i++) {
    writeIds[i] = keys.writeIds[selection[i]];
    buckets[i] = keys.buckets[selection[i]];
    rowIds[i] = keys.rowIds[selection[i]];
  }
  return { length, writeIds, buckets, rowIds };
}

function pickFlags(flags: Uint8Array, selection: Int32Array): Uint8Array {
  return Uint8Array.from(selection, (row) => flags[row]);
}

function rowIdVectors({ length, writeIds, buckets, rowIds }: RowKeys): RowIdVectors {
  return {
    writeId: { kind: 'long', length, values: writeIds },
    bucket: { kind: 'int', length, values: buckets },
    rowId: { kind: 'long', length, values: rowIds },
  };
}

function flagVector(values: Uint8Array): BooleanVector {
  return { kind: 'boolean', length: values.length, values };
}

function noneDeleted(length: number): BooleanVector {
  return flagVector(new Uint8Array(length));
}
