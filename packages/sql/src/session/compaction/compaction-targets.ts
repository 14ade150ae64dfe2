import { compactionDue, compactionThresholds, getAcidState } from '@skep/acid';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { CompactionType, type Partition, type Table } from '@skep/rpc';
import type { AlterTableStatement } from '../../parse/ast.js';
import type { SessionContext } from '../context.js';
import { nameOf, requirePartition, requireWholeSpec } from '../partition/partitions.js';
import { isInsertOnly } from '../transaction/lock-plan.js';

/** What a request is for: the table (no partition) or one of its partitions. */
export interface CompactionTarget {
  readonly partition: string | undefined;
  readonly type: CompactionType;
}

export interface CompactionTargets {
  readonly targets: readonly CompactionTarget[];
  /** Why partitions are left out. */
  readonly messages: readonly string[];
}

/** The partition of PARTITION (…), which has to name all keys (Hive's 10299). */
export async function namedPartition(
  context: SessionContext,
  table: Table,
  { partition: spec }: AlterTableStatement,
): Promise<string | undefined> {
  if (spec === undefined) return undefined;
  requireWholeSpec(table, spec, 'compact');
  const { values } = await requirePartition(context, table, spec);
  return nameOf(table, values);
}

/**
 * The whole table, one partition, or of a partitioned table without PARTITION those that the Initiator's thresholds find due, with
 * the type that they call for (AlterTableCompactOperation); a rebalance is for all of them, no threshold is about it. Where there
 * are no partitions the table is asked for as a whole, as Hive does: its Worker finds nothing to do.
 */
export async function compactionTargets(
  context: SessionContext,
  table: Table,
  named: string | undefined,
  type: CompactionType,
): Promise<CompactionTargets> {
  const one = { targets: [{ partition: named, type }], messages: [] };
  if (named !== undefined || table.partitionKeys.length === 0) return one;
  const { partitions } = await context.services.catalog.getPartitions({
    database: table.database,
    table: table.name,
    names: [],
  });
  if (partitions.length === 0) return one;
  if (type === CompactionType.COMPACTION_TYPE_REBALANCE) {
    return { targets: partitions.map(({ values }) => ({ partition: nameOf(table, values), type })), messages: [] };
  }
  return await duePartitions(context, table, partitions);
}

async function duePartitions(
  context: SessionContext,
  table: Table,
  partitions: readonly Partition[],
): Promise<CompactionTargets> {
  const { txns, fs, catalog } = context.services;
  const { validTxns } = await txns.getValidTxns({});
  const { validWriteIds } = await txns.getValidWriteIds({ tables: [`${table.database}.${table.name}`], validTxns });
  const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(validWriteIds[0]));
  const snapshot = ValidTxnList.parse(validTxns);
  const { database } = await catalog.getDatabase({ name: table.database });
  const thresholds = compactionThresholds(
    {
      deltaNum: context.conf.getInt('hive.compactor.delta.num.threshold'),
      deltaPct: context.conf.getFloat('hive.compactor.delta.pct.threshold'),
    },
    table.parameters,
    database?.parameters ?? {},
  );
  const targets: CompactionTarget[] = [];
  const messages: string[] = [];
  for (const { values, sd } of partitions) {
    const partition = nameOf(table, values);
    const insertOnly = isInsertOnly(table);
    const state = await getAcidState(fs, sd?.location ?? '', writeIds, snapshot, { insertOnly });
    const due = compactionDue(state, thresholds);
    if (due.type === undefined) {
      const named = `${table.database}.${table.name} partition ${partition}`;
      messages.push(
        `No compaction of ${named}: ${due.reason}. ALTER TABLE … PARTITION (…) COMPACT asks for it all the same`,
      );
    } else {
      const type = due.type === 'major' ? 'COMPACTION_TYPE_MAJOR' : 'COMPACTION_TYPE_MINOR';
      targets.push({ partition, type: CompactionType[type] });
    }
  }
  return { targets, messages };
}
