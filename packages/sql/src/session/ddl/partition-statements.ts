import { DEFAULT_PARTITION_NAME, SkepError } from '@skep/core';
import type { Partition, Table } from '@skep/rpc';
import type { AlterTableAction, PartitionSpec, TableName } from '../../parse/ast.js';
import { lockSettings, resolveTable, type SessionContext } from '../context.js';
import { MetaError, SemanticError } from '../errors.js';
import { beingMoved, refuseTaken } from '../folder-moves.js';
import {
  filterPartitions,
  nameOf,
  newPartition,
  partitionValues,
  requirePartition,
  specText,
} from '../partition/partitions.js';
import type { StatementResult } from '../result.js';
import { done } from '../text-result.js';
import { dropsByBase, isTransactional, renamesByCopy } from '../transaction/lock-plan.js';
import { runStatement } from '../transaction/run-statement.js';
import {
  copyPartitionFolder,
  folderOfPartition,
  hasLocks,
  leaveToCleaner,
  markDropped,
  softDeleteIf,
} from './soft-delete.js';

type Action<K extends AlterTableAction['kind']> = Extract<AlterTableAction, { kind: K }>;

/** ALTER TABLE … ADD [IF NOT EXISTS] PARTITION. */
export async function addPartitions(
  context: SessionContext,
  name: TableName,
  action: Action<'add-partitions'>,
  signal?: AbortSignal,
): Promise<StatementResult> {
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, name);
      const partitions = action.partitions.map(({ partition: spec, location }) => {
        const values = partitionValues(table, spec);
        if (values.size !== table.partitionKeys.length || [...values.values()].includes(undefined)) {
          throw new SemanticError(
            10001,
            `partition spec ${specText(values)} doesn't contain all (${table.partitionKeys.length}) partition columns`,
          );
        }
        refuseDefault(values);
        return newPartition(context, table, [...values.values()].map(String), location);
      });
      return {
        reads: [],
        writes: [{ table, kind: action.ifNotExists ? 'add-partition-if-not-exists' : 'add-partition' }],
        run: async (transaction) => {
          if (isTransactional(table)) await transaction.writeIdOf(table.database, table.name);
          for (const partition of partitions) await context.services.fs.mkdirs(partition.sd?.location ?? '');
          await context.services.catalog.addPartitions({ partitions, ifNotExists: action.ifNotExists });
          return done;
        },
      };
    },
    { signal },
  );
}

/** The default partition is made by rows alone. */
function refuseDefault(values: ReadonlyMap<string, string | undefined>): void {
  for (const [key, value] of values) {
    if (value === DEFAULT_PARTITION_NAME)
      throw new MetaError(`partition spec is invalid; field ${key} does not exist or is empty`);
  }
}

/**
 * ALTER TABLE … DROP [IF EXISTS] PARTITION: the files of a managed table go with it, at once under the EXCLUSIVE lock, or are
 * left to the Cleaner beside readers (soft-delete.ts).
 */
export async function dropPartitions(
  context: SessionContext,
  name: TableName,
  action: Action<'drop-partitions'>,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const settings = lockSettings(context.conf);
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, name);
      const all = await context.services.catalog.getPartitions({
        database: table.database,
        table: table.name,
        names: [],
      });
      const doomed = new Map<string, Partition>();
      for (const filter of action.partitions) {
        const found = filterPartitions(table, all.partitions, filter);
        if (found.length === 0 && !action.ifExists && !context.conf.getBoolean('hive.exec.drop.ignorenonexistent')) {
          const spec = new Map(
            filter.terms.map((t) => [
              t.column.name,
              'value' in t.value ? String(t.value.value) : 'text' in t.value ? t.value.text : '',
            ]),
          );
          throw new SemanticError(10006, `Partition not found ${specText(spec)}`, { position: filter.position });
        }
        for (const partition of found) doomed.set(nameOf(table, partition.values), partition);
      }
      return {
        reads: [],
        writes: doomed.size === 0 ? [] : [{ table, kind: 'drop-partition', partitions: [...doomed.keys()] }],
        run: async (transaction) => {
          const isSoft = dropsByBase(table, settings);
          const writeId = isTransactional(table) ? await transaction.writeIdOf(table.database, table.name) : 0n;
          const names = [...doomed.keys()];
          if (names.length === 0) return done;
          const { catalog, txns, compactions, fs } = context.services;
          if (isSoft) {
            const folders = [...doomed.values()].map((partition) => folderOfPartition(table, partition));
            await leaveToCleaner(context, transaction, table, folders, { writeId });
            for (const { location } of folders) await markDropped(context, location, writeId);
          }
          const { txnId } = transaction;
          const at = { database: table.database, table: table.name };
          const { factsForgotten } = await catalog.dropPartitions({ ...at, names, txnId });
          if (!factsForgotten) {
            await txns.forgetResource({ ...at, partitions: names, keepWriteIds: false, txnId });
            await compactions.forgetCompactions({ ...at, partitions: names });
          }
          if (!(await hasLocks(context, transaction))) return done;
          if (!isSoft && table.tableType === 'MANAGED_TABLE') {
            for (const partition of doomed.values()) await fs.delete(partition.sd?.location ?? '', { recursive: true });
          }
          return done;
        },
      };
    },
    { signal, ...softDeleteIf(settings.dropPartitionUseBase || settings.locklessReads) },
  );
}

/** ALTER TABLE … PARTITION (…) RENAME TO PARTITION (…): its folder is renamed too, or copied where readers are to go on. */
export async function renamePartition(
  context: SessionContext,
  name: TableName,
  from: PartitionSpec,
  to: PartitionSpec,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const settings = lockSettings(context.conf);
  return await runStatement(
    context,
    async () => {
      const table = await resolveTable(context, name);
      const before = await requirePartition(context, table, from);
      const wanted = partitionValues(table, to);
      refuseDefault(wanted);
      const values = table.partitionKeys.map((key, i) => wanted.get(key.name) ?? before.values[i]);
      const [oldName, newName] = [nameOf(table, before.values), nameOf(table, values)];
      return {
        reads: [],
        writes: [{ table, kind: 'rename-partition', partitions: [oldName] }],
        run: async (transaction) => {
          const writeId = isTransactional(table) ? await transaction.writeIdOf(table.database, table.name) : 0n;
          const { catalog, fs } = context.services;
          const existing = await catalog.getPartitions({
            database: table.database,
            table: table.name,
            names: [newName],
          });
          if (existing.partitions.length > 0) {
            throw new SkepError(
              'ALREADY_EXISTS',
              'invalid',
              `Partition already exists: ${table.database}.${table.name}.${values.join(',')}`,
              {
                sqlState: '08S01',
              },
            );
          }
          const oldLocation = before.sd?.location ?? '';
          const inPlace = oldLocation === `${table.sd?.location}/${oldName}`;
          const location = inPlace ? `${table.sd?.location}/${newName}` : oldLocation;
          const isCopied = inPlace && renamesByCopy(table, settings);
          const isMoved = inPlace && !isCopied && (await fs.stat(oldLocation)) !== undefined;
          // What is there may be of an earlier partition of that name, which somebody still reads (HiveAlterHandler refuses, too).
          if (isCopied || isMoved) await refuseTaken(fs, location);
          if (isCopied) {
            // The copy, too, is the Cleaner's unless the partition has it in the end.
            const copy = { location, partition: newName, droppedId: before.id, spare: true };
            const left = [copy, folderOfPartition(table, before)];
            await leaveToCleaner(context, transaction, table, left, { writeId });
            await copyPartitionFolder(context, transaction, table, oldLocation, location);
            await markDropped(context, oldLocation, writeId);
          }
          const after = { ...before, values, sd: before.sd && { ...before.sd, location } };
          const move = { from: oldLocation, to: location, oldName, newName };
          const { txnId } = transaction;
          const change = async (names: string[], partition: Partition) =>
            await catalog.alterPartitions({
              database: table.database,
              table: table.name,
              names,
              partitions: [partition],
              txnId,
            });
          const { factsRenamed } = await change([oldName], isMoved ? beingMoved(after, move, txnId) : after);
          if (!factsRenamed) await renameFacts(context, table, oldName, newName, txnId);
          if (!isMoved) return done;
          try {
            await fs.rename(oldLocation, location);
          } catch (error) {
            await change([newName], before);
            if (!factsRenamed) await renameFacts(context, table, newName, oldName, txnId);
            throw error;
          }
          await change([newName], after);
          return done;
        },
      };
    },
    { signal, ...softDeleteIf(settings.renamePartitionMakeCopy || settings.locklessReads) },
  );
}

/** Where the services do not share a database, each is told. */
async function renameFacts(
  { services: { txns, locks, compactions } }: SessionContext,
  { database, name: table }: Table,
  fromPartition: string,
  toPartition: string,
  txnId: bigint,
): Promise<void> {
  await txns.renameResource({
    from: { database, table, partition: fromPartition },
    to: { database, table, partition: toPartition },
  });
  const names = {
    fromDatabase: database,
    fromTable: table,
    fromPartition,
    toDatabase: database,
    toTable: table,
    toPartition,
  };
  await compactions.renameCompactions({ ...names, keepTxnId: txnId });
  await locks.renameLocks(names);
}
