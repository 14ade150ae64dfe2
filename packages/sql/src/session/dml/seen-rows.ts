import { getAcidState, planSplits, type UnseenRow } from '@skep/acid';
import { SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { CompactionState, CompactionType, type Table } from '@skep/rpc';
import type { SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';
import type { TableWriter } from './table-writer.js';

/** A row to change is not there any more: somebody changed or deleted it since it was read, and has won. */
export class RowChangedError extends SkepError {
  readonly txnId: bigint;
  constructor(txnId: bigint, message: string) {
    super('ROW_CHANGED', 'conflict', message);
    this.txnId = txnId;
  }
}

/**
 * ROW__IDs that come from outside may be of rows that were changed since they were read. Deleting such a row would do nothing,
 * and an update would bring the row a second time: each must be of one row that the transaction sees, and named once.
 * Statements need no such look: they read what they change under their own snapshot.
 */
export async function requireSeenRows(
  { services: { fs }, conf }: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  deletes: TableWriter,
  signal: AbortSignal | undefined,
): Promise<void> {
  const txns = ValidTxnList.parse(transaction.validTxns);
  for (const [partition, writer] of deletes.deleteWriters()) {
    const writeIds = ValidWriteIdList.parse(await transaction.validWriteIdsOf(table.database, table.name));
    const { location } = writer.target;
    const own = transaction.ownWritesIn(table.database, table.name, location);
    const state = await getAcidState(fs, location, writeIds, txns, { own });
    const deleteEventsInMemory = conf.getInt('hive.transactional.events.mem');
    const splits = await planSplits(fs, state);
    const unseen = await writer.unseen(splits, { writeIds, deleteEventsInMemory, signal });
    if (unseen !== undefined) throw errorOf(unseen, transaction.txnId, table, partition);
  }
}

/**
 * A rebalance numbers rows anew: what was one row's ROW__ID may be another's. Rows that were read before one say by which snapshot
 * (`readBy`, Hive's ValidTxnList as text), and are not changed by their old ROW__IDs.
 */
export async function requireSameRowIds(
  { services: { compactions } }: SessionContext,
  transaction: StatementTransaction,
  { database, name }: Table,
  readBy: string,
): Promise<void> {
  const seen = ValidTxnList.parse(readBy);
  const type = CompactionType.COMPACTION_TYPE_REBALANCE;
  const { compactions: found } = await compactions.showCompactions({ database, table: name, type, limit: 0n });
  const since = found.find(({ txnId, state }) => txnId !== undefined && DONE.has(state) && !seen.isTxnValid(txnId));
  if (since === undefined) return;
  const what = `[txnid:${transaction.txnId}] cannot change rows of ${database}.${name} by ROW__IDs from before`;
  throw new RowChangedError(transaction.txnId, `${what} its rebalance [txnid:${since.txnId}]. Read them again`);
}

const DONE: ReadonlySet<CompactionState> = new Set([
  CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
  CompactionState.COMPACTION_STATE_SUCCEEDED,
]);

function errorOf(
  { why, writeId, bucket, rowId }: UnseenRow,
  txnId: bigint,
  table: Table,
  partition: string,
): SkepError {
  const where = `${table.database}.${table.name}${partition === '' ? '' : `/${partition}`}`;
  const row = `{"writeid":${writeId},"bucketid":${bucket},"rowid":${rowId}}`;
  if (why === 'twice') {
    return new SemanticError(10002, `The row with ROW__ID ${row} of ${where} is to be changed twice in one write`);
  }
  const what = `[txnid:${txnId}] sees no row with ROW__ID ${row} in ${where}`;
  return new RowChangedError(txnId, `${what}: it was changed or deleted since it was read. Read it again`);
}
