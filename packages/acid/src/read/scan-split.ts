import { CorruptFileError } from '@skep/core';
import type { OrcBatch, StructVector } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import { acidReadOptions, isAcidSchema, OPERATION, plainReadOptions } from './acid-schema.js';
import { keyRangeOf } from './delete-reader.js';
import { countRowsBefore } from './event-cursor.js';
import { EventGatherer } from './gather.js';
import { consecutiveRun, keyRuns } from './key-runs.js';
import { type EventRun, mergeEvents, runsWithout } from './merge-events.js';
import { type Numbering, numberingOf, rangeOfNumbering } from './numbering.js';
import { BatchCursor, openOrcFile } from './orc-file.js';
import { AcidColumns, consecutiveKeys, structOf } from './row-keys.js';
import type { AcidBatch, AcidSplit, ScanOptions } from './scan-types.js';
import { mapSteps, runAsync, runSync, type Steps } from './steps.js';
import { isWholeRangeValid, validRows } from './valid-rows.js';
import { noneDeleted, type ReadRows, Scratch, visibleRows } from './visible-rows.js';
import { withoutDeleted } from './without-deleted.js';

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
  const rowsBefore = BigInt(needsKeys ? yield* countRowsBefore(fs, split.rowIds) : 0);
  const orc = yield* openOrcFile(fs, split.file);
  try {
    const { reader } = orc;
    if (reader === undefined) return;
    if (isAcidSchema(reader.schema)) {
      throw new CorruptFileError(orc.path, undefined, 'an ACID file under the name of a plain one');
    }
    const { writeId, bucket } = split.rowIds;
    // Write id 0 are the rows from before the table was transactional.
    if (writeId !== 0n && !options.writeIds.isWriteIdValid(writeId)) return;
    const numbering = { writeId, bucket, first: rowsBefore };
    const cursor = new BatchCursor(reader, plainReadOptions(reader.schema, options.schema, options));
    const range = rangeOfNumbering(numbering, reader.numberOfRows);
    yield* withoutDeleted(fs, split.deletes, range, options, function* () {
      const batch = yield* cursor.next();
      if (batch === undefined) return undefined;
      const root = orderColumns(structOf(batch.root, orc.path), options);
      return { length: batch.length, root, valid: undefined, ...numbered(numbering, batch, needsKeys, options) };
    });
  } finally {
    orc.close();
  }
}

function* scanAcid(fs: FileSystem, split: SplitOf<'acid'>, options: ScanOptions): Steps<AcidBatch> {
  const orc = yield* openOrcFile(fs, split.file);
  try {
    const { reader } = orc;
    if (reader === undefined) return;
    if (!isAcidSchema(reader.schema)) {
      throw new CorruptFileError(orc.path, undefined, 'a plain file under the name of an ACID one');
    }
    const needsKeys = options.rowIds || split.deletes.length > 0;
    const numbering = needsKeys ? numberingOf(reader) : undefined;
    // A base holds only what was valid when it was made; a delta whose ids are all valid need not be looked at either.
    const needsCurrent =
      split.writeIdRange !== undefined && !isWholeRangeValid(options.writeIds, ...split.writeIdRange);
    const own = [
      ...(needsKeys && numbering === undefined ? (['originalTransaction', 'bucket', 'rowId'] as const) : []),
      ...(needsCurrent ? (['currentTransaction'] as const) : []),
    ];
    const cursor = new BatchCursor(reader, acidReadOptions(reader.schema, options.schema, options, own));
    const statistics = keyRangeOf(reader);
    const range = { ...statistics, writeId: statistics.writeId ?? split.writeIdRange };
    yield* withoutDeleted(fs, split.deletes, range, options, function* () {
      const batch = yield* cursor.next();
      if (batch === undefined) return undefined;
      const columns = new AcidColumns(structOf(batch.root, orc.path), orc.path);
      const valid = needsCurrent
        ? validRows(options.writeIds, columns.long('currentTransaction'), batch.length)
        : undefined;
      const rows = { length: batch.length, root: orderColumns(columns.row(), options), valid };
      if (numbering !== undefined) return { ...rows, ...numbered(numbering, batch, needsKeys, options) };
      const keys = needsKeys ? columns.keys() : undefined;
      return { ...rows, keys, runs: keys === undefined || split.deletes.length === 0 ? [] : keyRuns(keys) };
    });
  } finally {
    orc.close();
  }
}

/** Keys of rows that are numbered through, the file's first row with `first`. */
function numbered(
  { writeId, bucket, first }: Numbering,
  { rowNumber, length }: OrcBatch,
  needsKeys: boolean,
  options: ScanOptions,
): Pick<ReadRows, 'keys' | 'runs'> {
  if (!needsKeys) return { keys: undefined, runs: [] };
  const firstRowId = first + BigInt(rowNumber);
  return {
    keys: options.rowIds ? consecutiveKeys(length, writeId, bucket, firstRowId) : undefined,
    runs: consecutiveRun(length, writeId, bucket, firstRowId),
  };
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
  const rows = { length: keys.length, root: orderColumns(row, options), valid: undefined, keys, runs: [] };
  yield* visibleRows(rows, new Uint8Array(0), options, new Scratch());
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
