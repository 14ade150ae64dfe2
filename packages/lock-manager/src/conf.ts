/** What the lock manager takes from the configuration; Hive's names and defaults. */
export interface LockConf {
  /** hive.txn.timeout: a lock without a transaction and without a heartbeat for so long is removed. */
  readonly txnTimeoutMs: number;
}

export const DEFAULT_LOCK_CONF: LockConf = { txnTimeoutMs: 300_000 };
