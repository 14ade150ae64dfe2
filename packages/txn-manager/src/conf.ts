/** What the transaction manager takes from the configuration; Hive's names and defaults. */
export interface TxnConf {
  /** hive.txn.timeout */
  readonly txnTimeoutMs: number;
  /** hive.repl.txn.timeout */
  readonly replTxnTimeoutMs: number;
  /** hive.max.open.txns */
  readonly maxOpenTxns: number;
  /** hive.txn.max.open.batch */
  readonly maxOpenBatch: number;
  /** hive.count.open.txns.interval */
  readonly countOpenTxnsIntervalMs: number;
  /** hive.txn.opentxn.timeout: how long an id may be missing before its transaction counts as never opened. */
  readonly openTxnTimeoutMs: number;
  /** Resources one search of the Initiator looks at (hive.compactor.fetch.size). */
  readonly candidateLimit: number;
  /** hive.txn.use.minhistorywriteid: transactions say which tables they read, and the Cleaner waits for them there only. */
  readonly useMinHistoryWriteId: boolean;
}

export const DEFAULT_TXN_CONF: TxnConf = {
  txnTimeoutMs: 300_000,
  replTxnTimeoutMs: 11 * 24 * 3_600_000,
  maxOpenTxns: 100_000,
  maxOpenBatch: 1000,
  countOpenTxnsIntervalMs: 1000,
  openTxnTimeoutMs: 1000,
  candidateLimit: 1000,
  useMinHistoryWriteId: false,
};
