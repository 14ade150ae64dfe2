import type { CompactorConf, HistoryRetention } from '@skep/compactor';
import { type Configuration, InvalidConfigError, SERVER_PARAMETERS } from '@skep/config';

/** What the transaction manager and the lock manager take from the configuration. */
export function txnConf(conf: Configuration) {
  return {
    txnTimeoutMs: conf.getTimeMs('hive.txn.timeout'),
    replTxnTimeoutMs: conf.getTimeMs('hive.repl.txn.timeout'),
    maxOpenTxns: conf.getInt('hive.max.open.txns'),
    maxOpenBatch: conf.getInt('hive.txn.max.open.batch'),
    countOpenTxnsIntervalMs: conf.getTimeMs('hive.count.open.txns.interval'),
    openTxnTimeoutMs: conf.getTimeMs('hive.txn.opentxn.timeout'),
    candidateLimit: conf.getInt('hive.compactor.fetch.size'),
    useMinHistoryWriteId: conf.getBoolean('hive.txn.use.minhistorywriteid'),
  };
}

/** Patterns of whole messages, separated by commas that nothing blank follows (hive.txn.retryable.sqlex.regex). */
export function retryableMessages(conf: Configuration): RegExp[] {
  const name = 'hive.txn.retryable.sqlex.regex';
  const patterns = (conf.get(name) ?? '').split(/,(?=\S)/).filter((pattern) => pattern.trim() !== '');
  return patterns.map((pattern) => {
    try {
      return new RegExp(`^(?:${pattern})$`, 's');
    } catch (error) {
      throw new InvalidConfigError(name, pattern, `a regular expression (${String(error)})`);
    }
  });
}

/** Whether housekeeping, Initiator and Cleaner may run here: metastore.housekeeping.leader.hostname names the one host; empty: any. */
export function isLeader(conf: Configuration, host: string): boolean {
  const election = (conf.get('metastore.housekeeping.leader.election') ?? 'host').toLowerCase();
  const leader = (conf.get('metastore.housekeeping.leader.hostname') ?? '').trim().toLowerCase();
  return election !== 'host' || leader === '' || leader === host.toLowerCase();
}

export function historyRetention(conf: Configuration): HistoryRetention {
  return {
    succeeded: conf.getInt('hive.compactor.history.retention.succeeded'),
    failed: conf.getInt('hive.compactor.history.retention.failed'),
    refused: conf.getInt('hive.compactor.history.retention.refused'),
    didNotInitiate: conf.getInt('hive.compactor.history.retention.did.not.initiate'),
    timeoutMs: conf.getTimeMs('hive.compactor.history.retention.timeout'),
  };
}

/** What Initiator, Workers and Cleaner take from the configuration. */
export function compactorConf(conf: Configuration): CompactorConf {
  const delayed = conf.getBoolean('hive.compactor.delayed.cleanup.enabled');
  return {
    deltaNumThreshold: conf.getInt('hive.compactor.delta.num.threshold'),
    deltaPctThreshold: conf.getFloat('hive.compactor.delta.pct.threshold'),
    abortedTxnThreshold: conf.getInt('hive.compactor.abortedtxn.threshold'),
    abortedTxnTimeThresholdMs: conf.getTimeMs('hive.compactor.aborted.txn.time.threshold'),
    failedCompactsThreshold: conf.getInt('hive.compactor.initiator.failed.compacts.threshold'),
    failedRetryTimeMs: conf.getTimeMs('hive.compactor.initiator.failed.retry.time'),
    checkIntervalMs: conf.getTimeMs('hive.compactor.check.interval'),
    workerTimeoutMs: conf.getTimeMs('hive.compactor.worker.timeout'),
    workerSleepMs: conf.getTimeMs('hive.compactor.worker.sleep.time'),
    workerMaxSleepMs: conf.getTimeMs('hive.compactor.worker.max.sleep.time'),
    cleanerRunIntervalMs: conf.getTimeMs('hive.compactor.cleaner.run.interval'),
    cleanerRetryMaxAttempts: conf.getInt('hive.compactor.cleaner.retry.maxattempts'),
    cleanerRetryRetentionMs: conf.getTimeMs('hive.compactor.cleaner.retry.retention.time'),
    cleanerDelayMs: delayed ? conf.getTimeMs('hive.compactor.cleaner.retention.time.seconds') : 0,
    cleanAbortsUsingCleaner: conf.getBoolean('hive.compactor.clean.aborts.using.cleaner'),
    compactInsertOnly: conf.getBoolean('hive.compactor.compact.insert.only'),
    txnTimeoutMs: conf.getTimeMs('hive.txn.timeout'),
    runAsUser: conf.get('hive.compactor.run.as.user') ?? '',
    cleanerThreads: conf.getInt('hive.compactor.cleaner.threads.num'),
    initiatorThreads: conf.getInt('hive.compactor.request.queue'),
    maxNumDelta: conf.getInt('hive.compactor.max.num.delta'),
    minorStatsCompression: conf.getBoolean('metastore.compactor.enable.stats.compression'),
    writeVersionFile: conf.getBoolean('hive.txn.write.acid.version.file'),
    useMinHistoryWriteId: conf.getBoolean('hive.txn.use.minhistorywriteid'),
  };
}

/** Which delta counts are kept, shown and warned of. */
export function deltaCountOptions(conf: Configuration) {
  return {
    deltaNumThreshold: conf.getInt('metastore.deltametrics.delta.num.threshold'),
    obsoleteDeltaNumThreshold: conf.getInt('metastore.deltametrics.obsolete.delta.num.threshold'),
    deltaPctThreshold: conf.getFloat('metastore.deltametrics.delta.pct.threshold'),
    maxShown: conf.getInt('metastore.deltametrics.max.cache.size'),
    warnAbove: {
      NUM_DELTAS: conf.getInt('hive.compactor.active.delta.dir.threshold'),
      NUM_SMALL_DELTAS: conf.getInt('hive.compactor.small.delta.dir.threshold'),
      NUM_OBSOLETE_DELTAS: conf.getInt('hive.compactor.obsolete.delta.dir.threshold'),
    },
  };
}

/** hive.compactor.worker.POOL.threads: Workers of named pools. */
export function workerPools(conf: Configuration): Record<string, number> {
  const pools: Record<string, number> = {};
  for (const [name] of conf.entries()) {
    const pool = /^hive\.compactor\.worker\.(.+)\.threads$/.exec(name)?.[1];
    if (pool !== undefined) pools[pool] = conf.getInt(name);
  }
  return pools;
}

/** What a client of this metastore is told of it (GetServerInfo). */
export function serverParameters(conf: Configuration): Record<string, string> {
  return Object.fromEntries([...SERVER_PARAMETERS].map((name) => [name, conf.get(name) ?? '']));
}

/**
 * Sets what belongs to the metastore to its values. Answers a note for each that was set here to something else. A server of
 * another version may know others.
 */
export function takeServerParameters(conf: Configuration, parameters: Readonly<Record<string, string>>): string[] {
  const notes: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (conf.describe(name) === undefined || conf.get(name) === value) continue;
    if (conf.isSet(name)) notes.push(`${name} belongs to the metastore: it is ${value} there, not ${conf.get(name)}`);
    conf.set(name, value);
  }
  return notes;
}
