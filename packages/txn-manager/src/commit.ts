import { ValidTxnList } from '@skep/core';
import {
  chunked,
  idList,
  insertStatements,
  type Row,
  rowQueries,
  type Settled,
  type Statement,
  settled,
  type Tx,
} from '@skep/metadb';
import { type CommitTxnRequest, type CommitTxnResponse, TxnConflictError, TxnType } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import { COMPACT, type Component, ComponentRows, componentQueries } from './components.js';
import { COMMITTED, HIGHEST_TXN_ID, highestTxnId, txnLockForCommit } from './context.js';
import { assertOpen, distinctIds, toTxnRows, txnRowQueries } from './txn-state.js';
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

/**
 * CommitTxnFunction, of several transactions at once. The caller releases the locks after its transaction. Of requests that
 * ask for a check against others' writes see `commitJudged`.
 */
export async function commitAll(tx: Tx, txnIds: readonly bigint[]): Promise<Settled<CommitOutcome>[]> {
  const { rows, components, now } = await readForCommit(tx, txnIds);
  const plans: TxnPlan[] = [];
  const refused = new Map<bigint, Settled<CommitOutcome>>();
  for (const txnId of distinctIds(txnIds)) {
    const row = rows.get(txnId);
    // A repeated call, whose first answer was lost.
    if (row?.state === COMMITTED) continue;
    const planned = settled(() => planCommit(assertOpen(txnId, row).type, components.of(txnId)));
    if ('error' in planned) refused.set(txnId, planned);
    else plans.push({ txnId, plan: planned.value, hasComponents: components.of(txnId).length > 0 });
  }
  const isRefused = txnIds.every((txnId) => refused.has(txnId));
  const results = isRefused ? [] : await tx.runLast([...commitIdQueries(tx, plans), ...recording(tx, plans, now)]);
  const response = { commitId: commitIdOf(results.flatMap((result) => result.rows)), commitTimeMs: now };
  return txnIds.map((txnId) => refused.get(txnId) ?? { value: { response } });
}

/** The same of a request that is checked against what others wrote meanwhile (exclusive write locks are off). */
export async function commitJudged(tx: Tx, { txnId, validTxns }: CommitTxnRequest): Promise<CommitOutcome> {
  const { rows, components, now } = await readForCommit(tx, [txnId]);
  const row = rows.get(txnId);
  if (row?.state === COMMITTED) return { response: { commitId: await highestTxnId(tx), commitTimeMs: now } };
  const plan = planCommit(assertOpen(txnId, row).type, components.of(txnId));
  const plans = [{ txnId, plan, hasComponents: components.of(txnId).length > 0 }];
  if (plan.updates.length === 0) {
    const results = await tx.runLast([...commitIdQueries(tx, plans), ...recording(tx, plans, now)]);
    return { response: { commitId: commitIdOf(results.flatMap((result) => result.rows)), commitTimeMs: now } };
  }
  const commitId = commitIdOf((await tx.allOf(commitIdQueries(tx, plans))).flat());
  const own = plan.updates.map((component): WriteSetEntry => ({ ...component, txnId, commitId }));
  const seen = validTxns === undefined ? undefined : ValidTxnList.parse(validTxns);
  const unseen = (await rivals(tx, own)).filter((rival) => !seen?.isTxnValid(rival.txnId));
  const conflict = findWriteConflict(own, unseen);
  if (conflict !== undefined) {
    await abortInTx(tx, [txnId], AbortReason.WRITE_CONFLICT, describeWinner(conflict.winner));
    const text = describeWriteConflict(conflict.own, conflict.winner);
    return { conflict: new TxnConflictError(txnId, conflict.winner.txnId, text) };
  }
  await tx.runLast(recording(tx, plans, now));
  return { response: { commitId, commitTimeMs: now } };
}

/** Holds the transactions' rows, so that nothing is recorded of them any more. */
async function readForCommit(tx: Tx, txnIds: readonly bigint[]) {
  const ids = distinctIds(txnIds);
  const rowQueries = txnRowQueries(tx, ids, true);
  const answers = await tx.allOf([...rowQueries, ...componentQueries(ids)]);
  return {
    rows: toTxnRows(answers.splice(0, rowQueries.length)),
    components: new ComponentRows(answers),
    now: await tx.now(),
  };
}

/** A transaction that is about to commit. */
interface TxnPlan {
  readonly txnId: bigint;
  readonly plan: CommitPlan;
  readonly hasComponents: boolean;
}

/**
 * The commit id is the highest transaction id. Where it decides over conflicts, or what the Cleaner may remove, no other
 * transaction is opened or commits until this one has.
 */
function commitIdQueries(tx: Tx, plans: readonly TxnPlan[]): Statement[] {
  const needsExact = plans.some(({ plan }) => plan.needsExactCommitId);
  return [...(needsExact ? [[txnLockForCommit(tx)] as const] : []), HIGHEST_TXN_ID];
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

const WRITE_SET = ['WS_DATABASE', 'WS_TABLE', 'WS_PARTITION', 'WS_TXNID', 'WS_OPERATION_TYPE'];

/** What commits. The statements find the commit id themselves, in the round trip that holds the lock. */
function recording(tx: Tx, plans: readonly TxnPlan[], now: bigint): Statement[] {
  const time = tx.dialect.timestamp(now);
  const updates = plans.flatMap(({ txnId, plan }) =>
    plan.updates.map(({ database, table, partition, operation }) => [database, table, partition, txnId, operation]),
  );
  const completed = plans.flatMap(({ txnId, plan }) =>
    plan.completed.map(({ database, table, partition, writeId }) => {
      return [txnId, database, table, partition, time, writeId, plan.hasUpdateOrDelete ? 'Y' : 'N'];
    }),
  );
  return [
    ...rowQueries(WRITE_SET, updates).map(([rows, params]): Statement => {
      const columns = WRITE_SET.join(', ');
      const commitId = '(SELECT MAX(TXN_ID) AS ID FROM TXNS) HIGHEST';
      return [
        `INSERT INTO WRITE_SET (${columns}, WS_COMMIT_ID) SELECT ${columns}, ID FROM (${rows}) OWN, ${commitId}`,
        params,
      ];
    }),
    ...insertStatements(
      'COMPLETED_TXN_COMPONENTS',
      ['CTC_TXNID', 'CTC_DATABASE', 'CTC_TABLE', 'CTC_PARTITION', 'CTC_TIMESTAMP', 'CTC_WRITEID', 'CTC_UPDATE_DELETE'],
      completed,
    ),
    ...ofIds(
      'DELETE FROM TXN_COMPONENTS WHERE TC_TXNID IN',
      plans.filter((one) => one.hasComponents),
    ),
    ...ofIds('DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN', plans),
    // Of a Hive that works on the same database.
    ...ofIds('DELETE FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID IN', plans),
    ...ofIds('DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID IN', plans),
    // From now on it is remembered for a while, should the answer get lost (collect-garbage.ts).
    ...ofIds(`UPDATE TXNS SET TXN_STATE = '${COMMITTED}', TXN_LAST_HEARTBEAT = ? WHERE TXN_ID IN`, plans, now),
  ];
}

function ofIds(sql: string, plans: readonly TxnPlan[], ...before: readonly bigint[]): Statement[] {
  return chunked(plans.map(({ txnId }) => txnId)).map((chunk) => {
    const ids = idList(chunk);
    return [`${sql} ${ids.sql}`, [...before, ...ids.params]];
  });
}
