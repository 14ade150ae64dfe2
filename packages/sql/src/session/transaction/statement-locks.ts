import type { Clock } from '@skep/core';
import { DataOperation, LockComponent, LockLevel, LockType } from '@skep/rpc';
import { lockSettings, type SessionContext } from '../context.js';
import { SemanticError } from '../errors.js';
import { isTransactional, lockComponents, type WriteEntity } from './lock-plan.js';
import type { PlannedStatement } from './planned-statement.js';
import type { LockWait, StatementTransaction } from './statement-transaction.js';

/** How many queries a process has had, which has one clock. (The simulation plays several processes, again and again.) */
const queryCounts = new WeakMap<Clock, number>();

/** The id of a query, which SHOW LOCKS prints. */
export function nextQueryId({ services: { identity, clock } }: SessionContext): string {
  const number = (queryCounts.get(clock) ?? 0) + 1;
  queryCounts.set(clock, number);
  return `${identity.user}_${clock.now()}_${number}`;
}

/** How the locks of a statement are waited for (DbTxnManager.acquireLocks). */
export function lockWait({ conf }: SessionContext, { writes }: Pick<PlannedStatement, 'writes'>): LockWait {
  const { xlockIow, xlockWrite, xlockCtas } = lockSettings(conf);
  return {
    retries: conf.getInt('hive.lock.numretries'),
    maxSleepMs: conf.getTimeMs('hive.lock.sleep.between.retries'),
    zeroWaitRead: !xlockIow || !xlockWrite,
    showsLocks: conf.getBoolean('hive.txn.manager.dump.lock.state.on.acquire.timeout'),
    exclusiveCtas: xlockCtas && writes.some(({ kind }) => kind === 'ctas'),
  };
}

const dataWrites: ReadonlySet<WriteEntity['kind']> = new Set([
  'insert',
  'insert-overwrite',
  'update',
  'delete',
  'merge-insert',
  'ctas',
]);

/** A session that says it has no transactions gets no ACID table (Hive's 10265). */
export function refuseWithoutAcid(context: SessionContext, planned: Pick<PlannedStatement, 'reads' | 'writes'>): void {
  const { conf } = context;
  if (conf.getBoolean('hive.support.concurrency') && !conf.get('hive.txn.manager')?.endsWith('DummyTxnManager')) return;
  const touched = [...planned.reads, ...planned.writes.filter((write) => dataWrites.has(write.kind))];
  const table = touched.map((entity) => entity.table).find(isTransactional);
  if (table === undefined) return;
  throw new SemanticError(
    10265,
    `This command is not allowed on an ACID table ${table.database}.${table.name} with a non-ACID transaction manager.`,
  );
}

/** The locks of a statement, by the session's parameters. */
export const allLocks = ({ conf }: SessionContext, planned: PlannedStatement): LockComponent[] => [
  ...lockComponents(planned.reads, planned.writes, lockSettings(conf)),
  ...(planned.otherLocks ?? []),
  ...globalLocks(conf.get('hive.query.exclusive.lock') ?? ''),
];

/** hive.query.exclusive.lock: names that no two statements hold at once (AcidUtils.getGlobalLocks). */
const globalLocks = (names: string): LockComponent[] =>
  names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((table) =>
      LockComponent.fromPartial({
        type: LockType.LOCK_TYPE_EXCLUSIVE,
        level: LockLevel.LOCK_LEVEL_TABLE,
        database: '__GLOBAL_LOCKS',
        table,
        operation: DataOperation.DATA_OPERATION_NO_TXN,
      }),
    );

/** By which it is seen whether locks are the same. */
export const signature = (components: readonly LockComponent[]): string =>
  components
    .map((c) => [c.database, c.table ?? '', c.partition ?? '', c.type, c.operation].join('\0'))
    .sort()
    .join('\n');

/**
 * Of a statement that waited: what it writes is recorded once more, under its locks. Whoever was waited for may have dropped it
 * (a static partition is made again), and with it all that was recorded of it, also for those who waited: an abort would be
 * forgotten while its files are there, and they would count as committed.
 */
export async function recordAgain(
  { services }: SessionContext,
  { txnId }: StatementTransaction,
  components: readonly LockComponent[],
): Promise<void> {
  const written = components.filter(({ isTransactional, operation }) => isTransactional && WRITES.has(operation));
  if (written.length === 0) return;
  await services.txns.addWriteComponents({
    txnId,
    components: written.map(({ database, table = '', partition, operation, isDynamicPartitionWrite }) => ({
      resource: { database, table, partition },
      operation,
      isDynamicPartitionWrite,
    })),
  });
}

const WRITES: ReadonlySet<DataOperation> = new Set([
  DataOperation.DATA_OPERATION_INSERT,
  DataOperation.DATA_OPERATION_UPDATE,
  DataOperation.DATA_OPERATION_DELETE,
]);

/** A transaction that began later and committed first cannot be in our snapshot: only a new transaction sees it. */
export async function isOutdated(
  context: SessionContext,
  transaction: StatementTransaction,
  components: readonly LockComponent[],
): Promise<boolean> {
  const exclusive = components.some(
    (c) => c.type === LockType.LOCK_TYPE_EXCLUSIVE || c.type === LockType.LOCK_TYPE_EXCL_WRITE,
  );
  if (!exclusive) return false;
  const { txnId } = await context.services.txns.getLatestConflictingCommit({
    txnId: transaction.txnId,
    overwritten: [],
  });
  return txnId !== undefined && txnId > transaction.txnId;
}
