import { type LockComponent, LockType, type TxnType } from '@skep/rpc';
import { lockSettings, type SessionContext } from './context.js';
import { ExecutionError, SemanticError } from './errors.js';
import { isTransactional, lockComponents, type ReadEntity, type WriteEntity } from './lock-plan.js';
import type { StatementResult } from './result.js';
import { StatementTransaction } from './statement-transaction.js';

/** A statement made ready: what it reads and writes, and how it runs once its locks are held and its snapshot is taken. */
export interface PlannedStatement {
  readonly reads: readonly ReadEntity[];
  readonly writes: readonly WriteEntity[];
  /** Locks beside those of tables: databases. */
  readonly otherLocks?: readonly LockComponent[];
  run(transaction: StatementTransaction): Promise<StatementResult>;
}

/** Numbers this process's queries: part of the query id that SHOW LOCKS prints. */
let queryNumber = 1;

/**
 * Runs one statement in its implicit transaction: plan, lock, re-validate, snapshot, run, commit. If another
 * transaction with a higher id committed an update of the same rows while this one waited for its locks, it starts
 * over with a new transaction, at most hive.txn.retrysnapshot.max.count times (org.apache.hadoop.hive.ql.Driver).
 */
export async function runStatement(
  context: SessionContext,
  plan: (transaction: StatementTransaction) => Promise<PlannedStatement>,
  options: { signal?: AbortSignal | undefined; type?: TxnType } = {},
): Promise<StatementResult> {
  const { conf, services } = context;
  const rounds = conf.getInt('hive.txn.retrysnapshot.max.count');
  const settings = lockSettings(conf);
  const queryId = `${services.identity.user}_${services.clock.now()}_${queryNumber++}`;
  for (let round = 0; round <= rounds; round++) {
    options.signal?.throwIfAborted();
    const transaction = await StatementTransaction.open(services, {
      timeoutMs: conf.getTimeMs('hive.txn.timeout'),
      ...(options.type === undefined ? {} : { type: options.type }),
    });
    try {
      let planned = await plan(transaction);
      refuseWithoutAcid(context, planned);
      const components = allLocks(planned, settings);
      const waited = await transaction.lock(
        components,
        {
          retries: conf.getInt('hive.lock.numretries'),
          maxSleepMs: conf.getTimeMs('hive.lock.sleep.between.retries'),
        },
        queryId,
        options.signal,
      );
      if (await isOutdated(context, transaction, components)) {
        await transaction.abort();
        continue;
      }
      if (waited) {
        planned = await plan(transaction);
        if (signature(allLocks(planned, settings)) !== signature(components)) {
          await transaction.abort();
          continue;
        }
      }
      await transaction.takeSnapshot();
      const result = await planned.run(transaction);
      if (result.batches !== undefined) {
        return { ...result, batches: committing(result.batches, transaction, settings.xlockWrite) };
      }
      await transaction.commit(settings.xlockWrite);
      return result;
    } catch (error) {
      await abortAfter(error, transaction);
      throw error;
    }
  }
  throw new ExecutionError(
    `Operation could not be executed, snapshot was outdated after ${rounds} attempts: other transactions kept changing the same rows`,
  );
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
function refuseWithoutAcid(context: SessionContext, planned: PlannedStatement): void {
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

const allLocks = (planned: PlannedStatement, settings: ReturnType<typeof lockSettings>): LockComponent[] => [
  ...lockComponents(planned.reads, planned.writes, settings),
  ...(planned.otherLocks ?? []),
];

const signature = (components: readonly LockComponent[]): string =>
  components
    .map((c) => [c.database, c.table ?? '', c.partition ?? '', c.type, c.operation].join('\0'))
    .sort()
    .join('\n');

/** A transaction that began later and committed first cannot be in our snapshot: only a new transaction sees it. */
async function isOutdated(
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

/** A reader's transaction lasts until its rows are read, or the reader gives up. */
async function* committing<T>(
  batches: AsyncIterable<T>,
  transaction: StatementTransaction,
  exclWriteEnabled: boolean,
): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    await abortAfter(error, transaction);
    throw error;
  } finally {
    if (!transaction.hasEnded) await transaction.commit(exclWriteEnabled);
  }
}

/** Rolls back because of `error`; should that fail too, the first error still tells what happened. */
async function abortAfter(error: unknown, transaction: StatementTransaction): Promise<void> {
  try {
    await transaction.abort();
  } catch (second) {
    if (error instanceof Error && error.cause === undefined) error.cause = second;
  }
}
