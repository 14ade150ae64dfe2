import { isHiddenName, parseAcidDirectoryName } from '@skep/acid';
import type { Table } from '@skep/rpc';
import { joinPath } from '@skep/storage';
import type { SessionContext } from '../context.js';
import { folderName } from '../dml/table-writer.js';
import { MetaError } from '../errors.js';
import type { StatementTransaction } from '../transaction/statement-transaction.js';

/** Write ids of a converted table start above this: what was there before counts as write id 0. */
const seedWriteId = 10_000_000n;
const originalName = /^\d+_\d+(_copy_\d+)?$/;

/**
 * A plain ORC table becomes full ACID: its files stay as they are and are read as originals, so each must have the name
 * of one (org.apache.hadoop.hive.ql.ddl.table.misc.properties, HIVE-12724: bucket numbers come from the names).
 */
export async function convertToAcid(context: SessionContext, table: Table): Promise<void> {
  const { fs, txns } = context.services;
  for (const location of await foldersOf(context, table)) {
    if ((await fs.stat(location)) === undefined) continue;
    for (const entry of await fs.list(location)) {
      if (entry.isDirectory || /^[._]/.test(entry.name) || originalName.test(entry.name)) continue;
      throw new MetaError(
        `Unexpected data file name format. Cannot convert ${table.database}.${table.name} to transactional table. File: ${entry.path}`,
      );
    }
  }
  await txns.seedWriteId({ database: table.database, table: table.name, seedWriteId });
}

/** The folders that hold files of a table: its own, or those of its partitions. */
async function foldersOf({ services: { catalog } }: SessionContext, table: Table): Promise<string[]> {
  if (table.partitionKeys.length === 0) return [table.sd?.location ?? ''];
  const { partitions } = await catalog.getPartitions({ database: table.database, table: table.name, names: [] });
  return partitions.map((partition) => partition.sd?.location ?? '');
}

/**
 * A plain table becomes insert-only: its files are moved into the first delta, where a Hive looks for them, unless
 * hive.mm.allow.originals says that they may stay (AlterTableSetPropertiesOperation.generateAddMmTasks). As long as the catalog
 * has it as a plain table all of them are read wherever they are, so that the catalog is told last, after the commit.
 */
export async function convertToInsertOnly(
  context: SessionContext,
  transaction: StatementTransaction,
  table: Table,
): Promise<void> {
  const { fs } = context.services;
  if (context.conf.getBoolean('hive.mm.allow.originals')) return;
  if (table.sd?.storedAsSubDirectories === true) {
    throw new MetaError(
      `Converting list bucketed tables stored as subdirectories to MM is not supported: ${table.database}.${table.name}. Please re-create a table in the desired format.`,
    );
  }
  const writeId = await transaction.writeIdOf(table.database, table.name);
  const delta = folderName(writeId, transaction.nextStatementId(), false);
  for (const location of await foldersOf(context, table)) {
    if ((await fs.stat(location)) === undefined) continue;
    const moved = (await fs.list(location)).filter(
      ({ name }) => !isHiddenName(name) && parseAcidDirectoryName(name) === undefined,
    );
    if (moved.length > 0) await fs.mkdirs(joinPath(location, delta));
    for (const { name, path } of moved) {
      const to = joinPath(joinPath(location, delta), name);
      await fs.rename(path, to);
      transaction.onRollback(async () => await fs.rename(to, path));
    }
  }
}
