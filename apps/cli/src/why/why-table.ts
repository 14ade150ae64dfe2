import { type AcidState, compactionDue, compactionThresholds, getAcidState, InvalidThresholdError } from '@skep/acid';
import { isAutoCompactionOff, isFirstLoadPending, mustRest } from '@skep/compactor';
import { parseTimeMs } from '@skep/config';
import { ValidTxnList, ValidWriteIdList } from '@skep/core';
import { CompactionState, type Table } from '@skep/rpc';
import type { Services } from '@skep/sql';
import { type CompactionView, titleOf, whyCompaction } from './why-compaction.js';

/** The folders of one table or partition, and whose they are. */
export interface Resource {
  readonly database: string;
  readonly table: string;
  readonly partition?: string | undefined;
  readonly location: string;
}

const isTransactional = ({ parameters }: Table): boolean => parameters.transactional?.toLowerCase() === 'true';

/** Why a table as a whole is not compacted by itself; empty: nothing of its definition is against it. Pure. */
export function whySkipped(
  table: Table,
  database: Readonly<Record<string, string>>,
  parameters: CompactionView['parameters'],
): string[] {
  const name = `${table.database}.${table.name}`;
  if (!isTransactional(table)) return [`${name} is not transactional: there is nothing to compact.`];
  const lines: string[] = [];
  if (isFirstLoadPending(database) || isFirstLoadPending(table.parameters)) {
    lines.push(`${name} is a replica that waits for its first incremental load (hive.repl.first.inc.pending).`);
  }
  if (isAutoCompactionOff(table.parameters, database)) {
    const own = table.parameters.no_auto_compaction ?? table.parameters.NO_AUTO_COMPACTION;
    const inDatabase = database.no_auto_compaction ?? database.NO_AUTO_COMPACTION;
    const where =
      inDatabase === undefined
        ? `${name} has no_auto_compaction=${own}`
        : `database ${table.database} has no_auto_compaction=${inDatabase}`;
    lines.push(`${where}: the Initiator leaves it alone.`);
  }
  if (parameters['hive.compactor.initiator.on'] === 'false') {
    lines.push('The metastore has hive.compactor.initiator.on=false: nobody looks for tables to compact.');
  }
  const insertOnly = table.parameters.transactional_properties?.toLowerCase() === 'insert_only';
  if (insertOnly && parameters['hive.compactor.compact.insert.only'] === 'false') {
    lines.push(`${name} is insert-only, and hive.compactor.compact.insert.only=false.`);
  }
  return lines;
}

/** What decides, beside its folders, whether a table is due. */
export interface TableToJudge {
  readonly table: Table;
  /** The properties of its database. */
  readonly database: Readonly<Record<string, string>>;
  /** The Initiator does not look at it, whatever is there. */
  readonly isLeftAlone: boolean;
}

/** What of it is under way, ended last, or not due, and what for. */
export async function whyResource(
  services: Services,
  about: TableToJudge,
  resource: Resource,
  view: CompactionView,
): Promise<string[]> {
  const own = view.compactions.filter(
    (one) => one.database === resource.database && one.table === resource.table && one.partition === resource.partition,
  );
  const pending = own.filter(
    ({ state }) =>
      state === CompactionState.COMPACTION_STATE_INITIATED ||
      state === CompactionState.COMPACTION_STATE_WORKING ||
      state === CompactionState.COMPACTION_STATE_READY_FOR_CLEANING,
  );
  const lines = pending.flatMap(({ id }) => whyCompaction(id, view));
  const ended = own.filter((one) => !pending.includes(one)).sort((a, b) => (a.id > b.id ? -1 : 1));
  if (ended.length > 0) lines.push(...whyCompaction(ended[0].id, view));
  const failures = Number(view.parameters['hive.compactor.initiator.failed.compacts.threshold'] ?? 2);
  const restMs = parseTimeMs(view.parameters['hive.compactor.initiator.failed.retry.time'] ?? '7d', 'd') ?? 0;
  if (mustRest(own, failures, restMs, view.nowMs)) {
    const text = `Its last ${failures} compactions failed: the Initiator leaves it alone for ${view.parameters['hive.compactor.initiator.failed.retry.time'] ?? '7d'} (hive.compactor.initiator.failed.retry.time).`;
    lines.push(
      text,
      ...ended
        .filter(({ state }) => state === CompactionState.COMPACTION_STATE_FAILED)
        .map((one) => `  ${titleOf(one)}: ${one.errorMessage}`),
    );
  }
  lines.push(whetherDue(about, await stateOf(services, about.table, resource), view.parameters));
  return lines;
}

async function stateOf(
  { txns, fs }: Services,
  table: Table,
  { database, table: name, location }: Resource,
): Promise<AcidState> {
  const { validTxns } = await txns.getValidTxns({});
  const answer = await txns.getValidWriteIds({ tables: [`${database}.${name}`], validTxns });
  const writeIds = ValidWriteIdList.forCompactor(ValidWriteIdList.parse(answer.validWriteIds[0]));
  const insertOnly = table.parameters.transactional_properties?.toLowerCase() === 'insert_only';
  return await getAcidState(fs, location, writeIds, ValidTxnList.parse(validTxns), { insertOnly });
}

/** What the Initiator sees in a folder. Pure. */
export function whetherDue(
  { table: { parameters }, database, isLeftAlone }: TableToJudge,
  state: AcidState,
  served: CompactionView['parameters'],
): string {
  const configured = {
    deltaNum: Number(served['hive.compactor.delta.num.threshold'] ?? 10),
    deltaPct: Number(served['hive.compactor.delta.pct.threshold'] ?? 0.1),
  };
  try {
    const { type, reason } = compactionDue(state, compactionThresholds(configured, parameters, database));
    if (type !== undefined) {
      if (isLeftAlone) return `It would be due for a ${type} compaction: ${reason}.`;
      const every = served['hive.compactor.check.interval'] ?? '300s';
      return `It is due for a ${type} compaction: ${reason}. The Initiator looks every ${every} at what was written.`;
    }
    const rest = state.obsolete.length + state.aborted.length;
    const cleaner = rest === 0 ? '' : ` ${rest} replaced or aborted folders are left to the Cleaner.`;
    return `It is ${reason}.${cleaner}`;
  } catch (error) {
    if (!(error instanceof InvalidThresholdError)) throw error;
    return `The Initiator cannot judge it: ${error.message}.`;
  }
}
