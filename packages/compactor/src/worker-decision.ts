import type { AcidState } from '@skep/acid';
import { type Compaction, CompactionState, CompactionType, InvalidRequestError, type Table } from '@skep/rpc';
import { parseOrderBy } from './order-by.js';

/**
 * Whether there is enough for a compaction to do (org.apache.hadoop.hive.ql.txn.compactor.QueryCompactor.Util.isEnoughToCompact):
 * major wants originals, or a base and deltas that are more than one; minor wants more than one delta folder that are not
 * just one delta and its delete delta. Pure.
 */
export function isEnoughToCompact(type: CompactionType, state: AcidState): boolean {
  const deltas = state.deltas.filter((delta) => delta.kind === 'delta').length;
  const deleteDeltas = state.deltas.length - deltas;
  switch (type) {
    case CompactionType.COMPACTION_TYPE_REBALANCE:
      return true;
    case CompactionType.COMPACTION_TYPE_MAJOR:
      return state.originals.length > 0 || state.deltas.length + (state.base === undefined ? 0 : 1) > 1;
    default:
      return state.deltas.length > 1 && !(deltas === 1 && deleteDeltas === 1);
  }
}

/**
 * Why a rebalance has to be put off; undefined: it has not. It reads below the lowest open write id only, which may be another
 * partition's, and gives the rows other ROW__IDs: deletes of committed writes above would be of rows that are no longer known
 * by theirs, and the rows be seen again (Hive's RebalanceQueryCompactor brings them back). `visible`: all that a reader sees. Pure.
 */
export function reasonToPutOff(visible: AcidState, highestWriteId: bigint): string | undefined {
  const later = visible.deltas.find(
    // Of ACID version 1 there may be deletes in deltas too.
    ({ kind, maxWriteId, isRaw, hasVersionFile }) =>
      maxWriteId > highestWriteId && (kind === 'deleteDelta' || (!isRaw && !hasVersionFile)),
  );
  return later === undefined
    ? undefined
    : `${later.name} may delete rows that a rebalance gives other ROW__IDs, and cannot be rebalanced with them while ` +
        `a transaction with write id ${highestWriteId + 1n} of the table is open: ask again when it has ended`;
}

/** Folders that a Cleaner could remove although nothing needs compacting. */
export const needsCleaning = (state: AcidState): boolean => state.obsolete.length > 0 || state.aborted.length > 0;

/** Hive refuses what it cannot compact (Worker.findNextCompactionAndExecute); undefined: go on. Pure. */
export function refusalOf(job: Compaction, table: Table, insertOnly: boolean): string | undefined {
  if (table.parameters.transactional?.toLowerCase() !== 'true') {
    return `${table.database}.${table.name} is not transactional`;
  }
  if ((table.sd?.sortColumns.length ?? 0) > 0) {
    return `Attempt to compact sorted table ${table.database}.${table.name}, which is not yet supported!`;
  }
  if (job.type !== CompactionType.COMPACTION_TYPE_REBALANCE) return undefined;
  if ((table.sd?.bucketColumns.length ?? 0) > 0) return 'Cannot execute rebalancing compaction on bucketed tables.';
  if (insertOnly) return 'Rebalance compaction is supported only on full ACID tables.';
  try {
    parseOrderBy(job.orderBy, table);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRequestError) return error.message;
    throw error;
  }
}

/**
 * `compactor.NAME` of the request, or else of the table: a setting for its compactions. Those of Hive's jobs (memory, queues)
 * are taken and have no effect, as there are no such jobs. Pure.
 */
export const jobSetting = (
  name: string,
  table: Readonly<Record<string, string>>,
  request: Readonly<Record<string, string>>,
): string | undefined => request[`compactor.${name}`] ?? table[`compactor.${name}`];

/** How carrying out a request ended. */
export type Outcome =
  | {
      readonly kind: 'ready';
      readonly nextTxnId: bigint;
      readonly commitTimeMs: bigint;
      /** Nothing was written: the obsolete files are for the Cleaner, later. */
      readonly isOnlyObsolete: boolean;
      readonly txnId: bigint;
      readonly bytesRead: number;
      readonly bytesWritten: number;
    }
  | { readonly kind: 'ended'; readonly state: CompactionState; readonly errorMessage: string }
  /** Given up: the request waits again. */
  | { readonly kind: 'again'; readonly reason: unknown };

export const refused = (errorMessage: string): Outcome => ({
  kind: 'ended',
  state: CompactionState.COMPACTION_STATE_REFUSED,
  errorMessage,
});

/** Whether a row of the queue is still what a Worker took: it may have been revoked, and taken by another, meanwhile. Pure. */
export const isStillOurs = (row: Compaction | undefined, job: Compaction): boolean =>
  row !== undefined &&
  row.state === CompactionState.COMPACTION_STATE_WORKING &&
  row.workerId === job.workerId &&
  row.startMs === job.startMs;

/** ORC properties of the table; `tblprops.X` of the request overrides property X (reference §5, prefixes). Pure. */
export function orcProperties(
  table: Readonly<Record<string, string>>,
  request: Readonly<Record<string, string>>,
): Record<string, string> {
  const overrides = Object.entries(request)
    .filter(([name]) => name.startsWith('tblprops.'))
    .map(([name, value]) => [name.slice('tblprops.'.length), value]);
  return { ...table, ...Object.fromEntries(overrides) };
}
