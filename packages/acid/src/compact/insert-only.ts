import { OrcWriter, type StructVector } from '@skep/orc';
import { joinPath } from '@skep/storage';
import { formatOriginalFileName } from '../layout/bucket-file-name.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { planSplits } from '../read/plan-splits.js';
import { scanSplit } from '../read/scan-split.js';
import type { AcidSplit } from '../read/scan-types.js';
import { orcWriterOptions } from '../write/orc-options.js';
import { StatementFolder } from '../write/statement-folder.js';
import { type CompactionInput, type CompactionResult, firstWriteId, highWatermark } from './compaction-input.js';

/**
 * Compaction of an insert-only table (Hive's MmMajorQueryCompactor and MmMinorQueryCompactor): the rows of the current folders
 * in base_{hwm}_vT or delta_{min}_{hwm}_vT, one file for each bucket number.
 */
export async function compactInsertOnly(input: CompactionInput, type: 'major' | 'minor'): Promise<CompactionResult> {
  const { fs, state, visibilityTxnId } = input;
  const maxWriteId = highWatermark(input);
  const name = formatAcidDirectoryName(
    type === 'major'
      ? { kind: 'base', writeId: maxWriteId, visibilityTxnId }
      : { kind: 'delta', minWriteId: firstWriteId(input), maxWriteId, visibilityTxnId },
  );
  const folder = new StatementFolder(fs, joinPath(state.dir, name), false);
  const source = type === 'major' ? state : { ...state, base: undefined, originals: [] };
  try {
    const splits = await planSplits(fs, source, { insertOnly: true });
    const rows =
      input.fileFormat === 'other' ? await copyFiles(input, folder, splits) : await mergeFiles(input, folder, splits);
    if (folder.files.length === 0) await fs.mkdirs(folder.path);
    return { directories: [folder.path], files: folder.files, rows, deleteEvents: 0, bytes: folder.bytes };
  } catch (cause) {
    await folder.remove();
    throw cause;
  }
}

async function mergeFiles(
  input: CompactionInput,
  folder: StatementFolder,
  splits: readonly AcidSplit[],
): Promise<number> {
  const { fs, schema, writeIds, orc = {}, signal } = input;
  let rows = 0;
  for (const bucket of [...new Set(splits.map((split) => split.bucket ?? 0))].sort((a, b) => a - b)) {
    let writer: OrcWriter | undefined;
    for (const split of splits.filter((candidate) => (candidate.bucket ?? 0) === bucket)) {
      for await (const batch of scanSplit(fs, split, { schema, writeIds })) {
        signal?.throwIfAborted();
        writer ??= new OrcWriter(
          await folder.createFile(formatOriginalFileName(bucket)),
          schema,
          orcWriterOptions(orc, 'plain'),
        );
        await writer.write(batch.root satisfies StructVector);
        rows += batch.length;
      }
    }
    await writer?.close();
  }
  return rows;
}

const COPY_BYTES = 1 << 20;

/** Files of other formats cannot be merged here; they move into one folder, which is what readers profit from. */
async function copyFiles(
  { fs, signal }: CompactionInput,
  folder: StatementFolder,
  splits: readonly AcidSplit[],
): Promise<number> {
  const copies = new Map<number, number>();
  for (const split of splits) {
    if (split.kind !== 'plain') continue;
    const bucket = split.bucket ?? 0;
    const copy = copies.get(bucket) ?? 0;
    copies.set(bucket, copy + 1);
    // Only its ending tells that a file is compressed.
    const ending = /\.[A-Za-z]\w*$/.exec(split.file.path)?.[0] ?? '';
    const sink = await folder.createFile(formatOriginalFileName(bucket, copy) + ending);
    const source = await fs.open(split.file.path);
    try {
      for (let at = 0; at < source.size; at += COPY_BYTES) {
        signal?.throwIfAborted();
        await sink.write(await source.slice(at, Math.min(source.size, at + COPY_BYTES)));
      }
    } finally {
      await source.close?.();
    }
    await sink.close();
  }
  return 0;
}
