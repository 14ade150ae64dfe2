import { ValidTxnList } from '@skep/core';
import type { Tx } from '@skep/metadb';
import { type CommitTxnRequest, type CommitTxnResponse, TxnConflictError, TxnType } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import { COMPACT, type Component, componentsOf } from './components.js';
import { COMMITTED, highestTxnId } from './context.js';
import { assertOpen, txnRows } from './txn-state.js';
import { describeWriteConflict, findWriteConflict, isUpdateOrDelete, type WriteSetEntry } from './write-conflict.js';

/** A commit that went through, or the conflict that aborted the transaction instead. */
export type CommitOutcome = { readonly response: CommitTxnResponse } | { readonly conflict: TxnConflictError };

/** What a commit records, by the type of the transaction and what it wrote. */
export interface CommitPlan {
  /** Goes into WRITE_SET. */
  readonly updates: readonly Component[];
  /** Goes into COMPLETED_TXN_COMPONENTS. */
  readonly completed: readonly Component[];
  readonly hasUpdateOrDelete: boolean;
}

export function planCommit(type: TxnType, components: readonly Component[]): CommitPlan {
  const isPlain = type !== TxnType.TXN_TYPE_COMPACTION && type !== TxnType.TXN_TYPE_SOFT_DELETE;
  const writes = type === TxnType.TXN_TYPE_READ_ONLY || !isPlain ? [] : components;
  const updates = writes.filter((component) => isUpdateOrDelete(component.operation));
  return {
    updates: distinct(updates, (c) => [c.database, c.table, c.partition, c.operation]),
    completed: distinct(
      type === TxnType.TXN_TYPE_SOFT_DELETE ? components.filter(isNoCompaction) : writes.filter(isNoCompaction),
      (c) => [c.database, c.table, c.partition, c.writeId],
    ),
    hasUpdateOrDelete: updates.length > 0,
  };
}

function isNoCompaction(component: Component): boolean {
  return component.operation !== COMPACT;
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => readonly unknown[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(keyOf(item).map(String)), item])).values()];
}

/** CommitTxnFunction. The caller releases the locks after its transaction. */
export async function commitInTx(tx: Tx, request: CommitTxnRequest): Promise<CommitOutcome> {
  const { txnId } = request;
  const row = (await txnRows(tx, [txnId], true)).get(txnId);
  const commitTimeMs = await tx.now();
  // A repeated call, whose first answer was lost.
  if (row?.state === COMMITTED) return { response: { commitId: await highestTxnId(tx), commitTimeMs } };
  const { type } = assertOpen(txnId, row);
  const plan = planCommit(type, await componentsOf(tx, txnId));
  // Writers commit one at a time, so that each sees the others' WRITE_SET.
  if (tx.dialect.forUpdate !== '') await tx.get(`SELECT TXN_LOCK FROM TXN_LOCK_TBL${tx.dialect.forUpdate}`);
  const commitId = await highestTxnId(tx);
  const own = plan.updates.map((component): WriteSetEntry => ({ ...component, txnId, commitId }));
  if (request.exclWriteEnabled === false) {
    const seen = request.validTxns === undefined ? undefined : ValidTxnList.parse(request.validTxns);
    const unseen = (await rivals(tx, own)).filter((rival) => !seen?.isTxnValid(rival.txnId));
    const conflict = findWriteConflict(own, unseen);
    if (conflict !== undefined) {
      await abortInTx(tx, [txnId], AbortReason.WRITE_CONFLICT);
      const text = describeWriteConflict(conflict.own, conflict.winner);
      return { conflict: new TxnConflictError(txnId, conflict.winner.txnId, text) };
    }
  }
  await record(tx, txnId, plan, own, commitTimeMs);
  return { response: { commitId, commitTimeMs } };
}

/** What others committed on the same tables since this transaction was opened, the earliest commit first. */
async function rivals(tx: Tx, own: readonly WriteSetEntry[]): Promise<WriteSetEntry[]> {
  const found: WriteSetEntry[] = [];
  for (const { database, table, txnId } of distinct(own, (entry) => [entry.database, entry.table])) {
    const rows = await tx.all<{ PART: string | null; TXN: bigint; COMMIT_ID: bigint; OP: string }>(
      `SELECT WS_PARTITION AS PART, WS_TXNID AS TXN, WS_COMMIT_ID AS COMMIT_ID, WS_OPERATION_TYPE AS OP FROM WRITE_SET
        WHERE WS_DATABASE = ? AND WS_TABLE = ? AND WS_COMMIT_ID >= ? ORDER BY WS_COMMIT_ID, WS_TXNID`,
      [database, table, txnId],
    );
    for (const row of rows) {
      const { TXN, COMMIT_ID: commitId, OP: operation } = row;
      found.push({ database, table, partition: row.PART ?? undefined, txnId: TXN, commitId, operation });
    }
  }
  return found;
}

async function record(
  tx: Tx,
  txnId: bigint,
  plan: CommitPlan,
  own: readonly WriteSetEntry[],
  now: bigint,
): Promise<void> {
  for (const entry of own) {
    await tx.run(
      `INSERT INTO WRITE_SET (WS_DATABASE, WS_TABLE, WS_PARTITION, WS_TXNID, WS_COMMIT_ID, WS_OPERATION_TYPE)
        VALUES (?, ?, ?, ?, ?, ?)`,
      [entry.database, entry.table, entry.partition, txnId, entry.commitId, entry.operation],
    );
  }
  for (const component of plan.completed) {
    await tx.run(
      `INSERT INTO COMPLETED_TXN_COMPONENTS (CTC_TXNID, CTC_DATABASE, CTC_TABLE, CTC_PARTITION, CTC_TIMESTAMP,
        CTC_WRITEID, CTC_UPDATE_DELETE) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [
        txnId,
        component.database,
        component.table,
        component.partition,
        tx.dialect.timestamp(now),
        component.writeId,
        plan.hasUpdateOrDelete ? 'Y' : 'N',
      ],
    );
  }
  await tx.run('DELETE FROM TXN_COMPONENTS WHERE TC_TXNID = ?', [txnId]);
  await tx.run('DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID = ?', [txnId]);
  await tx.run('DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID = ?', [txnId]);
  await tx.run(`UPDATE TXNS SET TXN_STATE = '${COMMITTED}' WHERE TXN_ID = ?`, [txnId]);
}
