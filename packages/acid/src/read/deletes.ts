import { CorruptFileError, type ValidWriteIdList } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import type { DeleteCache } from './delete-cache.js';
import { DeleteReader } from './delete-reader.js';
import { DeleteSet } from './delete-set.js';
import { keptDeletes } from './kept-deletes.js';
import { type KeyRange, type KeyRun, lastRowId, mayOverlap } from './key-runs.js';
import { openOrcFile } from './orc-file.js';
import { compareKeys, type RowKeys } from './row-keys.js';
import type { ScanCounts } from './scan-counts.js';
import type { DeleteFile } from './scan-types.js';
import type { Ask } from './steps.js';

/** Files of up to so many events are read whole at first sight where a cache keeps them. */
const SMALL_FILE_EVENTS = 1 << 16;

export interface DeletesOptions {
  readonly writeIds: ValidWriteIdList;
  /** What the keys of the rows that may be deleted lie between. */
  readonly range: KeyRange;
  /** The rows are few of the split's: of large files only the row groups with keys in the range are read. */
  readonly isPart: boolean;
  readonly maxInMemory: number;
  readonly cache?: DeleteCache | undefined;
  readonly counts?: ScanCounts | undefined;
}

/** The deletes that may hit a split's rows. */
export interface Deletes {
  /** Sets `deleted[i]` to 1 where row i is deleted; how many were not marked before. Rows come in the file's order. */
  mark(runs: readonly KeyRun[], deleted: Uint8Array): Generator<Ask, number, unknown>;
  close(): void;
}

/**
 * Reads the delete files into memory, or prepares to walk them in step with the rows where they hold too many events
 * (VectorizedOrcAcidRowBatchReader: ColumnizedDeleteEventRegistry, SortMergedDeleteEventRegistry).
 */
export function* openDeletes(
  fs: FileSystem,
  files: readonly DeleteFile[],
  options: DeletesOptions,
): Generator<Ask, Deletes, unknown> {
  const { cache, range, counts } = options;
  const sets: DeleteSet[] = [];
  const opened: DeleteReader[] = [];
  try {
    let events = 0;
    for (const file of files) {
      const cached = cache?.get(file.path) ?? keptDeletes(fs)?.get(file, options.writeIds);
      if (cached !== undefined) {
        sets.push(cached);
        events += cached.size;
        continue;
      }
      if (cache?.isElsewhere(file.path, range)) continue;
      const reader = new DeleteReader(file, yield* openOrcFile(fs, file, counts), options.writeIds, counts);
      opened.push(reader);
      if (counts !== undefined) counts.deleteFiles++;
      cache?.putRange(file.path, reader.range);
      if (mayOverlap(reader.range, range)) events += reader.rows;
    }
    const readers = opened.filter((reader) => mayOverlap(reader.range, range));
    if (events > options.maxInMemory && readers.length > 0) {
      for (const reader of opened.splice(0)) if (!readers.includes(reader)) reader.close();
      return new MergedDeletes(readers, sets, range);
    }
    for (const reader of opened) {
      const set = yield* load(reader, options);
      if (set !== undefined) sets.push(set);
      // Of a cached file the whole was read.
      if (set !== undefined && cache?.get(reader.file.path) === set) {
        keptDeletes(fs)?.put(reader.file, options.writeIds, set);
      }
    }
    return new LoadedDeletes(sets);
  } finally {
    for (const reader of opened) reader.close();
  }
}

/** With a cache whole files, for other splits want other ranges; undefined where the file is about other rows. */
function* load(
  reader: DeleteReader,
  { cache, range, isPart }: DeletesOptions,
): Generator<Ask, DeleteSet | undefined, unknown> {
  const { path } = reader.file;
  const matters = mayOverlap(reader.range, range);
  if (cache === undefined || !cache.hasRoomFor(reader.rows)) return matters ? yield* reader.readAll(range) : undefined;
  if (!matters && (isPart || reader.rows > SMALL_FILE_EVENTS)) return undefined;
  if (isPart && reader.isDivisible && cache.takePartialRead(path)) return yield* reader.readAll(range);
  const set = yield* reader.readAll();
  cache.put(path, set);
  return set;
}

function markAll(sets: readonly DeleteSet[], runs: readonly KeyRun[], deleted: Uint8Array): number {
  let marked = 0;
  for (const set of sets) marked += set.mark(runs, deleted);
  return marked;
}

class LoadedDeletes implements Deletes {
  constructor(private readonly sets: readonly DeleteSet[]) {}

  // biome-ignore lint/correctness/useYield: everything is in memory, nothing is to be asked
  *mark(runs: readonly KeyRun[], deleted: Uint8Array): Generator<Ask, number, unknown> {
    return markAll(this.sets, runs, deleted);
  }

  close(): void {}
}

/** Walks the delete files in step with the rows: both are sorted by key. Holds one batch of each file. */
class MergedDeletes implements Deletes {
  private last: RowKeys | undefined;

  constructor(
    private readonly readers: readonly DeleteReader[],
    private readonly loaded: readonly DeleteSet[],
    private readonly range: KeyRange,
  ) {}

  *mark(runs: readonly KeyRun[], deleted: Uint8Array): Generator<Ask, number, unknown> {
    if (runs.length === 0) return 0;
    const marked = markAll(this.loaded, runs, deleted);
    this.checkOrder(runs);
    const ends = endsOf(runs);
    const set = new DeleteSet();
    for (const reader of this.readers) {
      yield* reader.takeBetween(ends, 0, ends.length - 1, set, this.range);
    }
    return marked + set.mark(runs, deleted);
  }

  private checkOrder(runs: readonly KeyRun[]): void {
    const ends = endsOf(runs);
    let isSorted = this.last === undefined || compareKeys(this.last, 0, ends, 0) < 0;
    for (let i = 2; i < ends.length && isSorted; i += 2) isSorted = compareKeys(ends, i - 1, ends, i) < 0;
    if (!isSorted) throw new CorruptFileError('rows of a split', undefined, 'ROW__IDs do not ascend');
    this.last = endsOf(
      runs.slice(-1).map((run) => ({ ...run, start: run.end - 1, firstRowId: lastRowId(run), rowIds: undefined })),
    );
  }

  close(): void {
    for (const reader of this.readers) reader.close();
  }
}

/** The first and last key of each run. */
function endsOf(runs: readonly KeyRun[]): RowKeys {
  return {
    length: 2 * runs.length,
    writeIds: BigInt64Array.from(runs.flatMap(({ writeId }) => [writeId, writeId])),
    buckets: Int32Array.from(runs.flatMap(({ bucket }) => [bucket, bucket])),
    rowIds: BigInt64Array.from(runs.flatMap((run) => [run.firstRowId, lastRowId(run)])),
  };
}
