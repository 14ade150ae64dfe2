import { type AcidState, getAcidState, MinorCompactionUnsupportedError, parseAcidDirectoryName } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import {
  type CompactFolderRequest,
  CompactFolderResult,
  CompactFolderResult_Outcome,
  CompactionType,
  type DiscardCompactionRequest,
} from '@skep/rpc';
import { type FileSystem, joinPath } from '@skep/storage';
import { withoutAbortedEnd } from '../write-id-lists.js';
import type { CompactHow, CompactionFiles } from './compaction-files.js';
import { isEnoughToCompact, needsCleaning, reasonToPutOff } from './folder-decision.js';
import { observed } from './observed-file-system.js';
import { writeResult } from './write-result.js';

/** The file-format layer of this process. */
export function localCompactionFiles(fs: FileSystem): CompactionFiles {
  return {
    ownerOf: async ({ location }) => (await fs.ownerOf?.(location))?.user,
    compact: (request, how) => compact(fs, request, how),
    discard: (request) => discard(fs, request),
  };
}

async function compact(
  files: FileSystem,
  request: CompactFolderRequest,
  how: CompactHow,
): Promise<CompactFolderResult> {
  const { location, insertOnly, type } = request;
  const { signal, onProgress } = how;
  const fs = onProgress === undefined ? files : observed(files, onProgress);
  const validTxns = ValidTxnList.parse(request.validTxns);
  const reader = ValidWriteIdList.parse(request.writeIds);
  const writeIds = ValidWriteIdList.forCompactor(reader);
  const stateBy = (list: ValidWriteIdList) => getAcidState(fs, location, list, validTxns, { insertOnly });
  if (type === CompactionType.COMPACTION_TYPE_REBALANCE && reader.highWatermark > writeIds.highWatermark) {
    const later = reasonToPutOff(await stateBy(reader), writeIds.highWatermark);
    if (later !== undefined) return putOff(later);
  }
  const state = await stateBy(writeIds);
  if (!isEnoughToCompact(type, state)) return needsCleaning(state) ? ONLY_OBSOLETE : NOTHING_TO_DO;
  try {
    const task = { request, state, writeIds: withoutAbortedEnd(writeIds), validTxns, signal };
    const { bytes, reason } = await writeResult(fs, task);
    for (const folder of await foldersOf(fs, request)) await giveTo(fs, request, folder);
    return {
      outcome: CompactFolderResult_Outcome.OUTCOME_WRITTEN,
      reason,
      bytesRead: BigInt(bytesOf(state)),
      bytesWritten: BigInt(bytes),
    };
  } catch (error) {
    if (!(error instanceof MinorCompactionUnsupportedError)) throw error;
    await discard(fs, request);
    return refused(`${error.message}: ask for a major compaction`);
  }
}

const NOTHING_TO_DO = CompactFolderResult.fromPartial({ outcome: CompactFolderResult_Outcome.OUTCOME_NOTHING_TO_DO });
const ONLY_OBSOLETE = CompactFolderResult.fromPartial({ outcome: CompactFolderResult_Outcome.OUTCOME_ONLY_OBSOLETE });
const refused = (reason: string): CompactFolderResult =>
  CompactFolderResult.fromPartial({ outcome: CompactFolderResult_Outcome.OUTCOME_REFUSED, reason });

const putOff = (reason: string): CompactFolderResult =>
  CompactFolderResult.fromPartial({ outcome: CompactFolderResult_Outcome.OUTCOME_PUT_OFF, reason });

type WrittenBy = Pick<DiscardCompactionRequest, 'location' | 'txnId'>;

async function discard(fs: FileSystem, written: WrittenBy): Promise<void> {
  for (const folder of await foldersOf(fs, written)) await fs.delete(folder, { recursive: true });
}

/** What a transaction has written so far. */
async function foldersOf(fs: FileSystem, { location, txnId }: WrittenBy): Promise<string[]> {
  if ((await fs.stat(location)) === undefined) return [];
  const names = (await fs.list(location)).map((entry) => entry.name);
  return names
    .filter((name) => parseAcidDirectoryName(name)?.visibilityTxnId === txnId)
    .map((name) => joinPath(location, name));
}

/**
 * Gives what was written to the user it was written for, where this process may (root): to the folder's own user and group
 * if that is who it is.
 */
async function giveTo(fs: FileSystem, { location, runAs }: CompactFolderRequest, path: string): Promise<void> {
  if (fs.ownerOf === undefined || fs.giveTo === undefined) return;
  const owner = await fs.ownerOf(location);
  await fs.giveTo(path, owner !== undefined && owner.user === runAs ? owner : { user: runAs });
}

/** Of what a compaction reads. */
const bytesOf = ({ base, deltas, originals }: AcidState): number =>
  [...(base?.files ?? []), ...originals, ...deltas.flatMap(({ files }) => files)].reduce((n, f) => n + f.sizeBytes, 0);
