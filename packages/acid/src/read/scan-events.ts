import type { FileSystem } from '@skep/storage';
import { OPERATION } from './acid-schema.js';
import { EventGatherer } from './gather.js';
import { type EventRun, mergeEvents, runsWithout } from './merge-events.js';
import { compareKeys } from './row-keys.js';
import type { AcidBatch, AcidSplit, ScanOptions } from './scan-types.js';
import { mapSteps, type Steps } from './steps.js';
import { orderColumns, visibleRows } from './visible-rows.js';

const DEFAULT_BATCH_ROWS = 8192;

/**
 * A bucket of ACID version 1: updates and deletes are events among the inserts, the newest of a key counts. Deleted rows, where
 * they are asked for, are as the event before the delete left them.
 */
export function* scanEvents(
  fs: FileSystem,
  split: Extract<AcidSplit, { kind: 'events' }>,
  options: ScanOptions,
): Steps<AcidBatch> {
  const { schema, writeIds, columns, batchSize, includeDeleted } = options;
  // No search argument: the newest event of a key must be seen even where only an older one satisfies it.
  const projection = { columns, batchSize };
  const gatherer = new EventGatherer(batchSize ?? DEFAULT_BATCH_ROWS);
  let deleted: number[] = [];
  const flush = function* () {
    if (gatherer.length === 0) return;
    const { keys, row } = gatherer.take();
    const rows = { length: keys.length, root: orderColumns(row, options), valid: undefined, keys, runs: [] };
    const flags = Uint8Array.from(deleted);
    deleted = [];
    // Deleted rows are here only to be handed out.
    yield* visibleRows(rows, flags, 0, options);
  };
  if (options.counts !== undefined) options.counts.files += split.files.length;
  const last = new LastEvents();
  const keep = includeDeleted ? 'all' : 'newest';
  yield* mapSteps(mergeEvents(fs, split.files, { schema, writeIds, projection, keep }), function* (run) {
    const parts = includeDeleted ? last.of(run) : partsWithoutDeletes(run);
    for (const { isDeleted, ...part } of parts) {
      for (let rest: EventRun | undefined = part; rest !== undefined; ) {
        const before = gatherer.length;
        rest = gatherer.add(rest);
        if (includeDeleted) for (let i = before; i < gatherer.length; i++) deleted.push(isDeleted ? 1 : 0);
        if (gatherer.isFull) yield* flush();
      }
    }
  });
  yield* flush();
}

type Part = EventRun & { readonly isDeleted: boolean };

function* partsWithoutDeletes(run: EventRun): Generator<Part> {
  for (const live of runsWithout(run, OPERATION.delete)) yield { ...live, isDeleted: false };
}

/** Of each key the newest event that has a row, and whether a delete came after it. Keys go on from one run to the next. */
class LastEvents {
  private key: { batch: EventRun['batch']; at: number } | undefined;
  private isFound = false;
  private isDeleted = false;

  *of({ batch, start, end }: EventRun): Generator<Part> {
    for (let at = start; at < end; at++) {
      const isSame = this.key !== undefined && compareKeys(this.key.batch.keys, this.key.at, batch.keys, at) === 0;
      if (!isSame) {
        this.isFound = false;
        this.isDeleted = false;
      }
      this.key = { batch, at };
      if (this.isFound) continue;
      if (batch.operations[at] === OPERATION.delete) this.isDeleted = true;
      else {
        this.isFound = true;
        yield { batch, start: at, end: at + 1, isDeleted: this.isDeleted };
      }
    }
  }
}
