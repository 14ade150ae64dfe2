import { chunked, idList, insertStatements, type Tx } from '@skep/metadb';
import {
  type AllocateTableWriteIdsRequest,
  type CommitTxnRequest,
  InvalidRequestError,
  type ReplicatedTxns,
  type TxnToWriteId,
} from '@skep/rpc';
import type { Component } from './components.js';
import { requireOpen } from './txn-state.js';
import { seedWriteId } from './write-ids.js';

/** The transactions here that stand for those of another warehouse, by the source's id (REPL_TXN_MAP). */
export async function targetsOf(tx: Tx, policy: string, sourceTxnIds: readonly bigint[]): Promise<Map<bigint, bigint>> {
  const found = new Map<bigint, bigint>();
  for (const chunk of chunked([...new Set(sourceTxnIds)])) {
    const ids = idList(chunk);
    const rows = await tx.all<{ SRC: bigint; TARGET: bigint }>(
      `SELECT RTM_SRC_TXN_ID AS SRC, RTM_TARGET_TXN_ID AS TARGET FROM REPL_TXN_MAP
        WHERE RTM_REPL_POLICY = ? AND RTM_SRC_TXN_ID IN ${ids.sql}`,
      [policy, ...ids.params],
    );
    for (const { SRC, TARGET } of rows) found.set(SRC, TARGET);
  }
  return found;
}

/** Opens what has no transaction here yet; a repeated request answers the same ids (OpenTxnsFunction). */
export async function openReplicated(
  tx: Tx,
  { policy, sourceTxnIds }: ReplicatedTxns,
  open: (count: number) => Promise<readonly bigint[]>,
): Promise<bigint[]> {
  const known = await targetsOf(tx, policy, sourceTxnIds);
  const missing = [...new Set(sourceTxnIds)].filter((id) => !known.has(id));
  const opened = missing.length === 0 ? [] : await open(missing.length);
  await tx.runAll(
    insertStatements(
      'REPL_TXN_MAP',
      ['RTM_REPL_POLICY', 'RTM_SRC_TXN_ID', 'RTM_TARGET_TXN_ID'],
      missing.map((id, i) => [policy, id, opened[i]]),
    ),
  );
  for (const [i, id] of missing.entries()) known.set(id, opened[i]);
  return sourceTxnIds.flatMap((id) => known.get(id) ?? []);
}

/** Committed or aborted, they are not asked for again. */
export async function forgetReplicated(tx: Tx, policy: string, sourceTxnIds: readonly bigint[]): Promise<void> {
  for (const chunk of chunked(sourceTxnIds)) {
    const ids = idList(chunk);
    await tx.run(`DELETE FROM REPL_TXN_MAP WHERE RTM_REPL_POLICY = ? AND RTM_SRC_TXN_ID IN ${ids.sql}`, [
      policy,
      ...ids.params,
    ]);
  }
}

export function validateReplicated({ policy, sourceTxnIds }: ReplicatedTxns, maxBatch: number): void {
  if (policy === '' || sourceTxnIds.length === 0) {
    throw new InvalidRequestError('replicated transactions need a policy and the ids of the source');
  }
  if (sourceTxnIds.length > maxBatch) {
    throw new InvalidRequestError(
      `${sourceTxnIds.length} replicated transactions at once: hive.txn.max.open.batch allows ${maxBatch}`,
    );
  }
}

/** What a replayed commit names, as what the transaction has written: it goes the way of all others at the commit. */
export function replicatedComponents({ replicatedWrites }: CommitTxnRequest): Component[] {
  return (replicatedWrites?.writes ?? []).map(({ resource, writeId }) => {
    if (resource === undefined || resource.database === '' || resource.table === '' || writeId <= 0n) {
      throw new InvalidRequestError('a replicated write needs a database, a table and a write id');
    }
    const { database, table, partition } = resource;
    return { database: database.toLowerCase(), table: table.toLowerCase(), partition, operation: 'i', writeId };
  });
}

/**
 * Gives transactions that stand for another warehouse's the write ids that they had there, so that the copied folders are
 * theirs (AllocateTableWriteIdsFunction). Ids of the table go on above them, and never back: one that is another
 * transaction's here is refused, where Hive forgets whose it was.
 */
export async function allocateReplicated(tx: Tx, request: AllocateTableWriteIdsRequest): Promise<TxnToWriteId[]> {
  const { policy, source } = request.replicated ?? { policy: '', source: [] };
  const at = [request.database.toLowerCase(), request.table.toLowerCase()];
  if (at.includes('')) throw new InvalidRequestError('a table is named by database and table');
  if (policy === '' || source.length === 0) {
    throw new InvalidRequestError('replicated write ids need a policy and the transactions of the source');
  }
  if (request.txnIds.length > 0 || request.reallocate) {
    throw new InvalidRequestError('replicated write ids are of the source’s transactions, and given once');
  }
  const targets = await targetsOf(
    tx,
    policy,
    source.map(({ txnId }) => txnId),
  );
  const wanted = source.flatMap(({ txnId, writeId }): TxnToWriteId[] => {
    const target = targets.get(txnId);
    return target === undefined ? [] : [{ txnId: target, writeId }];
  });
  if (wanted.length < source.length) return [];
  const missing: TxnToWriteId[] = [];
  for (const { txnId, writeId } of wanted) {
    await requireOpen(tx, txnId, true);
    const sql =
      'SELECT T2W_TXNID AS TXN, T2W_WRITEID AS WRITE_ID FROM TXN_TO_WRITE_ID WHERE T2W_DATABASE = ? AND T2W_TABLE = ?';
    const rows = await tx.all<{ TXN: bigint; WRITE_ID: bigint }>(`${sql} AND (T2W_TXNID = ? OR T2W_WRITEID = ?)`, [
      ...at,
      txnId,
      writeId,
    ]);
    if (rows.some((row) => row.TXN === txnId && row.WRITE_ID === writeId)) continue;
    if (writeId <= 0n || rows.length > 0) {
      const others = rows.map((row) => `write id ${row.WRITE_ID} is of txnid:${row.TXN}`).join(', ');
      const why = others === '' ? 'it is no write id' : others;
      throw new InvalidRequestError(`write id ${writeId} of ${at.join('.')} cannot be txnid:${txnId}'s: ${why}`);
    }
    missing.push({ txnId, writeId });
  }
  for (const { writeId } of missing) await seedWriteId(tx, at[0], at[1], writeId);
  await tx.runAll(
    insertStatements(
      'TXN_TO_WRITE_ID',
      ['T2W_TXNID', 'T2W_DATABASE', 'T2W_TABLE', 'T2W_WRITEID'],
      missing.map(({ txnId, writeId }) => [txnId, ...at, writeId]),
    ),
  );
  return wanted.sort((a, b) => (a.txnId < b.txnId ? -1 : 1));
}
