/**
 * Parameters of the services and what runs beside them: read when the process starts that has them. A client is told their
 * values (GetServerInfo); what a session sets changes nothing there.
 */
export const SERVER_PARAMETERS: ReadonlySet<string> = new Set([
  'hive.txn.timeout',
  'hive.txn.opentxn.timeout',
  'hive.txn.use.minhistorywriteid',
  'hive.repl.txn.timeout',
  'hive.max.open.txns',
  'hive.txn.max.open.batch',
  'hive.count.open.txns.interval',
  'hive.txn.use.minhistorywriteid',
  'hive.compactor.initiator.on',
  'hive.compactor.cleaner.on',
  'hive.compactor.check.interval',
  'hive.compactor.fetch.size',
  'hive.compactor.max.num.delta',
  'hive.compactor.delta.num.threshold',
  'hive.compactor.delta.pct.threshold',
  'hive.compactor.max.num.delta',
  'hive.compactor.abortedtxn.threshold',
  'hive.compactor.aborted.txn.time.threshold',
  'hive.compactor.initiator.failed.compacts.threshold',
  'hive.compactor.initiator.failed.retry.time',
  'hive.compactor.worker.timeout',
  'hive.compactor.worker.pool.timeout',
  'hive.compactor.cleaner.run.interval',
  'hive.compactor.cleaner.retry.maxattempts',
  'hive.compactor.cleaner.retry.retention.time',
  'hive.compactor.delayed.cleanup.enabled',
  'hive.compactor.cleaner.retention.time.seconds',
  'hive.compactor.clean.aborts.using.cleaner',
  'hive.compactor.compact.insert.only',
  'hive.compactor.run.as.user',
  'hive.compactor.history.retention.succeeded',
  'hive.compactor.history.retention.failed',
  'hive.compactor.history.retention.refused',
  'hive.compactor.history.retention.did.not.initiate',
  'hive.compactor.history.retention.timeout',
  'hive.compactor.active.delta.dir.threshold',
  'hive.compactor.small.delta.dir.threshold',
  'hive.compactor.obsolete.delta.dir.threshold',
  'metastore.acid.housekeeper.interval',
  'metastore.acid.txn.cleaner.interval',
  'metastore.compaction.housekeeper.interval',
  'metastore.housekeeping.threads.on',
  'metastore.acidmetrics.thread.on',
  'metastore.acidmetrics.ext.on',
  'metastore.acidmetrics.check.interval',
  'metastore.acidmetrics.table.aborted.txns.threshold',
  'metastore.deltametrics.max.cache.size',
  'metastore.deltametrics.delta.num.threshold',
  'metastore.deltametrics.obsolete.delta.num.threshold',
  'metastore.deltametrics.delta.pct.threshold',
]);

/** Of each process that has Workers: a metastore does not tell others. */
const WORKER_PARAMETER = /^hive\.compactor\.worker\.(?:.*\.?threads|sleep\.time|max\.sleep\.time)$/;

/** Whether a session's value of it is nobody's. */
export const isReadAtStart = (name: string): boolean => SERVER_PARAMETERS.has(name) || WORKER_PARAMETER.test(name);
