import type { OtherFacts } from '@skep/catalog';
import { forgetCompactions, renameCompactions } from '@skep/compactor';
import { renameLocks } from '@skep/lock-manager';
import type { Tx } from '@skep/metadb';
import { forgetResource, renameResource, requireOpen } from '@skep/txn-manager';

/** One of each service: where one is missing, its facts are in another database, and whoever renames tells it. */
const TABLES = ['TXNS', 'HIVE_LOCKS', 'COMPACTION_QUEUE'];

/** What the catalog changes with its own rows, so that whoever is killed while he renames leaves the old or the new name. */
export const catalogFacts: OtherFacts = {
  async requireOpen(tx, txnId) {
    if (await isHere(tx, 'TXNS')) await requireOpen(tx, txnId, true);
  },
  async forget(tx, dropped) {
    if (!(await areHere(tx))) return false;
    await forgetResource(tx, dropped);
    await forgetCompactions(tx, dropped);
    return true;
  },
  async rename(tx, from, to, txnId) {
    if (!(await areHere(tx))) return false;
    await renameResource(tx, { from, to });
    const names = {
      fromDatabase: from.database,
      fromTable: from.table,
      fromPartition: from.partition,
      toDatabase: to.database,
      toTable: to.table,
      toPartition: to.partition,
    };
    await renameCompactions(tx, { ...names, keepTxnId: from.partition === undefined ? undefined : txnId });
    await renameLocks(tx, names);
    return true;
  },
};

async function areHere(tx: Tx): Promise<boolean> {
  for (const name of TABLES) if (!(await isHere(tx, name))) return false;
  return true;
}

const isHere = async (tx: Tx, table: string): Promise<boolean> =>
  (await tx.get(tx.dialect.tableExists, [table])) !== undefined;
