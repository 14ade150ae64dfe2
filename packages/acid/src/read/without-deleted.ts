import type { FileSystem } from '@skep/storage';
import { DEFAULT_DELETE_EVENTS_IN_MEMORY } from './delete-cache.js';
import { openDeletes } from './deletes.js';
import { type KeyRange, rangeOfRuns } from './key-runs.js';
import type { AcidBatch, DeleteFile, ScanOptions } from './scan-types.js';
import type { Ask, Steps } from './steps.js';
import { type ReadRows, Scratch, visibleRows } from './visible-rows.js';

/** A search argument that leaves up to so many batches of a split makes its deletes be looked for around these rows only. */
const FEW_BATCHES = 4;

/**
 * The visible rows of batches. Delete files are opened when there is a row that they may delete: a search argument may leave
 * none, or so few that only parts of the delete files matter.
 */
export function* withoutDeleted(
  fs: FileSystem,
  files: readonly DeleteFile[],
  range: KeyRange,
  options: ScanOptions,
  next: () => Generator<Ask, ReadRows | undefined, unknown>,
): Steps<AcidBatch> {
  const ahead: ReadRows[] = [];
  const most = files.length > 0 && isSelective(options) ? FEW_BATCHES : 1;
  let rows = yield* next();
  for (; rows !== undefined; rows = yield* next()) {
    ahead.push(rows);
    if (ahead.length >= most) break;
  }
  if (ahead.length === 0) return;
  const isPart = rows === undefined;
  const deletes = yield* openDeletes(fs, files, {
    writeIds: options.writeIds,
    range: isPart ? rangeOfRuns(ahead.flatMap(({ runs }) => runs)) : range,
    isPart,
    maxInMemory: options.deleteEventsInMemory ?? DEFAULT_DELETE_EVENTS_IN_MEMORY,
    cache: options.deleteCache,
    counts: options.counts,
  });
  const scratch = new Scratch();
  try {
    for (
      let batch = ahead.shift();
      batch !== undefined;
      batch = ahead.shift() ?? (isPart ? undefined : yield* next())
    ) {
      const deleted = scratch.flags(files.length === 0 ? 0 : batch.length);
      const count = files.length > 0 ? yield* deletes.mark(batch.runs, deleted) : 0;
      yield* visibleRows(batch, deleted, count, options);
    }
  } finally {
    deletes.close();
  }
}

/** What may leave out something. */
export const isSelective = ({ sarg, keyRange }: ScanOptions): boolean =>
  keyRange !== undefined || (sarg !== undefined && !(sarg.op === 'and' && sarg.children.length === 0));
