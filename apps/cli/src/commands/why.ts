import { SkepError } from '@skep/core';
import type { Services } from '@skep/sql';
import { UsageError } from '../error-line.js';
import { type CliIo, write } from '../io.js';
import type { CompactionView } from '../why/why-compaction.js';
import { whyCompaction } from '../why/why-compaction.js';
import { type LockView, lockLines, whyLock } from '../why/why-lock.js';
import { type Resource, whyResource, whySkipped } from '../why/why-table.js';
import { whyTxn } from '../why/why-txn.js';

export const WHY_SUBJECTS = ['txn', 'lock', 'compaction', 'table'] as const;
export type WhySubject = (typeof WHY_SUBJECTS)[number];

export function subjectOf(text: string): WhySubject {
  const found = WHY_SUBJECTS.find((subject) => subject === text);
  if (found === undefined) throw new UsageError(`why takes ${WHY_SUBJECTS.join(', ')}, not '${text}'`);
  return found;
}

/** Of a partitioned table so many partitions are told of. */
const MOST_PARTITIONS = 100;

/** `skep why`: who or what a transaction, lock, compaction or table waits for, was ended by, or is refused for, since when. */
export async function explainWhy(
  io: CliIo,
  services: Services,
  subject: WhySubject,
  name: string,
  partition?: string,
): Promise<void> {
  if (partition !== undefined && subject !== 'table') throw new UsageError(`why ${subject} takes one id`);
  const lines = await whyLines(services, subject, name, partition);
  await write(io.stdout, `${lines.join('\n')}\n`);
}

export async function whyLines(
  services: Services,
  subject: WhySubject,
  name: string,
  partition?: string,
): Promise<string[]> {
  switch (subject) {
    case 'txn': {
      const txnId = idOf(name, 'txnid:');
      const { states } = await services.txns.getTxnStates({ txnIds: [txnId] });
      const view = await lockView(services);
      const own = (await services.txns.showTxns({ txnId })).txns;
      const { heldBy } = await services.txns.getCleanerWatermark({});
      const timeout = (await parametersOf(services))['hive.txn.timeout'] ?? '300s';
      const txns = [...own, ...view.txns];
      return whyTxn(txnId, { ...view, txns, state: states[0], cleanerWaitsFor: heldBy?.txnId, timeout });
    }
    case 'lock':
      return whyLock(idOf(name.replace(/^(.+)\.\d+$/, '$1'), 'lockid:'), await lockView(services));
    case 'compaction':
      return whyCompaction(idOf(name, ''), await compactionView(services));
    case 'table':
      return await whyTable(services, name, partition);
  }
}

function idOf(text: string, prefix: string): bigint {
  const digits = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  if (!/^\d{1,19}$/.test(digits)) throw new UsageError(`'${text}' is no id: write its number`);
  return BigInt(digits);
}

async function lockView({ txns, locks, clock }: Services): Promise<LockView> {
  const [shown, { txns: known }] = [await locks.showLocks({}), await txns.showTxns({})];
  return { locks: shown.locks, txns: known, nowMs: clock.now() };
}

const parametersOf = async ({ catalog }: Services): Promise<Readonly<Record<string, string>>> =>
  (await catalog.getServerInfo({})).parameters;

async function compactionView(services: Services): Promise<CompactionView> {
  const { txns, compactions, clock } = services;
  return {
    compactions: (await compactions.showCompactions({ limit: 0n })).compactions,
    watermark: await txns.getCleanerWatermark({}),
    txns: (await txns.showTxns({})).txns,
    parameters: await parametersOf(services),
    nowMs: clock.now(),
  };
}

async function whyTable(services: Services, name: string, partition?: string): Promise<string[]> {
  const match = /^(?:([^.]+)\.)?([^.]+)$/.exec(name.toLowerCase());
  if (match === null) throw new UsageError(`'${name}' is no table: write DATABASE.TABLE`);
  const [, database = 'default', tableName] = match;
  const { table } = await services.catalog.getTable({ database, name: tableName });
  if (table === undefined) throw new UsageError(`no table ${name}`);
  const answer = await services.catalog.getDatabase({ name: database });
  const view = await compactionView(services);
  const inDatabase = answer.database?.parameters ?? {};
  const lines = whySkipped(table, inDatabase, view.parameters);
  const isAcid = table.parameters.transactional?.toLowerCase() === 'true';
  if (isAcid) {
    const isLeftAlone = lines.length > 0;
    const resources = await resourcesOf(services, table, partition);
    for (const resource of resources.slice(0, MOST_PARTITIONS)) {
      if (resource.partition !== undefined) lines.push(`${database}.${tableName}/${resource.partition}:`);
      lines.push(...(await whyResource(services, { table, database: inDatabase, isLeftAlone }, resource, view)));
    }
    const more = resources.length - MOST_PARTITIONS;
    if (more > 0) lines.push(`Of ${more} more partitions nothing is said here: name one.`);
  }
  const locks = await lockView(services);
  const own = locks.locks.filter((lock) => lock.database === database && (lock.table ?? tableName) === tableName);
  if (own.length > 0) lines.push('Locks:', ...lockLines(own, locks).map((line) => `  ${line}`));
  return lines;
}

async function resourcesOf(
  { catalog }: Services,
  table: {
    database: string;
    name: string;
    partitionKeys: readonly { name: string }[];
    sd?: { location: string } | undefined;
  },
  partition: string | undefined,
): Promise<Resource[]> {
  const { database, name } = table;
  if (table.partitionKeys.length === 0) {
    if (partition !== undefined) throw new UsageError(`${database}.${name} has no partitions`);
    return [{ database, table: name, location: table.sd?.location ?? '' }];
  }
  const { partitions } = await catalog.getPartitions({
    database,
    table: name,
    names: partition === undefined ? [] : [partition],
  });
  if (partitions.length === 0 && partition !== undefined) throw new NoSuchPartitionError(database, name, partition);
  return partitions.map(({ values, sd }) => ({
    database,
    table: name,
    partition: partition ?? table.partitionKeys.map((key, i) => `${key.name}=${values[i]}`).join('/'),
    location: sd?.location ?? '',
  }));
}

class NoSuchPartitionError extends SkepError {
  constructor(database: string, table: string, partition: string) {
    super('NO_SUCH_PARTITION', 'invalid', `${database}.${table} has no partition ${partition}`);
  }
}
