import { getAcidState, planSplits, type UnseenRow } from '@skep/acid';
import { SkepError, ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { Table } from '@skep/rpc';
import type { SessionContext } from './context.js';
import { SemanticError } from './errors.js';
import type { StatementTransaction } from './statement-transaction.js';
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
