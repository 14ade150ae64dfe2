import type { FileSystem } from '@skep/storage';
import { encodeBucketProperty } from '../layout/bucket-property.js';
import type { AcidState, BaseDirectory, DataFile, DeltaDirectory } from '../state/acid-directory.js';
import { hasUpdateEvents } from './acid-version.js';
import type { AcidSplit, DeleteFile, EventFile, SyntheticRowIds } from './scan-types.js';

export interface PlanOptions {
  readonly insertOnly?: boolean;
  /** Bucket pruning: only files of these bucket numbers (of bucketed tables). */
  readonly buckets?: ReadonlySet<number>;
}

/**
 * The splits of a state with the delete files that may matter to each. Opens nothing, but for deltas that Hive 2 may have
 * written: only their files tell whether they hold update events.
 */
export async function planSplits(fs: FileSystem, state: AcidState, options: PlanOptions = {}): Promise<AcidSplit[]> {
  const wanted = ({ bucket }: { bucket: number | undefined }) =>
    options.buckets === undefined || bucket === undefined || options.buckets.has(bucket);
  if (options.insertOnly) return plainSplits(state).filter(wanted);

  const eventBuckets = await bucketsWithUpdateEvents(fs, state);
  const splits: AcidSplit[] = [];
  for (const bucket of eventBuckets) {
    const files = eventFiles(state).filter(({ file }) => file.bucket === bucket);
    const sizeBytes = files.reduce((sum, { file }) => sum + file.sizeBytes, 0);
    splits.push({ kind: 'events', dir: state.dir, bucket, sizeBytes, files });
  }
  const isLeft = (file: DataFile) => file.bucket === undefined || !eventBuckets.has(file.bucket);
  for (const { file, rowIds } of originalsOf(state.originals, 0n, 0)) {
    if (isLeft(file)) splits.push(originalSplit(state, file, rowIds, deletesOf(state, file.bucket)));
  }
  for (const directory of dataDirectories(state)) {
    const rowIds = directory.isRaw ? originalsOf(directory.files, firstWriteId(directory), statementOf(directory)) : [];
    for (const file of directory.files) {
      if (!isLeft(file)) continue;
      const deletes = deletesOf(state, file.bucket, directory);
      const raw = rowIds.find((entry) => entry.file === file);
      splits.push(raw ? originalSplit(state, file, raw.rowIds, deletes) : acidSplit(state, directory, file, deletes));
    }
  }
  return splits.filter((split) => split.sizeBytes > 0 && wanted(split));
}

/** Every file of a state as events to merge, deletes included: what a compaction or a reader of ACID version 1 merges. */
export function eventFiles(state: AcidState): EventFile[] {
  const files: EventFile[] = originalsOf(state.originals, 0n, 0).map((entry) => ({ ...entry, statementId: 0 }));
  for (const directory of [...dataDirectories(state), ...deleteDirectories(state)]) {
    const statementId = statementOf(directory);
    if (directory.isRaw) {
      for (const entry of originalsOf(directory.files, firstWriteId(directory), statementId)) {
        files.push({ ...entry, statementId });
      }
    } else {
      const isOfDeletes = directory.kind === 'deleteDelta';
      files.push(...directory.files.map((file) => ({ file, statementId, isOfDeletes })));
    }
  }
  return files.filter(({ file }) => file.sizeBytes > 0);
}

function plainSplits(state: AcidState): AcidSplit[] {
  const files = [...state.originals, ...dataDirectories(state).flatMap((directory) => directory.files)];
  return files
    .filter((file) => file.sizeBytes > 0)
    .map((file) => ({ kind: 'plain', dir: state.dir, bucket: file.bucket, sizeBytes: file.sizeBytes, file }));
}

function dataDirectories(state: AcidState): (BaseDirectory | DeltaDirectory)[] {
  const deltas = state.deltas.filter((delta) => delta.kind === 'delta');
  return state.base === undefined ? deltas : [state.base, ...deltas];
}

function deleteDirectories(state: AcidState): DeltaDirectory[] {
  return state.deltas.filter((delta) => delta.kind === 'deleteDelta');
}

function firstWriteId(directory: BaseDirectory | DeltaDirectory): bigint {
  return directory.kind === 'base' ? directory.writeId : directory.minWriteId;
}

function statementOf(directory: BaseDirectory | DeltaDirectory): number {
  return directory.kind === 'base' ? 0 : (directory.statementId ?? 0);
}

/**
 * Plain files with the ROW__IDs that their rows have: numbered through all files of one bucket number in the order of
 * their paths (OrcRawRecordMerger.OriginalReaderPair). A name without a number counts as bucket 0.
 */
function originalsOf(
  files: readonly DataFile[],
  writeId: bigint,
  statementId: number,
): { file: DataFile; rowIds: SyntheticRowIds }[] {
  return files.map((file, at) => ({
    file,
    rowIds: {
      writeId,
      bucket: encodeBucketProperty(file.bucket ?? 0, statementId),
      filesBefore: files
        .slice(0, at)
        .filter((other) => (other.bucket ?? 0) === (file.bucket ?? 0) && other.sizeBytes > 0),
    },
  }));
}

/**
 * Delete files of the same bucket number, written after the rows: a row of write W can only be deleted by a later
 * write, or by a later statement of the same one.
 */
function deletesOf(
  state: AcidState,
  bucket: number | undefined,
  directory?: BaseDirectory | DeltaDirectory,
): DeleteFile[] {
  const isAfter = (deletes: DeltaDirectory) => {
    if (directory === undefined || directory.kind === 'base') return true;
    if (directory.minWriteId !== deletes.maxWriteId) return directory.minWriteId < deletes.maxWriteId;
    // A minor compaction of one transaction's statements has no statement ids any more, and may hold rows and their deletes.
    if (directory.statementId === undefined || deletes.statementId === undefined) return true;
    return directory.statementId < deletes.statementId;
  };
  return deleteDirectories(state)
    .filter(isAfter)
    .flatMap((deletes) =>
      deletes.files.map(({ path, sizeBytes, modifiedMs, bucket: number, flushLengthPath }) => ({
        path,
        sizeBytes,
        modifiedMs,
        bucket: number,
        flushLengthPath,
        writeIdRange: [deletes.minWriteId, deletes.maxWriteId] as const,
      })),
    )
    .filter((file) => file.sizeBytes > 0 && file.bucket === (bucket ?? 0));
}

function originalSplit(
  state: AcidState,
  file: DataFile,
  rowIds: SyntheticRowIds,
  deletes: readonly DeleteFile[],
): AcidSplit {
  return { kind: 'original', dir: state.dir, bucket: file.bucket, sizeBytes: file.sizeBytes, file, rowIds, deletes };
}

function acidSplit(
  state: AcidState,
  directory: BaseDirectory | DeltaDirectory,
  file: DataFile,
  deletes: readonly DeleteFile[],
): AcidSplit {
  const writeIdRange = directory.kind === 'base' ? undefined : ([directory.minWriteId, directory.maxWriteId] as const);
  return { kind: 'acid', dir: state.dir, bucket: file.bucket, sizeBytes: file.sizeBytes, file, writeIdRange, deletes };
}

async function bucketsWithUpdateEvents(fs: FileSystem, state: AcidState): Promise<Set<number>> {
  const buckets = new Set<number>();
  for (const delta of state.deltas) {
    if (delta.kind !== 'delta' || delta.hasVersionFile || delta.isRaw) continue;
    for (const file of delta.files) {
      if (file.bucket === undefined || file.sizeBytes === 0 || buckets.has(file.bucket)) continue;
      if (await hasUpdateEvents(fs, file)) buckets.add(file.bucket);
    }
  }
  return buckets;
}
