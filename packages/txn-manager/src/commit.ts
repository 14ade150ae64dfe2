import { ValidTxnList } from '@skep/core';
import { insertStatements, type Row, type Statement, type Tx } from '@skep/metadb';
import { type CommitTxnRequest, type CommitTxnResponse, TxnConflictError, TxnType } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import { COMPACT, type Component, componentsQuery, toComponents } from './components.js';
import { COMMITTED, HIGHEST_TXN_ID, highestTxnId, txnLockForCommit } from './context.js';
import { assertOpen, toTxnRows, txnRowQueries } from './txn-state.js';
import {
  describeWinner,
  describeWriteConflict,
  findWriteConflict,
  isUpdateOrDelete,
  type WriteSetEntry,
} from './write-conflict.js';

/** A commit that went through, or the conflict that aborted the transaction instead. */
export type CommitOutcome = { readonly response: CommitTxnResponse } | { readonly conflict: TxnConflictError };

/** What a commit records, by the type of the transaction and what it wrote. */
export interface CommitPlan {
  /** Goes into WRITE_SET. */
  readonly updates: readonly Component[];
  /** Goes into COMPLETED_TXN_COMPONENTS. */
  readonly completed: readonly Component[];
  readonly hasUpdateOrDelete: boolean;
  /** Its commit id is compared with others (CommitTxnFunction takes the lock for these only). */
  readonly needsExactCommitId: boolean;
}

export function planCommit(type: TxnType, components: readonly Component[]): CommitPlan {
  const isPlain = type !== TxnType.TXN_TYPE_COMPACTION && type !== TxnType.TXN_TYPE_SOFT_DELETE;
  const writes = type === TxnType.TXN_TYPE_READ_ONLY || !isPlain ? [] : components;
  // What is replayed was judged where it was done first.
  const judged = type === TxnType.TXN_TYPE_REPL_CREATED ? [] : writes;
  const updates = judged.filter((component) => isUpdateOrDelete(component.operation));
  return {
    updates: distinct(updates, (c) => [c.database, c.table, c.partition, c.operation]),
    completed: distinct(
      type === TxnType.TXN_TYPE_SOFT_DELETE ? components.filter(isNoCompaction) : writes.filter(isNoCompaction),
      (c) => [c.database, c.table, c.partition, c.writeId],
    ),
    hasUpdateOrDelete: updates.length > 0,
    needsExactCommitId: updates.length > 0 || !isPlain,
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
  const [txn, components] = await tx.allOf([...txnRowQueries(tx, [txnId], true), componentsQuery(txnId)]);
  const row = toTxnRows([txn]).get(txnId);
  const commitTimeMs = await tx.now();
  // A repeated call, whose first answer was lost.
  if (row?.state === COMMITTED) return { response: { commitId: await highestTxnId(tx), commitTimeMs } };
  const { type } = assertOpen(txnId, row);
  const plan = planCommit(type, toComponents(components));
  const isJudged = request.exclWriteEnabled === false && plan.updates.length > 0;
  // So many that one statement each would take longer than a round trip.
  const isLarge = plan.updates.length > FEW_UPDATES;
  if (!isJudged && !isLarge) {
    const results = await tx.runLast([...commitIdQueries(tx, plan), ...recording(tx, txnId, plan, commitTimeMs)]);
    return { response: { commitId: commitIdOf(results.flatMap(({ rows }) => rows)), commitTimeMs } };
  }
  const commitId = commitIdOf((await tx.allOf(commitIdQueries(tx, plan))).flat());
  const own = plan.updates.map((component): WriteSetEntry => ({ ...component, txnId, commitId }));
  if (isJudged) {
    const seen = request.validTxns === undefined ? undefined : ValidTxnList.parse(request.validTxns);
    const unseen = (await rivals(tx, own)).filter((rival) => !seen?.isTxnValid(rival.txnId));
    const conflict = findWriteConflict(own, unseen);
    if (conflict !== undefined) {
      await abortInTx(tx, [txnId], AbortReason.WRITE_CONFLICT, describeWinner(conflict.winner));
      const text = describeWriteConflict(conflict.own, conflict.winner);
      return { conflict: new TxnConflictError(txnId, conflict.winner.txnId, text) };
    }
  }
  await tx.runLast(recording(tx, txnId, plan, commitTimeMs, commitId));
  return { response: { commitId, commitTimeMs } };
}

const FEW_UPDATES = 16;

/**
 * The commit id is the highest transaction id. Where it decides over conflicts, or what the Cleaner may remove, no other
 * transaction is opened or commits until this one has.
 */
function commitIdQueries(tx: Tx, plan: CommitPlan): Statement[] {
  return [...(plan.needsExactCommitId ? [[txnLockForCommit(tx)] as const] : []), HIGHEST_TXN_ID];
}

/** From the rows that `commitIdQueries` answer. */
function commitIdOf(rows: readonly Row[]): bigint {
  return (rows.find((row) => row.ID !== undefined)?.ID as bigint | null | undefined) ?? 0n;
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

const WRITE_SET = ['WS_DATABASE', 'WS_TABLE', 'WS_PARTITION', 'WS_TXNID', 'WS_OPERATION_TYPE', 'WS_COMMIT_ID'];

/** What commits. Without a commit id the statements find it themselves, in the round trip that holds the lock. */
function recording(tx: Tx, txnId: bigint, plan: CommitPlan, now: bigint, commitId?: bigint): Statement[] {
  const time = tx.dialect.timestamp(now);
  const updates = plan.updates.map(({ database, table, partition, operation }) => {
    return [database, table, partition, txnId, operation];
  });
  const choosing = `INSERT INTO WRITE_SET (${WRITE_SET.join(', ')}) SELECT ?, ?, ?, ?, ?, MAX(TXN_ID) FROM TXNS`;
  return [
    ...(commitId === undefined
      ? updates.map((row): Statement => [choosing, row])
      : insertStatements(
          'WRITE_SET',
          WRITE_SET,
          updates.map((row) => [...row, commitId]),
        )),
    ...insertStatements(
      'COMPLETED_TXN_COMPONENTS',
      ['CTC_TXNID', 'CTC_DATABASE', 'CTC_TABLE', 'CTC_PARTITION', 'CTC_TIMESTAMP', 'CTC_WRITEID', 'CTC_UPDATE_DELETE'],
      plan.completed.map(({ database, table, partition, writeId }) => {
        return [txnId, database, table, partition, time, writeId, plan.hasUpdateOrDelete ? 'Y' : 'N'];
      }),
    ),
    ['DELETE FROM TXN_COMPONENTS WHERE TC_TXNID = ?', [txnId]],
    ['DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID = ?', [txnId]],
    // Of a Hive that works on the same database.
    ['DELETE FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID = ?', [txnId]],
    ['DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID = ?', [txnId]],
    // From now on it is remembered for a while, should the answer get lost (collect-garbage.ts).
    [`UPDATE TXNS SET TXN_STATE = '${COMMITTED}', TXN_LAST_HEARTBEAT = ? WHERE TXN_ID = ?`, [now, txnId]],
  ];
}
