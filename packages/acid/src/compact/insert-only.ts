import { OrcWriter, type StructVector, stripeLength, type WholeStripe } from '@skep/orc';
import { joinPath } from '@skep/storage';
import { formatOriginalFileName } from '../layout/bucket-file-name.js';
import { formatAcidDirectoryName } from '../layout/directory-name.js';
import { plainReadOptions } from '../read/acid-schema.js';
import { openOrcFile } from '../read/orc-file.js';
import { planSplits } from '../read/plan-splits.js';
import { structOf } from '../read/row-keys.js';
import type { AcidSplit } from '../read/scan-types.js';
import { resultAsync } from '../read/steps.js';
import type { DataFile } from '../state/acid-directory.js';
import { orcWriterOptions } from '../write/orc-options.js';
import { StatementFolder } from '../write/statement-folder.js';
import { type CompactionInput, type CompactionResult, firstWriteId, highWatermark } from './compaction-input.js';
import { leavesNoCrumb, type PendingRows, type TakenStripes, takenStripes } from './take-stripes.js';

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
    const isOrc = input.fileFormat !== 'other';
    const merged = isOrc ? await mergeFiles(input, folder, splits) : await copyFiles(input, folder, splits);
    if (folder.files.length === 0) await fs.mkdirs(folder.path);
    return { directories: [folder.path], files: folder.files, ...merged, deleteEvents: 0, bytes: folder.bytes };
  } catch (cause) {
    await folder.remove();
    throw cause;
  }
}

type MergedRows = Pick<CompactionResult, 'rows' | 'stripesTaken'>;

async function mergeFiles(
  input: CompactionInput,
  folder: StatementFolder,
  splits: readonly AcidSplit[],
): Promise<MergedRows> {
  const { schema, orc = {}, signal } = input;
  const taken = takenStripes(input, 'plain');
  let [rows, stripesTaken] = [0, 0];
  for (const bucket of [...new Set(splits.map((split) => split.bucket ?? 0))].sort((a, b) => a - b)) {
    let writer: OrcWriter | undefined;
    const pending = (): PendingRows => ({
      rows: writer?.rowsInCurrentStripe ?? 0,
      bytes: writer?.bytesInCurrentStripe ?? 0,
      gathered: 0,
    });
    for (const split of splits) {
      if (split.kind !== 'plain' || (split.bucket ?? 0) !== bucket) continue;
      for await (const part of partsOfFile(input, split.file, taken, pending)) {
        signal?.throwIfAborted();
        const name = formatOriginalFileName(bucket);
        const options = { ...orcWriterOptions(orc, 'plain'), compressLater: true };
        writer ??= new OrcWriter(await folder.createFile(name), schema, options);
        if ('number' in part) {
          await writer.appendStripe(part);
          stripesTaken++;
          rows += part.information.numberOfRows;
        } else {
          await writer.write(part);
          rows += part.length;
        }
      }
    }
    await writer?.close();
  }
  return { rows, stripesTaken };
}

/** A file's stripes in their order: as they are where they can be taken over, else their rows in batches. */
async function* partsOfFile(
  { fs, schema }: CompactionInput,
  file: DataFile,
  taken: TakenStripes,
  pending: () => PendingRows,
): AsyncGenerator<WholeStripe | StructVector> {
  const orc = await resultAsync(openOrcFile(fs, file));
  try {
    const { reader, path } = orc;
    if (reader === undefined) return;
    const options = plainReadOptions(reader.schema, schema, {});
    for (let number = 0; number < reader.stripes.length; number++) {
      if (stripeLength(reader.stripes[number]) >= taken.leastBytes) {
        const stripe = await reader.wholeStripe(number);
        if (taken.whyNot(stripe) === undefined && leavesNoCrumb(taken.leastBytes, stripe, pending())) {
          yield stripe;
          continue;
        }
      }
      const stripeRange = { first: number, end: number + 1 };
      for await (const { root } of reader.batches({ ...options, stripeRange })) yield structOf(root, path);
    }
  } finally {
    orc.close();
  }
}

const COPY_BYTES = 1 << 20;

/** Files of other formats cannot be merged here; they move into one folder, which is what readers profit from. */
async function copyFiles(
  { fs, signal }: CompactionInput,
  folder: StatementFolder,
  splits: readonly AcidSplit[],
): Promise<MergedRows> {
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
  return { rows: 0, stripesTaken: 0 };
}
