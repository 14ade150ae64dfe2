import type { Parameter, ParameterType, TimeUnit } from '../parameter.js';

/** Warning and error levels of the figures that AcidMetricLogger prints. */
function level(name: string, type: ParameterType, values: readonly [string, string], unit?: TimeUnit): Parameter[] {
  return (['warning', 'error'] as const).map((kind, at) => ({
    name: `hive.compactor.${name}.threshold.${kind}`,
    type,
    ...(unit === undefined ? {} : { unit }),
    default: values[at],
    doc: `From where on ${name.replaceAll('.', ' ')} is a${kind === 'error' ? 'n error' : ' warning'} in the log.`,
    effect: 'yes',
    inMetastoreConf: true,
  }));
}

const JDBC = 'the database is given by --db';

/** Housekeeping, metrics and what belongs to the metastore's process. */
export const METASTORE_PARAMETERS: readonly Parameter[] = [
  {
    name: 'metastore.acid.housekeeper.interval',
    type: 'time',
    unit: 's',
    default: '60s',
    doc: 'How often transactions and locks are timed out and their records cleaned up.',
    effect: 'yes',
    aliases: ['hive.metastore.acid.housekeeper.interval'],
  },
  {
    name: 'metastore.compaction.housekeeper.interval',
    type: 'time',
    unit: 's',
    default: '300s',
    doc: 'How often the history of compactions is purged.',
    effect: 'yes',
    aliases: ['hive.metastore.compaction.housekeeper.interval'],
  },
  {
    name: 'metastore.acid.txn.cleaner.interval',
    type: 'time',
    unit: 's',
    default: '10s',
    doc: 'How often ended transactions without files are forgotten.',
    effect: 'yes',
    aliases: ['hive.metastore.acid.txn.cleaner.interval'],
  },
  {
    name: 'metastore.housekeeping.threads.on',
    type: 'boolean',
    default: 'true',
    hiveDefault: 'false',
    doc: 'Whether this metastore does the housekeeping.',
    effect: 'yes',
    aliases: ['hive.metastore.housekeeping.threads.on'],
  },
  {
    name: 'metastore.housekeeping.leader.hostname',
    type: 'string',
    default: '',
    doc: 'The one host whose metastore does the housekeeping and runs Initiator and Cleaner; without it one host at a time does, by leases in the database.',
    effect: 'yes',
    aliases: ['hive.metastore.housekeeping.leader.hostname'],
  },
  {
    name: 'metastore.housekeeping.leader.election',
    type: 'string',
    default: 'host',
    values: ['host', 'lock'],
    doc: 'How that host is chosen: by metastore.housekeeping.leader.hostname, or (lock) whoever has the lease, whatever that says.',
    effect: 'yes',
    aliases: ['hive.metastore.housekeeping.leader.election'],
  },
  {
    name: 'metastore.metrics.enabled',
    type: 'boolean',
    default: 'false',
    doc: 'Serves metrics.',
    effect: 'none',
    why: '--metrics HOST:PORT of `skep metastore` and `skep compactor` serves them',
    aliases: ['hive.metastore.metrics.enabled'],
  },
  {
    name: 'hive.server2.metrics.enabled',
    type: 'boolean',
    default: 'false',
    doc: 'Serves metrics of HiveServer2.',
    effect: 'none',
    why: '--metrics HOST:PORT of `skep metastore` and `skep compactor` serves them',
  },
  {
    name: 'metastore.acidmetrics.thread.on',
    type: 'boolean',
    default: 'true',
    doc: 'Whether figures of transactions and compactions are gathered.',
    effect: 'yes',
    aliases: ['hive.metastore.acidmetrics.thread.on'],
  },
  {
    name: 'metastore.acidmetrics.ext.on',
    type: 'boolean',
    default: 'true',
    doc: 'Whether the further figures (delta counts, totals) are gathered.',
    effect: 'yes',
    aliases: ['hive.metastore.acidmetrics.ext.on'],
  },
  {
    name: 'metastore.acidmetrics.check.interval',
    type: 'time',
    unit: 's',
    default: '300s',
    doc: 'How often they are gathered.',
    effect: 'yes',
    aliases: ['hive.metastore.acidmetrics.check.interval'],
  },
  {
    name: 'metastore.acidmetrics.table.aborted.txns.threshold',
    type: 'int',
    default: '1500',
    doc: 'More aborted transactions of a table or partition are counted as a figure of their own.',
    effect: 'yes',
    aliases: ['hive.metastore.acidmetrics.table.aborted.txns.threshold'],
  },
  ...(
    [
      ['max.cache.size', 'int', '100', 'Resources with the highest delta counts that are kept.'],
      ['delta.num.threshold', 'int', '100', 'Delta counts from here on are kept.'],
      ['obsolete.delta.num.threshold', 'int', '100', 'Counts of obsolete deltas from here on are kept.'],
      ['delta.pct.threshold', 'float', '0.01', 'A delta below this share of the base is small.'],
    ] as const
  ).map(
    ([name, type, value, doc]): Parameter => ({
      name: `metastore.deltametrics.${name}`,
      type,
      default: value,
      min: 0,
      doc,
      effect: 'yes',
      aliases: [`hive.txn.acid.metrics.${name}`],
    }),
  ),
  {
    name: 'hive.txn.acid.metrics.reporting.interval',
    type: 'time',
    unit: 's',
    default: '30s',
    doc: 'How often Hive once reported delta counts.',
    effect: 'none',
    why: 'metastore.acidmetrics.check.interval took its place',
  },
  {
    name: 'hive.compactor.acid.metrics.logger.frequency',
    type: 'time',
    unit: 'min',
    default: '360min',
    doc: 'How often it is logged that a figure is beyond a level (the first time at once); 0: never.',
    effect: 'yes',
    inMetastoreConf: true,
  },
  ...level('oldest.open.txn', 'time', ['24h', '72h'], 'h'),
  ...level('oldest.replication.open.txn', 'time', ['14d', '21d'], 'd'),
  ...level('oldest.uncleaned.aborted.txn.time', 'time', ['24h', '48h'], 'h'),
  ...level('oldest.initiated.compaction.time', 'time', ['1h', '12h'], 'h'),
  ...level('long.running.initiator', 'time', ['6h', '12h'], 'h'),
  ...level('completed.txn.components.record', 'int', ['500000', '1000000']),
  ...level('txn.to.writeid.record', 'int', ['500000', '1000000']),
  ...(
    [
      ['tables.with.aborted.txn.threshold', 'int', '1'],
      ['oldest.uncleaned.compaction.time.threshold', 'time', '24h'],
      ['failed.compaction.ratio.threshold', 'float', '0.01'],
      ['number.of.disabled.compaction.tables.threshold', 'int', '1'],
    ] as const
  ).map(
    ([name, type, value]): Parameter => ({
      name: `hive.compactor.${name}`,
      type,
      ...(type === 'time' ? { unit: 'h' as const } : {}),
      default: value,
      doc: `From where on ${name.replace('.threshold', '').replaceAll('.', ' ')} is a warning in the log.`,
      effect: 'yes',
      inMetastoreConf: true,
    }),
  ),
  {
    name: 'hive.metastore.warehouse.dir',
    type: 'string',
    default: '',
    hiveDefault: '/user/hive/warehouse',
    doc: 'The folder of databases and managed tables.',
    effect: 'none',
    why: 'the warehouse is given by --warehouse or SKEP_HOME when skep starts',
    aliases: ['metastore.warehouse.dir'],
  },
  {
    name: 'hive.metastore.uris',
    type: 'string',
    default: '',
    doc: 'Where a remote metastore listens.',
    effect: 'none',
    why: 'the metastore is given when skep starts: --metastore, SKEP_METASTORE, or skep:// addresses here in the site file',
    aliases: ['metastore.thrift.uris'],
  },
  ...(
    [
      ['ConnectionURL', 'Address of the metastore’s database.'],
      ['ConnectionDriverName', 'Java driver of the metastore’s database.'],
      ['ConnectionUserName', 'User of the metastore’s database.'],
      ['ConnectionPassword', 'Password of the metastore’s database.'],
    ] as const
  ).map(
    ([name, doc]): Parameter => ({
      name: `javax.jdo.option.${name}`,
      type: 'string',
      default: '',
      doc,
      effect: 'none',
      why: JDBC,
    }),
  ),
  {
    name: 'datanucleus.connectionPoolingType',
    type: 'string',
    default: 'HikariCP',
    doc: 'The connection pool of Hive’s metastore.',
    effect: 'none',
    why: JDBC,
  },
  ...(['groups', 'hosts'] as const).map(
    (name): Parameter => ({
      name: `hadoop.proxyuser.hive.${name}`,
      type: 'string',
      default: '',
      doc: `For which ${name} the user hive may act for others (so of any user, hadoop.proxyuser.USER.…).`,
      effect: 'yes',
      place: 'Hadoop',
    }),
  ),
];
