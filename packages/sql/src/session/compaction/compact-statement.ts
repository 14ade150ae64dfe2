import { CompactionState, CompactionType, type Table } from '@skep/rpc';
import type { AlterTableStatement, OrderItem } from '../../parse/ast.js';
import { resolveTable, type SessionContext, toRecord } from '../context.js';
import { ExecutionError, SemanticError } from '../errors.js';
import type { StatementResult } from '../result.js';
import { isTransactional } from '../transaction/lock-plan.js';
import { compactionTargets, namedPartition } from './compaction-targets.js';

/** The request's part of ALTER TABLE … COMPACT. */
export interface CompactAction {
  readonly type: string;
  readonly buckets?: number;
  readonly wait: boolean;
  readonly pool?: string;
  readonly properties: readonly { key: string; value: string }[];
  readonly orderBy: readonly OrderItem[];
  readonly orderByText?: string;
}

const types: Readonly<Record<string, CompactionType>> = {
  minor: CompactionType.COMPACTION_TYPE_MINOR,
  major: CompactionType.COMPACTION_TYPE_MAJOR,
  rebalance: CompactionType.COMPACTION_TYPE_REBALANCE,
};

/**
 * ALTER TABLE … COMPACT: queues a request and answers with its number; AND WAIT polls until it ends, at most
 * hive.compactor.wait.timeout apart (Hive's first poll is after 2 s, each next after twice as long).
 */
export async function compactStatement(
  context: SessionContext,
  statement: AlterTableStatement,
  action: CompactAction,
  signal?: AbortSignal,
): Promise<StatementResult> {
  const table = await resolveTable(context, statement.table);
  if (table.tableType === 'VIRTUAL_VIEW') {
    throw new SemanticError(10131, 'To alter a view you need to use the ALTER VIEW command.');
  }
  const named = await namedPartition(context, table, statement);
  const type = types[action.type.toLowerCase()];
  if (type === undefined) {
    throw new SemanticError(10282, "Invalid compaction type, supported values are 'major' and 'minor'");
  }
  if (!isTransactional(table)) {
    throw new SemanticError(10286, `Compaction is not allowed on non-ACID table ${table.database}.${table.name}`);
  }
  const notes = checkRebalanceOptions(table, action, type);
  const { targets, messages: leftOut } = await compactionTargets(context, table, named, type);
  const messages = [...notes, ...leftOut];
  for (const { partition, type } of targets) {
    const request = async () =>
      await context.services.compactions.compact({
        database: table.database,
        table: table.name,
        partition,
        type,
        runAs: '',
        properties: toRecord(action.properties),
        initiatorId: `${context.services.identity.host}-manual`,
        initiatorVersion: '',
        // The property hive.compactor.worker.pool is the Initiator's alone (AlterTableCompactOperation).
        poolName: action.pool ?? '',
        numberOfBuckets: action.buckets,
        orderBy: action.orderByText ?? '',
      });
    let answer = await request();
    if (!answer.accepted && (await becomesFree(context, table, partition, signal))) answer = await request();
    if (!answer.accepted) {
      const error = refused(table, answer.id, answer.errorMessage);
      // Of many partitions one may be under way already: that is no reason to leave out the others.
      if (targets.length === 1) throw error;
      messages.push(error.message);
      continue;
    }
    messages.push(`Compaction enqueued with id ${answer.id}`);
    context.services.wakeCompactor?.();
    if (action.wait) messages.push(await waitFor(context, answer.id, signal));
  }
  return { messages };
}

/** Until then an earlier compaction by this very process is waited for, instead of refusing the next one. */
const patienceMs = 30_000;

/**
 * Where the compactor runs in this process, an earlier request for the same resource is at work right now: a script that asks
 * for a minor and then a major compaction gets both. False where nobody here works on it, or it takes too long.
 */
async function becomesFree(
  context: SessionContext,
  table: Table,
  partition: string | undefined,
  signal?: AbortSignal,
): Promise<boolean> {
  const { clock, compactions, wakeCompactor } = context.services;
  if (wakeCompactor === undefined) return false;
  const untilMs = clock.now() + patienceMs;
  for (let pollMs = firstPollMs; clock.now() < untilMs; pollMs = Math.min(pollMs * 2, 1000)) {
    const found = await compactions.showCompactions({
      database: table.database,
      table: table.name,
      partition,
      limit: 0n,
    });
    if (!found.compactions.some((c) => c.partition === partition && isUnderWay(c.state))) return true;
    wakeCompactor();
    await clock.sleep(pollMs, signal);
  }
  return false;
}

const isUnderWay = (state: CompactionState): boolean =>
  state === CompactionState.COMPACTION_STATE_INITIATED ||
  state === CompactionState.COMPACTION_STATE_WORKING ||
  state === CompactionState.COMPACTION_STATE_READY_FOR_CLEANING;

/** ErrorMsg.COMPACTION_REFUSED, whose blank between table and id is missing in Hive too. */
const refused = (table: Table, id: bigint, why: string): SemanticError =>
  new SemanticError(
    10432,
    `Compaction request for ${table.database}.${table.name}CompactionId: ${id} is refused, details: ${why}.`,
  );

/** What only a rebalance does; its columns must be the table's. */
function checkRebalanceOptions(table: Table, action: CompactAction, type: CompactionType): string[] {
  const isRebalance = type === CompactionType.COMPACTION_TYPE_REBALANCE;
  if (!isRebalance) {
    const given = [
      ...(action.buckets === undefined ? [] : ['CLUSTERED INTO']),
      ...(action.orderByText ? ['ORDER BY'] : []),
    ];
    return given.length === 0 ? [] : [`${given.join(' and ')}: only a rebalance compaction goes by it`];
  }
  if (action.buckets !== undefined && action.buckets < 1) {
    throw new SemanticError(10000, `CLUSTERED INTO ${action.buckets} BUCKETS: a rebalance needs at least 1 bucket`);
  }
  const columns = (table.sd?.columns ?? []).map(({ name }) => name.toLowerCase());
  for (const { expression } of action.orderBy) {
    const path = expression.kind === 'column' ? expression.path.map(({ name }) => name.toLowerCase()) : [];
    const isOwn = path.length === 1 || (path.length === 2 && path[0] === table.name);
    if (isOwn && columns.includes(path[path.length - 1])) continue;
    const names = `${table.database}.${table.name}`;
    throw new SemanticError(
      10004,
      `ORDER BY of a rebalance compaction takes columns of ${names}: ${columns.join(', ')}`,
      {
        position: expression.position,
      },
    );
  }
  return [];
}

const firstPollMs = 20;

async function waitFor(context: SessionContext, id: bigint, signal?: AbortSignal): Promise<string> {
  const { clock, compactions } = context.services;
  const capMs = context.conf.getTimeMs('hive.compactor.wait.timeout');
  const beganMs = clock.now();
  for (;;) {
    const { compactions: found } = await compactions.showCompactions({ id, limit: 1n });
    const state = found[0]?.state;
    if (state === undefined) throw new ExecutionError(`Compaction with id ${id} is no longer known`);
    if (state !== CompactionState.COMPACTION_STATE_INITIATED && state !== CompactionState.COMPACTION_STATE_WORKING) {
      if (state === CompactionState.COMPACTION_STATE_FAILED) {
        throw new ExecutionError(`Compaction with id ${id} failed: ${found[0].errorMessage}`);
      }
      return `Compaction with id ${id} finished with status: ${stateName(state)}`;
    }
    // An eighth of what it took so far: asked 8 times a factor e of time, and the end is known soon after it.
    await clock.sleep(Math.min(Math.max(firstPollMs, (clock.now() - beganMs) / 8), capMs), signal);
  }
}

/** The words of SHOW COMPACTIONS (TxnStore). */
export function stateName(state: CompactionState): string {
  switch (state) {
    case CompactionState.COMPACTION_STATE_INITIATED:
      return 'initiated';
    case CompactionState.COMPACTION_STATE_WORKING:
      return 'working';
    case CompactionState.COMPACTION_STATE_READY_FOR_CLEANING:
      return 'ready for cleaning';
    case CompactionState.COMPACTION_STATE_FAILED:
      return 'failed';
    case CompactionState.COMPACTION_STATE_SUCCEEDED:
      return 'succeeded';
    case CompactionState.COMPACTION_STATE_DID_NOT_INITIATE:
      return 'did not initiate';
    case CompactionState.COMPACTION_STATE_REFUSED:
      return 'refused';
    case CompactionState.COMPACTION_STATE_ABORTED:
      return 'aborted';
    default:
      return 'unknown';
  }
}

export const typeName = (type: CompactionType): string =>
  CompactionType[type]?.replace('COMPACTION_TYPE_', '') ?? 'UNKNOWN';

/** What SHOW COMPACTIONS can be asked for. */
export const compactionTypes: Readonly<Record<string, CompactionType>> = {
  ...types,
  abort_txn_cleanup: CompactionType.COMPACTION_TYPE_ABORT_TXN_CLEANUP,
};
