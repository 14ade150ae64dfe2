import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import type { CompactorServices } from './services.js';

/**
 * The list of a table with all of its aborted ids. Where a table's valid write ids are all forgotten the metastore ends the
 * list at the lowest aborted one, as Hive does: enough to read by, but the abort clean-up would take one id at a time.
 * So the others are asked for as if one of the aborted transactions had committed.
 */
export async function completeWriteIds(
  services: CompactorServices,
  table: string,
  txns: ValidTxnList,
): Promise<ValidWriteIdList> {
  const ask = async (aborted: readonly bigint[]): Promise<ValidWriteIdList> => {
    const { highWatermark, openTxns: open, minOpenTxn } = txns;
    const validTxns = ValidTxnList.of(highWatermark, { open, aborted, minOpenTxn }).toString();
    const answer = await services.txns.getValidWriteIds({ tables: [table], validTxns });
    return ValidWriteIdList.parse(answer.validWriteIds[0]);
  };
  const all = txns.abortedTxns;
  const list = await ask(all);
  const isCut = list.abortedWriteIds.length === 1 && list.abortedWriteIds[0] === list.highWatermark;
  if (!isCut) return list;
  // How many, from the first on, must be taken as committed until one of them is of this table.
  let low = 1;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (String(await ask(all.slice(middle))) === String(list)) low = middle + 1;
    else high = middle;
  }
  const rest = await ask(all.slice(low));
  const own = await ask([all[low - 1]]);
  return ValidWriteIdList.of({
    tableName: list.tableName,
    highWatermark: rest.highWatermark,
    open: rest.openWriteIds,
    aborted: [...new Set([...own.abortedWriteIds, ...rest.abortedWriteIds])].sort((a, b) => (a < b ? -1 : 1)),
  });
}

/**
 * The highest write id that is not of an aborted transaction: what a result is named after that is named by its list
 * (insert-only tables, rebalancing). Aborted ids at the end would be in its name, and readers whose list ends at the lowest
 * of them could not use it.
 */
export function withoutAbortedEnd(list: ValidWriteIdList): ValidWriteIdList {
  let { highWatermark } = list;
  while (list.isWriteIdAborted(highWatermark)) highWatermark--;
  return highWatermark === list.highWatermark ? list : list.with({ highWatermark });
}
