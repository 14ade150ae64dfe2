import { basename } from 'node:path';
import { findPartitions, type UpgradeFinding, upgradeCheck } from '@skep/acid';
import { type PartitionValue, ValidTxnList, ValidWriteIdList } from '@skep/core';
import { parseType, type StructVector, vectorOf } from '@skep/orc';
import type { Partition, Table } from '@skep/rpc';
import type { StatementResult } from '@skep/sql';
import { type FileSystem, localFileSystem } from '@skep/storage';
import { UsageError } from '../error-line.js';
import type { Home } from '../home.js';
import type { CliIo } from '../io.js';
import type { OutputFormat } from '../output/rows.js';
import { writeResult } from '../output/write-result.js';

export interface UpgradeCheckOptions {
  readonly format: OutputFormat;
  /** A table's folder, read without any metastore. */
  readonly dir?: string;
  readonly database?: string;
  readonly table?: string;
  /** Runs the compactions and waits for them. */
  readonly compact: boolean;
}

interface Candidate {
  readonly table: string;
  readonly partition: readonly PartitionValue[];
  readonly location: string;
  readonly writeIds: ValidWriteIdList;
  readonly txns: ValidTxnList;
}

interface Needed extends Candidate {
  readonly finding: UpgradeFinding;
}

/**
 * `skep upgrade-check`: the tables and partitions that Hive 3 and later cannot read before a major compaction, after
 * org.apache.hadoop.hive.upgrade.acid.PreUpgradeTool. The exit code is 0 where there is none (any more), else 1.
 */
export async function checkUpgrade(
  io: CliIo,
  options: UpgradeCheckOptions,
  openHome: () => Promise<Home>,
): Promise<number> {
  if (options.dir !== undefined) {
    if (options.compact) throw new UsageError('--compact compacts tables of the home: a folder has no metastore');
    const fs = localFileSystem();
    if ((await fs.stat(options.dir))?.isDirectory !== true) throw new UsageError(`no such folder: ${options.dir}`);
    const candidates = await candidatesOfFolder(fs, options.dir);
    return await report(io, options, candidates, await needing(fs, candidates));
  }
  const home = await openHome();
  try {
    const candidates = await candidatesOfHome(home, options);
    const needed = await needing(home.fs, candidates);
    const code = await report(io, options, candidates, needed);
    if (!options.compact || needed.length === 0) return code;
    await compactAll(io, home, needed);
    const left = await needing(home.fs, await candidatesOfHome(home, options));
    if (left.length > 0) io.stderr.write(`${left.length} still must be major-compacted: SHOW COMPACTIONS tells why\n`);
    return left.length === 0 ? 0 : 1;
  } finally {
    await home.close();
  }
}

async function candidatesOfFolder(fs: FileSystem, dir: string): Promise<Candidate[]> {
  const all = { writeIds: ValidWriteIdList.allValid(), txns: ValidTxnList.allValid() };
  const partitions = await findPartitions(fs, dir);
  return partitions.map(({ dir: location, values }) => ({ table: basename(dir), partition: values, location, ...all }));
}

async function candidatesOfHome(home: Home, { database, table }: UpgradeCheckOptions): Promise<Candidate[]> {
  const { catalog } = home.services;
  const databases = (await catalog.listDatabases({})).names;
  const wanted = database?.toLowerCase();
  if (wanted !== undefined && !databases.includes(wanted)) throw new UsageError(`no such database: ${database}`);
  const candidates: Candidate[] = [];
  for (const db of databases.filter((name) => wanted === undefined || name === wanted)) {
    for (const name of (await catalog.listTables({ database: db })).names) {
      if (table !== undefined && name !== table.toLowerCase()) continue;
      const found = (await catalog.getTable({ database: db, name })).table;
      if (found !== undefined && isFullAcid(found)) candidates.push(...(await candidatesOfTable(home, found)));
    }
  }
  return candidates;
}

const isFullAcid = ({ parameters }: Table): boolean =>
  parameters.transactional?.toLowerCase() === 'true' &&
  parameters.transactional_properties?.toLowerCase() !== 'insert_only';

async function candidatesOfTable({ services }: Home, table: Table): Promise<Candidate[]> {
  const { validTxns } = await services.txns.getValidTxns({});
  const name = `${table.database}.${table.name}`;
  const { validWriteIds } = await services.txns.getValidWriteIds({ tables: [name], validTxns });
  const common = {
    table: name,
    writeIds: ValidWriteIdList.parse(validWriteIds[0]),
    txns: ValidTxnList.parse(validTxns),
  };
  if (table.partitionKeys.length === 0) return [{ ...common, partition: [], location: table.sd?.location ?? '' }];
  const { partitions } = await services.catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [],
  });
  return partitions.map((partition: Partition) => ({
    ...common,
    partition: table.partitionKeys.map((key, i) => ({ column: key.name, value: partition.values[i] })),
    location: partition.sd?.location ?? '',
  }));
}

async function needing(fs: FileSystem, candidates: readonly Candidate[]): Promise<Needed[]> {
  const needed: Needed[] = [];
  for (const candidate of candidates) {
    const finding = await upgradeCheck(fs, candidate.location, candidate.writeIds, candidate.txns);
    if (finding !== undefined) needed.push({ ...candidate, finding });
  }
  return needed;
}

async function report(
  io: CliIo,
  { format }: UpgradeCheckOptions,
  candidates: readonly Candidate[],
  needed: readonly Needed[],
): Promise<number> {
  const rows = needed.map((entry) => [
    entry.table,
    entry.partition.map(({ column, value }) => `${column}=${value ?? DEFAULT_PARTITION}`).join('/'),
    reasonOf(entry.finding),
    `${compactStatement(entry)};`,
  ]);
  await writeResult(textRows(['table', 'partition', 'reason', 'statement'], rows), io.stdout, {
    format,
    header: false,
  });
  io.stderr.write(
    needed.length === 0
      ? `none of ${candidates.length} tables and partitions must be compacted\n`
      : `${needed.length} of ${candidates.length} tables and partitions must be major-compacted before Hive 3 or later reads them\n`,
  );
  return needed.length === 0 ? 0 : 1;
}

const DEFAULT_PARTITION = '__HIVE_DEFAULT_PARTITION__';

function reasonOf({ deltas, updates, deletes, unknownFiles }: UpgradeFinding): string {
  const parts = [
    ...(updates > 0 ? [`${updates} update events`] : []),
    ...(deletes > 0 ? [`${deletes} delete events`] : []),
    ...(unknownFiles > 0 ? [`${unknownFiles} files that do not tell their events`] : []),
  ];
  return `${parts.join(' and ')} of ACID version 1 in ${deltas.join(', ')}`;
}

function compactStatement({ table, partition }: Candidate): string {
  const quote = (name: string) => `\`${name.replaceAll('`', '``')}\``;
  const literal = (value: string | null) =>
    `'${(value ?? DEFAULT_PARTITION).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const values = partition.map(({ column, value }) => `${quote(column)}=${literal(value)}`).join(', ');
  const name = table.split('.').map(quote).join('.');
  return `ALTER TABLE ${name}${values === '' ? '' : ` PARTITION (${values})`} COMPACT 'major'`;
}

/** One after the other; how each ended is said as it ends. */
async function compactAll(io: CliIo, home: Home, needed: readonly Needed[]): Promise<void> {
  const session = home.newSession();
  for (const entry of needed) {
    const { messages } = await session.execute(`${compactStatement(entry)} AND WAIT`);
    for (const message of messages) io.stderr.write(`${message}\n`);
  }
}

function textRows(names: readonly string[], rows: readonly (readonly string[])[]): StatementResult {
  const type = parseType(`struct<${names.map((name) => `${name}:string`).join(',')}>`);
  async function* batches() {
    yield vectorOf(type, rows) as StructVector;
  }
  return { columns: names.map((name) => ({ name, type: 'string' })), batches: batches(), messages: [] };
}
