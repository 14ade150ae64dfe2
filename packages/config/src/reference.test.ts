import { expect, it } from 'vitest';
import { findParameter } from './catalogue.js';
import { Configuration } from './configuration.js';
import { parseTimeMs } from './value.js';

/**
 * hive-acid.md §7, name by name: Hive 4.0.1's default, and `m` where a MetastoreConf key has its primary name with
 * `metastore.` for `hive.`. Written down a second time, so that the tables cannot drift from the specification.
 */
const REFERENCE: readonly (readonly [name: string, value: string, m?: 'm'])[] = [
  ['hive.support.concurrency', 'false'],
  ['hive.txn.manager', 'org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager'],
  ['hive.lock.manager', 'org.apache.hadoop.hive.ql.lockmgr.zookeeper.ZooKeeperHiveLockManager'],
  ['hive.exec.dynamic.partition.mode', 'nonstrict'],
  ['hive.lock.numretries', '100', 'm'],
  ['hive.lock.sleep.between.retries', '60s', 'm'],
  ['hive.unlock.numretries', '10'],
  ['hive.locks.max.partitions', '-1'],
  ['hive.txn.strict.locking.mode', 'true'],
  ['hive.txn.ext.locking.enabled', 'false'],
  ['hive.txn.read.locks', 'true'],
  ['hive.txn.nonacid.read.locks', 'true'],
  ['hive.txn.xlock.iow', 'true'],
  ['hive.txn.xlock.write', 'true'],
  ['hive.txn.xlock.ctas', 'true'],
  ['hive.txn.xlock.mergeinsert', 'false'],
  ['hive.txn.readonly.enabled', 'false'],
  ['hive.txn.retrysnapshot.max.count', '5'],
  ['hive.txn.timeout', '300s', 'm'],
  ['hive.txn.heartbeat.threadpool.size', '5'],
  ['hive.txn.manager.dump.lock.state.on.acquire.timeout', 'false'],
  ['hive.max.open.txns', '100000', 'm'],
  ['hive.count.open.txns.interval', '1s', 'm'],
  ['hive.txn.max.open.batch', '1000', 'm'],
  ['hive.txn.opentxn.timeout', '1000ms', 'm'],
  ['hive.txn.retryable.sqlex.regex', '', 'm'],
  ['hive.txn.use.minhistorylevel', 'true', 'm'],
  ['hive.txn.use.minhistorywriteid', 'false', 'm'],
  ['hive.metastore.txn.store.impl', 'org.apache.hadoop.hive.metastore.txn.CompactionTxnHandler'],
  ['hive.repl.txn.timeout', '11d', 'm'],
  ['hive.txn.stats.enabled', 'true'],
  ['hive.txn.acid.dir.cache.duration', '120'],
  ['hive.txn.write.acid.version.file', 'true'],
  ['hive.txn.filter.delete.events', 'true'],
  ['hive.transactional.events.mem', '10000000'],
  ['hive.txn.operational.properties', '1'],
  ['hive.acid.direct.insert.enabled', 'true'],
  ['hive.acid.lockless.reads.enabled', 'false'],
  ['hive.acid.createtable.softdelete', 'false'],
  ['hive.acid.droppartition.usebase', 'false'],
  ['hive.acid.renamepartition.makecopy', 'false'],
  ['hive.acid.truncate.usebase', 'true'],
  ['hive.extend.bucketid.range', 'true'],
  ['hive.split.update', 'true'],
  ['hive.merge.cardinality.check', 'true'],
  ['hive.create.as.acid', 'false', 'm'],
  ['hive.create.as.insert.only', 'false'],
  ['hive.create.as.external.legacy', 'false'],
  ['hive.strict.managed.tables', 'false', 'm'],
  ['hive.exec.orc.base.delta.ratio', '8'],
  ['hive.optimize.acid.meta.columns', 'true'],
  ['hive.compactor.initiator.on', 'false', 'm'],
  ['hive.compactor.cleaner.on', 'false', 'm'],
  ['hive.compactor.worker.threads', '0', 'm'],
  ['hive.metastore.runworker.in', 'hs2'],
  ['hive.compactor.worker.pool.timeout', '12h', 'm'],
  ['hive.compactor.worker.timeout', '86400s'],
  ['hive.compactor.worker.sleep.time', '10800ms'],
  ['hive.compactor.worker.max.sleep.time', '320000ms'],
  ['hive.compactor.check.interval', '300s'],
  ['hive.compactor.request.queue', '1'],
  ['hive.compactor.delta.num.threshold', '10'],
  ['hive.compactor.delta.pct.threshold', '0.1'],
  ['hive.compactor.max.num.delta', '500'],
  ['hive.compactor.abortedtxn.threshold', '1000'],
  ['hive.compactor.aborted.txn.time.threshold', '12h'],
  ['hive.compactor.active.delta.dir.threshold', '200'],
  ['hive.compactor.obsolete.delta.dir.threshold', '200'],
  ['hive.compactor.small.delta.dir.threshold', '200'],
  ['hive.compactor.initiator.duration.update.interval', '60s'],
  ['hive.compactor.cleaner.duration.update.interval', '60s'],
  ['hive.compactor.wait.timeout', '300000ms'],
  ['hive.compactor.gather.stats', 'true'],
  ['hive.compactor.cleaner.run.interval', '5s'],
  ['hive.compactor.cleaner.threads.num', '1'],
  ['hive.compactor.delayed.cleanup.enabled', 'false'],
  ['hive.compactor.cleaner.retention.time.seconds', '300s'],
  ['hive.compactor.cleaner.retry.maxattempts', '5'],
  ['hive.compactor.cleaner.retry.retention.time', '300s'],
  ['hive.compactor.clean.aborts.using.cleaner', 'true', 'm'],
  ['hive.compactor.job.queue', '', 'm'],
  ['hive.compactor.run.as.user', '', 'm'],
  ['hive.compactor.compact.insert.only', 'true'],
  ['hive.compactor.crud.query.based', 'false'],
  ['hive.compaction.merge.enabled', 'false'],
  ['hive.transactional.concatenate.noblock', 'false'],
  ['hive.compactor.initiator.failed.compacts.threshold', '2', 'm'],
  ['hive.compactor.initiator.failed.retry.time', '7d', 'm'],
  ['hive.compactor.fetch.size', '1000', 'm'],
  ['hive.compactor.initiator.tablecache.on', 'true', 'm'],
  ['hive.compactor.cleaner.tablecache.on', 'true', 'm'],
  ['hive.compactor.connectionPool.maxPoolSize', '5', 'm'],
  ['metastore.compactor.enable.stats.compression', 'true'],
  ['metastore.compactor.worker.detect.multiple.versions.threshold', '24h'],
  ['hive.compactor.history.retention.succeeded', '3', 'm'],
  ['hive.compactor.history.retention.failed', '3', 'm'],
  ['hive.compactor.history.retention.refused', '3', 'm'],
  ['hive.compactor.history.retention.did.not.initiate', '2', 'm'],
  ['hive.compactor.history.retention.timeout', '7d', 'm'],
  ['hive.compactor.history.reaper.interval', '2min'],
  ['hive.timedout.txn.reaper.interval', '180s'],
  ['hive.writeset.reaper.interval', '60s'],
  ['metastore.acid.housekeeper.interval', '60s'],
  ['metastore.compaction.housekeeper.interval', '300s'],
  ['metastore.acid.txn.cleaner.interval', '10s'],
  ['metastore.housekeeping.threads.on', 'false'],
  ['metastore.housekeeping.leader.hostname', ''],
  ['metastore.housekeeping.leader.election', 'host'],
  ['metastore.metrics.enabled', 'false'],
  ['metastore.acidmetrics.thread.on', 'true'],
  ['metastore.acidmetrics.ext.on', 'true'],
  ['metastore.acidmetrics.check.interval', '300s'],
  ['metastore.acidmetrics.table.aborted.txns.threshold', '1500'],
  ['metastore.deltametrics.max.cache.size', '100'],
  ['metastore.deltametrics.delta.num.threshold', '100'],
  ['metastore.deltametrics.obsolete.delta.num.threshold', '100'],
  ['metastore.deltametrics.delta.pct.threshold', '0.01'],
  ['hive.compactor.acid.metrics.logger.frequency', '360min', 'm'],
  ...levels('oldest.open.txn', '24h', '72h'),
  ...levels('oldest.replication.open.txn', '14d', '21d'),
  ...levels('oldest.uncleaned.aborted.txn.time', '24h', '48h'),
  ...levels('oldest.initiated.compaction.time', '1h', '12h'),
  ...levels('long.running.initiator', '6h', '12h'),
  ...levels('completed.txn.components.record', '500000', '1000000'),
  ...levels('txn.to.writeid.record', '500000', '1000000'),
  ['hive.compactor.tables.with.aborted.txn.threshold', '1', 'm'],
  ['hive.compactor.oldest.uncleaned.compaction.time.threshold', '24h', 'm'],
  ['hive.compactor.failed.compaction.ratio.threshold', '0.01', 'm'],
  ['hive.compactor.number.of.disabled.compaction.tables.threshold', '1', 'm'],
];

function levels(name: string, warning: string, error: string): [string, string, 'm'][] {
  return [
    [`hive.compactor.${name}.threshold.warning`, warning, 'm'],
    [`hive.compactor.${name}.threshold.error`, error, 'm'],
  ];
}

/** Old and other names, with what they mean. */
const OTHER_NAMES = [
  ['hive.mr.compactor.gather.stats', 'hive.compactor.gather.stats', 'old'],
  ['hive.compactor.history.retention.attempted', 'hive.compactor.history.retention.did.not.initiate', 'old'],
  ['hive.lock.numretires', 'hive.lock.numretries', 'old'],
  ['hive.metastore.acidmetrics.check.interval', 'metastore.acidmetrics.check.interval', 'current'],
  ['hive.metastore.acid.housekeeper.interval', 'metastore.acid.housekeeper.interval', 'current'],
  ['hive.txn.acid.metrics.delta.num.threshold', 'metastore.deltametrics.delta.num.threshold', 'current'],
  ['hive.txn.acid.metrics.max.cache.size', 'metastore.deltametrics.max.cache.size', 'current'],
] as const;

const same = (a: string, b: string): boolean =>
  a === b || (parseTimeMs(a) !== undefined && parseTimeMs(a) === parseTimeMs(b));

it.each(REFERENCE)('%s has the default of Hive', (name, value, m) => {
  const parameter = findParameter(name)?.parameter;
  expect(parameter?.name).toBe(name);
  const hive = parameter?.hiveDefault ?? parameter?.default ?? '?';
  expect(same(hive, value), `${hive}, not ${value}`).toBe(true);
  if (m === 'm') {
    const primary = name.replace(/^hive\./, 'metastore.');
    expect(findParameter(primary)).toEqual({ parameter, isDeprecated: false });
  }
  expect(parameter?.doc.length).toBeGreaterThan(10);
  if (/\d(ms|s|min|h|d)$/.test(value)) expect(parameter).toMatchObject({ type: 'time', unit: expect.any(String) });
});

it.each(OTHER_NAMES)('%s is another name of %s (%s)', (name, of, age) => {
  expect(findParameter(name)?.parameter.name).toBe(of);
  const conf = new Configuration();
  const notes = conf.set(name, conf.get(of) ?? '');
  expect(notes.some((note) => note.includes('is an old name of'))).toBe(age === 'old');
});

it('old names warn, whether in the site file, the environment or a session', () => {
  const site = [{ name: 'hive.lock.numretires', value: '7', isFinal: false, file: 'hive-site.xml' }];
  const env = { SKEP_CONF_hive_compactor_history_retention_attempted: '1', SKEP_CONF_hive_compactor_job_queue: 'q' };
  const { conf, notes } = Configuration.load({ site, env });
  expect(notes).toEqual([
    'hive.lock.numretires is an old name of hive.lock.numretries, which is set',
    expect.stringContaining('is an old name of hive.compactor.history.retention.did.not.initiate'),
    expect.stringContaining('hive.compactor.job.queue has no effect in skep'),
  ]);
  expect(conf.getInt('hive.lock.numretries')).toBe(7);
  expect(conf.fork().set('hive.lock.numretires', '9')[0]).toContain('old name');
});
