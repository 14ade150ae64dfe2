import {
  type AcidState,
  compactMajor,
  compactMinor,
  compactRebalance,
  getAcidState,
  MinorCompactionUnsupportedError,
  partsOf,
} from '@skep/acid';
import type { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { createStruct, parseType } from '@skep/orc';
import { type CompactFolderRequest, CompactionType } from '@skep/rpc';
import type { FileSystem } from '@skep/storage';

/** What a compaction works on, by the snapshot of its own transaction. */
export interface FolderTask {
  readonly request: CompactFolderRequest;
  readonly state: AcidState;
  /** The compactor's list, by which results are named that are named after their list. */
  readonly writeIds: ValidWriteIdList;
  readonly validTxns: ValidTxnList;
  readonly signal: AbortSignal;
}

type Input = ReturnType<typeof inputOf>;

export interface Written {
  readonly bytes: number;
  /** Why a minor compaction became a major one; empty: it did not. */
  readonly reason: string;
}

/** Writes the result. */
export async function writeResult(fs: FileSystem, task: FolderTask): Promise<Written> {
  const { request, state } = task;
  const input = inputOf(fs, task);
  if (request.type === CompactionType.COMPACTION_TYPE_REBALANCE) {
    const buckets = request.numberOfBuckets === undefined ? {} : { buckets: request.numberOfBuckets };
    const { bytes } = await compactRebalance({ ...input, ...buckets, orderBy: request.orderBy });
    return { bytes, reason: '' };
  }
  // An insert-only table's result is named by the snapshot, not by what is merged: it has no parts.
  const isMany = state.deltas.length > request.maxDeltas && !request.insertOnly;
  const [reduced, parts] = isMany ? await mergeParts(fs, task, input) : [input, []];
  const isMajor = request.type === CompactionType.COMPACTION_TYPE_MAJOR;
  const written = isMajor ? await majorOf(reduced) : await minorOf(request, reduced);
  for (const folder of parts) await fs.delete(folder, { recursive: true });
  return written;
}

/**
 * Minor compactions of parts of the deltas, in the same transaction; then the state is taken anew (CompactorMR.run). The
 * folders they leave are nobody's once the result is there.
 */
async function mergeParts(
  fs: FileSystem,
  { request, state, writeIds, validTxns }: FolderTask,
  input: Input,
): Promise<[Input, string[]]> {
  const parts = partsOf(state.deltas, request.maxDeltas);
  // A part that is the whole would have the name of the result.
  if (parts.length < 2) return [input, []];
  const folders: string[] = [];
  try {
    for (const deltas of parts.filter((part) => part.length > 1)) {
      input.signal.throwIfAborted();
      folders.push(...(await compactMinor({ ...input, state: { ...state, deltas } })).directories);
    }
  } catch (error) {
    if (!(error instanceof MinorCompactionUnsupportedError)) throw error;
    // Only a major compaction can read them, all at once.
    for (const folder of folders) await fs.delete(folder, { recursive: true });
    return [input, []];
  }
  const merged = await getAcidState(fs, request.location, writeIds, validTxns, { insertOnly: false });
  return [{ ...input, state: merged }, folders];
}

const majorOf = async (input: Input, reason = ''): Promise<Written> => ({
  bytes: (await compactMajor(input)).bytes,
  reason,
});

/** Update events of tables of Hive 2 can be rewritten by a major compaction alone. */
async function minorOf({ majorInstead }: CompactFolderRequest, input: Input): Promise<Written> {
  try {
    return { bytes: (await compactMinor(input)).bytes, reason: '' };
  } catch (error) {
    if (!(error instanceof MinorCompactionUnsupportedError) || !majorInstead) throw error;
    return await majorOf(input, error.message);
  }
}

function inputOf(fs: FileSystem, { request, state, writeIds, signal }: FolderTask) {
  const { columns, txnId, insertOnly, isOrc, orcProperties, omitVersionFile } = request;
  return {
    fs,
    state,
    writeIds,
    schema: createStruct(columns.map(({ name, type }) => [name, parseType(type)] as const)),
    visibilityTxnId: txnId,
    insertOnly,
    fileFormat: isOrc ? 'orc' : 'other',
    orc: { tableProperties: orcProperties, versionFile: !omitVersionFile },
    signal,
  } as const;
}
