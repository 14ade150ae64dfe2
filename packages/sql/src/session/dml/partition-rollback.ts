import { isHiddenName } from '@skep/acid';
import {
  DataOperation,
  LockComponent,
  LockLevel,
  type LockResponse,
  LockState,
  LockType,
  type Partition,
  type Table,
} from '@skep/rpc';
import type { SessionContext } from '../context.js';
import { nameOf } from '../partition/partitions.js';
import { isEndOfTransaction, type StatementTransaction } from '../transaction/statement-transaction.js';

/**
 * Partitions are in the catalog as soon as they are made. Those of a transaction of several statements go with it when it is
 * rolled back, unless somebody else uses them by then. (Those of a statement by itself stay, empty, as in Hive.)
 */
export function dropPartitionsOnRollback(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  made: readonly Partition[],
): void {
  if (!transaction.isExplicit) return;
  for (const partition of made) {
    transaction.onRollback(async () => await dropIfUnused(context, transaction, table, partition), 'last');
  }
}

async function dropIfUnused(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
  partition: Partition,
): Promise<void> {
  const { locks, catalog, txns, fs } = context.services;
  const name = nameOf(table, partition.values);
  const lock = await lockPartition(context, transaction, table, name);
  try {
    if (lock.state !== LockState.LOCK_STATE_ACQUIRED) return;
    const location = partition.sd?.location ?? '';
    const isThere = (await fs.stat(location)) !== undefined;
    if (isThere && (await fs.list(location)).some((entry) => !isHiddenName(entry.name))) return;
    const at = { database: table.database, table: table.name };
    // Nothing of anybody is there. Who is said to have written here would be waited for by the Cleaner for ever: it cannot tell
    // a partition that is gone from one that is just being renamed.
    await txns.forgetResource({ ...at, partitions: [name], keepWriteIds: false, txnId: transaction.txnId });
    await catalog.dropPartitions({ ...at, names: [name] });
    if (isThere) await fs.delete(location, { recursive: true });
    await removeEmptyFolders(context, table.sd?.location ?? '', location);
  } finally {
    // One that is acquired for a transaction ends with it.
    if (lock.state !== LockState.LOCK_STATE_ACQUIRED || lock.txnId === 0n) await locks.unlock({ lockId: lock.lockId });
  }
}

/** For the transaction, or, where that has been aborted from outside and has no locks any more, for nobody. */
async function lockPartition(
  { services: { locks, identity } }: SessionContext,
  { txnId: own }: StatementTransaction,
  table: Table,
  partition: string,
): Promise<LockResponse & { readonly txnId: bigint }> {
  const component = LockComponent.fromPartial({
    database: table.database,
    table: table.name,
    partition,
    type: LockType.LOCK_TYPE_EXCLUSIVE,
    level: LockLevel.LOCK_LEVEL_PARTITION,
    operation: DataOperation.DATA_OPERATION_NO_TXN,
  });
  const { user, host } = identity;
  const common = {
    components: [component],
    user,
    host,
    agentInfo: 'rollback',
    zeroWaitRead: false,
    exclusiveCtas: false,
  };
  try {
    return { ...(await locks.lock({ ...common, txnId: own })), txnId: own };
  } catch (error) {
    if (!isEndOfTransaction(error)) throw error;
    return { ...(await locks.lock({ ...common, txnId: 0n })), txnId: 0n };
  }
}

/** The folders of a partition that did not come to be: MSCK would take them for one. */
export async function removeEmptyFolders(
  { services: { fs } }: SessionContext,
  root: string,
  location: string,
): Promise<void> {
  for (let path = location; path.startsWith(`${root}/`); path = path.slice(0, path.lastIndexOf('/'))) {
    if ((await fs.stat(path)) === undefined) continue;
    if ((await fs.list(path)).length > 0) return;
    // Another session may have put its files there just now: then it stays.
    await fs.delete(path).catch(() => false);
  }
}
