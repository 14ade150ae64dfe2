import { isHiddenName, parseAcidDirectoryName } from '@skep/acid';
import { SkepError, ValidTxnList } from '@skep/core';
import { type Compaction, TxnState } from '@skep/rpc';
import { droppedIdOf, isSoftDeleteFolder } from './queue/cleanups.js';
import { findResource } from './resource.js';
import type { CompactorServices } from './services.js';

/** What is to be done about a folder that a drop has left. */
export type CleanupVerdict =
  /** Nobody has it any more. */
  | { readonly kind: 'remove' }
  /** The partition was made again, in the same folder: what is older than the drop goes. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'refuse'; readonly why: string };

/** A table or partition that the catalog has under the name of what was dropped. */
export interface Found {
  readonly id: bigint;
  readonly location: string;
}

/**
 * Judges a cleanup by what the catalog has under its name (CompactionCleaner.clean): a drop that did not come about leaves
 * everything as it is, and a partition may be made again where it was. Pure.
 */
export function judgeCleanup(
  location: string,
  partition: string | undefined,
  droppedId: bigint | undefined,
  found: Found | undefined,
): CleanupVerdict {
  const isThere = found !== undefined && trimmed(found.location) === trimmed(location);
  if (isThere && found.id === droppedId) return { kind: 'refuse', why: `${location} was not dropped: it is in use` };
  if (partition !== undefined) return { kind: isThere ? 'clean' : 'remove' };
  if (isThere) return { kind: 'refuse', why: `${location} is in use` };
  if (!isSoftDeleteFolder(location)) {
    return { kind: 'refuse', why: `${location} may be another table's: its name does not end in .v and digits` };
  }
  return { kind: 'remove' };
}

const trimmed = (location: string): string => location.replace(/^file:(\/\/)?(?=\/)/, '').replace(/\/+$/, '');

/** The verdict by the catalog as it is now. */
export async function verdictOf(
  services: CompactorServices,
  job: Compaction,
  location: string,
): Promise<CleanupVerdict> {
  const found = await findResource(services, job);
  const { id } = found?.partition ?? found?.table ?? { id: 0n };
  const now = found === undefined ? undefined : { id, location: found.location };
  return judgeCleanup(location, job.partition, droppedIdOf(job), now);
}

/** Removes a dropped table's folder, and its database's if that was dropped too and nothing else is in it. */
export async function removeTableFolder(
  services: CompactorServices,
  job: Compaction,
  location: string,
): Promise<number> {
  const { fs, catalog } = services;
  const removed = (await fs.delete(location, { recursive: true })) ? 1 : 0;
  const parent = trimmed(location).replace(/\/[^/]+$/, '');
  if (!parent.endsWith(`/${job.database}.db`)) return removed;
  const hasDatabase = (await catalog.listDatabases({})).names.includes(job.database);
  if (!hasDatabase && (await fs.stat(parent)) !== undefined && (await fs.list(parent)).length === 0) {
    await fs.delete(parent);
  }
  return removed;
}

/**
 * Removes what a dropped partition had: folders of write ids up to that of the drop, and files from before the table was
 * transactional. Whoever makes the partition again has a higher one, so that nobody need be kept out (Hive asks for a lock);
 * the folder itself goes when it is empty. `kept`: the empty base of the drop stays, under it there are others' files.
 */
export async function removePartitionFiles(
  { fs }: CompactorServices,
  job: Compaction,
  location: string,
  kept: boolean,
): Promise<number> {
  if ((await fs.stat(location)) === undefined) return 0;
  let removed = 0;
  for (const entry of await fs.list(location)) {
    if (!isOlder(entry, job.highestWriteId, kept)) continue;
    await fs.delete(entry.path, { recursive: true });
    removed++;
  }
  if (kept || (await fs.list(location)).length > 0) return removed;
  return (await fs.delete(location)) ? removed + 1 : removed;
}

function isOlder(
  entry: { readonly name: string; readonly isDirectory: boolean },
  writeId: bigint,
  keepsBase: boolean,
): boolean {
  if (!entry.isDirectory) return /^(\d+_\d+|bucket_\d+)/.test(entry.name) || isHiddenName(entry.name);
  const name = parseAcidDirectoryName(entry.name);
  if (name === undefined) return false;
  if (name.kind !== 'base') return name.maxWriteId <= writeId;
  return keepsBase && name.visibilityTxnId === 0n ? name.writeId < writeId : name.writeId <= writeId;
}

/** Transactions that dropped and of whose end nobody told: those that are over are told of now. */
export async function settleForgotten(services: CompactorServices, unsettled: readonly Compaction[]): Promise<number> {
  const { txns, compactions, clock } = services;
  const txnIds = [...new Set(unsettled.flatMap(({ txnId }) => (txnId === undefined ? [] : [txnId])))];
  if (txnIds.length === 0) return 0;
  const { states } = await txns.getTxnStates({ txnIds });
  const over = txnIds.filter((_, i) => states[i] !== TxnState.TXN_STATE_OPEN);
  if (over.length === 0) return 0;
  const { validTxns } = await txns.getValidTxns({});
  const nextTxnId = ValidTxnList.parse(validTxns).highWatermark;
  let settled = 0;
  for (const txnId of over) {
    const answer = await compactions.settleCleanups({ txnId, nextTxnId, commitTimeMs: BigInt(clock.now()) });
    settled += Number(answer.settled);
  }
  return settled;
}

/** Whether an error says that a request has been finished by another process meanwhile. */
export const isFinished = (error: unknown): boolean =>
  error instanceof SkepError && error.code === 'NO_SUCH_COMPACTION';
