import { CorruptFileError } from '@skep/core';
import type { OrcBatch, ReadOptions } from '@skep/orc';
import type { FileSystem } from '@skep/storage';
import type { DataFile } from '../state/acid-directory.js';
import { acidReadOptions, isAcidSchema, plainReadOptions } from './acid-schema.js';
import { sizedFor } from './batch-rows.js';
import { keyRangeOf, rangeConditions } from './delete-reader.js';
import { countRowsBefore } from './event-cursor.js';
import { consecutiveRun, type KeyRange, keyRuns, mayOverlap } from './key-runs.js';
import { type Numbering, numberingOf, rangeOfNumbering } from './numbering.js';
import { BatchCursor, type OrcFile, openOrcFile } from './orc-file.js';
import { AcidColumns, consecutiveKeys, structOf } from './row-keys.js';
import { scanEvents } from './scan-events.js';
import type { AcidBatch, AcidSplit, ScanOptions } from './scan-types.js';
import { type Ask, runAsync, runSync, type Steps } from './steps.js';
import { isWholeRangeValid, validRows } from './valid-rows.js';
import { noneDeleted, orderColumns, type ReadRows } from './visible-rows.js';
import { withoutDeleted } from './without-deleted.js';

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

/** A split's file; how many of its rows were not read is known when it is closed. */
function* openDataFile(fs: FileSystem, file: DataFile, options: ScanOptions): Generator<Ask, OrcFile, unknown> {
  const { counts } = options;
  const orc = yield* openOrcFile(fs, file, counts);
  if (counts === undefined) return orc;
  counts.files++;
  const before = counts.rows;
  return {
    ...orc,
    close: () => {
      counts.skippedRows += (orc.reader?.numberOfRows ?? 0) - (counts.rows - before);
      orc.close();
    },
  };
}

type SplitOf<K extends AcidSplit['kind']> = Extract<AcidSplit, { kind: K }>;

/** Files of insert-only tables: their folders decide, not their rows. */
function* scanPlain(fs: FileSystem, split: SplitOf<'plain'>, options: ScanOptions): Steps<AcidBatch> {
  const orc = yield* openDataFile(fs, split.file, options);
  try {
    if (orc.reader === undefined) return;
    const { reader } = orc;
    const sized = sizedFor(reader, reader.schema, options);
    const cursor = new BatchCursor(reader, plainReadOptions(reader.schema, options.schema, sized));
    for (let batch = yield* cursor.next(); batch !== undefined; batch = yield* cursor.next()) {
      const root = orderColumns(structOf(batch.root, orc.path), options);
      if (options.counts !== undefined) options.counts.rows += batch.length;
      yield { length: batch.length, root, ...(options.includeDeleted ? { isDeleted: noneDeleted(batch.length) } : {}) };
    }
  } finally {
    orc.close();
  }
}

function* scanOriginal(fs: FileSystem, split: SplitOf<'original'>, options: ScanOptions): Steps<AcidBatch> {
  const needsKeys = options.rowIds || split.deletes.length > 0;
  const rowsBefore = BigInt(needsKeys ? yield* countRowsBefore(fs, split.rowIds) : 0);
  const orc = yield* openDataFile(fs, split.file, options);
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
    const sized = sizedFor(reader, reader.schema, options);
    const cursor = new BatchCursor(reader, plainReadOptions(reader.schema, options.schema, sized));
    const range = rangeOfNumbering(numbering, reader.numberOfRows);
    if (options.keyRange !== undefined && !mayOverlap(range, options.keyRange)) return;
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
  const orc = yield* openDataFile(fs, split.file, options);
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
    const statistics = keyRangeOf(reader);
    const range = { ...statistics, writeId: statistics.writeId ?? split.writeIdRange };
    if (options.keyRange !== undefined && !mayOverlap(range, options.keyRange)) return;
    const sized = sizedFor(reader, reader.schema.children[5], options);
    const read = acidReadOptions(reader.schema, options.schema, sized, own);
    const cursor = new BatchCursor(reader, withinKeys(read, options.keyRange));
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

function withinKeys(read: ReadOptions, range: KeyRange | undefined): ReadOptions {
  if (range === undefined) return read;
  const conditions = rangeConditions(range);
  return { ...read, sarg: { op: 'and', children: read.sarg === undefined ? conditions : [read.sarg, ...conditions] } };
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
