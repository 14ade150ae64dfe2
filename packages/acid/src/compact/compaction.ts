import { LONG_MIN, SkepError } from '@skep/core';
import { joinPath } from '@skep/storage';
import { formatBucketFileName } from '../layout/bucket-file-name.js';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { OPERATION } from '../read/acid-schema.js';
import { EventGatherer } from '../read/gather.js';
import { type EventRun, mergeEvents, runsWhere, runsWithout } from '../read/merge-events.js';
import { eventFiles } from '../read/plan-splits.js';
import { consecutiveKeys } from '../read/row-keys.js';
import type { EventFile } from '../read/scan-types.js';
import { runAsync } from '../read/steps.js';
import { EventFileWriter } from '../write/event-file-writer.js';
import type { FileRole } from '../write/orc-options.js';
import { StatementFolder } from '../write/statement-folder.js';
import { writeAcidVersionFile } from '../write/table-dir.js';
import {
  type CompactionInput,
  type CompactionResult,
  highWatermark,
  maxWriteId,
  minWriteId,
} from './compaction-input.js';
import { compactInsertOnly } from './insert-only.js';
import { isOwnDelete, mayDeleteOwnRows, RowsThatLast } from './own-deletes.js';

/** Update events cannot be told apart into inserts and deletes without new ROW__IDs. */
export class MinorCompactionUnsupportedError extends SkepError {
  constructor(path: string) {
    const what = `${path} holds update events of ACID version 1, which only a major compaction can rewrite`;
    super('MINOR_COMPACTION_UNSUPPORTED', 'invalid', what);
  }
}

const BATCH_ROWS = 8192;

/** CompactorMR's major compaction: base_{max}_vT with the newest event of each key, deletes dropped, ROW__IDs kept. */
export async function compactMajor(input: CompactionInput): Promise<CompactionResult> {
  const { state, visibilityTxnId } = input;
  if (input.insertOnly) return compactInsertOnly(input, 'major');
  const writeId = maxWriteId(state) ?? state.base?.writeId ?? LONG_MIN;
  const folder = newFolder(input, formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId }));
  return writeFolders(input, [folder], async () => {
    let rows = 0;
    for (const [bucket, files] of byBucket(eventFiles(state))) {
      rows += await writeBucket(input, files, { folder, bucket, role: 'base', keep: 'newest', operation: 'insert' });
    }
    return { rows, deleteEvents: 0 };
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
    let rows = 0;
    let deleteEvents = 0;
    const deltasOnly = { ...state, base: undefined, originals: [] };
    const dataFiles = eventFiles({ ...deltasOnly, deltas: state.deltas.filter(({ kind }) => kind === 'delta') });
    const deleteFiles = eventFiles({ ...deltasOnly, deltas: state.deltas.filter(({ kind }) => kind !== 'delta') });
    const common = { role: 'minor', keep: 'all' } as const;
    const deletesByBucket = byBucket(deleteFiles);
    const mayDeleteOwn = mayDeleteOwnRows(state);
    for (const [bucket, files] of byBucket(dataFiles)) {
      const deletes = mayDeleteOwn ? (deletesByBucket.get(bucket) ?? []) : [];
      const job = { ...common, folder: inserts, bucket, operation: 'insert', deletes } as const;
      rows += await writeBucket(input, [...files, ...deletes], job);
    }
    for (const [bucket, files] of deletesByBucket) {
      deleteEvents += await writeBucket(input, files, { ...common, folder: deletes, bucket, operation: 'delete' });
    }
    return { rows, deleteEvents };
  });
}

export interface RebalanceInput extends CompactionInput {
  /** CLUSTERED INTO n BUCKETS; absent: as many as there are distinct bucket numbers. */
  readonly buckets?: number;
}

/**
 * Rebalance compaction of an unbucketed table: base_{highWatermark}_vT with the rows, in the order of their ROW__IDs,
 * spread evenly over the buckets. Rows keep their write ids and are numbered through.
 */
export async function compactRebalance(input: RebalanceInput): Promise<CompactionResult> {
  const { state, visibilityTxnId } = input;
  const writeId = highWatermark(input);
  const folder = newFolder(input, formatAcidDirectoryName({ kind: 'base', writeId, visibilityTxnId }));
  const files = eventFiles(state);
  const dataFiles = eventFiles({ ...state, deltas: state.deltas.filter(({ kind }) => kind === 'delta') });
  const buckets = input.buckets ?? Math.max(1, byBucket(dataFiles).size);
  return writeFolders(input, [folder], async () => {
    let total = 0;
    for await (const run of liveRuns(input, files, [])) total += run.end - run.start;
    const share = Math.max(1, Math.ceil(total / buckets));
    const gatherer = new EventGatherer(BATCH_ROWS);
    let row = 0;
    let writer: EventFileWriter | undefined;
    const flush = async () => {
      if (gatherer.length === 0) return;
      input.signal?.throwIfAborted();
      const bucket = Math.floor(row / share);
      writer ??= await newFile(input, folder, bucket, 'base');
      const { keys, row: values } = gatherer.take();
      const numbered = consecutiveKeys(keys.length, 0n, encodeBucketProperty(bucket, 0), BigInt(row));
      await writer.writeInserts({ ...numbered, writeIds: keys.writeIds }, keys.writeIds, values);
      row += keys.length;
      if (row % share !== 0) return;
      await writer.close();
      writer = undefined;
    };
    for await (const run of liveRuns(input, files)) {
      for (let at = run.start; at < run.end; ) {
        // A batch ends where its bucket does.
        const room = Math.min(BATCH_ROWS, share - (row % share)) - gatherer.length;
        const end = Math.min(run.end, at + room);
        gatherer.add({ ...run, start: at, end });
        if (end - at === room) await flush();
        at = end;
      }
    }
    await flush();
    await writer?.close();
    return { rows: total, deleteEvents: 0 };
  });
}

/** Rows that are left when deletes are done. */
async function* liveRuns(
  { fs, schema, writeIds }: CompactionInput,
  files: readonly EventFile[],
  columns?: readonly number[],
): AsyncGenerator<EventRun> {
  const merged = mergeEvents(fs, files, { schema, writeIds, projection: { columns }, keep: 'newest' });
  for await (const run of runAsync(merged)) yield* runsWithout(run, OPERATION.delete);
}

interface BucketJob {
  readonly folder: StatementFolder;
  readonly bucket: number;
  readonly role: Exclude<FileRole, 'plain'>;
  readonly keep: 'newest' | 'all';
  readonly operation: 'insert' | 'delete';
  /** Which of the files are of deletes, merged in to leave out the rows that their own write deleted again. */
  readonly deletes?: readonly EventFile[];
}

/** Merges a bucket's files into one; without an event no file is made. */
async function writeBucket(input: CompactionInput, files: readonly EventFile[], job: BucketJob): Promise<number> {
  const { fs, schema, writeIds, signal } = input;
  const columns = job.operation === 'delete' ? [] : undefined;
  const gatherer = new EventGatherer(BATCH_ROWS);
  let writer: EventFileWriter | undefined;
  let events = 0;
  const flush = async () => {
    if (gatherer.length === 0) return;
    signal?.throwIfAborted();
    writer ??= await newFile(input, job.folder, job.bucket, job.role);
    const { keys, currentWriteIds, row } = gatherer.take();
    events += keys.length;
    if (job.operation === 'delete') await writer.writeDeletes(keys, currentWriteIds);
    else await writer.writeInserts(keys, currentWriteIds, row);
  };
  const wantedRuns = wantedRunsOf(job);
  const merged = mergeEvents(fs, files, { schema, writeIds, projection: { columns }, keep: job.keep });
  for await (const run of runAsync(merged)) {
    for (const wanted of wantedRuns(run)) {
      for (let rest: EventRun | undefined = wanted; rest !== undefined; ) {
        rest = gatherer.add(rest);
        if (gatherer.isFull) await flush();
      }
    }
  }
  await flush();
  await writer?.close();
  return events;
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

async function newFile(
  input: CompactionInput,
  folder: StatementFolder,
  bucket: number,
  role: Exclude<FileRole, 'plain'>,
): Promise<EventFileWriter> {
  return new EventFileWriter(
    await folder.createFile(formatBucketFileName(bucket)),
    input.schema,
    input.orc ?? {},
    role,
  );
}

function newFolder({ fs, state }: CompactionInput, name: string): StatementFolder {
  return new StatementFolder(fs, joinPath(state.dir, name), true);
}

/**
 * Runs the writing and ends the folders; takes them back when it fails. Where nothing is left to write the first folder
 * is made all the same, to stand for the write ids it replaces (CompactorOutputCommitter).
 */
async function writeFolders(
  { fs }: CompactionInput,
  folders: readonly StatementFolder[],
  write: () => Promise<{ rows: number; deleteEvents: number }>,
): Promise<CompactionResult> {
  try {
    const counts = await write();
    const used = folders.filter((folder) => folder.files.length > 0);
    for (const folder of used) await folder.finish();
    if (used.length === 0) {
      await fs.mkdirs(folders[0].path);
      await writeAcidVersionFile(fs, folders[0].path);
    }
    return {
      ...counts,
      directories: (used.length === 0 ? [folders[0]] : used).map((folder) => folder.path),
      files: used.flatMap((folder) => folder.files),
      bytes: used.reduce((sum, folder) => sum + folder.bytes, 0),
    };
  } catch (cause) {
    for (const folder of folders) await folder.remove();
    throw cause;
  }
}

function byBucket(files: readonly EventFile[]): Map<number, EventFile[]> {
  const buckets = new Map<number, EventFile[]>();
  for (const file of files) {
    const bucket = file.file.bucket ?? 0;
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), file]);
  }
  return new Map([...buckets].sort(([a], [b]) => a - b));
}
