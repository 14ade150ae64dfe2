import { getAcidState, parseAcidDirectoryName, planSplits, scanSplit } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { Partition, Table } from '@skep/rpc';
import type { SessionContext } from '../context.js';
import { tableSchema } from '../scan/table-scan.js';
import { conflictError } from '../transaction/explicit-transaction.js';
import { isFullAcid, isInsertOnly, type WriteKind } from '../transaction/lock-plan.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import type { TableWriter } from './table-writer.js';

/**
 * Whether an overwrite is written as deletes of all rows and inserts. A base_W hides every delta_W_W_S of its own write, those
 * of later statements too (AcidUtils.getAcidState), so that a transaction of several statements could not change again what it
 * has overwritten. Insert-only tables have no deletes: theirs stay bases, and later rows go into these.
 */
export const overwritesByDeletes = (transaction: StatementTransaction, table: Table): boolean =>
  transaction.isExplicit && isFullAcid(table);

/** Deletes leave alone what they do not see, so that nobody has to be kept out: readers of the table go on until the commit. */
export const overwriteKind = (transaction: StatementTransaction, table: Table): WriteKind =>
  overwritesByDeletes(transaction, table) ? 'update' : 'insert-overwrite';

/** Deletes all rows that the running statement sees in some folders of a full ACID table. Answers how many. */
export async function deleteAllRows(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partitions: readonly (Partition | undefined)[],
  deletes: TableWriter,
  signal?: AbortSignal,
): Promise<bigint> {
  const { fs } = context.services;
  const writeIds = ValidWriteIdList.parse(await transaction.validWriteIdsOf(table.database, table.name));
  const txns = ValidTxnList.parse(transaction.validTxns);
  let rows = 0n;
  for (const partition of partitions) {
    const location = partition?.sd?.location ?? table.sd?.location ?? '';
    const own = transaction.ownWritesIn(table.database, table.name, location);
    const state = await getAcidState(fs, location, writeIds, txns, { own });
    for (const split of await planSplits(fs, state)) {
      const options = { schema: tableSchema(table), writeIds, columns: [], rowIds: true };
      for await (const { length, rowIds } of scanSplit(fs, split, options)) {
        signal?.throwIfAborted();
        if (rowIds === undefined || length === 0) continue;
        await deletes.write(rowIds, length, partition?.values ?? []);
        rows += BigInt(length);
      }
    }
  }
  return rows;
}

/**
 * The base of an insert-only table's overwrite would hide what others have added since the transaction's snapshot, and nobody
 * would ever have seen it: first committer wins. The statement's lock keeps more from coming.
 */
export async function refuseOverwriteOfUnseen(
  { services: { txns } }: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partitions: readonly string[],
): Promise<void> {
  if (!transaction.isExplicit || !isInsertOnly(table)) return;
  const at = { database: table.database, table: table.name };
  const overwritten = table.partitionKeys.length === 0 ? [at] : partitions.map((partition) => ({ ...at, partition }));
  if (overwritten.length === 0) return;
  const { txnId, validTxns } = transaction;
  const conflict = await txns.getLatestConflictingCommit({ txnId, validTxns, overwritten });
  if (conflict.txnId !== undefined) throw conflictError(txnId, conflict.txnId, conflict.resource);
}

/**
 * A transaction of several statements may have got its write id of a table before it locked this folder: an overwrite that
 * committed here in between has a higher one, and its base would hide what is written under ours. The first committer has won.
 */
export async function refuseWriteBelowBase(
  { services: { fs, txns } }: SessionContext,
  transaction: StatementTransaction,
  at: {
    readonly table: Table;
    readonly partition: string | undefined;
    readonly location: string;
    readonly writeId: bigint;
  },
): Promise<void> {
  if (!transaction.isExplicit || (await fs.stat(at.location)) === undefined) return;
  const { database, name } = at.table;
  const bases = (await fs.list(at.location)).flatMap((entry) => {
    const parsed = parseAcidDirectoryName(entry.name);
    return parsed?.kind === 'base' && parsed.writeId > at.writeId ? [parsed.writeId] : [];
  });
  if (bases.length === 0) return;
  const { validWriteIds } = await txns.getValidWriteIds({ tables: [`${database}.${name}`] });
  const writeIds = ValidWriteIdList.parse(validWriteIds[0]);
  if (bases.every((writeId) => writeIds.isWriteIdAborted(writeId))) return;
  const { txnId, validTxns } = transaction;
  const resource = { database, table: name, partition: at.partition };
  const winner = await txns.getLatestConflictingCommit({ txnId, validTxns, overwritten: [resource] });
  throw conflictError(txnId, winner.txnId ?? 0n, resource);
}
