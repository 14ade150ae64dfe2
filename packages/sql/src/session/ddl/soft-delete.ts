import { getAcidState, writeEmptyBase } from '@skep/acid';
import { SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { type Partition, type Table, TxnState, TxnType } from '@skep/rpc';
import { copyFile, type FileSystem, joinPath, walk } from '@skep/storage';
import { lockSettings, type SessionContext } from '../context.js';
import { nameOf } from '../partition/partitions.js';
import { hasSoftDeletes, isInsertOnly, isTransactional } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';

/**
 * Soft deletes (hive.acid.createtable.softdelete, .droppartition.usebase, .renamepartition.makecopy, all of them with
 * hive.acid.lockless.reads.enabled): a drop does not wait for readers. The catalog forgets the table or partition, and the
 * Cleaner removes the folder when every transaction that may read it has ended.
 */

/** A statement that may leave a folder to the Cleaner: its commit is what that waits for (AcidUtils.isSoftDeleteTxn). */
export const softDeleteIf = (isSoft: boolean): { type?: TxnType } =>
  isSoft ? { type: TxnType.TXN_TYPE_SOFT_DELETE } : {};

/**
 * The folder of a new table: with soft deletes one that no other table ever has, NAME.vTXN, unless its place was given. A table
 * that is made LIKE one that has such a folder gets one too (HMSHandler.getTableSuffix); and one whose folder still has what
 * another table has written: whoever dropped that was killed before its files were gone.
 */
export async function placeNewTable(
  context: SessionContext,
  table: Table,
  txnId: bigint,
  hasLocation: boolean,
): Promise<void> {
  if (table.sd === undefined || !isTransactional(table)) return;
  if (hasSoftDeletes(lockSettings(context.conf)) && !hasLocation) table.parameters.soft_delete = 'true';
  const location = table.sd.location.replace(/\/+$/, '');
  const isOwn = table.parameters.soft_delete?.toLowerCase() === 'true';
  if (!isOwn && (hasLocation || !(await hasAcidFiles(context.services.fs, location)))) return;
  if (!/\.v\d+$/.test(location)) table.sd.location = `${location}.v${String(txnId).padStart(7, '0')}`;
}

/** By the first file: files without such a folder are of nobody's table yet. */
async function hasAcidFiles(fs: FileSystem, location: string): Promise<boolean> {
  if ((await fs.stat(location)) === undefined) return false;
  for await (const { path } of walk(fs, location)) return /\/(base|delta|delete_delta)_\d+/.test(path);
  return false;
}

/** A folder that a drop leaves behind. */
interface LeftFolder {
  readonly location: string;
  readonly partition?: string;
  /** The catalog's number of what was there. */
  readonly droppedId: bigint;
  /** It is left behind only if something goes wrong. */
  readonly spare?: boolean;
}

/** A table's folder, and those of its partitions that are elsewhere. */
export function foldersOfTable(table: Table, partitions: readonly Partition[]): LeftFolder[] {
  const root = table.sd?.location ?? '';
  const elsewhere = partitions
    .filter(({ sd }) => sd !== undefined && sd.location !== '' && !sd.location.startsWith(`${root}/`))
    .map((partition) => folderOfPartition(table, partition));
  return [{ location: root, droppedId: table.id }, ...elsewhere];
}

export const folderOfPartition = (table: Table, partition: Partition): LeftFolder => ({
  location: partition.sd?.location ?? '',
  partition: nameOf(table, partition.values),
  droppedId: partition.id,
});

/**
 * Asks for it before the catalog forgets what was there, so that a crash leaves no folder behind that nobody knows of: what is
 * still in the catalog then is not removed.
 */
export async function leaveToCleaner(
  { services }: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  folders: readonly LeftFolder[],
  options: { readonly writeId?: bigint; readonly purge?: boolean } = {},
): Promise<void> {
  const { compactions, identity } = services;
  const { database, name } = table;
  const { txnId } = transaction;
  const highestWriteId = options.writeId ?? (await highestWriteIdOf(services.txns, `${database}.${name}`));
  const purge = options.purge === true || table.parameters['auto.purge']?.toLowerCase() === 'true';
  const shared = { database, table: name, runAs: identity.user, highestWriteId, txnId, purge };
  for (const folder of folders) await compactions.submitForCleanup({ spare: false, ...shared, ...folder });
  transaction.settlesCleanups();
}

async function highestWriteIdOf(txns: SessionContext['services']['txns'], table: string): Promise<bigint> {
  const { validWriteIds } = await txns.getValidWriteIds({ tables: [table] });
  return ValidWriteIdList.parse(validWriteIds[0]).highWatermark;
}

/** What is in the folder is nobody's any more: a partition that is made there again begins empty. */
export async function markDropped(
  { services: { fs } }: SessionContext,
  location: string,
  writeId: bigint,
): Promise<void> {
  await writeEmptyBase(fs, location, writeId, 'dropped');
}

/**
 * Copies a partition's folder: all that any snapshot may see of it. Nobody writes to it under the statement's lock but a
 * compaction, whose result is not seen before its commit and is left out, as are aborted writes.
 */
export async function copyPartitionFolder(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  from: string,
  to: string,
): Promise<void> {
  const { fs } = context.services;
  const writeIds = ValidWriteIdList.parse(await transaction.validWriteIdsOf(table.database, table.name));
  const txns = ValidTxnList.parse(transaction.validTxns);
  const state = await getAcidState(fs, from, writeIds, txns, { insertOnly: isInsertOnly(table) });
  const current = [state.base, ...state.deltas].flatMap((folder) => (folder === undefined ? [] : [folder.path]));
  const paths = [...current, ...state.originals.map((file) => file.path)];
  const placeOf = (path: string) => joinPath(to, path.slice(from.length + 1));
  try {
    await fs.mkdirs(to);
    for (const path of paths) await copyTree(context, path, placeOf(path));
    for (const path of state.obsolete) await copyUnlessCleaned(context, path, placeOf(path));
  } catch (error) {
    await fs.delete(to, { recursive: true });
    throw error;
  }
}

/** What only older snapshots see goes when there are none: the Cleaner may be removing it. */
async function copyUnlessCleaned(context: SessionContext, from: string, to: string): Promise<void> {
  try {
    await copyTree(context, from, to);
  } catch (error) {
    if (!(error instanceof SkepError) || error.code !== 'NO_SUCH_PATH') throw error;
    await context.services.fs.delete(to, { recursive: true });
  }
}

async function copyTree(context: SessionContext, from: string, to: string): Promise<void> {
  const { fs } = context.services;
  if ((await fs.stat(from))?.isDirectory !== true) {
    await copyFile(fs, from, to);
    return;
  }
  await fs.mkdirs(to);
  for (const entry of await fs.list(from)) await copyTree(context, entry.path, joinPath(to, entry.name));
}

/** Whether a transaction was not aborted from outside, which ends its locks: asked before what cannot be taken back. */
export async function hasLocks(
  { services: { txns } }: SessionContext,
  { txnId }: StatementTransaction,
): Promise<boolean> {
  const { states } = await txns.getTxnStates({ txnIds: [txnId] });
  return states[0] === TxnState.TXN_STATE_OPEN;
}
