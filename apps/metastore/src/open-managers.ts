import type { Clock } from '@skep/core';
import { type LockConf, LockManager, releaseStatements } from '@skep/lock-manager';
import type { Database } from '@skep/metadb';
import type { LockService, TransactionService } from '@skep/rpc';
import { type TxnConf, TxnManager } from '@skep/txn-manager';

export interface ManagersOptions {
  readonly clock: Clock;
  isHere(name: 'transactions' | 'locks'): boolean;
  /** Getters, because the two services hold each other. */
  readonly txns: () => TransactionService;
  readonly locks: () => LockService;
  readonly conf: Partial<TxnConf> & Partial<LockConf>;
}

/**
 * The transaction manager and the lock manager, as far as they live here. Where both do, they share database transactions as in Hive:
 * what will be written is recorded with its locks, and these end with the commit. Elsewhere each asks the other's service.
 */
export function openManagers(db: Database, { clock, isHere, txns, locks, conf }: ManagersOptions) {
  const isLocal = isHere('transactions') && isHere('locks');
  const txnManager = isHere('transactions')
    ? new TxnManager({ db, clock, conf, locks, releasing: isLocal ? releaseStatements : undefined })
    : undefined;
  const lockManager = isHere('locks')
    ? new LockManager({ db, clock, conf, txns, localTxns: isLocal ? txnManager : undefined })
    : undefined;
  return { txnManager, lockManager };
}
