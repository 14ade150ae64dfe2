import type { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type FileEntry, type FileSystem, joinPath, NoSuchPathError, readFile } from '@skep/storage';
import { parseBucketFileName } from '../layout/bucket-file-name.js';
import {
  ACID_VERSION_FILE,
  type AcidDirectoryName,
  FLUSH_LENGTH_SUFFIX,
  isHiddenName,
  METADATA_FILE,
  parseAcidDirectoryName,
} from '../layout/directory-name.js';
import type { AcidState, DataFile } from './acid-directory.js';
import { type AcidChild, decideAcidState } from './decide-acid-state.js';

/** What a statement may see of its own transaction: what earlier statements of it wrote. */
export interface OwnWrites {
  readonly writeId: bigint;
  /** Folders of this statement id and later ones are this statement's own, or later ones', output. */
  readonly beforeStatement: number;
  /** Whether base_W is of an earlier statement. */
  readonly seesBase: boolean;
}

export interface AcidStateOptions {
  /** Of a statement that writes, or whose transaction has written, this table. */
  readonly own?: OwnWrites | undefined;
  /** Insert-only tables: files of any name and format, subfolders of deltas (Tez unions) included. */
  readonly insertOnly?: boolean;
  /** Leaves out listing the current folders: enough for the Cleaner, which only wants `obsolete` and `aborted`. */
  readonly withoutFiles?: boolean;
}

/**
 * Which files of an unpartitioned table's or a partition's folder a reader with these lists uses
 * (AcidUtils.getAcidState). Lists the folder and the chosen folders; a folder that does not exist is empty.
 */
export async function getAcidState(
  fs: FileSystem,
  dir: string,
  writeIds: ValidWriteIdList,
  txns: ValidTxnList,
  options: AcidStateOptions = {},
): Promise<AcidState> {
  const entries = (await fs.stat(dir)) === undefined ? [] : await fs.list(dir);
  const children: AcidChild[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory) continue;
    const name = parseAcidDirectoryName(entry.name);
    if (name === undefined || isLater(name, options.own)) continue;
    const isMarkedCompacted =
      name.kind === 'base' && name.visibilityTxnId === 0n && (await isCompactorsBase(fs, entry));
    children.push({ path: entry.path, name: entry.name, isMarkedCompacted });
  }
  const decision = decideAcidState(children, writeIds, txns);
  const originals = await listOriginals(fs, entries);
  const content = options.withoutFiles
    ? async () => ({ files: [], isRaw: false, hasVersionFile: false })
    : (path: string, mayBeRaw: boolean) => listContent(fs, path, mayBeRaw, options.insertOnly ?? false);

  const base = decision.base && {
    ...decision.base,
    ...(await content(decision.base.path, !decision.base.isCompacted)),
  };
  const deltas = [];
  for (const delta of decision.deltas) {
    const mayBeRaw = delta.kind === 'delta' && delta.minWriteId === delta.maxWriteId;
    deltas.push({ ...delta, ...(await content(delta.path, mayBeRaw)) });
  }
  const replaced = base === undefined ? [] : originals.map((file) => file.path);
  return {
    dir,
    base,
    deltas,
    originals: base === undefined ? originals : [],
    obsolete: [...decision.obsolete, ...replaced],
    aborted: decision.aborted,
    abortedWriteIds: decision.abortedWriteIds,
    uncompactedAborts: decision.uncompactedAborts,
  };
}

/** Written by the statement that reads, or by a later one of its transaction. */
function isLater(name: AcidDirectoryName, own: OwnWrites | undefined): boolean {
  if (own === undefined || name.visibilityTxnId !== 0n) return false;
  if (name.kind === 'base') return name.writeId === own.writeId && !own.seesBase;
  return name.minWriteId === own.writeId && (name.statementId ?? 0) >= own.beforeStatement;
}

/** Hive 3.1's compactor had no `_v` in the name but a file that says `compacted`. */
async function isCompactorsBase(fs: FileSystem, base: FileEntry): Promise<boolean> {
  const path = joinPath(base.path, METADATA_FILE);
  if ((await fs.stat(path)) === undefined) return false;
  try {
    return /"dataFormat"\s*:\s*"compacted"/.test(new TextDecoder().decode(await readFile(fs, path)));
  } catch (error) {
    // Whoever wrote the base, or the Cleaner, removes it: then it is not one that a snapshot has.
    if (error instanceof NoSuchPathError) return false;
    throw error;
  }
}

/** Files outside base and delta folders, those of plain subfolders too, ordered by path. */
async function listOriginals(fs: FileSystem, entries: readonly FileEntry[]): Promise<DataFile[]> {
  const files: DataFile[] = [];
  for (const entry of entries) {
    if (isHiddenName(entry.name)) continue;
    if (!entry.isDirectory) files.push(dataFile(entry, undefined));
    else if (parseAcidDirectoryName(entry.name) === undefined) {
      files.push(...(await listOriginals(fs, await fs.list(entry.path))));
    }
  }
  return sortByPath(files);
}

async function listContent(fs: FileSystem, path: string, mayBeRaw: boolean, insertOnly: boolean) {
  const entries = await fs.list(path);
  const names = new Set(entries.map((entry) => entry.name));
  const files: DataFile[] = [];
  for (const entry of entries) {
    if (isHiddenName(entry.name) || entry.name.endsWith(FLUSH_LENGTH_SUFFIX)) continue;
    if (entry.isDirectory) {
      if (insertOnly) files.push(...(await listOriginals(fs, await fs.list(entry.path))));
      continue;
    }
    const side = entry.name + FLUSH_LENGTH_SUFFIX;
    files.push(dataFile(entry, names.has(side) ? joinPath(path, side) : undefined));
  }
  // Folders hold either kind, never both: the first file decides, as in Hive (AcidUtils.MetaDataFile.isRawFormat).
  const isRaw = !insertOnly && mayBeRaw && files.length > 0 && files[0].kind === 'original';
  const data = insertOnly || isRaw ? files : files.filter((file) => file.kind === 'acid');
  return { files: sortByPath(data), isRaw, hasVersionFile: names.has(ACID_VERSION_FILE) };
}

function dataFile(entry: FileEntry, flushLengthPath: string | undefined): DataFile {
  const { kind, bucket } = parseBucketFileName(entry.name);
  const { path, name, sizeBytes, modifiedMs } = entry;
  return { path, name, sizeBytes, modifiedMs, kind, bucket, flushLengthPath };
}

function sortByPath(files: DataFile[]): DataFile[] {
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
