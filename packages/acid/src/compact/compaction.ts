import { LONG_MIN, SkepError } from '@skep/core';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { OPERATION } from '../read/acid-schema.js';
import { type EventRun, mergeStripes, runsWhere, runsWithout } from '../read/merge-events.js';
import { eventFiles } from '../read/plan-splits.js';
import type { EventFile } from '../read/scan-types.js';
import { runAsync } from '../read/steps.js';
import type { StripeTerms } from '../read/stripe-offer.js';
import type { EventFileWriter } from '../write/event-file-writer.js';
import type { FileRole } from '../write/orc-options.js';
import type { StatementFolder } from '../write/statement-folder.js';
import { type CompactionInput, type CompactionResult, maxWriteId, minWriteId } from './compaction-input.js';
import { EventBuffer } from './event-buffer.js';
import { compactInsertOnly } from './insert-only.js';
import { isOwnDelete, mayDeleteOwnRows, mayHoldOwnDeletes, RowsThatLast } from './own-deletes.js';
import { BATCH_ROWS, byBucket, newFile, newFolder, writeFolders } from './result-folders.js';
import { leavesNoCrumb, type PendingRows, type TakenStripes, takenStripes } from './take-stripes.js';

/** Update events cannot be told apart into inserts and deletes without new ROW__IDs. */
export class MinorCompactionUnsupportedError extends SkepError {
  constructor(path: string) {
    const what = `${path} holds update events of ACID version 1, which only a major compaction can rewrite`;
    super('MINOR_COMPACTION_UNSUPPORTED', 'invalid', what);
  }
}

/** CompactorMR's major compaction: base_{max}_vT with the newest event of each key, deletes dropped, ROW__IDs kept. */
export async function compactMajor(input: CompactionInput): Promise<CompactionResult> {
  const { state, visibilityTxnId } = input;
  if (input.insertOnly) return compactInsertOnly(input, 'major');
  const writeId = maxWriteId(state) ?? state.base?.writeId ?? LONG_MIN;
  const folder = newFolder(input, formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId }));
  return writeFolders(input, [folder], async () => {
    const job = { folder, role: 'base', keep: 'newest', operation: 'insert' } as const;
    const taken = takenStripes(input, job.role);
    const counts = new Counts();
    for (const [bucket, files] of byBucket(eventFiles(state))) {
      await writeBucket(input, files, { ...job, bucket, taken }, counts);
    }
    return { rows: counts.inserts, deleteEvents: 0, stripesTaken: counts.stripesTaken };
  });
}

/** CompactorMR's minor compaction: delta_{min}_{max}_vT and delete_delta_{min}_{max}_vT of the current deltas. */
export async function compactMinor(input: CompactionInput): Promise<CompactionResult> {
  const { state, visibilityTxnId } = input;
  if (input.insertOnly) return compactInsertOnly(input, 'minor');
  const range = { minWriteId: minWriteId(state) ?? 0n, maxWriteId: maxWriteId(state) ?? 0n, visibilityTxnId };
  const inserts = newFolder(input, formatAcidDirectoryName({ kind: 'delta', ...range }));
  const deletes = newFolder(input, formatAcidDirectoryName({ kind: 'deleteDelta', ...range }));
  return writeFolders(input, [inserts, deletes], async () => {
    const counts = new Counts();
    const deltasOnly = { ...state, base: undefined, originals: [] };
    const dataFiles = eventFiles({ ...deltasOnly, deltas: state.deltas.filter(({ kind }) => kind === 'delta') });
    const deleteFiles = eventFiles({ ...deltasOnly, deltas: state.deltas.filter(({ kind }) => kind !== 'delta') });
    const common = { role: 'minor', keep: 'all', taken: takenStripes(input, 'minor') } as const;
    const deletesByBucket = byBucket(deleteFiles);
    const mayDeleteOwn = mayDeleteOwnRows(state);
    for (const [bucket, files] of byBucket(dataFiles)) {
      const deletes = mayDeleteOwn ? (deletesByBucket.get(bucket) ?? []) : [];
      const job = { ...common, folder: inserts, bucket, operation: 'insert', deletes } as const;
      await writeBucket(input, [...files, ...deletes], job, counts);
    }
    for (const [bucket, files] of deletesByBucket) {
      await writeBucket(input, files, { ...common, folder: deletes, bucket, operation: 'delete' }, counts);
    }
    return { rows: counts.inserts, deleteEvents: counts.deletes, stripesTaken: counts.stripesTaken };
  });
}

interface BucketJob {
  readonly folder: StatementFolder;
  readonly bucket: number;
  readonly role: Exclude<FileRole, 'plain'>;
  readonly keep: 'newest' | 'all';
  readonly operation: 'insert' | 'delete';
  /** Which of the files are of deletes, merged in to leave out the rows that their own write deleted again. */
  readonly deletes?: readonly EventFile[];
  readonly taken: TakenStripes;
}

class Counts {
  inserts = 0;
  deletes = 0;
  stripesTaken = 0;

  add(operation: BucketJob['operation'], events: number): void {
    if (operation === 'delete') this.deletes += events;
    else this.inserts += events;
  }
}

/** Rows that follow each other are written as they lie in their batch from here on; shorter runs are put together first. */
const LONG_RUN = 128;

/** Deletes of a bucket that are put in order in memory, at most: some 60 bytes each for a moment. */
const DELETES_AHEAD = 1 << 20;

/** Merges a bucket's files into one; without an event no file is made. Stripes that nothing comes in between of are taken over. */
async function writeBucket(
  input: CompactionInput,
  files: readonly EventFile[],
  job: BucketJob,
  counts: Counts,
): Promise<void> {
  const { fs, schema, writeIds, signal } = input;
  const columns = job.operation === 'delete' ? [] : undefined;
  const buffer = new EventBuffer(BATCH_ROWS);
  let writer: EventFileWriter | undefined;
  const openWriter = async () => {
    writer ??= await newFile(input, job.folder, job.bucket, job.role);
    return writer;
  };
  const flush = async () => {
    if (buffer.length === 0) return;
    signal?.throwIfAborted();
    const file = await openWriter();
    const { keys, currentWriteIds, row } = buffer.take();
    counts.add(job.operation, keys.length);
    if (job.operation === 'delete') await file.writeDeletes(keys, currentWriteIds);
    else await file.writeInserts(keys, currentWriteIds, row);
  };
  const wantedRuns = wantedRunsOf(job);
  const stripes = termsOf(job, () => ({ ...(writer?.pending ?? { rows: 0, bytes: 0 }), gathered: buffer.length }));
  const { keep } = job;
  const withoutDeletes = keep === 'newest';
  const options = { schema, writeIds, projection: { columns }, keep, withoutDeletes, deletesAhead: DELETES_AHEAD };
  const merged = mergeStripes(fs, files, { ...options, stripes });
  for await (const part of runAsync(merged)) {
    if ('stripe' in part) {
      await flush();
      signal?.throwIfAborted();
      await (await openWriter()).appendStripe(part);
      counts.add(job.operation, part.rows);
      counts.stripesTaken++;
      continue;
    }
    for (const wanted of wantedRuns(part)) {
      if (job.operation === 'insert' && wanted.end - wanted.start >= LONG_RUN) {
        await flush();
        signal?.throwIfAborted();
        await (await openWriter()).writeRun(wanted);
        counts.add(job.operation, wanted.end - wanted.start);
        continue;
      }
      for (let rest: EventRun | undefined = wanted; rest !== undefined; ) {
        rest = buffer.add(rest);
        if (buffer.isFull) await flush();
      }
    }
  }
  await flush();
  await writer?.close();
}

/** The stripes that a bucket's job can take over: of its own operation, of deletes none that a write made of its own rows. */
function termsOf({ operation, taken }: BucketJob, pending: () => PendingRows): StripeTerms {
  const { leastBytes, whyNot } = taken;
  return {
    operation: OPERATION[operation],
    leastBytes,
    whyNot: (stripe) => (operation === 'delete' && mayHoldOwnDeletes(stripe) ? 'own deletes' : whyNot(stripe)),
    takes: ({ stripe }) => leavesNoCrumb(leastBytes, stripe, pending()),
  };
}

function wantedRunsOf({ keep, operation, deletes = [] }: BucketJob): (run: EventRun) => Iterable<EventRun> {
  if (operation === 'delete') return (run) => runsWhere(run, (i) => !isOwnDelete(run.batch, i));
  if (keep === 'newest') return (run) => runsWithout(run, OPERATION.delete);
  const paths = new Set(deletes.map(({ file }) => file.path));
  const lasting = new RowsThatLast();
  return (run) => {
    if (!paths.has(run.batch.path)) requireInserts(run);
    return deletes.length === 0 ? [run] : lasting.of(run);
  };
}

function requireInserts({ batch, start, end }: EventRun): void {
  for (let i = start; i < end; i++) {
    if (batch.operations[i] !== OPERATION.insert) throw new MinorCompactionUnsupportedError(batch.path);
  }
}
