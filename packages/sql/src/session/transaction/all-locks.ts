import { type LockService, lockStateToJSON, lockTypeToJSON } from '@skep/rpc';

/** All locks as one text: for whoever looks into a wait that took too long (hive.txn.manager.dump.lock.state.on.acquire.timeout). */
export async function allLocks(service: LockService): Promise<string> {
  const { locks } = await service.showLocks({});
  const lines = locks.map(({ lockId, database, table, partition, type, state, txnId, user, host }) => {
    const resource = [database, table, partition].filter((part) => part !== undefined && part !== '').join('.');
    const words = [lockTypeToJSON(type), lockStateToJSON(state)].map((word) => word.replace(/^LOCK_(TYPE|STATE)_/, ''));
    return `lockid:${lockId} ${words.join(' ')} on ${resource} of txnid:${txnId} (${user}@${host})`;
  });
  return lines.length === 0 ? 'none' : lines.join(', ');
}
