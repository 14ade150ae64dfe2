/** What the compactor takes from the configuration; Hive's names (without `hive.compactor.`) and defaults. */
export interface CompactorConf {
  /** delta.num.threshold: more current delta folders than this start a compaction. */
  readonly deltaNumThreshold: number;
  /** delta.pct.threshold: size of the deltas in relation to the base that starts a major compaction. */
  readonly deltaPctThreshold: number;
  readonly abortedTxnThreshold: number;
  /** Below 0: age of aborted transactions does not matter. */
  readonly abortedTxnTimeThresholdMs: number;
  readonly failedCompactsThreshold: number;
  readonly failedRetryTimeMs: number;
  readonly checkIntervalMs: number;
  readonly workerTimeoutMs: number;
  readonly workerSleepMs: number;
  /** worker.max.sleep.time: the longest rest after errors. */
  readonly workerMaxSleepMs: number;
  readonly cleanerRunIntervalMs: number;
  readonly cleanerRetryMaxAttempts: number;
  readonly cleanerRetryRetentionMs: number;
  /** cleaner.retention.time.seconds when delayed.cleanup.enabled, else 0. */
  readonly cleanerDelayMs: number;
  /** clean.aborts.using.cleaner */
  readonly cleanAbortsUsingCleaner: boolean;
  readonly compactInsertOnly: boolean;
  readonly txnTimeoutMs: number;
  /** run.as.user: whom compactions are done for; empty: the owner of the table's folder. */
  readonly runAsUser: string;
  /** cleaner.threads.num: so many folders are cleaned at a time. */
  readonly cleanerThreads: number;
  /** request.queue: the Initiator looks at so many tables and partitions at a time. */
  readonly initiatorThreads: number;
  /** max.num.delta: more delta folders than this are merged in parts first. */
  readonly maxNumDelta: number;
  /** metastore.compactor.enable.stats.compression: off, what minor compactions write has no indexes and is not compressed. */
  readonly minorStatsCompression: boolean;
  /** hive.txn.write.acid.version.file: new folders get `_orc_acid_version`. */
  readonly writeVersionFile: boolean;
  /** hive.txn.use.minhistorywriteid: a table's files wait for those transactions only that may read it. */
  readonly useMinHistoryWriteId: boolean;
}

export const DEFAULT_COMPACTOR_CONF: CompactorConf = {
  deltaNumThreshold: 10,
  deltaPctThreshold: 0.1,
  abortedTxnThreshold: 1000,
  abortedTxnTimeThresholdMs: 12 * 3_600_000,
  failedCompactsThreshold: 2,
  failedRetryTimeMs: 7 * 24 * 3_600_000,
  checkIntervalMs: 300_000,
  workerTimeoutMs: 86_400_000,
  workerSleepMs: 10_800,
  workerMaxSleepMs: 320_000,
  cleanerRunIntervalMs: 5_000,
  cleanerRetryMaxAttempts: 5,
  cleanerRetryRetentionMs: 300_000,
  cleanerDelayMs: 0,
  cleanAbortsUsingCleaner: true,
  compactInsertOnly: true,
  txnTimeoutMs: 300_000,
  runAsUser: '',
  cleanerThreads: 1,
  initiatorThreads: 1,
  maxNumDelta: 500,
  minorStatsCompression: true,
  writeVersionFile: true,
  useMinHistoryWriteId: false,
};
