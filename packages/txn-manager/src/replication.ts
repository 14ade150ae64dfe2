import { chunked, idList, insertStatements, type Tx } from '@skep/metadb';
import { InvalidRequestError, type ReplicatedTxns } from '@skep/rpc';

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
