import { CorruptFileError, type ValidWriteIdList } from '@skep/core';
import type { FileSystem } from '@skep/storage';
import { bucketOf } from '../layout/bucket-property.js';
import { ACID_COLUMN, acidReadOptions, isAcidSchema } from './acid-schema.js';
import { DeleteSet } from './delete-set.js';
import { BatchCursor, type OrcFile, openOrcFile } from './orc-file.js';
import { AcidColumns, compareKeys, type RowKeys, structOf } from './row-keys.js';
import type { DeleteFile } from './scan-types.js';
import type { Ask } from './steps.js';
import { validRows } from './valid-rows.js';

/** hive.transactional.events.mem */
export const DEFAULT_DELETE_EVENTS_IN_MEMORY = 10_000_000;

type WriteIdRange = readonly [min: bigint, max: bigint];

/** Files of up to so many events are read whole at first sight where a cache keeps them. */
const SMALL_FILE_EVENTS = 1 << 16;

function overlap(a: WriteIdRange, b: WriteIdRange): boolean {
  return a[0] <= b[1] && a[1] >= b[0];
}

/** Delete events of whole files, kept from one split of a scan to the next. */
export class DeleteCache {
  private readonly sets = new Map<string, DeleteSet>();
  private readonly ranges = new Map<string, WriteIdRange>();
  private events = 0;

  constructor(private readonly maxEvents = DEFAULT_DELETE_EVENTS_IN_MEMORY) {}

  get(path: string): DeleteSet | undefined {
    return this.sets.get(path);
  }

  /** Whether it is known that a file's deletes are of other writes. */
  isElsewhere(path: string, range: WriteIdRange | undefined): boolean {
    const known = this.ranges.get(path);
    return known !== undefined && range !== undefined && !overlap(known, range);
  }

  putRange(path: string, range: WriteIdRange): void {
    this.ranges.set(path, range);
  }

  put(path: string, set: DeleteSet): void {
    if (this.events + set.size > this.maxEvents) return;
    this.events += set.size;
    this.sets.set(path, set);
  }
}

export interface DeletesOptions {
  readonly writeIds: ValidWriteIdList;
  /** Smallest and largest write id of the rows that may be deleted, where they are known. */
  readonly writeIdRange?: WriteIdRange | undefined;
  readonly maxInMemory: number;
  readonly cache?: DeleteCache | undefined;
}

/** The deletes that may hit a split's rows. */
export interface Deletes {
  /** Sets `deleted[i]` to 1 where row i is deleted. Rows come in the file's order. */
  mark(keys: RowKeys, deleted: Uint8Array): Generator<Ask, void, unknown>;
  close(): void;
}

/** Reads the delete files into memory, or prepares to merge them where they hold too many events. */
export function* openDeletes(
  fs: FileSystem,
  files: readonly DeleteFile[],
  options: DeletesOptions,
): Generator<Ask, Deletes, unknown> {
  const sets: DeleteSet[] = [];
  const opened: EventReader[] = [];
  try {
    let events = 0;
    for (const file of files) {
      const cached = options.cache?.get(file.path);
      if (cached !== undefined) {
        sets.push(cached);
        continue;
      }
      if (options.cache?.isElsewhere(file.path, options.writeIdRange)) continue;
      const reader = new EventReader(file, yield* openOrcFile(fs, file), options);
      opened.push(reader);
      if (reader.mayMatter) events += reader.rows;
    }
    if (events > options.maxInMemory) return new MergedDeletes(opened.splice(0), sets);
    for (const reader of opened) {
      const set = yield* reader.readAll();
      if (set !== undefined) sets.push(set);
    }
    return new LoadedDeletes(sets);
  } finally {
    for (const reader of opened) reader.close();
  }
}

class LoadedDeletes implements Deletes {
  constructor(private readonly sets: readonly DeleteSet[]) {}

  // biome-ignore lint/correctness/useYield: everything is in memory, nothing is to be asked
  *mark(keys: RowKeys, deleted: Uint8Array): Generator<Ask, void, unknown> {
    for (const set of this.sets) set.mark(keys, deleted);
  }

  close(): void {}
}

/** A file of delete events. */
class EventReader {
  private cursor: BatchCursor | undefined;
  /** Valid events that were read and not yet taken; MergedDeletes takes them in order. */
  private pending: { keys: RowKeys; valid: Uint8Array | undefined; at: number } | undefined;

  constructor(
    private readonly file: DeleteFile,
    private readonly orc: OrcFile,
    private readonly options: DeletesOptions,
  ) {
    const schema = orc.reader?.schema;
    if (schema !== undefined && !isAcidSchema(schema)) {
      throw new CorruptFileError(file.path, undefined, 'a delete file without ACID columns');
    }
  }

  get rows(): number {
    return this.orc.reader?.numberOfRows ?? 0;
  }

  /** Whether the write ids in the file and those of the rows may overlap. */
  get mayMatter(): boolean {
    const { reader } = this.orc;
    if (reader === undefined) return false;
    const statistics = reader.statistics[ACID_COLUMN.originalTransaction]?.intStatistics;
    if (statistics?.minimum === undefined || statistics.maximum === undefined) return true;
    const range = [statistics.minimum, statistics.maximum] as const;
    this.options.cache?.putRange(this.file.path, range);
    return this.options.writeIdRange === undefined || overlap(range, this.options.writeIdRange);
  }

  /** All events; from the cache's view whole files only, for other splits want other ranges. */
  *readAll(): Generator<Ask, DeleteSet | undefined, unknown> {
    const cacheable = this.options.cache !== undefined;
    if (!this.mayMatter && !(cacheable && this.rows <= SMALL_FILE_EVENTS)) return undefined;
    const set = new DeleteSet();
    for (;;) {
      const events = yield* this.next(cacheable ? undefined : this.options.writeIdRange);
      if (events === undefined) break;
      set.add(events.keys, events.valid);
    }
    this.options.cache?.put(this.file.path, set);
    return set;
  }

  /** Adds the events up to and including row `last` of `keys` that were not taken before. */
  *takeUpTo(keys: RowKeys, last: number, set: DeleteSet): Generator<Ask, void, unknown> {
    for (;;) {
      if (this.pending === undefined) {
        const events = yield* this.next(this.options.writeIdRange);
        if (events === undefined) return;
        this.pending = { ...events, at: 0 };
      }
      const { keys: events, valid, at } = this.pending;
      let end = at;
      while (end < events.length && compareKeys(events, end, keys, last) <= 0) end++;
      if (end > at) set.add(sliceKeys(events, at, end), valid?.subarray(at, end));
      if (end < events.length) {
        this.pending.at = end;
        return;
      }
      this.pending = undefined;
    }
  }

  private *next(
    range: WriteIdRange | undefined,
  ): Generator<Ask, { keys: RowKeys; valid: Uint8Array | undefined } | undefined, unknown> {
    const { reader, path } = this.orc;
    if (reader === undefined) return undefined;
    this.cursor ??= new BatchCursor(reader, {
      ...acidReadOptions(reader.schema, reader.schema.children[5], { columns: [] }, [
        'originalTransaction',
        'bucket',
        'rowId',
        'currentTransaction',
      ]),
      ...(range === undefined
        ? {}
        : { sarg: { op: 'between', column: ACID_COLUMN.originalTransaction, low: range[0], high: range[1] } as const }),
    });
    const batch = yield* this.cursor.next();
    if (batch === undefined) return undefined;
    const columns = new AcidColumns(structOf(batch.root, path), path);
    const keys = columns.keys();
    this.checkBuckets(keys);
    return { keys, valid: validRows(this.options.writeIds, columns.long('currentTransaction'), keys.length) };
  }

  /** A delete in another bucket's file would never be found (Hive: DeleteEventRegistry, corruption). */
  private checkBuckets(keys: RowKeys): void {
    if (this.file.bucket === undefined) return;
    let last = -1;
    for (let i = 0; i < keys.length; i++) {
      const property = keys.buckets[i];
      if (property === last) continue;
      if (bucketOf(property) !== this.file.bucket) {
        const what = `a delete of bucket ${bucketOf(property)} in the file of bucket ${this.file.bucket}`;
        throw new CorruptFileError(this.file.path, undefined, what);
      }
      last = property;
    }
  }

  close(): void {
    this.orc.close();
  }
}

/** Walks the delete files in step with the rows: both are sorted by key. Holds one batch of each file. */
class MergedDeletes implements Deletes {
  private last: { keys: RowKeys; at: number } | undefined;

  constructor(
    private readonly readers: readonly EventReader[],
    private readonly loaded: readonly DeleteSet[],
  ) {}

  *mark(keys: RowKeys, deleted: Uint8Array): Generator<Ask, void, unknown> {
    if (keys.length === 0) return;
    for (const set of this.loaded) set.mark(keys, deleted);
    this.checkOrder(keys);
    const set = new DeleteSet();
    for (const reader of this.readers) yield* reader.takeUpTo(keys, keys.length - 1, set);
    set.mark(keys, deleted);
  }

  private checkOrder(keys: RowKeys): void {
    let isSorted = this.last === undefined || compareKeys(this.last.keys, this.last.at, keys, 0) < 0;
    for (let i = 1; i < keys.length && isSorted; i++) isSorted = compareKeys(keys, i - 1, keys, i) < 0;
    if (!isSorted) throw new CorruptFileError('rows of a split', undefined, 'ROW__IDs do not ascend');
    this.last = { keys: sliceKeys(keys, keys.length - 1, keys.length), at: 0 };
  }

  close(): void {
    for (const reader of this.readers) reader.close();
  }
}

function sliceKeys(keys: RowKeys, start: number, end: number): RowKeys {
  return {
    length: end - start,
    writeIds: keys.writeIds.subarray(start, end),
    buckets: keys.buckets.subarray(start, end),
    rowIds: keys.rowIds.subarray(start, end),
  };
}
