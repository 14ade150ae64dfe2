import { joinPath } from '@skep/storage';
import { formatBucketFileName } from '../layout/bucket-file-name.js';
import type { EventFile } from '../read/scan-types.js';
import { EventFileWriter } from '../write/event-file-writer.js';
import type { FileRole } from '../write/orc-options.js';
import { StatementFolder } from '../write/statement-folder.js';
import type { CompactionInput, CompactionResult } from './compaction-input.js';

/** Rows that are put together before they are written. */
export const BATCH_ROWS = 8192;

/** A bucket's file in a folder that is being written. */
export async function newFile(
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
    { compressLater: true },
  );
}

/** A folder beside those that are compacted. */
export function newFolder({ fs, state, orc }: CompactionInput, name: string): StatementFolder {
  return new StatementFolder(fs, joinPath(state.dir, name), orc?.versionFile !== false);
}

/**
 * Runs the writing and ends the folders; takes them back when it fails. Where nothing is left to write the first folder
 * is made all the same, to stand for the write ids it replaces (CompactorOutputCommitter).
 */
export async function writeFolders(
  { fs }: Pick<CompactionInput, 'fs'>,
  folders: readonly StatementFolder[],
  write: () => Promise<Pick<CompactionResult, 'rows' | 'deleteEvents' | 'stripesTaken'>>,
): Promise<CompactionResult> {
  try {
    const counts = await write();
    const used = folders.filter((folder) => folder.files.length > 0);
    for (const folder of used) await folder.finish();
    if (used.length === 0) {
      await fs.mkdirs(folders[0].path);
      await folders[0].finish();
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

/** Files by the bucket number of their names, ascending. */
export function byBucket(files: readonly EventFile[]): Map<number, EventFile[]> {
  const buckets = new Map<number, EventFile[]>();
  for (const file of files) {
    const bucket = file.file.bucket ?? 0;
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), file]);
  }
  return new Map([...buckets].sort(([a], [b]) => a - b));
}
