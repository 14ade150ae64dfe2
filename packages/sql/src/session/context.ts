import type { Configuration } from '@skep/config';
import { SkepError } from '@skep/core';
import type { LockComponent, Table } from '@skep/rpc';
import type { Identifier, TableName } from '../parse/ast.js';
import type { QueryEngine } from '../query.js';
import { SemanticError, tableNotFound } from './errors.js';
import type { StatementResult } from './result.js';
import type { ScanProgress } from './scan-progress.js';
import type { Services } from './services.js';
import type { TemporaryTables } from './temporary-tables.js';
import type { LockSettings } from './transaction/lock-plan.js';
import type { OpenTransaction } from './transaction/planned-statement.js';

/** What every statement of a session works with. */
export interface SessionContext {
  readonly services: Services;
  readonly conf: Configuration;
  readonly engine: QueryEngine;
  /** Of the statement that runs. */
  readonly progress: ScanProgress;
  /** The session's own tables. */
  readonly temporary: TemporaryTables;
  currentDatabase: string;
  /** False after SET AUTOCOMMIT FALSE: queries and writes begin a transaction that COMMIT ends. */
  autocommit: boolean;
  /** Of START TRANSACTION, until COMMIT or ROLLBACK. */
  transaction?: OpenTransaction | undefined;
  /** EXPLAIN LOCKS: statements are planned and not run; this makes the answer out of the locks they would ask for. */
  readonly onlyLocks?: (locks: readonly LockComponent[]) => StatementResult;
}

/** A table's name with the session's database filled in, in lower case. */
export function qualify(context: SessionContext, name: TableName): { database: string; table: string } {
  return {
    database: (name.database?.name ?? context.currentDatabase).toLowerCase(),
    table: name.name.name.toLowerCase(),
  };
}

/** Hive's own text of a name: as qualified when it was written so. */
export async function resolveTable(context: SessionContext, name: TableName): Promise<Table> {
  const { database, table } = qualify(context, name);
  const found = await findTable(context, database, table);
  if (found === undefined) throw tableNotFound(`${database}.${table}`, name.position);
  return found;
}

/** The table, or undefined if there is none of that name. */
export async function findTable(context: SessionContext, database: string, table: string): Promise<Table | undefined> {
  try {
    return (await context.services.catalog.getTable({ database, name: table })).table;
  } catch (error) {
    if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT') return undefined;
    throw error;
  }
}

export async function requireDatabase(context: SessionContext, database: Identifier): Promise<string> {
  const name = database.name.toLowerCase();
  try {
    await context.services.catalog.getDatabase({ name });
  } catch (error) {
    if (!(error instanceof SkepError) || error.code !== 'NO_SUCH_OBJECT') throw error;
    throw new SemanticError(10072, `Database does not exist: ${database.name}`, { position: database.position });
  }
  return name;
}

/** The session's parameters that decide locks. */
export function lockSettings(conf: Configuration): LockSettings {
  return {
    xlockWrite: conf.getBoolean('hive.txn.xlock.write'),
    xlockIow: conf.getBoolean('hive.txn.xlock.iow'),
    xlockCtas: conf.getBoolean('hive.txn.xlock.ctas'),
    xlockMergeInsert: conf.getBoolean('hive.txn.xlock.mergeinsert'),
    strictLockingMode: conf.getBoolean('hive.txn.strict.locking.mode'),
    readLocks: conf.getBoolean('hive.txn.read.locks'),
    nonAcidReadLocks: conf.getBoolean('hive.txn.nonacid.read.locks'),
    externalLocking: conf.getBoolean('hive.txn.ext.locking.enabled'),
    locklessReads: conf.getBoolean('hive.acid.lockless.reads.enabled'),
    maxPartitions: conf.getInt('hive.locks.max.partitions'),
    truncateUseBase: conf.getBoolean('hive.acid.truncate.usebase'),
    softDeleteTables: conf.getBoolean('hive.acid.createtable.softdelete'),
    dropPartitionUseBase: conf.getBoolean('hive.acid.droppartition.usebase'),
    renamePartitionMakeCopy: conf.getBoolean('hive.acid.renamepartition.makecopy'),
  };
}

/** A copy of `properties` as a plain record. */
export const toRecord = (properties: readonly { key: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(properties.map(({ key, value }) => [key, value]));

/** Seconds since the epoch, as Hive keeps DDL times. */
export const nowSeconds = (context: SessionContext): number => Math.floor(context.services.clock.now() / 1000);

/** The basic statistics of a partition without rows. */
export const emptyPartitionStatistics = (context: SessionContext): Record<string, string> => ({
  numFiles: '0',
  numRows: '0',
  rawDataSize: '0',
  totalSize: '0',
  transient_lastDdlTime: String(nowSeconds(context)),
});

/** A table's folder in its database's: other characters than letters and digits as their numbers (MetaStoreUtils.encodeTableName). */
export const tableFolder = (name: string): string =>
  name.replace(/[^\w]/g, (character) => `-${character.charCodeAt(0)}-`);

/** A database's folder. */
export async function databaseLocationOf(context: SessionContext, database: string): Promise<string> {
  const answer = await context.services.catalog.getDatabase({ name: database });
  return answer.database?.locationUri ?? '';
}
