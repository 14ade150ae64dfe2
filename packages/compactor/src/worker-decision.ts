import { type Compaction, CompactionState, CompactionType, InvalidRequestError, type Table } from '@skep/rpc';
import { parseOrderBy } from './order-by.js';

/** Hive refuses what it cannot compact (Worker.findNextCompactionAndExecute); undefined: go on. Pure. */
export function refusalOf(job: Compaction, table: Table): string | undefined {
  if (table.parameters.transactional?.toLowerCase() !== 'true') {
    return `${table.database}.${table.name} is not transactional`;
  }
  if ((table.sd?.sortColumns.length ?? 0) > 0) {
    return `Attempt to compact sorted table ${table.database}.${table.name}, which is not yet supported!`;
  }
  if (job.type !== CompactionType.COMPACTION_TYPE_REBALANCE) return undefined;
  if ((table.sd?.bucketColumns.length ?? 0) > 0) return 'Cannot execute rebalancing compaction on bucketed tables.';
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
      readonly bytesRead: bigint;
      readonly bytesWritten: bigint;
    }
  | { readonly kind: 'ended'; readonly state: CompactionState; readonly errorMessage: string }
  /** It cannot be done now: the request waits for a while at least. */
  | { readonly kind: 'later'; readonly why: string; readonly restMs: number }
  /** Given up: the request waits again. */
  | { readonly kind: 'again'; readonly reason: unknown };

/** How long a request rests that has waited so long in vain: as long again, within bounds. undefined: it has waited enough. Pure. */
export function restAfter(waitedMs: number, mostMs: number): number | undefined {
  return waitedMs >= mostMs ? undefined : Math.min(60_000, Math.max(1000, waitedMs));
}

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

/** `orc.…` properties of the table; `tblprops.X` of the request overrides property X (reference §5, prefixes). Pure. */
export function orcProperties(
  table: Readonly<Record<string, string>>,
  request: Readonly<Record<string, string>>,
): Record<string, string> {
  const overrides = Object.entries(request)
    .filter(([name]) => name.startsWith('tblprops.'))
    .map(([name, value]) => [name.slice('tblprops.'.length), value]);
  const all: Record<string, string> = { ...table, ...Object.fromEntries(overrides) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => /^orc\./i.test(name)));
}
