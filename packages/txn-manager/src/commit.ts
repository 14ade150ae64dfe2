import { ValidTxnList } from '@skep/core';
import {
  chunked,
  idList,
  insertStatements,
  type Row,
  rowQueries,
  type Settled,
  type Statement,
  type Step,
  settled,
  type Tx,
  want,
} from '@skep/metadb';
import { type CommitTxnRequest, type CommitTxnResponse, TxnConflictError, TxnType } from '@skep/rpc';
import { abortInTx } from './abort.js';
import { AbortReason } from './abort-reason.js';
import { COMPACT, COMPONENTS, type Component, ComponentRows, componentQueries } from './components.js';
import { COMMITTED, HIGHEST_TXN_ID, highestTxnId, txnLockForCommit } from './context.js';
import { assertOpen, distinctIds, HELD_TXNS, toTxnRows, txnRowQueries } from './txn-state.js';
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

/** What releases the locks of transactions, where that may be part of their commit. */
export type Releasing = (txnIds: readonly bigint[]) => readonly Statement[];

/**
 * CommitTxnFunction, of several transactions at once, with their locks where `releasing` tells how; else the caller releases these
 * after its transaction. Of requests that ask for a check against others' writes see `commitJudged`.
 */
export function committingStep(tx: Tx, txnIds: readonly bigint[], releasing?: Releasing): Step<CommitOutcome> {
  return {
    lookups: [want(HELD_TXNS, txnIds), want(COMPONENTS, txnIds)],
    async decide(answers) {
      const rows = toTxnRows(answers.of(HELD_TXNS));
      const components = new ComponentRows(answers.of(COMPONENTS));
      const now = await tx.now();
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
      return {
        ...(isRefused ? {} : recording(tx, plans, now, releasing)),
        outcomes(found) {
          const response = { commitId: commitIdOf(found.flat()), commitTimeMs: now };
          return txnIds.map((txnId) => refused.get(txnId) ?? { value: { response } });
        },
      };
    },
  };
}

/** The same of a request that is checked against what others wrote meanwhile (exclusive write locks are off). */
export async function commitJudged(
  tx: Tx,
  { txnId, validTxns }: CommitTxnRequest,
  releasing?: Releasing,
): Promise<CommitOutcome> {
  const [[row], [components], now] = await readForCommit(tx, txnId);
  if (row?.state === COMMITTED) return { response: { commitId: await highestTxnId(tx), commitTimeMs: now } };
  const plan = planCommit(assertOpen(txnId, row).type, components);
  const { removals, statements, last } = recording(
    tx,
    [{ txnId, plan, hasComponents: components.length > 0 }],
    now,
    releasing,
  );
  if (plan.updates.length > 0) {
    const commitId = commitIdOf((await tx.allOf(commitIdQueries(tx, [plan]))).flat());
    const own = plan.updates.map((component): WriteSetEntry => ({ ...component, txnId, commitId }));
    const seen = validTxns === undefined ? undefined : ValidTxnList.parse(validTxns);
    const unseen = (await rivals(tx, own)).filter((rival) => !seen?.isTxnValid(rival.txnId));
    const conflict = findWriteConflict(own, unseen);
    if (conflict !== undefined) {
      await abortInTx(tx, [txnId], AbortReason.WRITE_CONFLICT, describeWinner(conflict.winner));
      const text = describeWriteConflict(conflict.own, conflict.winner);
      return { conflict: new TxnConflictError(txnId, conflict.winner.txnId, text) };
    }
  }
  const results = await tx.runLast([...removals, ...statements, ...last]);
  return { response: { commitId: commitIdOf(results.flat()), commitTimeMs: now } };
}

/** Holds the transaction's row, so that nothing is recorded of it any more. */
async function readForCommit(tx: Tx, txnId: bigint) {
  const rowQueries = txnRowQueries(tx, [txnId], true);
  const answers = await tx.allOf([...rowQueries, ...componentQueries([txnId])]);
  const row = toTxnRows(answers.splice(0, rowQueries.length)).get(txnId);
  return [[row], [new ComponentRows(answers).of(txnId)], await tx.now()] as const;
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
function commitIdQueries(tx: Tx, plans: readonly CommitPlan[]): Statement[] {
  const needsExact = plans.some((plan) => plan.needsExactCommitId);
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
function recording(tx: Tx, plans: readonly TxnPlan[], now: bigint, releasing?: Releasing) {
  const time = tx.dialect.timestamp(now);
  const updates = plans.flatMap(({ txnId, plan }) =>
    plan.updates.map(({ database, table, partition, operation }) => [database, table, partition, txnId, operation]),
  );
  const completed = plans.flatMap(({ txnId, plan }) =>
    plan.completed.map(({ database, table, partition, writeId }) => {
      return [txnId, database, table, partition, time, writeId, plan.hasUpdateOrDelete ? 'Y' : 'N'];
    }),
  );
  const ids = plans.map(({ txnId }) => txnId);
  const withComponents = plans.filter((one) => one.hasComponents).map(({ txnId }) => txnId);
  return {
    removals: [
      ...(releasing?.(ids) ?? []),
      ...ofIds('DELETE FROM TXN_COMPONENTS WHERE TC_TXNID IN', withComponents),
      ...ofIds('DELETE FROM MIN_HISTORY_LEVEL WHERE MHL_TXNID IN', ids),
      // Of a Hive that works on the same database.
      ...ofIds('DELETE FROM MIN_HISTORY_WRITE_ID WHERE MH_TXNID IN', ids),
      ...ofIds('DELETE FROM MATERIALIZATION_REBUILD_LOCKS WHERE MRL_TXN_ID IN', ids),
    ],
    statements: [
      ...insertStatements(
        'COMPLETED_TXN_COMPONENTS',
        [
          'CTC_TXNID',
          'CTC_DATABASE',
          'CTC_TABLE',
          'CTC_PARTITION',
          'CTC_TIMESTAMP',
          'CTC_WRITEID',
          'CTC_UPDATE_DELETE',
        ],
        completed,
      ),
      // From now on it is remembered for a while, should the answer get lost (collect-garbage.ts).
      ...ofIds(`UPDATE TXNS SET TXN_STATE = '${COMMITTED}', TXN_LAST_HEARTBEAT = ? WHERE TXN_ID IN`, ids, now),
    ],
    last: [
      ...commitIdQueries(
        tx,
        plans.map(({ plan }) => plan),
      ),
      ...rowQueries(WRITE_SET, updates).map(([rows, params]): Statement => {
        const columns = WRITE_SET.join(', ');
        const commitId = '(SELECT MAX(TXN_ID) AS ID FROM TXNS) HIGHEST';
        return [
          `INSERT INTO WRITE_SET (${columns}, WS_COMMIT_ID) SELECT ${columns}, ID FROM (${rows}) OWN, ${commitId}`,
          params,
        ];
      }),
    ],
  };
}

function ofIds(sql: string, txnIds: readonly bigint[], ...before: readonly bigint[]): Statement[] {
  return chunked(txnIds).map((chunk) => {
    const ids = idList(chunk);
    return [`${sql} ${ids.sql}`, [...before, ...ids.params]];
  });
}
